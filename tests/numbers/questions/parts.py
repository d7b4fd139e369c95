"""Priors and threats that many questions share; each call makes a new one."""

from __future__ import annotations

from typing import Any

import dpradar as dr

__all__ = [
    "FAMILY",
    "SKEWED",
    "counted",
    "everything",
    "family",
    "labelled",
    "line",
    "skewed",
    "stranger",
    "table",
    "within",
]

SKEWED = (0.4, 0.25, 0.15, 0.1, 0.07, 0.03)
FAMILY = {"sex": ["f", "f", "m", "m"], "ill": ["no", "yes", "no", "yes"]}


def stranger(m: int) -> dr.Threat:
    """Nothing is known, every value is as likely, the value itself is wanted."""
    return dr.Threat(dr.Prior.uniform(m))


def everything(m: int) -> dr.Threat:
    """The record is known; was it used?"""
    return dr.Threat(dr.Prior.uniform(m), dr.Knowledge.everything())


def skewed(knowledge: dr.Knowledge | None = None, goal: dr.Goal | None = None) -> dr.Threat:
    """Six values, the first far more likely than the last."""
    return dr.Threat(dr.Prior.of(SKEWED), knowledge or dr.Knowledge.nothing(), goal or dr.Goal.exact())


def line(m: int, eta: float) -> dr.Threat:
    """The numbers 0 .. m-1, to be guessed within eta."""
    return dr.Threat(dr.Prior.uniform(m), goal=dr.Goal.within(eta))


def labelled() -> dr.Threat:
    """Six values; one of two labels is known, one of three wanted."""
    return skewed(dr.Knowledge.labels("aaabbb"), dr.Goal.labels("xxyyzz"))


def table(columns: int, rows: int) -> dr.Prior:
    """Records x and y, so many values of x with each of so many of y, equally likely."""
    records = range(columns * rows)
    return dr.Prior.records({"x": [i % columns for i in records], "y": [i // columns for i in records]})


def within(distribution: Any, low: float, high: float, eta: float, known: str = "nothing") -> dr.Threat:
    """A continuous prior on an interval, to be guessed within eta."""
    return dr.Threat(dr.Prior.continuous(distribution, low, high), dr.Knowledge(known), dr.Goal.within(eta))  # type: ignore[arg-type]


def family() -> dr.Prior:
    """Records of two columns, with weights."""
    return dr.Prior.records(FAMILY, weights=[0.4, 0.1, 0.2, 0.3])


def counted(**options: Any) -> dr.Prior:
    """The same records, counted in a table of 200 rows."""
    import pyarrow as pa

    rows = [(sex, ill) for sex, ill, n in zip(*FAMILY.values(), (80, 20, 40, 60), strict=True) for _ in range(n)]
    sexes, ills = zip(*rows, strict=True)
    return dr.data.prior(pa.table({"sex": sexes, "ill": ills}), ["sex", "ill"], **options)
