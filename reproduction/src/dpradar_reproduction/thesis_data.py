"""The data sets of [GuerraThesis] Chapter 6: families, IQ scores, steps; matrices of Electricity as printed."""

from __future__ import annotations

import csv
import io
import os
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dpradar.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

__all__ = ["PRINTED_MATRICES", "PRINTED_RATIOS", "Galton", "activity", "galton", "matrix", "mothers", "synthetic"]

_VARIABLE = "DPRADAR_DATA"
_FOLDER = "correlated"
SEED = 1253  # of the authors' experiments
PRINTED_MATRICES: Mapping[str, tuple[tuple[float, float], tuple[float, float]]] = {
    "Activity": ((0.882, 0.117), (0.305, 0.695)),
    "E70": ((0.445, 0.555), (0.149, 0.850)),
    "E80": ((0.818, 0.182), (0.371, 0.629)),
    "E90": ((0.894, 0.106), (0.478, 0.522)),
}
PRINTED_RATIOS: Mapping[str, float] = {"Activity": 7.54, "E70": 3.29, "E80": 4.49, "E90": 8.43}  # Table 6.2


def matrix(name: str) -> NDArray[np.float64]:
    """Return a printed transition matrix, its rows scaled to sum to 1 (two do not as printed).

    Examples
    --------
    >>> matrix("E80").tolist()
    [[0.818, 0.182], [0.371, 0.629]]
    """
    P = np.array(PRINTED_MATRICES[name])
    return np.asarray(P / P.sum(axis=1, keepdims=True))


def _file(data: Path | None, name: str) -> Path | None:
    folder = os.environ.get(_VARIABLE) if data is None else data
    file = None if not folder else Path(folder) / _FOLDER / name
    return file if file is not None and file.is_file() else None


def _columns(text: str, names: tuple[str, ...], file: str) -> list[list[str]]:
    rows = list(csv.DictReader(io.StringIO(text)))
    if not rows or any(name not in rows[0] for name in names):
        raise ParameterError("reproduce.data", f"a file with the columns {', '.join(names)}", file)
    return [[row[name] for name in names] for row in rows]


def mothers(data: Path | None = None) -> NDArray[np.float64] | None:
    """Return scores of children and their mothers (kid_iq), a row for each pair; None where there is no file."""
    file = _file(data, "kidiq.csv")
    if file is None:
        return None
    return np.array(_columns(file.read_text(encoding="utf-8"), ("kid_score", "mom_iq"), file.name), dtype=float)


@dataclass(frozen=True, slots=True)
class Galton:
    """Heights in inches: a row (child, father, mother) for each child, and the columns of a table of persons."""

    trios: NDArray[np.float64]
    first: NDArray[np.float64]  # one child of each family
    persons: dict[str, list[str]]


def galton(data: Path | None = None) -> Galton | None:
    """Return Galton's families; None where there is no file."""
    file = _file(data, "galton.csv")
    if file is None:
        return None
    names = ("height", "father", "mother", "family", "sex")
    rows = _columns(file.read_text(encoding="utf-8"), names, file.name)
    persons: dict[str, list[str]] = {"family": [], "height": [], "role": []}
    first = []

    def add(family: str, height: str, role: str) -> None:
        for name, cell in (("family", family), ("height", height), ("role", role)):
            persons[name].append(cell)

    seen: set[str] = set()
    for height, father, mother, family, sex in rows:
        if family not in seen:
            seen.add(family)
            first.append([float(height), float(father), float(mother)])
            add(family, father, "father")
            add(family, mother, "mother")
        add(family, height, "son" if sex == "M" else "daughter")
    return Galton(np.array([row[:3] for row in rows], dtype=float), np.array(first), persons)


def activity(data: Path | None = None) -> tuple[list[int | None], list[int]] | None:
    """Return whether steps were taken in each interval (None = missing), and the active intervals of complete days."""
    file = _file(data, "activity.zip")
    if file is None:
        return None
    with zipfile.ZipFile(file) as packed:
        text = packed.read("activity.csv").decode("utf-8")
    rows = _columns(text, ("steps", "date"), file.name)
    states = [None if steps == "NA" else int(float(steps) > 0.0) for steps, _ in rows]
    days: dict[str, list[int | None]] = {}
    for state, (_, date) in zip(states, rows, strict=True):
        days.setdefault(date, []).append(state)
    complete = [sum(x for x in day if x is not None) for day in days.values() if None not in day]
    return states, complete


def synthetic(pairs: int = 10_000) -> NDArray[np.float64]:
    """Return SyntheticIQ: pairs with mean 100, standard deviation 15 (printed: variance 15) and correlation 0.45.

    Examples
    --------
    >>> synthetic(5).shape
    (5, 2)
    """
    S = 225.0 * np.array([[1.0, 0.45], [0.45, 1.0]])
    return np.asarray(np.random.default_rng(SEED).multivariate_normal([100.0, 100.0], S, size=pairs))
