"""A campaign as plain data: its runs, each with a seed, and what the numbers of each depend on."""

from __future__ import annotations

import glob
import hashlib
import json
import sys
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._version import __version__
from .campaign_tables import SAMPLER, file_keys

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec

__all__ = ["Campaign", "Question", "Run", "canonical", "digest_of", "versions"]


def canonical(value: Any) -> str:
    """Return one text for equal data.

    Examples
    --------
    >>> canonical({"b": 1.0, "a": [1, 2]})
    '{"a":[1,2],"b":1.0}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def digest_of(*parts: Any) -> str:
    """Return a short digest of all arguments."""
    return hashlib.sha256(canonical(parts).encode()).hexdigest()[:24]


def versions() -> dict[str, str]:
    """Return the versions that numbers depend on; numpy's sums and scipy's functions may change in the last digit."""
    import platform

    import numpy as np
    import scipy

    python = ".".join(platform.python_version_tuple()[:2])
    return {"dpradar": __version__, "numpy": np.__version__, "scipy": scipy.__version__, "python": python}


@dataclass(frozen=True, slots=True)
class Question:
    """What a worker needs to know of a run: small, and equal exactly if the answers are."""

    do: str
    options: str  # JSON
    seed: int
    folder: str | None
    place: str = field(default="run", compare=False)

    def parsed_options(self) -> dict[str, Any]:
        """Return the options."""
        options: dict[str, Any] = json.loads(self.options)
        return options

    def file_digests(self) -> dict[str, str]:
        """Return the digests of the files that the options name, code of a sampler among them; not what that imports.

        A file that cannot be read is reported by the task that needs it.
        """
        if self.folder is None:
            return {}
        options, folder = self.parsed_options(), Path(self.folder)
        file_names = {
            key: value[1:] for key, value in options.items() if isinstance(value, str) and value.startswith("@")
        }
        keys = file_keys(self.do, options.get("kind"))
        file_names |= {key: options[key] for key in keys if isinstance(options.get(key), str)}
        files = {key: _matching_files(folder / name) for key, name in file_names.items()}
        module = str(options.get(SAMPLER.name, "")).rpartition(":")[0]
        sampler = _sampler_file(module, folder) if module else None
        if sampler is not None:
            files[SAMPLER.name] = [sampler] if sampler.is_file() else []
        return {key: " ".join(map(_file_digest, paths)) for key, paths in sorted(files.items()) if paths}


def _matching_files(path: Path) -> list[Path]:
    """Return the file, or the files that a pattern is about."""
    if path.is_file():
        return [path]
    return sorted(Path(name) for name in glob.glob(str(path), recursive=True) if Path(name).is_file())  # noqa: PTH207


def _file_digest(path: Path) -> str:
    """Return the digest of a file, which is read again only when it has changed: shards ask for it often."""
    state = path.stat()
    return _digest_of_file(path, state.st_mtime_ns, state.st_size, state.st_ino)


@lru_cache(maxsize=256)
def _digest_of_file(path: Path, *_: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sampler_file(module: str, folder: Path) -> Path | None:
    """Return the file in which a sampler is defined."""
    if module.endswith(".py"):
        return folder / module
    spec = _find_module(module, [str(folder), *sys.path])
    return None if spec is None or spec.origin is None else Path(spec.origin)


def _find_module(module: str, path: list[str]) -> ModuleSpec | None:
    """Return where a module is defined, without importing the packages around it as importlib.util.find_spec does."""
    spec = None
    search_path: Sequence[str] | None = path
    parts = module.split(".")
    for count in range(1, len(parts) + 1):
        name = ".".join(parts[:count])
        spec = None if search_path is None else PathFinder.find_spec(name, search_path)
        if spec is None and count == 1:  # of an editable installation, say
            spec = next(
                (candidate for finder in sys.meta_path if (candidate := finder.find_spec(name, None)) is not None), None
            )
        if spec is None:
            return None
        search_path = spec.submodule_search_locations
    return spec


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of a campaign: what it does (``do``), with which options; ``varied`` are those that a grid gave it."""

    number: int
    place: str
    do: str
    options: dict[str, Any] = field(hash=False)
    seed: int
    name: str = ""
    note: str = ""
    varied: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The name of the run, and the options that a grid varies.

        Examples
        --------
        >>> run = Run(number=1, place="run", do="attack", options={"kind": "grr", "m": 3}, seed=1, varied=("m",))
        >>> run.title
        'attack grr, m 3'
        """
        heading = self.name or " ".join([self.do, *([self.options["kind"]] if "kind" in self.options else [])])
        keys = [key for key in self.varied if self.name or key != "kind"]
        return ", ".join([heading, *(f"{key} {_short_text(self.options[key])}" for key in keys)])

    def question(self, folder: Path | None) -> Question:
        """Return what is sent to workers."""
        resolved = None if folder is None else str(folder.resolve())
        return Question(self.do, canonical(self.options), self.seed, resolved, self.place)


def _short_text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else value if isinstance(value, str) else canonical(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Campaign:
    """Many runs: from :func:`dpradar.campaigns.read` or :func:`dpradar.campaigns.parse`.

    Examples
    --------
    >>> from dpradar.campaigns import parse
    >>> campaign = parse('''
    ... seed = 1
    ... [[run]]
    ... do = "attack"
    ... m = 10
    ... trials = 1000
    ... grid = { kind = ["grr", "oue"], epsilon = [1.0, 2.0] }
    ... ''')
    >>> [run.title for run in campaign.runs]
    ['attack grr, epsilon 1', 'attack grr, epsilon 2', 'attack oue, epsilon 1', 'attack oue, epsilon 2']
    """

    runs: tuple[Run, ...]
    title: str = ""
    description: str = ""
    seed: int = 1
    text: str = ""  # of the file
    folder: Path | None = field(default=None, compare=False)
    file: str = field(default="the campaign", compare=False)
