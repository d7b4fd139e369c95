"""What has been computed into a folder, and whether it still holds: one JSON file, replaced as a whole."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dpradar
from dpradar import __version__
from dpradar.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .paper_figure import Effort

__all__ = ["FILE", "Manifest", "Outcome", "digest", "sealed"]

FILE = "reproduction.json"
_SCHEMA = "dpradar/reproduction/1"
_SETS = ("adult", "census", "correlated", "fashion-mnist", "mnist", "mobility")  # folders that figures read
_LIBRARIES = ("numpy", "scipy", "dp-accounting")
# Numbers do not depend on how they are shown or held against the papers.
_SHOWN = {
    "dpradar": ("cli/", "web/", "present/", "campaigns/", "data/"),
    "dpradar_reproduction": (
        "statements/",
        "all_figures.py",
        "command.py",
        "durations.py",
        "manifest.py",
        "page.py",
        "page_document.py",
        "sources.py",
    ),
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one figure: done, left out (a data set is missing) or failed; and how long it took."""

    state: str
    seconds: float
    files: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    error: str = ""
    digest: str = ""
    sha256: tuple[str, ...] = field(default=())  # of the files


def sealed(outcome: Outcome, folder: Path) -> Outcome:
    """Return the outcome with what its files hold, so that later changes of them are seen."""
    return replace(outcome, sha256=tuple(_sha256(folder / name) for name in outcome.files))


def _sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else ""


@cache
def _code() -> str:
    """Return a digest of all code that numbers can depend on."""
    hasher = hashlib.sha256()
    for root in (Path(dpradar.__file__).parent, Path(__file__).parent):
        for file in sorted(root.rglob("*.py")):
            place = file.relative_to(root).as_posix()
            if not place.startswith(_SHOWN[root.name]):
                hasher.update(f"{root.name}/{place}".encode() + file.read_bytes())
    return hasher.hexdigest()


def _files(data: Path) -> Iterator[Path]:
    for name in _SETS:
        yield from sorted(file for file in (data / name).rglob("*") if file.is_file())


def digest(effort: Effort, data: Path | None) -> str:
    """Return what the numbers depend on, as one short word: code, libraries, effort and data sets.

    Examples
    --------
    >>> from dpradar_reproduction.paper_figure import Effort
    >>> digest(Effort(quick=True), None) == digest(Effort(quick=True, workers=2), None) != digest(Effort(), None)
    True
    """
    hasher = hashlib.sha256(f"{__version__} {_code()}".encode())
    for name in _LIBRARIES:
        try:
            hasher.update(f"{name} {version(name)}".encode())
        except PackageNotFoundError:
            hasher.update(f"{name} missing".encode())
    hasher.update(f"{effort.quick} {effort.models} {effort.network}".encode())
    folder = os.environ.get("DPRADAR_DATA") if data is None else data
    if folder:
        root = Path(folder)
        for file in _files(root):
            hasher.update(file.relative_to(root).as_posix().encode() + file.read_bytes())
    return hasher.hexdigest()[:24]


class Manifest:
    """The outcomes kept in a folder."""

    def __init__(self, folder: Path, *, quick: bool, outcomes: dict[str, Outcome]) -> None:
        self.folder, self.quick, self.outcomes = folder, quick, outcomes

    @classmethod
    def open(cls, folder: Path, *, quick: bool) -> Manifest:
        """Read the manifest of a folder; a new one where there is none. A folder holds one version, quick or full."""
        content = _read(folder / FILE)
        if content is None:
            return cls(folder, quick=quick, outcomes={})
        if bool(content["quick"]) is not quick:
            kind, other = ("the quick", "the full") if quick else ("the full", "the quick")
            hint = "Give another folder with --out; what is there is not touched."
            raise ParameterError("out", f"a folder for {kind} version", f"one with {other} version ({folder})", hint)
        return cls(folder, quick=quick, outcomes=_outcomes(content))

    def finished(self, name: str, mark: str) -> Outcome | None:
        """Return the outcome of a figure that need not be computed again, or None."""
        outcome = self.outcomes.get(name)
        if outcome is None or outcome.state != "done" or outcome.digest != mark or not outcome.files:
            return None
        whole = tuple(_sha256(self.folder / file) for file in outcome.files) == outcome.sha256
        return outcome if whole else None

    def seconds(self, name: str) -> float | None:
        """Return how long a figure took last time, under whatever version."""
        outcome = self.outcomes.get(name)
        return outcome.seconds if outcome is not None and outcome.state == "done" else None

    def add(self, name: str, outcome: Outcome) -> None:
        """Keep an outcome: beside what others wrote meanwhile, and completely or not at all."""
        there = _read(self.folder / FILE)
        self.outcomes = {**({} if there is None else _outcomes(there)), **self.outcomes, name: outcome}
        outcomes = {key: asdict(one) for key, one in self.outcomes.items()}
        text = json.dumps({"schema": _SCHEMA, "quick": self.quick, "outcomes": outcomes}, indent=1)
        write_whole(self.folder / FILE, text)


def write_whole(path: Path, text: str) -> None:
    """Write a file beside and rename it, so that it is there completely or not at all."""
    handle, name = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as beside:
            beside.write(text)
            beside.flush()
            os.fsync(beside.fileno())
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _read(file: Path) -> dict[str, Any] | None:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None  # none yet; one that was tampered with is made again
    return content if isinstance(content, dict) and content.get("schema") == _SCHEMA else None


def _outcomes(content: dict[str, Any]) -> dict[str, Outcome]:
    def read(one: dict[str, Any]) -> Outcome:
        fields: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in one.items()}
        return Outcome(**fields)

    return {name: read(one) for name, one in content["outcomes"].items()}
