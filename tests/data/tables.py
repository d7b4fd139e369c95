"""Small tables, and counting them in plain Python: the twin of what engines do."""

from __future__ import annotations

import csv
import math
from fractions import Fraction

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

__all__ = ["counted", "people", "put"]


def people(n, rng):
    """Return columns of a small population, with missing values, names that need quotes, and weights."""
    ages = rng.integers(18, 90, n).tolist()
    income = [None if rng.random() < 0.05 else float(x) for x in rng.lognormal(size=n).round(6)]
    return {
        "age": ages,
        'Sex, or "not"': [None if rng.random() < 0.1 else str(s) for s in rng.choice(["f", "m", "ß"], n)],
        "income": income,
        "Smokes": [bool(b) for b in rng.random(n) < 0.3],
        "weight": [float(w) for w in rng.random(n).round(9) * 40.0],
        "people": rng.integers(0, 90, n).tolist(),
    }


def put(columns, path):
    """Write columns as CSV or Parquet, by the ending of the name."""
    if path.suffix == ".parquet":
        pa.parquet.write_table(pa.table(columns), path)
        return path
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(["" if x is None else x for x in row] for row in zip(*columns.values(), strict=True))
    return path


def counted(columns, names, weight=None, code=None):
    """Return {record: exact share}, by counting one row after the other; ``code`` are functions of a value."""
    code, masses = code or {}, {}
    for i in range(len(columns[names[0]])):
        record = tuple(
            None if columns[n][i] is None else code[n](columns[n][i]) if n in code else columns[n][i] for n in names
        )
        masses[record] = masses.get(record, 0) + (1 if weight is None else Fraction(columns[weight][i]))
    total = Fraction(sum(masses.values()))
    return {record: mass / total for record, mass in masses.items() if mass}


def edges(*ends):
    """Return the label of a value cut at edges."""

    def label(x):
        i = sum(x >= end for end in ends)
        if i == 0:
            return f"below {ends[0]:g}"
        return f"at least {ends[-1]:g}" if i == len(ends) else f"[{ends[i - 1]:g}, {ends[i]:g})"

    return label


def width(step):
    """Return the label of a value cut into bins of one width, all numbers read as the decimals that they print."""
    step = Fraction(str(step))

    def label(x):
        k = math.floor(Fraction(str(x)) / step)
        return f"[{float(k * step):.15g}, {float((k + 1) * step):.15g})"

    return label


def equal_width(values, k):
    """Return the label of a value cut into bins between the ends."""
    seen = [x for x in values if x is not None]
    low, high = min(seen), max(seen)
    return lambda x: f"bin {min(math.floor((x - low) / (high - low) * k), k - 1) + 1} of {k}"


def quantiles(values, k):
    """Return the label of a value cut into bins of equally many rows."""
    seen = sorted(x for x in values if x is not None)
    return lambda x: f"bin {sum(y < x for y in seen) * k // len(seen) + 1} of {k}"
