"""Saved results are believed only as far as they are sound: wrong ones are refused, with the place."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

import dpradar as dr
from dpradar.errors import DpradarError
from dpradar.present.attackers import attacker
from dpradar.results.description import Description
from dpradar.results.loading import result_kinds
from dpradar.results.result_codec import with_digest
from tests import saved
from tests.cli.test_assess import run
from tests.mutations import MISSING, changed, some

WRONG = {
    "rad below 0": ("exact", ("rad", "value"), -5, "rad.value: must be a number from 0 to 1; got -5"),
    "rad above 1": ("exact", ("rad", "value"), 7, "rad.value: must be a number from 0 to 1; got 7"),
    "rad is no number": ("exact", ("rad", "value"), math.nan, "rad.value: must be a number from 0 to 1; got nan"),
    "rad as text": ("exact", ("rad", "value"), "0.1", "rad.value: must be a number from 0 to 1; got '0.1'"),
    "low above high": ("exact", ("rad", "low"), 0.9, "rad.value: must be at least low"),
    "a changed digit": ("exact", ("rad", "value"), 0.00365456662663537, "rad.value: must be at least low"),
    "an unknown side": ("exact", ("rad", "side"), "about", "rad.side: must be one of exact, upper, lower; got 'about'"),
    "no rule": ("exact", ("rad", "rule"), "", "rad.rule: must be a text that is not empty"),
    "no reason": ("worst", ("reason",), {}, "reason.success: is missing"),
    "a curve that rises": ("exact", ("rates", "fnr", 0, 5), 0.0, "rates.fnr[1]: must not increase"),
    "not refuted": ("refuted", ("refuted",), False, "refuted: must be true where epsilon is at least"),
    "a larger bound": ("not refuted", ("epsilon_lower",), 4.9, "refuted: must be true where epsilon is at least 4.9"),
    "more seen than drawn": ("refuted", ("witness", "drawn_first"), 1, "witness.drawn_first: must be at least seen_f"),
    "half a trial": ("refuted", ("trials",), 0.5, "trials: must be a whole number at least 0; got 0.5"),
    "never, though seen": ("refuted", ("witness", "never"), True, "witness.never: must be False, which follows"),
    "significance": ("refuted", ("significance",), 0, "significance: must be a number between 0 and 1; got 0"),
    "interval": ("attack", ("rad", "low"), 0.9, "rad.estimate: must be at least low"),
    "difference": ("attack", ("rad", "estimate"), 0.1, "rad.estimate: must be success minus false_hit"),
    "fewer asked": ("attack", ("asked",), 7, "asked: must be at least trials"),
    "a limit that is not kept": ("not kept", ("releases", 0, "assessments", 0, "limits", 0, "met"), True, ".met: must"),
    "a limit on another number": (
        "not kept",
        ("releases", 0, "assessments", 0, "limits", 0),
        {
            "quantity": "rad",
            "limit": 0.05,
            "value": 0.04,
            "side": "exact",
            "met": True,
            "rule": "",
            "source": "",
            "at": None,
            "reason": "",
        },
        "releases[1].assessments[1].limits[1].value: must be that of the assessment",
    ),
    "all limits kept": ("not kept", ("met",), True, "met: must be False, which follows from the rest; got True"),
    "calibrated to nothing": ("unmet", ("value",), 1.0, "status: must be 'unmet' where there is no value, and only"),
    "a limit broken": ("calibration", ("achieved", 0, "value"), 0.5, "achieved[1].value: must be at most its limit"),
    "no longer refuted": ("lint", ("refuted",), False, "refuted: must be True, which follows"),
    "another theorem": ("groups", ("chosen", "rule"), "thm-1", "chosen.rule: must be 'thm-6.3', which follows"),
    "hit below false_hit": ("exact", ("false_hit",), 0.9, "false_hit: must be hit minus rad"),
    "no false_hit": ("exact", ("false_hit",), None, "false_hit: must be stated where hit is"),
    "an unknown prior": ("exact", ("threat", "options", "prior"), {}, "threat.options.prior: must have a kind"),
    "no eta": ("continuous", ("threat", "options", "goal", "eta"), "x", "threat.options.goal.eta: must be a number"),
    "a level of a threat": ("baseline", ("threat", "options", "level"), "x", "threat.options.level: must be a number"),
    "no total": ("accounting", ("totals",), [], "totals: must be a list of 1 or more"),
    "another kind inside": (
        "kept",
        ("releases", 0, "assessments", 0, "assessment", "schema"),
        "dpradar/audit/2",
        "assessment.schema: must be that of Assessment",
    ),
    "a number for a flag": ("refuted", ("witness", "never"), 0, "witness.never: must be False, which follows"),
    "a negative loss": ("accounting", ("totals", 0, "epsilon"), -1, "totals[1].epsilon: must be a number at least 0"),
    "nothing": ("advice", ("epsilon",), MISSING, "epsilon: is missing"),
}


def _without_digest(name):
    """Return the data of a result without what would detect every change of them."""
    return {key: value for key, value in json.loads(saved.texts()[name]).items() if key != "digest"}


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_so_is_refused_where_it_stands(case, tmp_path):
    name, place, value, message = WRONG[case]
    file = tmp_path / "result.json"
    file.write_text(json.dumps(changed(_without_digest(name), place, value)))
    for command in ("explain", "report"):
        done = run(command, str(file))
        assert done.returncode == 2
        assert done.stderr.startswith(f"error: {file} has ")
        assert message in done.stderr


def test_every_kind_is_among_them():
    assert tuple(saved.results()) == saved.NAMES
    kinds = {json.loads(text)["schema"] for text in saved.texts().values()}
    assert kinds == {kind.schema() for kind in result_kinds().values()}


@pytest.mark.parametrize("name", saved.NAMES)
def test_every_kind_is_read_as_it_was(name, tmp_path):
    (tmp_path / "result.json").write_text(saved.texts()[name])
    assert dr.load(tmp_path / "result.json") == saved.results()[name]


def survives(data, file):
    """Return whether a file is accepted; then it can be shown, and written again."""
    file.write_text(json.dumps(data))
    try:
        result = dr.load(file)
    except DpradarError:
        return False
    result.explain()
    if hasattr(result, "report"):
        result.report(file.with_suffix(".md"))
    json.dumps(result.to_dict(), allow_nan=True)
    return True


@pytest.mark.parametrize("name", saved.NAMES)
def test_mutated_files_are_refused_or_shown(name, tmp_path):
    """Every field of every kind: another type, not a number, negative, huge, left out."""
    data = _without_digest(name)
    count = 12 if len(saved.texts()[name]) > 50_000 else 60
    answers = [survives(changed(data, *one), tmp_path / "r.json") for one in some(data, count, seed=1)]
    assert not all(answers)


@pytest.mark.slow
@pytest.mark.parametrize("name", saved.NAMES)
def test_many_mutated_files_are_refused_or_shown(name, tmp_path):
    data = _without_digest(name)
    count = 200 if len(saved.texts()[name]) > 50_000 else 1_500
    answers = [survives(changed(data, *one), tmp_path / "r.json") for one in some(data, count, seed=2)]
    assert not all(answers)


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"schema": ["dpradar/run/2"]}', '{"schema": "dpradar/attack/2", "trials": 1' + "0" * 5000]
)
def test_files_that_are_hard_to_read(text, tmp_path):
    (tmp_path / "result.json").write_text(text)
    with pytest.raises(DpradarError, match=r"result\.json"):
        dr.load(tmp_path / "result.json")


def test_a_key_of_a_later_version_is_left_alone(tmp_path):
    data = with_digest({**json.loads(saved.texts()["exact"]), "of_a_later_version": 0.6})
    (tmp_path / "result.json").write_text(json.dumps(data))
    assert dr.load(tmp_path / "result.json") == saved.results()["exact"]


@pytest.mark.parametrize("name", ["exact", "attack", "refuted", "one threat", "calibration"])
def test_the_digest_detects_any_change(name, tmp_path):
    data = json.loads(saved.texts()[name])
    count = 0
    for place, value in some(data, 40, seed=3):
        edited = changed(data, place, value)
        if place == ("digest",) or edited == data:
            continue
        count += 1
        (tmp_path / "r.json").write_text(json.dumps(edited))
        with pytest.raises(DpradarError):
            dr.load(tmp_path / "r.json")
    assert count > 20


def test_order_and_white_space_do_not_matter_to_the_digest(tmp_path):
    data = json.loads(saved.texts()["exact"])
    (tmp_path / "r.json").write_text(json.dumps(dict(reversed(data.items())), indent=7))
    assert dr.load(tmp_path / "r.json") == saved.results()["exact"]


SCHEMA_1 = json.loads((Path(__file__).parent / "files" / "schema_1.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", SCHEMA_1)
def test_files_of_schema_1_are_read_and_called_unverified(name, tmp_path):
    """Written by version 0.1.0 as it was before schema 2."""
    data = SCHEMA_1[name]
    (tmp_path / "r.json").write_text(json.dumps(data))
    result = dr.load(tmp_path / "r.json")
    assert "unverified" in result.explain()
    assert "unverified" in result.report(tmp_path / "r.md").read_text(encoding="utf-8")
    again = result.to_dict()
    for quantity in ("rad", "success", "gain", "worst_gain", "epsilon_lower", "value"):
        if isinstance(data.get(quantity), dict):
            assert {key: again[quantity][key] for key in data[quantity]} == data[quantity]
        elif quantity in data:
            assert again[quantity] == data[quantity]


def test_what_was_computed_here_is_not_called_unverified():
    assert not any("unverified" in result.explain() for result in saved.results().values())


def test_what_was_read_without_a_digest_is_written_without_one(tmp_path):
    (tmp_path / "r.json").write_text(json.dumps(_without_digest("exact")))
    dr.load(tmp_path / "r.json").save(tmp_path / "again.json")
    assert dr.load(tmp_path / "again.json").unverified
    assert not dr.load(_saved(tmp_path, "exact")).unverified


def _saved(folder, name):
    (folder / "saved.json").write_text(saved.texts()[name])
    return folder / "saved.json"


@pytest.mark.parametrize("depth", [100, 990, 5_000])
def test_data_that_are_nested_deep_are_refused(depth, tmp_path):
    data = _without_digest("accounting")
    (tmp_path / "r.json").write_text(
        json.dumps(data).replace('"facts": {', '"facts": {"a": ' + "[" * depth + "]" * depth)
    )
    with pytest.raises(DpradarError):
        dr.load(tmp_path / "r.json")


def test_pages_of_schema_1_say_who_attacks():
    """The text of a threat has a fixed grammar; what is not understood is shown as it stands."""
    threat = "Threat(Prior(10 values), Knowledge.columns('age', 'sex'), Goal.within(5, 'absolute'))"
    text = attacker(Description.from_dict({"kind": "", "options": {}, "text": threat}))
    assert text.title == threat
    data = {**SCHEMA_1["exact"], "threat": threat}
    who = attacker(dr.Assessment.from_dict(data).threat)
    assert who.title == "An attacker who knows the target's age and sex and is right when its guess is within 5"
    for broken in ("Threat(Prior(x values), Knowledge.nothing(), Goal.exact())", "Threat.baseline(x)", "Threat()"):
        assert attacker(dr.Assessment.from_dict({**data, "threat": broken}).threat).title == broken


def test_sweeps_of_schema_1_without_relations_are_read():
    data = json.loads(saved.texts()["sweep"])
    del data["digest"]
    for point in data["sweeps"][0]["points"]:
        for bounds in point["bounds"]:
            for bound in bounds.values():
                bound.pop("neighbours", None)
    assert dr.RunResult.from_dict(data).sweeps


def test_contributions_and_matrices_are_not_written_out():
    """They may be the values of the prior, or come from a file that the spec only names."""
    values = [41372.5, 52991.25, 77123.75]
    threat = dr.Threat(dr.Prior.of([0.5, 0.3, 0.2], values=values))
    release = dr.Laplace(scale=1000.0, query=values)
    for what in (release, dr.Repeated(release, 2), dr.Composed([release, dr.Channel(np.eye(3))])):
        text = json.dumps(dr.assess(what, threat).to_dict())
        assert not any(str(value) in text for value in values)
    options = [dr.assess(dr.Laplace(1.0, query=query)).release.options["query"] for query in ([0, 1], [0, 100])]
    assert options == [{"lengths": [2], "spread": 1.0}, {"lengths": [2], "spread": 100.0}]


def test_mechanisms_that_declare_nothing_are_named_by_their_class():
    class Wrapped:
        KIND = "mine"
        mechanisms = 3

        def at(self, prior):
            return dr.GRR(m=3, epsilon=1.0).at(prior)

    assert dr.assess(Wrapped(), dr.Threat(dr.Prior.uniform(3))).release.kind == "Wrapped"


def test_results_do_not_share_what_they_write():
    result = dr.assess(dr.RDP([2, 4], [0.1, 0.2], neighbours="replace-one"))
    result.to_dict()["release"]["options"]["orders"][0] = 99
    assert result.release.options["orders"] == [2.0, 4.0]


def test_what_can_be_computed_can_be_read():
    """Any number of reports is a question; a limit below what the library takes refused its own answer."""
    threat = dr.Threat(dr.Prior.uniform(10))
    many = dr.assess(dr.Repeated(dr.GRR(m=10, epsilon=1.0), 10**308), threat)
    assert dr.Assessment.from_dict(json.loads(json.dumps(many.to_dict()))) == many


@pytest.mark.parametrize("name", ["membership", "baseline", "record", "repeated"])
def test_a_mechanism_of_others_may_be_named_as_one_of_our_kinds(tmp_path, name):
    """Its result was saved as one of our kinds without the options of that, and could not be loaded."""
    other = type(name, (), {"at": lambda _, prior: dr.GRR(m=3, epsilon=1.0).at(prior), "__module__": "others"})
    result = dr.assess(other(), dr.Threat(dr.Prior.uniform(3)))
    assert result.release.kind == f"others:{name}"
    result.save(tmp_path / "result.json")
    assert dr.load(tmp_path / "result.json") == result


@pytest.mark.parametrize("number", ["Infinity", "-Infinity", "1e999"])
def test_numbers_that_json_cannot_hold_are_refused_everywhere(tmp_path, number):
    """Options of a release hold any data; an infinite number in them was written again as what is no JSON."""
    data = dr.assess(dr.GRR(m=3, epsilon=1.0)).to_dict()
    data["release"]["options"]["further"] = ["NUMBER"]
    del data["digest"]
    file = tmp_path / "result.json"
    file.write_text(json.dumps(data).replace('"NUMBER"', number))
    with pytest.raises(dr.SpecError, match=r"release\.options\.further\[1\]: must be a finite number"):
        dr.load(file)
