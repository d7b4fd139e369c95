"""`account` and `lint` agree on what a file claims."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from dpradar.cli.account import account_command
from dpradar.cli.lint import lint_command
from dpradar.granularity import Claim, Pipeline, Practice, Step, account, lint
from dpradar.present.html import document
from dpradar.results.accounting import Accounting

EXAMPLES = Path(__file__).parents[2] / "examples" / "pipelines"
CLAIM = Claim(granularity="unbounded", epsilon=1.0)


def pipeline(practice=None, claim=CLAIM, **step):
    options = {"name": "counts", "epsilon": 1.0, "granularity": "unbounded", **step}
    return Pipeline(steps=[Step(practice=practice or Practice(), **options)], claim=claim)


REFUTED = pipeline(Practice(noise_on="present"))
FLOATS = Practice(noise="gaussian", arithmetic="float")  # low bits: nothing is refuted, nothing follows
UNPROVEN = Pipeline(
    steps=[Step(name="sums", mu=0.5, granularity="unbounded", practice=FLOATS)],
    claim=Claim(granularity="unbounded", mu=0.5),
)


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*.toml")), ids=lambda file: file.stem)
def test_both_commands_leave_with_the_same_code(file):
    """One said CLAIM FOLLOWS with 0 where the other refuted the same file with 5."""
    runs = [
        CliRunner().invoke(command, [str(file)], standalone_mode=False) for command in (account_command, lint_command)
    ]
    assert runs[0].return_value == runs[1].return_value
    assert ("CLAIM FOLLOWS" in runs[0].output) == ("NO FINDING" in runs[1].output)


def test_the_clustered_trips_are_refuted_by_both():
    file = str(EXAMPLES / "clustered-trips.toml")
    done = CliRunner().invoke(account_command, [file], standalone_mode=False)
    assert done.return_value == 5
    assert done.output.splitlines()[0].startswith("CLAIM REFUTED. Epsilon 1 under user:add-remove cannot hold.")
    assert "[present-rows]" in done.output
    data = json.loads(CliRunner().invoke(account_command, [file, "--json"], standalone_mode=False).output)
    assert (data["met"], data["refuted"]) == (False, True)


def test_a_refuted_claim_is_not_met():
    accounting = account(REFUTED)
    assert lint(REFUTED).refuted
    assert (accounting.met, accounting.refuted) == (False, True)
    assert accounting.total("unbounded").epsilon == 1.0  # what the steps state has not changed
    assert "FOLLOWS" not in accounting.explain()
    assert "Claim refuted" in document(accounting)
    assert "Claim follows" not in document(accounting)
    assert Accounting.from_dict(accounting.to_dict()) == accounting
    assert "refuted" in repr(accounting)


@pytest.mark.parametrize("claim", [None, CLAIM])
def test_without_findings_nothing_changes(claim):
    good = pipeline(claim=claim)
    assert account(good).findings == ()
    assert account(good).met is (None if claim is None else True)


def test_what_a_rule_cannot_show_does_not_follow():
    report, accounting = lint(UNPROVEN), account(UNPROVEN)
    assert [finding.severity for finding in report.findings] == ["unproven"]
    assert (accounting.met, accounting.refuted) == (False, False)
    assert "CLAIM NOT SHOWN. 0.5-GDP under unbounded does not follow (" in accounting.explain()


def test_refuted_without_a_claim():
    accounting = account(pipeline(Practice(noise_on="present"), claim=None))
    assert accounting.met is None
    assert accounting.refuted
    assert "REFUTED. What the steps state cannot hold." in accounting.explain()


def test_a_claim_that_is_too_small_is_still_said_in_numbers():
    accounting = account(pipeline(claim=Claim(granularity="unbounded", epsilon=0.5)))
    assert accounting.findings == ()
    assert (
        "CLAIM NOT SHOWN. Epsilon 0.5 under unbounded does not follow. What follows is epsilon 1"
        in accounting.explain()
    )
