"""Damaged files of every kind that is read: saved results, specs, registers, pipelines, campaigns, tables."""

from __future__ import annotations

import base64
import functools
import json
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import consistency, mutations
from ..command import Outcome, called
from ..verdicts import FINE, Question, Verdict
from ..written import Body

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[3]
COMMANDS = {
    "spec": [["run", "{file}", "--json"], ["run", "{file}", "--check"], ["run", "{file}", "--report", "r.md"]],
    "register": [["assess", "register", "--file", "{file}", "--m", "4", "--json"]],
    "pipeline": [["account", "{file}", "--json"], ["lint", "{file}", "--json"], ["account", "{file}", "--report",
    "r.md"]],
    "campaign": [["campaign", "run", "{file}", "--store", "s.sqlite", "--workers", "1", "--json"]],
    "guesses": [["measure", "{file}", "--with", "a", "--without", "b", "--json"], ["measure", "{file}", "--with",
    "a", "--without", "b", "--truth", "t", "--json"]],
    "groups": [["correlate", "{file}", "--group", "g", "--value", "v", "--epsilon", "1", "--clip", "0:5", "--json"]],
    "table": [["assess", "grr", "--epsilon", "1", "--data", "{file}", "--columns", "x,y", "--json"]],
}  # fmt: skip
RESULT = [
    ["explain", "{file}", "--json"],
    ["report", "{file}", "--out", "r.md"],
    ["report", "{file}", "--out", "r.html"],
    ["explain", "{file}"],
]
CAMPAIGN = """title = "small"
seed = 1
[[run]]
do = "assess"
kind = "grr"
m = 4
epsilon = 1.0
[[run]]
do = "calibrate"
kind = "grr"
m = 4
limits = [{ rad = 0.05 }]
[run.grid]
trials = [1]
"""


@functools.cache
def results() -> dict[str, Any]:
    """Saved results of every kind, as plain data."""
    import numpy as np

    import dpradar as dr

    threat = dr.Threat(dr.Prior.of([0.5, 0.3, 0.2]))

    def halved(inputs: Any, rng: Any) -> Any:
        return inputs + rng.laplace(0.0, 0.5, len(inputs))

    claim = dr.PureDP(1.0, neighbours="replace-one")
    results = {
        "assessment": dr.assess(dr.GRR(m=3, epsilon=1.0), threat),
        "bounds": dr.assess(dr.ApproxDP(1.0, 1e-5, neighbours="add-remove"), threat),
        "calibration": dr.calibrate(dr.GRR, dr.Limit(threat, rad=0.1), m=3),
        "attack": dr.attack(dr.GRR(m=3, epsilon=1.0), threat, trials=2000, seed=1),
        "audit": dr.audit(halved, claim=claim, domain=2, trials=4000, seed=1),
        "refuting": dr.audit(lambda i, rng: i + 0 * rng.random(len(i)), claim=claim, domain=2, trials=4000, seed=1),
    }
    plain = {name: one.to_dict() for name, one in results.items()}
    for name, arguments in {
        "run": ["run", str(ROOT / "examples" / "health-survey.toml"), "--json"],
        "accounting": ["account", str(ROOT / "examples" / "pipelines" / "histogram.toml"), "--json"],
        "lint": ["lint", str(ROOT / "examples" / "pipelines" / "degrees.toml"), "--json"],
    }.items():
        outcome = called(arguments, Path(tempfile.gettempdir()))
        if outcome.out.startswith("{"):
            plain[name] = json.loads(outcome.out)
    _ = np
    return plain


@functools.cache
def texts() -> dict[str, list[str]]:
    """Files that are read as text, by kind."""
    examples = ROOT / "examples"

    def read(paths: Any) -> list[str]:
        return [p.read_text(encoding="utf-8") for p in sorted(paths)]

    rows = "\n".join(f"{i % 2},{(i + 1) % 2},{i % 2}" for i in range(40))
    groups = "\n".join(f"{i // 2},{(i * 7 % 11) / 3:.2f}" for i in range(60))
    return {
        "spec": read(examples / f"{name}.toml" for name in ("health-survey", "wages")),
        "register": read([examples / "register.toml"]),
        "pipeline": read((examples / "pipelines").glob("*.toml")),
        "campaign": [CAMPAIGN],
        "guesses": [f"a,b,t\n{rows}\n"],
        "groups": [f"g,v\n{groups}\n"],
        "table": ["x,y\n" + "\n".join(f"{i % 3},{i % 2}" for i in range(30)) + "\n"],
    }


class Files:
    """One damaged file and one command that reads it."""

    name = "files"

    def prepare(self) -> None:
        """Make the files to damage."""
        results(), texts()

    def draw(self, rng: random.Random) -> Question:
        if rng.random() < 0.5:
            kind = rng.choice(sorted(results()))
            content, suffix, commands = mutations.changed_json(rng, results()[kind]), ".json", RESULT
        else:
            kind = rng.choice(sorted(texts()))
            if kind == "campaign" and rng.random() < 0.8:  # starts processes, which takes seconds
                kind = "spec"
            text = rng.choice(texts()[kind])
            if kind in ("guesses", "groups", "table"):
                content, suffix = mutations.changed_bytes(rng, text.encode()), ".csv"
            else:
                content, suffix = mutations.changed_toml(rng, text), ".toml"
            commands = COMMANDS[kind]
        command = rng.choice(commands)
        return {
            "kind": kind,
            "name": f"file{suffix}",
            "content": base64.b64encode(content).decode(),
            "command": command,
        }

    def judge(self, question: Question) -> Verdict:
        content = base64.b64decode(question["content"])
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / question["name"]).write_bytes(content)
            outcome = called([part.replace("{file}", question["name"]) for part in question["command"]], folder)
            shutil.rmtree(folder / "s", ignore_errors=True)
        return judged_output(outcome, content if question["name"].endswith(".json") else None)

    def smaller(self, question: Question) -> Iterator[Question]:
        content = base64.b64decode(question["content"])
        if question["name"].endswith(".toml") and len(content) < 20_000:
            lines = content.split(b"\n")
            for i in range(len(lines)):
                rest = b"\n".join(lines[:i] + lines[i + 1 :])
                yield {**question, "content": base64.b64encode(rest).decode()}

    def body(self, question: Question, verdict: Verdict) -> Body:
        command = [part.replace("{file}", question["name"]) for part in question["command"]]
        expected = "result.returncode == 2" if verdict.kind == "unsafe" else "result.returncode != 1"
        content = base64.b64decode(question["content"])
        lines = (
            f"(tmp_path / {question['name']!r}).write_bytes({content!r})\n"
            f"command = [sys.executable, '-m', 'dpradar', *{command!r}]\n"
            f"result = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)\n"
            f"assert {expected}, result.stderr\n"
        )
        return Body(lines, "import subprocess\nimport sys", "tmp_path")


def judged_output(outcome: Outcome, saved: bytes | None = None) -> Verdict:
    """A bug where only a bug ends so; unsafe where a result that cannot be is read or printed."""
    if outcome.is_bug:
        return Verdict("internal", outcome.shown)
    if outcome.code == 2:
        return Verdict("refused", outcome.err.strip()[:200])
    for text in (saved, outcome.out if outcome.out.startswith("{") else None):
        try:
            data = json.loads(text) if text else None
        except (ValueError, RecursionError):
            continue
        wrong = next(consistency.problems(data), None)
        if wrong:
            return Verdict("unsafe", f"accepted with exit {outcome.code}: {wrong}")
    return FINE


FAMILIES = [Files()]
