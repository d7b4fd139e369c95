"""Small inputs must not cost much, and exit code 1 is for bugs only: what cannot be used is named, with exit code 2."""

import gzip
import os
import resource
import subprocess
import sys

import numpy as np
import pytest

from dpradar import Prior, attack, mechanisms
from dpradar.attacks.attack_runs import attack_job
from dpradar.audits import Samples, audit
from dpradar.cli import main
from dpradar.data.engine import files
from dpradar.errors import ParameterError, SpecError
from dpradar.guarantees import PureDP
from dpradar.numerics import limited_reading
from dpradar.results import load
from dpradar.spec import read
from dpradar.threats import Threat

MEMORY = 3 << 30  # address space, of which libraries take about 1 GB
DIGITS = "1" + "0" * 5_000
LONG = "n" * 300


def dpradar(*arguments, cwd, **options):
    """Run the command line in a process of its own, with little memory."""

    def limited():
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    return subprocess.run(
        [sys.executable, "-m", "dpradar", *arguments],
        cwd=cwd,
        capture_output=True,
        timeout=60,
        preexec_fn=limited,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", **options},
        check=False,
    )


def here(arguments, folder, monkeypatch, capsys):
    """Run the command line in this process: quicker, where it is not about memory."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)  # main changes it
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    output = capsys.readouterr()
    return subprocess.CompletedProcess(arguments, ended.value.code, output.out.encode(), output.err.encode())


def refused(done, *words):
    """Return whether a run ended with exit code 2 and an error that has all the words."""
    error = done.stderr.decode()
    assert done.returncode == 2, error
    assert error.startswith("error: ")
    assert "internal error" not in error
    for word in words:
        assert word in error
    return True


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "sampler.py").write_text("def same(values, rng):\n    return values\n")
    (tmp_path / "digits.toml").write_text(f'[release]\nkind = "grr"\nm = {DIGITS}\nepsilon = 1.0\n')
    return tmp_path


COSTLY = {
    "domain": (["audit", "sampler.py:same", "--claim-epsilon", "1", "--domain", "1000000000"], "1,000,000"),
    "domain of a prior": (
        ["audit", "sampler.py:same", "--claim-epsilon", "1", "--domain", "1000000000", "--rad"],
        "values",
    ),
    "attack": (["attack", "ss", "--m", "1000000", "--epsilon", "1e5"], "50,000"),
    "result": (["report", "/dev/zero"], "device"),
    "prior": (["assess", "grr", "--m", "5", "--epsilon", "1", "--prior", "@/dev/zero"], "device"),
}


@pytest.mark.parametrize("name", COSTLY)
def test_small_numbers_that_would_cost_much_are_refused(name, folder, monkeypatch, capsys):
    arguments, word = COSTLY[name]
    if name in ("domain", "attack"):
        assert refused(dpradar(*arguments, cwd=folder), word)
    else:
        assert refused(here(arguments, folder, monkeypatch, capsys), word)


UNUSABLE = {
    "digits": (["run", "digits.toml"], "digits"),
    "digits of a list": (["assess", "grr", "--m", "2", "--epsilon", "1", "--prior", f"[{DIGITS}]"], "digits"),
    "long name": (["explain", LONG], "name too long"),
    "long name of a log": (["audit", f"{LONG}.csv", "--claim-epsilon", "1"], "name too long"),
    "long name of a new file": (["new", f"{LONG}.toml"], "name too long"),
}


@pytest.mark.parametrize("name", UNUSABLE)
def test_what_cannot_be_used_is_no_bug(name, folder, monkeypatch, capsys):
    arguments, word = UNUSABLE[name]
    assert refused(here(arguments, folder, monkeypatch, capsys), word)


def test_the_same_from_a_shell(folder):
    assert refused(dpradar("explain", LONG, cwd=folder), "name too long")


def test_names_of_files_need_not_be_text(folder):
    name = b"\xff\xfe.toml"
    done = dpradar("new", name, cwd=folder)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"wrote \\udcff\\udcfe.toml" in done.stdout
    assert dpradar("run", name, cwd=folder, PYTHONIOENCODING="ascii").returncode == 0  # signs that ASCII lacks


def test_a_folder_that_was_deleted_is_named(tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    code = f"import os; os.chdir({str(gone)!r}); os.rmdir({str(gone)!r}); from dpradar.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "audit", "sampler:same", "--claim-epsilon", "1", "--domain", "2"],
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert refused(done, "working folder")


# ------------------------------------------------------------------------------------------------------ in the process


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path):
    bomb = tmp_path / "bomb.csv.gz"
    with gzip.open(bomb, "wb") as file:
        file.write(b"input,output\n")
        for _ in range(20):
            file.write(b"0,0\n" * 1_250_000)
    assert bomb.stat().st_size < 200_000
    with pytest.raises(ParameterError, match="64,000,000"):
        Samples.read(bomb, "input", "output")


def test_honest_tables_are_read_from_gzip(tmp_path):
    file = tmp_path / "log.csv.gz"
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 2, size=(5_000, 2))
    file.write_bytes(gzip.compress(("input,output\n" + "".join(f"{a},{b}\n" for a, b in rows)).encode()))
    with limited_reading.open_table(file) as lines:
        assert sum(1 for _ in lines) == 5_001


def test_a_line_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(limited_reading, "MOST_LINE", 1_000)
    (tmp_path / "a.csv").write_text("1,2\n" * 2_000_000)  # several blocks, short lines
    with limited_reading.open_table(tmp_path / "a.csv") as lines:
        assert sum(1 for _ in lines) == 2_000_000
    (tmp_path / "b.csv").write_text("1," * 1_000_000)
    with (
        pytest.raises(OSError, match="a line of more than 1,000 bytes"),
        limited_reading.open_table(tmp_path / "b.csv") as lines,
    ):
        next(lines)


def test_damaged_gzip_is_told(tmp_path):
    whole = gzip.compress(os.urandom(1_000))
    (tmp_path / "a.gz").write_bytes(whole[:500])
    with pytest.raises(OSError, match="damaged"), limited_reading.open_table(tmp_path / "a.gz") as lines:
        list(lines)


@pytest.mark.parametrize("name", ["a\0b", "/dev/zero", "."])
def test_no_name_raises_anything_but_an_error_of_ours(name):
    with pytest.raises(ParameterError):
        load(name)
    with pytest.raises(SpecError):
        read(name)


def test_devices_are_no_files_but_pipes_are(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen([sys.executable, "-c", f"open({str(pipe)!r}, 'w').write('text')"]):
        assert limited_reading.read_text(pipe) == "text"


def test_a_home_that_nobody_has():
    with pytest.raises(ParameterError, match="home folder"):
        files("~nobody-of-this-name/table.csv")


def test_campaigns_may_take_as_long_as_they_like():
    what, threat = mechanisms.OUE(m=1_000, epsilon=1.0), Threat(Prior.uniform(1_000))
    with pytest.raises(ParameterError, match="at most 50,000,000 for 1,000 values"):
        attack(what, threat, trials=50_000_001)
    assert attack_job(what, threat, trials=50_000_001).pieces.total == 50_000_001


def test_the_largest_domain_of_an_audit():
    with pytest.raises(ParameterError, match="at most 1,000,000 values"):
        audit(lambda values, rng: values, claim=PureDP(1.0, neighbours="replace-one"), domain=1_000_001)
