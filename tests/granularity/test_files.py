"""Pipelines as files, and the command that accounts for them."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from click.testing import CliRunner

import dpradar as dr
from dpradar.cli.main import app
from dpradar.errors import SpecError
from dpradar.granularity import Facts, Granularity, Partition, account
from dpradar.results.accounting import Accounting
from dpradar.spec.pipeline import parse_pipeline, read_pipeline

EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "pipelines").glob("*.toml"))
WHOLE = """
title = "Trips"
targets = ["w-event:4", "user:add-remove"]

[claim]
granularity = "event"
epsilon = 3.0
delta = 1e-6

[data]
points_per_user = 20
times = 96
hidden = "people"

[[partition]]
name = "regions"
kind = "value"
cells = ["north", "south"]

[[partition]]
name = "hours"
kind = "time"
cells = 3

[[step]]
name = "visits"
what = "visits by region"
granularity = "event"
epsilon = 0.5
partition = "regions"
cells = "all"

[[step]]
name = "hourly"
mu = { event = 0.2, "user:add-remove" = 1.0 }
partition = "hours"
cells = [1, 2]
domain = "common"
noise = "gaussian"

[[step]]
name = "noise"
granularity = "event"
mechanism = { kind = "laplace", scale = 4.0, sensitivity = 1.0, neighbours = "replace-one" }
times = 3

[[step]]
name = "map"
reads = "outputs"
"""


def test_a_file_in_full():
    pipeline = parse_pipeline(WHOLE)
    assert pipeline.title == "Trips"
    assert [step.name for step in pipeline.steps] == ["visits", "visits", "hourly", "hourly", "noise", "map"]
    assert [step.cell for step in pipeline.steps] == ["north", "south", "1", "2", None, None]
    assert pipeline.cells("hours") == ("1", "2", "3")
    assert pipeline.facts == Facts(points_per_user=20, times=96, hidden="people")
    assert pipeline.targets == (Granularity.w_event(4), Granularity.user("add-remove"))
    assert pipeline.steps[2].practice.noise == "gaussian"
    assert pipeline.steps[4].losses == ((Granularity.event(), 0.25),)
    accounting = account(pipeline)
    assert accounting.total("event").epsilon == pytest.approx(1.0 + 0.75)
    assert accounting.total("event").mu == pytest.approx(0.2)
    assert accounting.total("w-event:4").mu == pytest.approx(math.hypot(0.2, 0.2))


def test_all_problems_are_told_at_once():
    text = """
titel = "x"
targets = ["bonded"]
[claim]
epsilon = 1.0
[data]
times = 0
hidden = "all"
[[partition]]
name = "p"
kind = "values"
[[step]]
name = "a"
epsilon = "0,5"
granularity = "bounded"
[[step]]
name = "b"
epsilon = 0.5
[[step]]
name = "c"
epsilon = 0.5
granularity = "user"
sensitvity = 2.0
[[step]]
name = "d"
mechanism = { kind = "laplase", scale = 1.0 }
granularity = "bounded"
"""
    with pytest.raises(SpecError) as caught:
        parse_pipeline(text)
    messages = {problem.path: str(problem) for problem in caught.value.problems}
    assert set(messages) == {
        "titel", "targets", "claim.granularity", "data.times", "data.hidden", "partition.kind", "step[1].epsilon",
        "step[2]", "step[3].sensitvity", "step[4].mechanism.kind",
    }  # fmt: skip
    assert "Did you mean 'title'?" in messages["titel"]
    assert "Did you mean 'sensitivity'?" in messages["step[3].sensitvity"]
    assert "Did you mean 'laplace'?" in messages["step[4].mechanism.kind"]
    assert "granularity must be given" in messages["step[2]"]
    assert "decimal comma" in messages["step[1].epsilon"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "step: is missing"),
        ("step = 3", "must be a table"),
        (
            "[[step]]\nname = 'a'\npartition = 'q'\ncell = 'x'\nepsilon = 1.0\ngranularity = 'bounded'",
            "one of the partitions",
        ),
        (
            "[[step]]\nname = 'a'\npartition = 'q'\ncells = 'all'\nepsilon = 1.0\ngranularity = 'bounded'",
            r"step\.partition: must be one of the partitions \(none\)",
        ),
        (
            "[[partition]]\nname = 'q'\nkind = 'value'\n[[step]]\nname = 'a'\npartition = 'q'\ncells = 'all'",
            "lists no cells",
        ),
        ("[[partition]]\nname = 'p'\nkind = 'value'\ncells = 'all'\n[[step]]\nname = 'a'", "a list or a number"),
        ("[[step]]\nname = 'a'\ncell = 'x'\ncells = ['y']", "stand alone"),
        ("[[step]]\nname = 'a'\nepsilon = 1,5", "decimal comma"),
        ("[[step]\nname = 'a'", "must be TOML"),
    ],
)
def test_single_problems(text, message):
    with pytest.raises(SpecError, match=message):
        parse_pipeline(text)


def test_a_misspelt_partition_is_told_at_its_step():
    text = "[[partition]]\nname = 'gender'\nkind = 'value'\ncells = 2\n[[step]]\nname = 'a'\n[[step]]\nname = 'b'\n"
    with pytest.raises(SpecError) as caught:
        parse_pipeline(text + "partition = 'gendre'\ncells = 'all'\n")
    (problem,) = caught.value.problems
    assert (problem.path, problem.hint) == ("step[2].partition", "Did you mean 'gender'?")


def test_a_wrong_partition_is_told_once():
    text = "[[partition]]\nname = 'p'\nkind = 'valeu'\n[[step]]\nname = 'a'\npartition = 'p'\ncells = 'all'\n"
    with pytest.raises(SpecError) as caught:
        parse_pipeline(text)
    assert [problem.path for problem in caught.value.problems] == ["partition.kind"]


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(SpecError, match="cannot be read"):
        read_pipeline(tmp_path / "none.toml")
    (tmp_path / "large.toml").write_text("#" * 1_000_001)
    with pytest.raises(SpecError, match="at most 1,000,000 bytes"):
        read_pipeline(tmp_path / "large.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SpecError, match="must be UTF-8 text"):
        read_pipeline(tmp_path / "binary.toml")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_can_be_read(path):
    assert account(read_pipeline(path)).totals


# ------------------------------------------------------------------------------------------------------------- commands


def run(*arguments):
    return CliRunner().invoke(app, arguments, standalone_mode=False)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "trips.toml"
    path.write_text(WHOLE)
    return str(path)


def test_account_in_words(file):
    done = run("account", file)
    assert done.return_value == 0
    assert "CLAIM FOLLOWS. Epsilon 3, delta 1e-06 under event" in done.output
    assert "at most 4 cells in a row" not in done.output  # the first total is that of the claim
    assert done.output.rstrip().endswith(f"Next: dpradar lint {file}")


def test_account_as_json(file):
    done = run("account", file, "--json", "--target", "l-trajectory:3", "--m", "10")
    data = json.loads(done.output)
    assert data["schema"] == "dpradar/accounting/2"
    accounting = Accounting.from_dict(data)
    assert [total.granularity for total in accounting.totals][:4] == [
        "event",
        "w-event:4",
        "user:add-remove",
        "l-trajectory:3",
    ]
    assert (
        accounting.assessment.rad.value
        == dr.assess(
            dr.Composed([dr.PureDP(1.75, neighbours="replace-one"), dr.GDP(0.2, neighbours="replace-one")]),
            dr.Threat(dr.Prior.uniform(10)),
        ).rad.value
    )


def test_exit_codes(tmp_path):
    text = (
        "[claim]\ngranularity = 'bounded'\nepsilon = 0.1\n[[step]]\nname = 'a'\nepsilon = 0.2\ngranularity = 'bounded'"
    )
    (tmp_path / "unmet.toml").write_text(text)
    assert run("account", str(tmp_path / "unmet.toml")).return_value == 3
    (tmp_path / "vacuous.toml").write_text("[[step]]\nname = 'a'\n")
    assert run("account", str(tmp_path / "vacuous.toml")).return_value == 4
    assert isinstance(run("account", str(tmp_path / "none.toml")).exception, SpecError)


def test_account_with_a_stream(tmp_path):
    table = tmp_path / "points.csv"
    rows = [f"{user},{time},{(user * time) % 3}" for user in range(5) for time in range(12)]
    table.write_text("\n".join(["user,time,place", *rows]))
    step = "[[step]]\nname = 'a'\nepsilon = 0.1\ngranularity = 'event'"
    text = f"targets = ['user:replace-one']\n[data]\nhidden = 'values'\n{step}"
    (tmp_path / "p.toml").write_text(text)
    done = run("account", str(tmp_path / "p.toml"), "--trajectories", str(table), "--window", "4")
    assert done.return_value == 0
    assert "5 users, 60 points, at most 12 of one user" in done.output
    accounting = Accounting.from_dict(
        json.loads(run("account", str(tmp_path / "p.toml"), "--trajectories", str(table), "--json").output)
    )
    assert accounting.total("user:replace-one").epsilon == pytest.approx(1.2)
    assert accounting.advice.row("user:replace-one").implied == pytest.approx(1.2)
    for more in (["--window", "-3"], ["--window", "0"]):
        wrong = run("account", str(tmp_path / "p.toml"), "--trajectories", str(table), *more)
        assert "at least 1, with --trajectories" in str(wrong.exception)
    wrong = run("account", str(tmp_path / "p.toml"), "--window", "3")
    assert "no --trajectories" in str(wrong.exception)
    (tmp_path / "table.toml").write_text("[[step]]\nname = 'a'\nepsilon = 0.1\ngranularity = 'unbounded'\n")
    done = run("account", str(tmp_path / "table.toml"), "--trajectories", str(table))
    assert "No advice from the trajectories" in done.stderr
    wrong = run("account", str(tmp_path / "p.toml"), "--trajectories", str(table), "--place", "where")
    assert isinstance(wrong.exception, dr.ParameterError)
    table.write_text("user,time,place\n1,noon,a\n")
    wrong = run("account", str(tmp_path / "p.toml"), "--trajectories", str(table))
    assert "'noon' in line 2" in str(wrong.exception)


DEGREES = """
[[partition]]
name = "vertices"
kind = "custom"
cells = 1000
changes = {{ edge = {changed} }}
[[step]]
name = "degree"
partition = "vertices"
cells = "all"
granularity = "edge"
epsilon = {epsilon}
"""


def test_losses_beyond_the_range_of_floats_are_infinite():
    result = account(parse_pipeline(DEGREES.format(changed=2, epsilon=1e308)))
    assert result.total("edge").epsilon == math.inf


@pytest.mark.parametrize("changed", [10**400, 0, -1, 1.5, True, "2"])
def test_how_many_cells_change_is_a_whole_number(changed):
    with pytest.raises(dr.ParameterError, match=r"Partition\.changes must be a whole number at least 1"):
        Partition(name="vertices", kind="custom", changes={"edge": changed})
    if isinstance(changed, int) and not isinstance(changed, bool):
        with pytest.raises(SpecError, match="changes"):
            parse_pipeline(DEGREES.format(changed=changed, epsilon=1.0))
