"""Long work says how far it is, can be silenced, and can be interrupted with what is known."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import replace

import pytest

import dpradar as dr
from dpradar.cli.main import COMMANDS
from dpradar.cli.progress import INTERVAL
from dpradar.errors import AssessmentInterrupted
from dpradar.threats import Measured
from tests.cli.test_assess import run

DPRADAR = [sys.executable, "-m", "dpradar"]
OFTEN = {**os.environ, INTERVAL: "0.05"}
# Minutes of work in one exact engine.
LONG = ["assess", "laplace", "--scale", "30", "--values", "0:2990", "--goal", "within:30"]
SPEC = """
release = { kind = "laplace", scale = 30.0 }
threat = { values = "0:2990", goal = "within:30" }
"""
COUNTED = ["attack", "grr", "--m", "10", "--epsilon", "1", "--trials", "1e6", "--seed", "1"]


def interrupted_at(pattern, arguments, folder):
    """Run a command until a line of its progress matches, send SIGINT, and return exit code, output and errors."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "cwd": folder, "env": OFTEN}
    with subprocess.Popen([*DPRADAR, *arguments], **pipes) as process:
        try:
            for line in process.stderr:
                if re.search(pattern, line):
                    break
            else:
                pytest.fail(f"no line of progress matches {pattern!r}")
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert "Traceback" not in err
    return process.returncode, out, err


def test_an_interrupted_assessment_shows_its_bounds(tmp_path):
    code, out, err = interrupted_at(r"^assess: rule \d+ of \d+, exact-line \(\d+ s elapsed\)$", LONG, tmp_path)
    assert code == 130
    assert out.startswith("INCOMPLETE. Interrupted after ")
    assert "They hold; the other rules may give tighter ones" in out
    assert "tightest" not in out
    assert re.search(r"^  rad +at most 0\.\d+ \(", out, re.MULTILINE)
    assert "error: interrupted before every rule was run\n" in err


def test_an_interrupted_assessment_as_json(tmp_path):
    code, out, _ = interrupted_at("exact-line", [*LONG, "--json"], tmp_path)
    answer = json.loads(out)
    assert (code, answer["complete"], answer["exit"]) == (130, False, 130)
    assert answer["schema"] == "dpradar/assessment-incomplete/1"
    assert 0 < answer["rules_run"] < answer["rules"]
    # What the guarantee promises on its own is among the rules that were run, and holds for the mechanism.
    promise = dr.assess(dr.PureDP(2990 / 30, neighbours="replace-one"), dr.Threat(dr.Prior.uniform(2991)))
    assert answer["bounds"]["worst_gain"]["value"] == pytest.approx(promise.worst_gain.value)
    assert all(bound["side"] == "upper" for bound in answer["bounds"].values())


@pytest.mark.parametrize("command", ["run", "calibrate"])
def test_interrupted_before_there_is_an_answer(command, tmp_path):
    (tmp_path / "s.toml").write_text(SPEC)
    arguments = {"run": ["run", "s.toml"], "calibrate": ["calibrate", "laplace", *LONG[4:], "--limit", "rad=0.1"]}
    pattern = {"run": "^run: threat 1 of 1, rule .* exact-line", "calibrate": "^calibrate"}
    code, out, err = interrupted_at(pattern[command], arguments[command], tmp_path)
    assert (code, out) == (130, "")
    assert err.splitlines()[-1] == "error: interrupted before there was a result"


def test_counted_work_says_how_much_is_done():
    done = subprocess.run([*DPRADAR, *COUNTED], capture_output=True, text=True, check=True, env={**OFTEN})
    lines = done.stderr.splitlines()
    assert lines
    assert all(re.fullmatch(r"attack(: [\d,]+ of 1,000,000)? \(\d+ s elapsed\)", line) for line in lines)
    assert any("of 1,000,000" in line for line in lines)


def test_quiet_work_says_nothing():
    loud = subprocess.run([*DPRADAR, *COUNTED, "--json"], capture_output=True, text=True, check=True, env=OFTEN)
    quiet = subprocess.run(
        [*DPRADAR, *COUNTED, "--json", "--quiet"], capture_output=True, text=True, check=True, env=OFTEN
    )
    assert loud.stderr
    assert quiet.stderr == ""
    assert json.loads(quiet.stdout)["rad"] == json.loads(loud.stdout)["rad"]


def test_quiet_work_still_reports_errors():
    done = run("assess", "grr", "--m", "1", "--epsilon", "1", "--quiet")
    assert done.returncode == 2
    assert done.stderr.startswith("error: --m must be a whole number at least 2")


def test_quick_work_says_nothing():
    done = run("assess", "grr", "--m", "10", "--epsilon", "1")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf", "often"])
def test_an_interval_that_is_none(seconds):
    """Falls back to the default, so that quick work prints nothing and nothing fails."""
    command = [*DPRADAR, "assess", "grr", "--m", "10", "--epsilon", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, INTERVAL: seconds})
    assert done.stderr == ""


def test_a_bar_at_a_terminal():
    """The bar has the same text, and the answer follows it."""
    ours, theirs = os.openpty()
    with subprocess.Popen(
        [*DPRADAR, *LONG], stdout=subprocess.PIPE, stderr=theirs, env={**OFTEN, "TERM": "xterm"}
    ) as p:
        os.close(theirs)
        screen = b""
        while b"exact-line" not in screen:
            screen += os.read(ours, 4096)
        p.send_signal(signal.SIGINT)
        out, _ = p.communicate(timeout=60)
    os.close(ours)
    assert b"assess: rule" in screen
    assert out.startswith(b"INCOMPLETE")
    assert p.returncode == 130


LONG_COMMANDS = ["run", "audit", "measure", "correlate", "account", "lint", "reproduce"]


@pytest.mark.parametrize(
    "arguments",
    [
        *([name] for name in LONG_COMMANDS),
        *([name, "laplace"] for name in ("assess", "calibrate", "attack")),
        *(["campaign", name] for name in ("run", "resume")),
    ],
)
def test_commands_that_take_long_can_be_quiet(arguments):
    assert arguments[0] in COMMANDS
    assert "  --quiet" in run(*arguments, "--help").stdout


# ----------------------------------------------------------------------------------------------------------- in Python


def test_assess_reports_every_rule():
    lines = []
    dr.assess(dr.GRR(m=10, epsilon=1.0), dr.Threat(dr.Prior.uniform(10)), progress=lines.append)
    counts = [re.match(r"rule (\d+) of (\d+), \S+$", line) for line in lines[:-1]]
    assert [int(match[1]) for match in counts] == list(range(1, len(lines)))
    assert {int(match[2]) for match in counts} == {len(lines) - 1}


def test_what_progress_raises_ends_the_assessment():
    def cancel(_):
        raise RuntimeError("cancelled")

    with pytest.raises(RuntimeError, match="cancelled"):
        dr.assess(dr.GRR(m=10, epsilon=1.0), progress=cancel)


def interrupt_at_rule(number):
    def progress(text):
        if text.startswith(f"rule {number} of"):
            raise KeyboardInterrupt

    return progress


@pytest.mark.parametrize("number", [1, 5, 20, 36])
def test_bounds_of_an_interrupted_assessment_hold(number):
    question = (
        dr.GRR(m=10, epsilon=1.0),
        dr.Threat(dr.Prior.of([0.3, 0.2, 0.1, 0.1, 0.1, 0.05, 0.05, 0.04, 0.03, 0.03])),
    )
    complete = dr.assess(*question)
    with pytest.raises(AssessmentInterrupted) as interrupted:
        dr.assess(*question, progress=interrupt_at_rule(number))
    assert interrupted.value.rules_run == number - 1
    partial = interrupted.value.partial
    for name, bound in partial.bounds.items():
        assert bound is None or bound.value >= complete.bounds[name].value - 1e-12
    assert (partial.rad is None) is (number == 1)


def test_bounds_for_a_counted_prior_are_not_shown_unrounded():
    measured = Measured(rows=1000, cells=2, distance=0.0, confidence=None)
    prior = replace(dr.Prior.of([0.617, 0.383]), measured=measured)
    with pytest.raises(AssessmentInterrupted) as interrupted:
        dr.assess(dr.GRR(m=2, epsilon=1.0), dr.Threat(prior), progress=interrupt_at_rule(20))
    assert interrupted.value.partial is None
