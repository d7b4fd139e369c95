"""What it takes to add something to the library: a class and a line, or a row and a method, in at most two files."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys

import pytest

import dpradar as dr
from dpradar.granularity import Granularity, Pipeline, Step, account, neighbour_relation
from tests.console import ROOT

# --------------------------------------------------------------------------------------------------- a local protocol

# Randomised response over the values and one further output, silence.
SHOUT = '''
"""A protocol that names a value or stays silent."""

import math

import numpy as np

from ...options import described
from ..capabilities import Release
from ..channel import Channel
from .estimators import ShareEstimator
from .parameters import Epsilon, Values


@described("shout", "Name the value or any other, or stay silent.", "local", first={"m": "5", "epsilon": "1"})
class Shout:
    """Every output has the same probability, but the value is e^epsilon times as likely."""

    m: Values
    epsilon: Epsilon

    def at(self, prior):
        low = 1 / (math.exp(self.epsilon) + self.m)
        matrix = np.full((self.m, self.m + 1), low)
        np.fill_diagonal(matrix, math.exp(self.epsilon) * low)
        channel = Channel(matrix).at(prior)
        held = lambda reports: np.bincount(reports, minlength=self.m + 1)[: self.m]
        return Release(
            name="Shout",
            privacy=channel.privacy,
            inputs=self.m,
            finite=channel.finite,
            sample=channel.sample,
            likelihoods=channel.likelihoods,
            estimator=ShareEstimator(math.exp(self.epsilon) * low, low, held),
        )
'''
LIST = "*(gs.ApproxDP,"  # a line of the list of classes in spec/release_kinds.py

SAMPLER = """
import numpy as np

from dpradar.spec.release_kinds import KINDS


def noisy(inputs, rng):
    return KINDS["shout"].cls(m=3, epsilon=1.0).at(None).sample(np.asarray(inputs), rng)
"""
SPEC = """
[release]
kind = "shout"
m = 5
epsilon = 1.0
[threat]
limits = { rad = 0.5 }
"""
QUESTIONS = """
import json

import numpy as np
from click.testing import CliRunner

import dpradar as dr
from dpradar.cli.main import app
from dpradar.spec import read, run
from dpradar.spec.release_kinds import KINDS


def cli(*words):
    done = CliRunner().invoke(app, list(words), obj={"given": list(words)})
    return json.loads(done.stdout)  # not what is said meanwhile of a machine that is busy


protocol = KINDS["shout"].cls(m=4, epsilon=2.0)
values = np.repeat(np.arange(4), [4000, 3000, 2000, 1000])
counted = dr.frequencies(protocol, protocol.at(None).sample(values, np.random.default_rng(3)))
audit = ["--protocol", "shout", "--domain", "3", "--trials", "20000", "--seed", "1", "--json"]
attack = ["--m", "5", "--epsilon", "1", "--trials", "20000", "--seed", "1", "--json"]
answers = {
    "assess": cli("assess", "shout", "--m", "5", "--epsilon", "1", "--json")["rad"]["value"],
    "calibrate": cli("calibrate", "shout", "--m", "5", "--limit", "rad=0.1", "--json")["value"],
    "attack": cli("attack", "shout", *attack)["rad"],
    "spec": run(read("spec.toml")).releases[0].assessments[0].assessment.rad.value,
    "audit": [cli("audit", "sampler.py:noisy", "--claim-epsilon", e, *audit)["refuted"] for e in ("1", "0.5")],
    "list": cli("list", "--json")["releases"]["shout"],
    "estimate": counted.estimate.tolist(),
    "deviation": counted.deviation.tolist(),
}
print(json.dumps(answers))
"""


def _rad(m, epsilon):
    """Return rad of the toy by hand: of the outputs that are values the value itself is the best guess."""
    return (math.exp(epsilon) - 1) / (math.exp(epsilon) + m) * (1 - 1 / m)


@pytest.fixture
def package(tmp_path):
    """Return a copy of the library that a test may change."""
    copy = tmp_path / "src" / "dpradar"
    shutil.copytree(ROOT / "src" / "dpradar", copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


def _answers(tmp_path, questions):
    """Return what the changed library answers."""
    env = {**os.environ, "PYTHONPATH": str(tmp_path / "src")}
    done = subprocess.run(
        [sys.executable, "-c", questions], env=env, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def _replace(file, old, new):
    text = file.read_text(encoding="utf-8")
    assert text.count(old) == 1
    file.write_text(text.replace(old, new))


def test_a_local_protocol_is_a_class_and_a_line(tmp_path, package):
    (package / "mechanisms" / "ldp" / "shout.py").write_text(SHOUT)
    kinds = package / "spec" / "release_kinds.py"
    table = kinds.read_text(encoding="utf-8")
    assert table.count(LIST) == 1
    imported = table.replace(
        "from .constructor_calls import Call\n",
        "from ..mechanisms.ldp.shout import Shout\nfrom .constructor_calls import Call\n",
    )
    kinds.write_text(imported.replace(LIST, f"Shout,\n    {LIST}"))
    (tmp_path / "sampler.py").write_text(SAMPLER)
    (tmp_path / "spec.toml").write_text(SPEC)
    answers = _answers(tmp_path, QUESTIONS)
    assert answers["assess"] == answers["spec"] == pytest.approx(_rad(5, 1.0), abs=1e-12)
    assert _rad(5, answers["calibrate"]) <= 0.1 + 1e-12 < _rad(5, 1.001 * answers["calibrate"])
    assert answers["attack"]["low"] <= _rad(5, 1.0) <= answers["attack"]["high"]
    assert answers["audit"] == [False, True]
    assert answers["list"] == "Name the value or any other, or stay silent."
    for estimate, deviation, share in zip(answers["estimate"], answers["deviation"], (0.4, 0.3, 0.2, 0.1), strict=True):
        assert abs(estimate - share) < 5 * deviation


# ------------------------------------------------------------------------------------------------------ a granularity


@pytest.fixture
def household(monkeypatch):
    """One row and one method, both in granularity/neighbour_relation.py."""

    def household_of(cls):
        def replaced(first, other):
            return float(sum(first.get(key) != other.get(key) for key in {*first, *other}))

        return cls("household", "replace-one", metric=replaced)

    row = neighbour_relation._Unit("all data of one household", "who lives together", "any")
    monkeypatch.setitem(neighbour_relation._UNITS, "household", row)
    monkeypatch.setattr(Granularity, "household", classmethod(household_of), raising=False)


def test_a_granularity_is_a_row_and_a_method(household):
    home = Granularity.parse("household")
    assert (home.kind, home.unit, home.exposed, str(home)) == (
        "any",
        "all data of one household",
        "who lives together",
        "household",
    )
    assert home.distance({1: "ab", 2: "c"}, {1: "ab", 2: "d"}) == 1.0
    with pytest.raises(dr.ParameterError, match="household alone"):
        Granularity.parse("household:3")
    steps = [Step(name=name, epsilon=0.5, granularity="household") for name in "ab"]
    total = account(Pipeline(steps=steps)).total("household")
    assert total.epsilon == pytest.approx(1.0)


def test_what_nobody_derived_is_not_assumed(household):
    steps = [Step(name="a", epsilon=0.5, granularity="household")]
    result = account(Pipeline(steps=steps, targets=["household", "user:replace-one", "event"]))
    assert result.total("user:replace-one").epsilon == math.inf
    assert result.total("event").epsilon == math.inf


# ------------------------------------------------------------------------------------------------------ a result kind

INVENTORY = """
from dataclasses import dataclass
from typing import ClassVar

from .result_codec import Result
from .field_shapes import Loss, Whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory(Result):
    KIND: ClassVar[str] = "inventory"
    DERIVED: ClassVar[tuple[str, ...]] = ("per_release",)

    releases: Whole
    epsilon: Loss
    version: str = ""

    @property
    def per_release(self):
        return self.epsilon / self.releases

    def problems(self):
        if self.releases == 0:
            yield "releases", "must be above 0"
"""
INVENTORY_PAGE = """
from .page import Page, Verdict


def page(inventory):
    return Page(kind="inventory", title="Inventory", verdict=Verdict(text=f"{inventory.releases} releases."))
"""
INVENTORY_QUESTIONS = """
import json

import dpradar as dr
from dpradar.errors import SpecError
from dpradar.results.inventory import Inventory

one = Inventory(releases=4, epsilon=2.0)
one.save("one.json")
data = json.load(open("one.json"))


def problems(**changes):
    changed = {key: value for key, value in {**data, **changes}.items() if key != "digest"}
    json.dump(changed, open("changed.json", "w"))
    try:
        dr.load("changed.json")
    except SpecError as error:
        return [str(problem) for problem in error.problems]


answers = {
    "same": dr.load("one.json") == one,
    "text": one.explain(),
    "html": "4 releases." in one.report("one.html").read_text(),
    "schema": data["schema"],
    "derived": data["per_release"],
    "zero": problems(releases=0),
    "negative": problems(epsilon=-1),
    "contradiction": problems(per_release=1.0),
}
print(json.dumps(answers))
"""


def test_a_result_kind_is_its_class_and_its_page(tmp_path, package):
    (package / "results" / "inventory.py").write_text(INVENTORY)
    (package / "present" / "inventory.py").write_text(INVENTORY_PAGE)
    answers = _answers(tmp_path, INVENTORY_QUESTIONS)
    assert answers["same"]
    assert answers["html"]
    assert answers["text"].startswith("4 releases.")
    assert (answers["schema"], answers["derived"]) == ("dpradar/inventory/2", 0.5)
    assert answers["zero"] == ["releases: must be above 0."]
    assert answers["negative"] == ["epsilon: must be a number at least 0; got -1."]
    assert answers["contradiction"] == ["per_release: must be 0.5, which follows from the rest; got 1.0."]


# --------------------------------------------------------------------------------------------------------- a spec key

DECISION = """
[release]
kind = "grr"
m = 5
epsilon = 1.0
[threat]
[decision]
contact = "the privacy office"
"""
DECISION_QUESTIONS = """
import json

from dpradar.spec import parse, run
from dpradar.spec.schema import schema
from dpradar.errors import SpecError

text = open("spec.toml").read()
result = run(parse(text))
try:
    parse(text.replace('"the privacy office"', "3"))
except SpecError as error:
    refusal = str(error.problems[0])
answers = {
    "decision": result.decision["contact"],
    "report": "the privacy office" in result.report("report.md").read_text(),
    "schema": schema()["$defs"]["Decision"]["properties"]["contact"]["type"],
    "refusal": refusal,
}
print(json.dumps(answers))
"""


def test_a_key_of_a_spec_is_a_field(tmp_path, package):
    _replace(
        package / "spec" / "model.py",
        "    outcome: _ForPeople",
        '    contact: _ForPeople = ""\n    outcome: _ForPeople',
    )
    (tmp_path / "spec.toml").write_text(DECISION)
    answers = _answers(tmp_path, DECISION_QUESTIONS)
    assert answers["decision"] == "the privacy office"
    assert answers["report"]
    assert answers["schema"] == "string"
    assert answers["refusal"].startswith("decision.contact: must be text; got 3")


# ------------------------------------------------------------------------------------------------ an option of assess

# The prior 1, 1/2^s, 1/3^s, ... of m values.
ZIPF_FIELD = """    zipf: (
        Annotated[float, Ge(0), About("the exponent of a Zipf prior", example="1", label="exponent")] | None
    ) = None
    values: Annotated["""
ZIPF_PRIOR = """    if threat.zipf is not None and size is not None:
        exponent = OPTIONS["zipf"].read(threat.zipf, where)
        weights = [(k + 1.0) ** -exponent for k in range(size)]
        return Call("Prior.of", ([weight / sum(weights) for weight in weights],))
    if threat.records is not None:
        return _records(threat, where)
"""
ZIPF_QUESTIONS = """
import json

from click.testing import CliRunner

from dpradar.cli.main import app
from dpradar.spec import parse, run
from dpradar.spec.schema import schema


def cli(*words):
    return CliRunner().invoke(app, list(words), obj={"given": list(words)})


question = ["assess", "grr", "--m", "4", "--epsilon", "1", "--zipf"]
text = '[release]\\nkind = "grr"\\nm = 4\\nepsilon = 1.0\\n[threat]\\nzipf = 1.0\\n'
answers = {
    "command": json.loads(cli(*question, "1", "--json").output)["baseline"],
    "file": run(parse(text)).releases[0].assessments[0].assessment.baseline,
    "help": "--zipf" in cli("assess", "grr", "--help").output,
    "schema": "zipf" in json.dumps(schema()),
    "refusal": str(cli(*question, "-1").exception),
}
print(json.dumps(answers))
"""


def test_an_option_of_assess_is_a_field_and_what_it_does(tmp_path, package):
    file = package / "spec" / "threat_options.py"
    _replace(file, "    values: Annotated[", ZIPF_FIELD)
    _replace(file, "    if threat.records is not None:\n        return _records(threat, where)\n", ZIPF_PRIOR)
    answers = _answers(tmp_path, ZIPF_QUESTIONS)
    assert answers["command"] == answers["file"] == pytest.approx(1 / (1 + 1 / 2 + 1 / 3 + 1 / 4))
    assert answers["help"]
    assert answers["schema"]
    assert answers["refusal"].startswith("--zipf must be a number at least 0; got -1")
