"""Files of somebody else: whatever they hold, opening, showing, exporting and resuming them runs no code of theirs."""

from __future__ import annotations

import json
import os
import pickle
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from dpradar import campaigns
from dpradar.campaigns.store import Store
from dpradar.errors import DpradarError, ParameterError
from tests import saved
from tests.cli.test_assess import run
from tests.present.samples import poisoned

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src" / "dpradar"
REPRODUCTION = ROOT / "reproduction" / "src" / "dpradar_reproduction"
SAMPLER = """
import numpy as np
def grr(inputs, rng):
    return np.where(rng.random(len(inputs)) < 0.5, inputs, rng.integers(0, 3, len(inputs)))
"""
AUDIT = 'run = [{do = "audit", sampler = "SAMPLER", kind = "grr", m = 3, epsilon = 2.0, trials = 500, seed = 1}]'


class Payload:
    """Leaves a trace when it is unpickled."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self):
        return os.mkdir, (str(self.trace),)


@pytest.fixture
def trace(tmp_path):
    """Where code that ran leaves a trace; none may be there at the end."""
    path = tmp_path / "trace"
    yield path
    assert not path.exists()


def test_the_payloads_work(tmp_path):
    """Else the absence of a trace would say nothing."""
    pickle.loads(pickle.dumps(Payload(tmp_path / "one")))  # noqa: S301
    (tmp_path / "payload.py").write_text(f"import os\nos.mkdir({str(tmp_path / 'two')!r})\n")
    done = subprocess.run([sys.executable, str(tmp_path / "payload.py")], check=True)
    assert done.returncode == 0
    assert (tmp_path / "one").exists()
    assert (tmp_path / "two").exists()


# ------------------------------------------------------------------------------------------------------------- stores


def finished_campaign(folder, sampler="samplers.py:grr"):
    """Return the store of a campaign that names a sampler, and the campaign; then the sampler is replaced."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "samplers.py").write_text(SAMPLER)
    file = folder / "campaign.toml"
    file.write_text(AUDIT.replace("SAMPLER", sampler))
    store = folder / "campaign.sqlite"
    with ThreadPoolExecutor(1) as thread:
        assert campaigns.run(campaigns.read(file), store, executor=thread).done
    return store, file


def hostile(store, trace, module="samplers.py"):
    """Let the code that a store names leave a trace, and let there be something to compute."""
    (store.parent / module).parent.mkdir(exist_ok=True)
    (store.parent / module).write_text(f"import os\nos.mkdir({str(trace)!r})\n" + SAMPLER)
    with Store(store) as opened, opened.writing():
        for table in ("answer", "plan", "shard"):
            opened.execute_many(f"DELETE FROM {table}", [()])  # noqa: S608


@pytest.mark.parametrize("command", ["status", "resume", "export"])
def test_a_store_runs_no_code(tmp_path, trace, command):
    store, _ = finished_campaign(tmp_path / "theirs")
    hostile(store, trace)
    more = {"export": ("--out", str(tmp_path / "out.csv")), "resume": ("--workers", "1")}
    done = run("campaign", command, str(store), *more.get(command, ()))
    assert done.returncode == (2 if command == "resume" else 0)
    if command == "resume":
        assert done.stderr.startswith("error: the campaign file must be given, because the text in the store names co")
        assert "--trust-store" in done.stderr


@pytest.mark.parametrize("sampler", ["samplers:grr", "inner.samplers:grr"])
def test_a_store_that_names_a_module(tmp_path, trace, sampler, monkeypatch):
    """Also what finds a module imports nothing: neither it nor the package around it."""
    store, file = finished_campaign(tmp_path / "theirs")
    text = AUDIT.replace("SAMPLER", sampler)
    with Store(store) as opened, opened.writing():
        opened.set_metadata(campaign=text)
    hostile(store, trace)
    hostile(store, trace, "inner/__init__.py")
    hostile(store, trace, "inner/samplers.py")
    monkeypatch.chdir(store.parent)
    with pytest.raises(ParameterError, match="names code or files"):
        campaigns.resume(store)
    file.write_text(text)
    question = campaigns.read(file).runs[0].question(file.parent)
    assert question.file_digests().keys() == {"sampler"}
    assert "inner" not in sys.modules


def test_a_campaign_whose_code_has_changed(tmp_path, trace):
    """The campaign is named, but its sampler is not the one that the store was started with."""
    store, file = finished_campaign(tmp_path / "ours")
    hostile(store, trace)
    done = run("campaign", "resume", str(store), str(file), "--workers", "1")
    assert done.returncode == 2
    assert "the file of sampler has changed" in done.stderr


@pytest.mark.parametrize("named", [True, False])
def test_a_store_that_is_trusted(tmp_path, named):
    """The other way round: what is asked for is done."""
    store, file = finished_campaign(tmp_path / "ours")
    with Store(store) as opened:
        answers = opened.answers()
        with opened.writing():
            opened.execute_many("DELETE FROM answer", [()])
    with ThreadPoolExecutor(1) as thread:
        campaign = campaigns.read(file) if named else None
        assert campaigns.resume(store, campaign, trust_store=not named, executor=thread).done
    with Store(store) as opened:
        assert opened.answers() == answers


def test_a_campaign_of_other_runs_is_not_that_of_the_store(tmp_path):
    store, file = finished_campaign(tmp_path / "ours")
    for old, new in (("trials = 500", "trials = 600"), ("epsilon = 2.0", "epsilon = 1.0")):
        file.write_text(AUDIT.replace("SAMPLER", "samplers.py:grr").replace(old, new))
        with pytest.raises(ParameterError, match="the campaign must be"):
            campaigns.resume(store, campaigns.read(file))


def test_a_campaign_without_code_goes_on_by_itself(tmp_path):
    campaign = campaigns.parse('run = [{do = "assess", kind = "grr", m = 4, epsilon = 2.0}]')
    with ThreadPoolExecutor(1) as thread:
        first = campaigns.run(campaign, tmp_path / "c.sqlite", executor=thread)
        again = campaigns.resume(tmp_path / "c.sqlite", executor=thread)
    assert again.runs == first.runs


# -------------------------------------------------------------------------------------------------------- saved results


def texts(trace):
    """Return texts that some program or other would run."""
    run_it = f"__import__('os').mkdir('{trace}')"
    yield f"{{{{ cycler.__init__.__globals__.os.mkdir('{trace}') }}}}"
    yield f"{{% for x in ().__class__.__base__.__subclasses__() %}}{run_it}{{% endfor %}}"
    yield f"{{0.__class__}} %s %(x)s {run_it}"
    yield f"!!python/object/apply:os.mkdir ['{trace}']"
    yield f"$(mkdir {trace}) `mkdir {trace}`"
    yield f"</style></script><script>{run_it}</script><img src=x onerror={run_it}>"


@pytest.mark.parametrize("name", ["exact", "attack", "refuted", "calibration", "kept", "accounting", "lint", "groups"])
def test_texts_of_a_saved_result_are_only_shown(name, tmp_path, trace):
    for poison in texts(trace):
        file = tmp_path / "result.json"
        file.write_text(json.dumps(poisoned(saved.results()[name], poison).to_dict()))
        assert run("explain", str(file)).returncode == 0
        page = tmp_path / "result.html"
        assert run("report", str(file), "--out", str(page), "--out", str(tmp_path / "result.md")).returncode == 0
        assert "<img src=x" not in page.read_text(encoding="utf-8")


# ---------------------------------------------------------------------------------------------- pickles in every place


def commands(file):
    """Return a command for every kind of file that is read."""
    yield ("explain", file)
    yield ("report", file)
    yield ("run", file)
    yield ("account", file)
    yield ("lint", file)
    yield ("measure", file, "--with", "a", "--without", "b")
    yield ("correlate", "--data", file, "--column", "x", "--epsilon", "1")
    yield ("campaign", "run", file)
    yield ("campaign", "status", file)
    yield ("campaign", "resume", file)
    yield ("campaign", "export", file, "--out", "out.csv")
    yield ("assess", "register", file, "--m", "3")
    yield ("assess", "grr", "--m", "3", "--epsilon", "1", "--prior", f"@{file}")
    yield ("assess", "grr", "--epsilon", "1", "--data", file, "--columns", "x")
    yield ("assess", "grr", "--epsilon", "1", "--records", file)
    yield ("assess", "channel", "--matrix", file)
    yield ("audit", file, "--claim-epsilon", "1")


@pytest.mark.parametrize(
    "name", ["a.json", "a.toml", "a.csv", "a.parquet", "a.sqlite", "a.npz", "a.npy", "a.pkl", "a.pt", "a.csv.gz"]
)
def test_a_pickle_by_any_name(name, tmp_path, trace, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with Path(name).open("wb") as file:
        if name.endswith("npz"):
            np.savez(file, known_x=np.array([Payload(trace)], dtype=object))
        elif name.endswith("npy"):
            np.save(file, np.array([Payload(trace)], dtype=object))
        else:
            pickle.dump(Payload(trace), file)
    for arguments in commands(name):
        done = run(*arguments)
        assert done.returncode == 2, (arguments, done)


def test_a_pickle_as_data_of_a_training(tmp_path, trace):
    with (tmp_path / "data.npz").open("wb") as file:
        np.savez(file, **{name: np.array([Payload(trace)] * 3) for name in ("known_x", "known_y", "x", "y")})
    (tmp_path / "c.toml").write_text(
        'run = [{do = "learning", data = "data.npz", network = [2, 2], steps = 1, clip = 1.0, noise_multiplier = 1.0,'
        " learning_rate = 0.1, trials = 2}]"
    )
    with ThreadPoolExecutor(1) as thread:
        done = campaigns.run(campaigns.read(tmp_path / "c.toml"), tmp_path / "c.sqlite", executor=thread)
    assert "a file .npz with records" in done.runs[0].reason


def test_a_pickle_as_evidence(tmp_path, trace):
    (tmp_path / "audit.json").write_bytes(pickle.dumps(Payload(trace)))
    (tmp_path / "s.toml").write_text(
        'release = {kind = "grr", m = 4, epsilon = 1.0}\nevidence = {results = ["audit.json"]}\n'
    )
    assert run("run", str(tmp_path / "s.toml")).returncode == 2


# --------------------------------------------------------------------------------------------------- names of plug-ins


@pytest.mark.parametrize("name", ["payload", "payload:thing", "payload.thing", "./payload.py:thing"])
def test_names_that_are_looked_up_import_nothing(name, tmp_path, trace, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    Path("payload.py").write_text(f"import os\nos.mkdir({str(trace)!r})\n")
    Path("s.toml").write_text(f'[release]\nkind = "{name}"\nepsilon = 1.0\n')
    Path("p.toml").write_text(f'[[step]]\nname = "{name}"\nepsilon = 1.0\ngranularity = "{name}"\n')
    Path("c.toml").write_text(f'[[run]]\ndo = "{name}"\nkind = "{name}"\n')
    for arguments in (
        ("run", "s.toml"),
        ("account", "p.toml"),
        ("campaign", "run", "c.toml"),
        *((command, name) for command in ("assess", "attack", "calibrate", "explain", "reproduce")),
    ):
        assert run(*arguments).returncode == 2, arguments


def test_modules_beside_a_file_are_not_imported(tmp_path, trace):
    """A folder of somebody else has modules that are called like ours and like those that we import."""
    for name in ("numpy", "scipy", "click", "duckdb", "ibis", "jinja2", "matplotlib", "psutil", "dpradar", "json"):
        (tmp_path / f"{name}.py").write_text(f"import os\nos.mkdir({str(trace)!r})\n")
    (tmp_path / "t.csv").write_text("x\na\nb\nb\n")
    (tmp_path / "s.toml").write_text(
        '[release]\nkind = "grr"\nm = 2\nepsilon = 1.0\n[threat]\ndata = "t.csv"\ncolumns = ["x"]\n'
    )
    command = [sys.executable, "-P", "-m", "dpradar", "run", "s.toml", "--report", "r.html"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "r.html").exists()


def test_nothing_in_the_sources_can_run_what_it_reads():
    """Only what is named on the command line or in a campaign is imported; nothing is unpickled or evaluated."""
    forbidden = re.compile(
        r"\b(pickle|marshal|shelve|joblib|cloudpickle|yaml)\b.*\bloads?\(|torch\.load\(|read_pickle|allow_pickle=True"
        r"|(?<![\w.])(eval|exec|compile)\(|os\.system|shell=True"
    )
    lines = [
        f"{file.relative_to(ROOT)}: {line.strip()}"
        for file in (*SOURCES.rglob("*.py"), *REPRODUCTION.rglob("*.py"))
        for line in file.read_text(encoding="utf-8").splitlines()
        if forbidden.search(line)
    ]
    assert lines == []
    users = {
        str(file.relative_to(SOURCES if SOURCES in file.parents else ROOT))
        for file in (*SOURCES.rglob("*.py"), *REPRODUCTION.rglob("*.py"))
        if re.search(r"\bimport_object\(", file.read_text(encoding="utf-8"))
    }
    assert users == {
        "audits/import_by_name.py",
        "campaigns/sharded_runs.py",
        "cli/audit.py",
        "cli/lint.py",
        "cli/sampler_options.py",
    }


def test_an_error_of_a_store_is_one_of_ours(tmp_path):
    (tmp_path / "a.sqlite").write_bytes(b"\x80\x04\x95")
    with pytest.raises(DpradarError):
        campaigns.status(tmp_path / "a.sqlite")
