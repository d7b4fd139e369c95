"""Campaign files: grids written out, all problems at once, each where it stands; and what people see of a store."""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from click.testing import CliRunner

import dpradar as dr
from dpradar import campaigns
from dpradar.campaigns.campaign_tables import ACTIONS
from dpradar.cli.campaign import campaign_command
from dpradar.cli.main import main

EXAMPLES = Path(__file__).parents[2] / "examples" / "campaigns"


def problems(text, folder=None):
    with pytest.raises(dr.SpecError) as error:
        campaigns.parse(text, folder=folder)
    return [str(problem) for problem in error.value.problems]


GRR = 'do = "attack"\nkind = "grr"\nm = 5\nepsilon = 1.0\n'


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("", "run: is missing: it must be a table."),
        ("run = 3", "run: must be [[run]] tables; got 3. Write [[run]]."),
        ("[[run]]\n", f"run.do: must be one of {', '.join(ACTIONS)}; got nothing."),
        ("titel = 'x'\n[[run]]\n" + GRR, "titel: is not a key of this table. Did you mean 'title'?"),
        ("[[run]]\n" + GRR + "trails = 5", "run.trails: is not a key of this table. Did you mean 'trials'?"),
        (
            "[[run]]\n" + GRR + "trials = '5'",
            "run.trials: must be a whole number at least 1 and at most 1e+12; got '5'.",
        ),
        ("[[run]]\n" + GRR + "seed = -1", "run.seed: must be a whole number at least 0; got -1."),
        ("[[run]]\n" + GRR + f"seed = {10**50}", "run.seed: must be at most 1e38; got a larger number"),
        ("[[run]]\n" + GRR + "grid = 3", "run.grid: must be a table of lists; got 3."),
        ("[[run]]\n" + GRR + "grid = { m = 3 }", "run.grid.m: must be a list with at least one value; got 3."),
        ("[[run]]\n" + GRR + "grid = { m = [] }", "run.grid.m: must be a list with at least one value; got []."),
        ("[[run]]\n" + GRR + "grid = { do = ['audit'] }", "run.grid.do: cannot be varied. Write another [[run]]."),
        ("[[run]]\n" + GRR + "grid = { x = [1] }", "run.grid.x: is not a key of this table."),
        (
            "[[run]]\n" + GRR + f"grid = {{ m = {list(range(2, 202))}, epsilon = {[0.1] * 51} }}",
            "run.grid: must lead to at most 10,000 runs; got 10,200.",
        ),
        ("[[run]]\ndo = 'attack'\nkind = 'gdp'", "run.kind: must be one of grr, sue,"),
        (
            "[[run]]\ndo = 'attack'\nkind = 'laplace'\nscale = 1.0",
            "run.prior: must be given: targets are drawn from it",
        ),
        ("[[run]]\ndo = 'audit'\nkind = 'laplace'\nscale = 1.0", "run.kind: must be one of grr,"),
        (
            "[[run]]\ndo = 'audit'\nsampler = 'a:b'\ndomain = 3",
            "run.claim_epsilon: must be given, or one of run.claim_mu,",
        ),
        (
            "[[run]]\ndo = 'audit'\nsampler = 'a:b'\ndomain = 3\nclaim_rho = 1.0\nclaim_delta = 0.1",
            "run.claim_delta: must be given with run.claim_epsilon; got run.claim_rho.",
        ),
        (
            "[[run]]\ndo = 'audit'\nsampler = 'a:b'\ndomain = 3\nclaim_mu = 1.0\ntest = 'likelihood'",
            "run.test: must be 'rad' or 'search' without a kind; got 'likelihood'.",
        ),
        ("[[run]]\ndo = 'audit'\nclaim_epsilon = 1.0", "run.domain: is missing: it must be a whole number at least 2."),
        ("[[run]]\ndo = 'calibrate'\nkind = 'grr'\nm = 3", "run.limits: is missing: it must be a table such as"),
        (
            "[[run]]\ndo = 'calibrate'\nkind = 'grr'\nm = 3\nlimits = { rat = 0.1 }",
            "run.limits.rat: is not a key of this table. Did you mean 'rad'?",
        ),
        (
            "[[run]]\ndo = 'calibrate'\nkind = 'grr'\nm = 3\nfree = 'm'\nlimits = { rad = 0.1 }",
            "run.free: must be one of",
        ),
        ("[[run]]\ndo = 'learning'\ndata = 'a.npz'", "run.network: is missing"),
        ("[[run]]\ndo = 'assess'\nkind = 'dp'\nepsilon = 1.0", "run.neighbours: must be 'replace-one' or 'add-remove'"),
        (
            "[[run]]\n" + GRR.replace("1.0", "1,0"),
            "line 5: must be TOML. It has a decimal comma. Write it with a point",
        ),
    ],
)
def test_problems_are_told_where_they_are(text, start):
    messages = problems(text)
    assert any(problem.startswith(start) for problem in messages), messages


def test_all_problems_at_once_and_each_once():
    text = '[[run]]\ndo = "attack"\nkind = "grr"\nm = 1\n[run.grid]\nepsilon = [1.0, -2, -3]\n[[run]]\ndo = "x"\n'
    messages = problems(text)
    assert [problem.split(":")[0] for problem in messages] == [
        "run[1].m",
        "run[1].grid.epsilon",
        "run[1].grid.epsilon",
        "run[2].do",
    ]


def test_without_a_folder_no_code_is_named():
    text = "[[run]]\ndo = 'audit'\nsampler = 'os:system'\ndomain = 2\nclaim_epsilon = 1.0"
    assert problems(text) == [
        "run.sampler: must be given without a file; got 'os:system'. No file is read here: give the numbers themselves."
    ]


def test_a_grid_is_the_product_of_its_lists():
    campaign = campaigns.parse("[[run]]\n" + GRR + "grid = { kind = ['grr', 'oue'], epsilon = [1, 2.0], m = [3] }")
    options = [(run.options["kind"], run.options["epsilon"], run.options["m"]) for run in campaign.runs]
    assert options == [("grr", 1.0, 3), ("grr", 2.0, 3), ("oue", 1.0, 3), ("oue", 2.0, 3)]
    assert len({run.seed for run in campaign.runs}) == 4


@pytest.mark.parametrize("file", ["protocols.toml", "audits.toml"])
def test_examples_are_sound(file):
    campaign = campaigns.read(EXAMPLES / file)
    assert campaign.title
    if file == "audits.toml":
        assert {(run.options["m"], run.options["trials"]) for run in campaign.runs} == {(3052, 10_000_000)}


@pytest.fixture
def store(tmp_path):
    text = """
    title = "two runs"
    [[run]]
    do = "attack"
    kind = "grr"
    m = 5
    trials = 1000
    seed = 1
    grid = { epsilon = [1.0, 2.0] }
    [[run]]
    do = "audit"
    kind = "grr"
    m = 5
    epsilon = 1.0
    trials = 1000
    seed = 1
    """
    with ThreadPoolExecutor(1) as thread:
        campaigns.run(campaigns.parse(text), tmp_path / "two.sqlite", executor=thread)
    return tmp_path / "two.sqlite"


def command(*arguments):
    return CliRunner().invoke(campaign_command, list(map(str, arguments)), catch_exceptions=False)


def test_status_for_people_and_for_programs(store):
    lines = command("status", store).output.splitlines()
    assert lines[0] == "two runs"
    assert lines[2].startswith("attack grr, epsilon 1                                 1 of 1  done     rad ")
    assert lines[4].startswith(
        "audit grr                                             1 of 1  done     claim not refuted;"
    )
    assert lines[-1] == "3 of 3 runs are done."
    answer = json.loads(command("status", store, "--json").output)
    assert answer["schema"] == "dpradar/campaign/1"
    assert answer["versions"]["dpradar"] == dr.__version__
    assert [run["result"]["schema"] for run in answer["runs"]] == ["dpradar/attack/2"] * 2 + ["dpradar/audit/2"]


def test_export_as_csv_and_parquet_says_the_same(store, tmp_path):
    duckdb = pytest.importorskip("duckdb")
    answer = json.loads(command("export", store, "--out", tmp_path / "a b'c.parquet", "--json").output)
    assert answer == {"schema": "dpradar/campaign-export/1", "file": str(tmp_path / "a b'c.parquet"), "rows": 3}
    assert command("export", store, "--out", tmp_path / "runs.csv").output == f"wrote {tmp_path}/runs.csv: 3 rows\n"
    columns = "number, kind, epsilon, m, rad, rad_low, rad_high, refuted, epsilon_lower, trials, seed, version_numpy"
    with duckdb.connect() as base:
        table = base.read_parquet(str(tmp_path / "a b'c.parquet"))
        parquet = table.project(columns).fetchall()
        csv = base.read_csv(str(tmp_path / "runs.csv")).project(columns).fetchall()
        kinds = dict(zip(table.columns, map(str, table.types), strict=True))
    assert parquet == csv
    assert (kinds["seed"], kinds["rad"], kinds["refuted"]) == ("BIGINT", "DOUBLE", "BOOLEAN")
    runs = campaigns.status(store).runs
    assert [row[4:7] for row in parquet[:2]] == [
        (run.result.rad.estimate, run.result.rad.low, run.result.rad.high) for run in runs[:2]
    ]
    assert parquet[2][7:9] == (False, runs[2].result.epsilon_lower)


@pytest.mark.parametrize("out", ["runs.txt", "no folder/runs.csv"])
def test_files_that_cannot_be_exported_to(store, tmp_path, out):
    with pytest.raises(dr.ParameterError, match="--out must be a file that"):
        campaigns.export(store, tmp_path / out)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["two.sqlite"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["status", "none.sqlite"], "error: the store none.sqlite cannot be used: there is no such file."),
        (["run", "none.toml"], "error: none.toml has a problem:"),
        (["stop"], "error: No such command 'stop'"),
    ],
)
def test_mistakes_on_the_command_line(arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as end:
        main(["campaign", *arguments])
    assert end.value.code == 2
    assert capsys.readouterr().err.startswith(message)
    assert list(tmp_path.iterdir()) == []


def test_dask_that_is_not_installed(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    campaign = campaigns.parse('run = [{do = "assess", kind = "grr", m = 4, epsilon = 1.0}]')
    with pytest.raises(dr.MissingExtra, match=r'pip install "dpradar\[cluster\]"'):
        campaigns.run(campaign, tmp_path / "a.sqlite", executor="dask://127.0.0.1:8786")


@pytest.mark.parametrize("options", [{"executor": 3}, {"workers": 0}, {"workers": 1.5}])
def test_crews_that_are_none(tmp_path, options):
    campaign = campaigns.parse('run = [{do = "assess", kind = "grr", m = 4, epsilon = 1.0}]')
    with pytest.raises(dr.ParameterError, match=rf"campaign\.{next(iter(options))} must be"):
        campaigns.run(campaign, tmp_path / "a.sqlite", **options)
