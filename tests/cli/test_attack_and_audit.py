"""attack, audit and measure on the command line: answers, exit codes, bad input."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys

import numpy as np
import pytest

import dpradar as dr

from .test_assess import process, run

SAMPLERS = """
import numpy as np


def honest(inputs, rng):
    return inputs + rng.laplace(0.0, 1.0, len(inputs))


def half(inputs, rng):
    return inputs + rng.laplace(0.0, 0.5, len(inputs))


def one(value):
    return value + np.random.default_rng().laplace(0.0, 0.5)


def lie(inputs, rng):
    keep = rng.random(len(inputs)) < 0.9
    return np.where(keep, inputs, rng.integers(0, 4, len(inputs)))


def total(data, rng):
    return float(np.sum(data) + rng.laplace(0.0, 0.25))


def broken(inputs, rng):
    raise RuntimeError("secret 4711")


PAIRS = [([1, 2, 3], [1, 2])]
NUMBER = 5
"""

PROGRAM = """
import os, random, sys
random.seed(os.environ["DPRADAR_SEED"])
for line in sys.stdin:
    value = int(line)
    print(value if random.random() < 0.9 else 1 - value)
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "samplers.py").write_text(SAMPLERS, encoding="utf-8")
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    return tmp_path


def test_attack_agrees_with_the_exact_value():
    done = run("attack", "oue", "--m", "50", "--epsilon", "3", "--trials", "50000", "--seed", "1", "--json")
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    assert data["schema"] == "dpradar/attack/2"
    assert set(data["rad"]) == set(data["success"]) == {"estimate", "low", "high"}
    exact = dr.assess(dr.OUE(50, 3.0), dr.Threat(dr.Prior.uniform(50))).rad.value
    assert data["rad"]["low"] <= exact <= data["rad"]["high"]
    again = dr.attack(dr.OUE(50, 3.0), dr.Threat(dr.Prior.uniform(50)), trials=50_000, seed=1)
    assert again.to_dict() == data


def test_whole_numbers_may_have_an_exponent():
    done = [run("attack", "grr", "--m", "3", "--epsilon", "1", "--trials", n, "--seed", "1") for n in ("2e3", "2000")]
    assert done[0].returncode == 0, done[0].stderr
    first, second = (one.stdout.splitlines()[:-1] for one in done)  # the last line repeats what was typed
    assert first == second


@pytest.mark.parametrize("option", ["--m", "--trials"])
def test_numbers_with_too_many_digits_are_refused(option):
    done = run("attack", "grr", "--m", "3", "--epsilon", "1", option, "9" * 400)
    assert done.returncode == 2
    assert "must be a whole number at least" in done.stderr


def test_attack_in_words_can_be_repeated():
    done = run("attack", "laplace", "--scale", "2", "--values", "0:9", "--goal", "within:1", "--trials", "2000")
    assert done.returncode == 0, done.stderr
    command = next(line for line in done.stdout.splitlines() if line.startswith("Repeat it: "))
    again = run(*shlex.split(command.removeprefix("Repeat it: dpradar ")))
    assert again.stdout == done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["oue", "--m", "5", "--epsilon", "1", "--trials", "0"], "attack.trials"),
        (["oue", "--m", "5", "--epsilon", "1", "--seed", "-1"], "attack.seed"),
        (["oue", "--m", "5", "--epsilon", "1", "--confidence", "1"], "attack.confidence"),
        (["oue", "--m", "5", "--epsilon", "1", "--strategy", "report"], "'report' needs reports"),
        (["gdp", "--mu", "1"], "cannot attack 'gdp': it is a promise"),
        (["laplace", "--scale", "1"], "a threat with a prior"),
    ],
)
def test_bad_attacks(arguments, words):
    done = run("attack", *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("more", [[], ["--sequential"]])
def test_audit_refutes_and_says_so_by_its_exit_code(folder, more):
    wrong = run("audit", "samplers.py:half", "--domain", "2", "--claim-epsilon", "1", "--seed", "1", *more, cwd=folder)
    assert wrong.returncode == 5, wrong.stderr
    assert wrong.stdout.startswith("REFUTED")
    assert "Repeat it: dpradar audit" in wrong.stdout
    right = run("audit", "samplers.py:honest", "--domain", "2", "--claim-epsilon", "1", "--seed", "1", cwd=folder)
    assert right.returncode == 0
    assert "does not prove it" in right.stdout


def test_audit_of_a_module_in_a_real_process(folder):
    command = ["-m", "dpradar", "audit", "samplers:half", "--domain", "2", "--claim-epsilon", "1", "--json"]
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 5
    data = json.loads(done.stdout)
    assert data["refuted"] is True
    assert 1.0 < data["epsilon_lower"] <= 2.1
    assert data["schema"] == "dpradar/audit/2"


def test_audit_modes(folder):
    def audit(*arguments):
        done = run("audit", *arguments, "--trials", "20000", "--seed", "1", "--json", cwd=folder)
        assert done.returncode in (0, 5), done.stderr
        return json.loads(done.stdout)

    one = audit("samplers.py:one", "--domain", "2", "--claim-epsilon", "1")
    assert one["refuted"]
    result = audit("samplers.py:lie", "--domain", "4", "--claim-epsilon", "2", "--protocol", "grr")
    assert result["refuted"]
    assert "likelihood ratio of GRR" in result["method"]
    rad = audit("samplers.py:lie", "--domain", "4", "--claim-epsilon", "2", "--protocol", "grr", "--rad")
    assert rad["refuted"]
    assert rad["rad"]["low"] > 0.6
    central = audit(
        "samplers.py:total", "--pairs", "samplers.py:PAIRS", "--neighbours", "add-remove", "--claim-epsilon", "3"
    )
    assert central["refuted"]
    program = audit(f"{sys.executable} program.py", "--program", "--domain", "2", "--claim-epsilon", "1")
    assert program["refuted"]
    assert program["epsilon_lower"] > 2.0
    gdp = audit("samplers.py:half", "--domain", "2", "--claim-mu", "0.5")
    assert gdp["refuted"]


def test_audit_of_a_log(folder):
    rng = np.random.default_rng(1)
    values = rng.integers(0, 2, size=8000)
    reports = np.where(rng.random(8000) < 0.9, values, 1 - values)
    lines = [f"{value},{report}" for value, report in zip(values, reports, strict=True)]
    (folder / "log.csv").write_text("\n".join(["input,output", *lines]) + "\n", encoding="utf-8")
    done = run("audit", "log.csv", "--claim-epsilon", "1", "--seed", "1", "--json", cwd=folder)
    assert done.returncode == 5, done.stderr
    assert json.loads(done.stdout)["trials"] == 8000


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["samplers.py:half", "--claim-epsilon", "1"], "audit.domain"),
        (["samplers.py:half", "--domain", "2"], "--claim-epsilon"),
        (["samplers.py:half", "--domain", "2", "--claim-epsilon", "1", "--claim-mu", "1"], "one of"),
        (
            ["samplers.py:half", "--domain", "2", "--claim-mu", "1", "--claim-delta", "0.1"],
            "given with --claim-epsilon",
        ),
        (["samplers.py:none", "--domain", "2", "--claim-epsilon", "1"], "a name of samplers.py"),
        (["nowhere.py:half", "--domain", "2", "--claim-epsilon", "1"], "TARGET"),
        (["half", "--domain", "2", "--claim-epsilon", "1"], "module:name"),
        (["samplers.py:NUMBER", "--domain", "2", "--claim-epsilon", "1"], "sampler"),
        (["samplers.py:broken", "--domain", "2", "--claim-epsilon", "1"], "RuntimeError"),
        (["samplers.py:total", "--pairs", "samplers.py:PAIRS", "--claim-epsilon", "1"], "--neighbours"),
        (["no.csv", "--claim-epsilon", "1"], "no.csv"),
        (["./missing", "--program", "--domain", "2", "--claim-epsilon", "1"], "missing"),
        (["samplers.py:half", "--domain", "2", "--claim-epsilon", "1", "--protocol", "oue"], "reports of OUE"),
    ],
)
def test_bad_audits(folder, arguments, words):
    done = run("audit", *arguments, cwd=folder)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert "4711" not in done.stderr


def test_measure(tmp_path):
    rows = ["with,without,truth,person"]
    rows += [f"{'a' if k % 4 else 'b'},{'a' if k % 2 else 'b'},a,{k // 2}" for k in range(400)]
    (tmp_path / "log.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    command = ("measure", "log.csv", "--with", "with", "--without", "without", "--truth", "truth")
    done = run(*command, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    assert data["success"]["estimate"] == 0.75
    assert data["rad"]["estimate"] == 0.25
    paired = json.loads(run(*command, "--paired", "--json", cwd=tmp_path).stdout)
    assert paired["rad"]["high"] - paired["rad"]["low"] < data["rad"]["high"] - data["rad"]["low"]
    grouped = json.loads(run(*command, "--paired", "--target", "person", "--json", cwd=tmp_path).stdout)
    assert grouped["trials"] == 200
    words = run(*command, cwd=tmp_path)
    assert "what taking part adds (rad)" in words.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["log.csv", "--with", "x", "--without", "b"], "a column of the file"),
        (["log.csv", "--with", "a", "--without", "b"], "true/false"),
        (["gone.csv", "--with", "a", "--without", "b"], "a readable CSV file"),
        (["log.csv", "--with", "a", "--without", "b", "--truth", "a", "--within", "1"], "numbers"),
    ],
)
def test_bad_measurements(tmp_path, arguments, words):
    (tmp_path / "log.csv").write_text("a,b\nx,y\nz,w\n", encoding="utf-8")
    done = run("measure", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert words in done.stderr


def test_help_names_the_commands():
    done = process("--help")
    assert done.returncode == 0
    assert all(name in done.stdout for name in ("attack", "audit", "measure"))
