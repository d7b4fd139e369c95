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
LIST = "*(gs.ApproxDP,"  # a line of the list of classes in spec/kinds.py

SAMPLER = """
import numpy as np

from dpradar.spec.kinds import KINDS


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
from dpradar.spec.kinds import KINDS


def cli(*words):
    done = CliRunner().invoke(app, list(words), obj={"given": list(words)})
    return json.loads(done.output)


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


def test_a_local_protocol_is_a_class_and_a_line(tmp_path):
    package = tmp_path / "src" / "dpradar"
    shutil.copytree(ROOT / "src" / "dpradar", package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "mechanisms" / "ldp" / "shout.py").write_text(SHOUT)
    kinds = package / "spec" / "kinds.py"
    table = kinds.read_text(encoding="utf-8")
    assert table.count(LIST) == 1
    imported = table.replace(
        "from .calls import Call\n", "from ..mechanisms.ldp.shout import Shout\nfrom .calls import Call\n"
    )
    kinds.write_text(imported.replace(LIST, f"Shout,\n    {LIST}"))
    (tmp_path / "sampler.py").write_text(SAMPLER)
    (tmp_path / "spec.toml").write_text(SPEC)
    env = {**os.environ, "PYTHONPATH": str(tmp_path / "src")}
    done = subprocess.run(
        [sys.executable, "-c", QUESTIONS], env=env, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    answers = json.loads(done.stdout)
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
