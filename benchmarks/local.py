"""Local reports: randomised response, unary encoding and subsets over thousands of values."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import dpradar as dr
from dpradar.theorems import diagonal_risk, inclusion_risk

from .measure import Case

if TYPE_CHECKING:
    from .measure import Work

__all__ = ["CASES", "LARGE_CASES", "skewed_prior"]

_M = 5_356
_LARGE = 100_000
_LABELS = 50
_GOAL = 0.010
_MECHANISMS = {"grr": dr.GRR, "oue": dr.OUE, "ss": dr.SubsetSelection}
_KNOWN = ("nothing", "everything", "labels")


def skewed_prior(m: int) -> dr.Prior:
    """Return a prior in which no two probabilities are equal and some are tiny."""
    return dr.Prior.of(np.random.default_rng(1).dirichlet(np.full(m, 0.5)))


def _knowledge(kind: str, m: int) -> dr.Knowledge:
    if kind == "labels":
        return dr.Knowledge.labels(np.random.default_rng(2).integers(0, _LABELS, m).tolist())
    return dr.Knowledge.nothing() if kind == "nothing" else dr.Knowledge.everything()


def _assess(protocol: Any, kind: str, m: int) -> Work:
    prior, knowledge, mechanism = skewed_prior(m), _knowledge(kind, m), protocol(m=m, epsilon=1.0)
    # The threat is made anew in every run: it remembers what it computed.
    return lambda: dr.assess(mechanism, dr.Threat(prior, knowledge)).rad.value


def _engine(protocol: Any, kind: str, m: int) -> Work:
    prior = skewed_prior(m)
    cover = dr.Threat(prior, _knowledge(kind, m)).cover
    release = protocol(m=m, epsilon=1.0).at(prior)
    if release.diagonal is not None:
        return lambda: diagonal_risk(release.diagonal, prior, cover).rad
    return lambda: inclusion_risk(release.inclusion, prior, cover).rad


def _cases(m: int, goal: float | None, prefix: str, kinds: tuple[str, ...], parts: tuple[str, ...]) -> tuple[Case, ...]:
    prepare = {"engine": _engine, "assess": _assess}
    return tuple(
        Case(
            name=f"{prefix}.{short}.{kind}.{part}",
            what=f"{short.upper()} m={m:,}, skewed prior, known: {f'{_LABELS} labels' if kind == 'labels' else kind}",
            prepare=partial(prepare[part], protocol, kind, m),
            seconds=goal,
        )
        for short, protocol in _MECHANISMS.items()
        for kind in kinds
        for part in parts
    )


CASES = _cases(_M, _GOAL, "local", _KNOWN, ("engine", "assess"))
LARGE_CASES = _cases(_LARGE, None, "large", ("nothing", "everything"), ("assess",))
