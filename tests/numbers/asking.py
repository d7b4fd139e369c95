"""What questions are made of: calls that note what they are about, and command lines run in a folder of their own."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shlex
import shutil
import sys
import tempfile
import warnings
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import dpradar as dr
from dpradar.cli.progress import INTERVAL
from dpradar.results.loading import result_of
from tests.numbers.answers import answer, error, fact
from tests.numbers.compare import ABOUT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = [
    "FILES",
    "ROOT",
    "about",
    "ask",
    "assess",
    "attack",
    "calibrate",
    "command",
    "folder_of_files",
    "note",
    "prior_kind",
    "run_command",
]

ROOT = Path(__file__).parents[2]
FILES = Path(__file__).with_name("files")
_OF_THE_MACHINE = {"seconds", "version_python"}  # columns that are no answer
_NOTED: dict[str, set[str]] = defaultdict(set)


def note(what: str, *words: str) -> None:
    """Note what the question at hand is about; the tests of coverage read it in the corpus."""
    _NOTED[what].update(words)


def about() -> dict[str, list[str]]:
    """Return what was noted, and forget it."""
    notes = {what: sorted(words) for what, words in sorted(_NOTED.items())}
    _NOTED.clear()
    return notes


def ask(question: Callable[[], Any]) -> dict[str, Any]:
    """Return the answer to a question; an error is one too."""
    _NOTED.clear()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            records = answer(question())
    except Exception as problem:
        records = error(problem)
    noted = about()
    return {ABOUT: noted, **records} if noted else records


def prior_kind(prior: dr.Prior) -> str:
    """Return how a prior was given."""
    if prior.interval is not None:
        return "continuous"
    if prior.measured is not None:
        return "counted"
    if prior.columns is not None:
        return "records"
    return "uniform" if prior.is_uniform else "probabilities"


def _note_threat(threat: dr.Threat | None) -> None:
    if threat is None or threat.prior is None:
        note("threat", "worst" if threat is None else threat.kind)
    else:
        note("threat", f"{prior_kind(threat.prior)}/{threat.knowledge.kind}/{threat.goal.kind}")


def _note_release(what: Any) -> None:
    note("release", type(what).__name__)
    for name in ("mechanisms", "mechanism"):
        inside = getattr(what, name, ())
        for one in inside if isinstance(inside, tuple | list) else (inside,):
            _note_release(one)


def assess(what: Any, threat: dr.Threat | None = None, **options: Any) -> dr.Assessment:
    """Return ``dr.assess`` of the same."""
    _note_release(what)
    _note_threat(threat)
    return dr.assess(what, threat, **options)


def attack(what: Any, threat: dr.Threat, **options: Any) -> dr.AttackRun:
    """Return ``dr.attack`` of the same, with few trials and seed 1 unless others are given."""
    _note_release(what)
    _note_threat(threat)
    return dr.attack(what, threat, **{"trials": 2_000, "seed": 1, **options})


def calibrate(family: Any, limits: Any, **fixed: Any) -> dr.Calibration:
    """Return ``dr.calibrate`` of the same."""
    return dr.calibrate(family, limits, **fixed)


# ------------------------------------------------------------------------------------------------------- commands


@contextlib.contextmanager
def folder_of_files() -> Iterator[Path]:
    """Work in an empty folder that has a copy of the files of the corpus, and the examples."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(FILES, folder, dirs_exist_ok=True)
        shutil.copytree(ROOT / "examples", folder / "examples")
        os.chdir(folder)
        try:
            yield folder
        finally:
            os.chdir(before)


def run_command(words: list[str], errors: io.StringIO | None = None) -> tuple[int, str]:
    """Run one command line in this process; return its exit code and what it printed, errors apart."""
    from dpradar.cli import main

    out, path = io.StringIO(), list(sys.path)
    others = {name for name in os.environ if not name.startswith("DPRADAR_")}
    alone = {name: os.environ[name] for name in others} | {INTERVAL: "86400"}  # however slow the machine is
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(errors or io.StringIO()),
        mock.patch.object(sys, "excepthook", sys.excepthook),
        mock.patch.object(sys, "path", path),
        mock.patch.dict(os.environ, alone, clear=True),
    ):
        try:
            main(words)
        except SystemExit as end:
            return end.code if isinstance(end.code, int) else int(bool(end.code)), out.getvalue()
        except Exception:
            return 1, out.getvalue()
    return 0, out.getvalue()


def command(*lines: str) -> dict[str, Any]:
    """Return exit code and numbers of the last of some command lines, which are run in one new folder."""
    with folder_of_files() as folder:
        for line in lines:
            words = shlex.split(line)
            code, printed = run_command(words)
        name = _name(words)
        note("command", name)
        note("exit", f"{name.split()[0]} {code}")
        return {"exit": fact(code), **_printed(printed), **_tables(folder)}


def _name(words: list[str]) -> str:
    from dpradar.cli.main import app

    group: Any = app.get_command(None, words[0])  # type: ignore[arg-type]
    second = words[1] if len(words) > 1 else ""
    subcommand = second if hasattr(group, "list_commands") and second in group.list_commands(None) else ""
    return f"{words[0]} {subcommand}".strip()


def _printed(text: str) -> dict[str, Any]:
    """Return the numbers of what was printed, if that is JSON."""
    try:
        data = json.loads(text)
    except ValueError:
        return {}
    if not isinstance(data, dict) or "schema" not in data:
        return {}
    note("schema", str(data["schema"]))
    records: dict[str, Any] = {"schema": fact(data["schema"])}
    if data["schema"].startswith("dpradar/campaign/"):
        for i, run in enumerate(data["runs"]):
            records[f"run-{i}/state"] = fact(run["state"])
            if run.get("result") is not None:
                records |= answer({f"run-{i}": result_of(run["result"])})
        return records
    try:
        result = result_of(data)
    except dr.DpradarError:
        return records
    records |= answer(result)
    tprs = {fpr: dr.Bound.from_dict(bound) for fpr, bound in data.get("tpr", {}).items()}
    return records | answer({f"tpr-{fpr}": bound for fpr, bound in tprs.items()})


def _tables(folder: Path) -> dict[str, Any]:
    """Return the sum of every column of numbers in what a command wrote: figures, or rows of a campaign."""
    import csv

    records = {}
    for path in sorted([*(folder / "figures").rglob("*.csv"), *folder.glob("rows.csv")]):
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
        for column in set(rows[0] if rows else ()) - _OF_THE_MACHINE:
            with contextlib.suppress(TypeError, ValueError):
                records[f"{path.stem}/{column}"] = fact(sum(float(row[column]) for row in rows))
    return records
