"""Random parts of questions: numbers with large offsets, near ties and decimals; skewed and extreme priors."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import pairwise
from typing import Any

TIMESTAMP = 1.7e9
OFFSETS = (0.0, 0.0, 0.0, 2.0**20, 2.0**40, 2.0**48, 2.0**52, -(2.0**50), 1e13, 1e15, TIMESTAMP, 1.7e12, -1e6)


def generator(family: str, seed: int, index: int) -> random.Random:
    """The source of everything random in one case."""
    return random.Random(f"{family}/{seed}/{index}")


def log_uniform(rng: random.Random, low: float, high: float) -> float:
    """A number whose logarithm is uniform, rounded to few digits half of the time."""
    value = math.exp(rng.uniform(math.log(low), math.log(high)))
    return float(f"{value:.3g}") if rng.random() < 0.5 else value


def _base(rng: random.Random, m: int) -> list[float]:
    kind = rng.randrange(5)
    if kind == 0:
        return [float(k) for k in range(m)]
    if kind == 1:
        return [float(x) for x in rng.sample(range(40), m)]
    if kind == 2:
        return [k / 10 for k in rng.sample(range(1, 30), m)]
    if kind == 3:  # near ties
        return [k + rng.choice((0.0, 2.0**-20, -(2.0**-20))) for k in range(m)]
    return sorted({round(rng.uniform(0, 10), rng.choice((1, 2, 6))) for _ in range(3 * m)})[:m]


def numbers(rng: random.Random, m: int) -> list[float]:
    """Different numbers: a small pattern, a scale and an offset of any size; sometimes one far away from the rest."""
    for _ in range(20):
        values = _base(rng, m)
        scale = rng.choice((1.0, 1.0, 2.0 ** rng.randrange(-30, 30), 1e-6, 1e-3, 0.01, 0.5, 1e4))
        offset = rng.choice(OFFSETS)
        moved = [offset + v * scale for v in values]
        if rng.random() < 0.1:
            moved[rng.randrange(len(moved))] = rng.choice((1e13, -1e9, 1e6))
        if len(set(moved)) == m and all(map(math.isfinite, moved)):
            rng.shuffle(moved)
            return [int(v) for v in moved] if all(v.is_integer() for v in moved) and rng.random() < 0.3 else moved
    return [float(k) for k in range(m)]


def gaps(values: list[float]) -> list[float]:
    """The gaps between neighbouring numbers, read as the decimals that Python prints."""
    ordered = sorted(Fraction(repr(v)) for v in values)
    return [float(b - a) for a, b in pairwise(ordered)]


def eta(rng: random.Random, values: list[float]) -> float:
    """How far off a guess may be: 0, at a tie, a little beside a tie, between, all of it."""
    decimals = [Fraction(repr(v)) for v in values]
    a, b = rng.sample(decimals, 2)
    apart = float(abs(a - b))
    choice = rng.randrange(8)
    if choice == 0:
        return 0.0
    if choice <= 3:
        return apart
    if choice == 4:
        return math.nextafter(apart, 0.0)
    if choice == 5:
        return min(gaps(values)) / 2
    if choice == 6:
        return apart * rng.uniform(0.3, 1.2)
    return float(max(decimals) - min(decimals)) * rng.choice((1.0, 1.5, 0.5))


def weights(rng: random.Random, m: int) -> list[float]:
    """Weights of a prior, of any skew; some 0 now and then."""
    kind = rng.randrange(7)
    if kind <= 1:
        return [1.0] * m
    if kind == 2:
        return [float(rng.randint(1, 9)) for _ in range(m)]
    if kind == 3:
        raw = [10.0 ** -rng.randint(0, 6) for _ in range(m)]
    elif kind == 4:
        raw = [10.0 ** -rng.choice((0, 0, 3, 8, 12, 15)) for _ in range(m)]
        raw[rng.randrange(m)] = 1.0
    elif kind == 5:
        raw = [rng.choice((0.0, 1.0, 2.0)) for _ in range(m)]
        raw[0], raw[1] = 1.0, 3.0
    else:
        raw = [rng.random() + 1e-3 for _ in range(m)]
    return raw


def extreme(rng: random.Random, raw: list[float]) -> list[float]:
    """The same weights at the ends of what a float can be."""
    factor = rng.choice((1e308, 5e-324, 1e-310, 1e300, 2.0**1000, 1e-300))
    moved = [w * factor for w in raw]
    return moved if all(math.isfinite(w) for w in moved) and any(moved) else [1e308 if w else 0.0 for w in raw]


def normalised(raw: list[float]) -> list[float]:
    """Probabilities that sum to 1 but for rounding."""
    total = math.fsum(raw)
    return [w / total for w in raw]


def prior(rng: random.Random, m: int, values: list[Any] | None) -> dict[str, Any]:
    """A prior, by one of the ways to make one."""
    raw = weights(rng, m)
    how = rng.choice(("of", "of", "of", "records", "raw", "uniform"))
    if how == "uniform":
        return {"how": how, "weights": [1.0] * m, "values": values}
    if how == "records":
        raw = extreme(rng, raw) if rng.random() < 0.4 else raw
        return {"how": how, "weights": raw, "values": values or list(range(m))}
    if how == "raw":
        return (
            {"how": how, "weights": normalised(raw), "values": None}
            if values is None
            else {"how": "of", "weights": normalised(raw), "values": values}
        )
    return {"how": how, "weights": normalised(raw), "values": values}


def labels(rng: random.Random, m: int) -> list[str]:
    """A label per value, some shared."""
    return [rng.choice("abc") for _ in range(m)]


def knowledge(rng: random.Random, m: int) -> Any:
    """What the attacker knows."""
    return rng.choice(("nothing", "nothing", "everything", labels(rng, m)))


def goal(rng: random.Random, m: int, values: list[float] | None) -> Any:
    """What counts as success."""
    choice = rng.randrange(5)
    if choice == 0 or (choice >= 2 and values is None):
        return "exact"
    if choice == 1:
        return {"labels": labels(rng, m)}
    return {"within": eta(rng, values or [])}
