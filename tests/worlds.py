"""A threat in both languages: as dpradar's `Threat`, and as the lists the twin works on."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import mpmath
import numpy as np
import pytest

import dpradar as dr
from tests.twin import brute, lines
from tests.twin.oracles import Printed, off

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence
    from fractions import Fraction

QUANTITIES = ("rad", "success", "baseline", "hit", "false_hit")


@dataclass(frozen=True)
class World:
    """A prior over m values, what is known of the target, and what counts as right.

    ``a`` and ``S`` are the twin's lists (see `tests.twin.brute`); ``goal`` is dpradar's object for the same ``S``.
    """

    pi: Sequence[Any]
    a: Sequence[Hashable]
    S: brute.Success
    goal: dr.Goal
    values: Sequence[Any] | None = None

    @property
    def m(self) -> int:
        return len(self.pi)

    @property
    def pi_mpf(self) -> list[Any]:
        """The prior in 30-digit numbers, to go with the twin's discrete noise."""
        return [mpmath.mpf(p.numerator) / p.denominator for p in self.pi]

    @property
    def prior(self) -> dr.Prior:
        return dr.Prior.of([float(p) for p in self.pi], self.values)

    @property
    def knowledge(self) -> dr.Knowledge:
        different = len(set(self.a))
        if different == 1:
            return dr.Knowledge.nothing()
        return dr.Knowledge.everything() if different == self.m else dr.Knowledge.labels(self.a)

    @property
    def threat(self) -> dr.Threat:
        return dr.Threat(self.prior, self.knowledge, self.goal)

    def knowing(self, a: Sequence[Hashable]) -> World:
        return replace(self, a=list(a))

    def exact_risk(self, P: Any) -> dict[str, Any]:
        """The five numbers of a finite channel, in the arithmetic of its entries."""
        hit, false_hit = brute.hit_and_false_hit(P, self.pi, self.a, self.S)
        return {
            "rad": brute.rad(P, self.pi, self.a, self.S),
            "success": brute.success(P, self.pi, self.a, self.S),
            "baseline": brute.baseline(self.pi, self.a, self.S),
            "hit": hit,
            "false_hit": false_hit,
        }


def exact_world(pi: Sequence[Any], values: Sequence[Any] | None = None) -> World:
    """Nothing known, exact goal."""
    m = len(pi)
    return World(pi, brute.nothing(m), brute.exact(m), dr.Goal.exact(), values)


def window_world(pi: Sequence[Any], values: Sequence[Any], eta: Any) -> World:
    """Nothing known, goal within eta of numeric values."""
    numbers = [float(v) for v in values]
    return World(pi, brute.nothing(len(pi)), brute.within(values, eta), dr.Goal.within(float(eta)), numbers)


def loss_world(pi: Sequence[Any], loss: Sequence[Sequence[Any]], eta: Any) -> World:
    """Nothing known, goal within eta of a loss matrix (value, guess)."""
    matrix = [[float(x) for x in row] for row in loss]
    return World(pi, brute.nothing(len(pi)), brute.from_loss(loss, eta), dr.Goal.within(float(eta), matrix))


def label_world(pi: Sequence[Any], names: Sequence[Hashable]) -> World:
    """Nothing known, the goal is the label."""
    return World(pi, brute.nothing(len(pi)), brute.labels(names), dr.Goal.labels(names))


def floats(P: Sequence[Sequence[Fraction]]) -> np.ndarray:
    """A channel of fractions as a float matrix."""
    return np.array([[float(x) for x in row] for row in P])


def epsilon_of(ratio: Fraction) -> float:
    """The epsilon with this e^epsilon."""
    return math.log(ratio)


def _differ(computed: float | None, expected: Any, tolerance: float) -> bool:
    if computed is None or expected is None:
        return computed is not expected
    return not abs(computed - float(expected)) <= tolerance


def assert_agrees(answer: dr.Assessment, expected: dict[str, Any], tolerance: float) -> None:
    """rad and success are said to be exact, and all five numbers are those of the twin.

    A rad so small that rounding errors of 1e-13 are not 1e-6 of it is an upper bound with its lower end.
    """
    rad = answer.rad
    assert rad.side == "exact" or rad.low <= expected["rad"] <= rad.high < rad.low + 1e-13
    assert answer.success.side == "exact"
    computed = {
        "rad": answer.rad.value,
        "success": answer.success.value,
        "baseline": answer.baseline,
        "hit": answer.hit,
        "false_hit": answer.false_hit,
    }
    wrong = {
        name: (computed[name], expected[name])
        for name in QUANTITIES
        if _differ(computed[name], expected[name], tolerance)
    }
    assert not wrong, f"(found, expected): {wrong}"
    assert answer.gain.value == pytest.approx(float(expected["success"] - expected["baseline"]), rel=0, abs=tolerance)


def found_by(answer: dr.Assessment, rule: str, quantity: str = "rad") -> dr.Bound:
    """What one rule found, whether it won or not."""
    winner = answer.bounds[quantity]
    if winner is not None and winner.rule == rule:
        return winner
    others = [o for o in answer.others if o.rule == rule and o.quantity == quantity]
    assert others, f"{rule} did not run"
    assert others[0].bound is not None, f"{rule} found nothing: {others[0].why}"
    return others[0].bound


def other_bound(answer: dr.Assessment, rule: str, quantity: str = "rad") -> float:
    """The value of `found_by`."""
    return found_by(answer, rule, quantity).value


def printed_as(number: float, printed: Printed) -> bool:
    """Whether a number rounds to the printed digits (1e-6 of the last digit is left for the last bit of ties)."""
    return off(number, printed) <= 0.5 + 1e-6


def line_risk(noise: lines.Noise, query: Sequence[float], world: World, clamp: Any = None) -> lines.Risk:
    """`lines.risks`, after merging records with the same query value and guesses with the same score.

    The twin looks for the borders between winners; two guesses whose scores are one function have nothing but borders.
    """
    pi, values = [float(p) for p in world.pi], np.array(query, dtype=float)
    places, where = np.unique(values, return_inverse=True)
    onto = np.eye(len(places))[where]
    totals, baseline = [mpmath.mpf(0), mpmath.mpf(0)], 0.0
    with mpmath.workdps(lines.DIGITS):
        for fibre in brute.fibres(world.a):
            for i, advantage in enumerate((True, False)):
                weights = lines._weights(pi, fibre, world.S, advantage) @ onto
                distinct = np.unique(np.round(weights, 14), axis=0, return_index=True)[1]
                totals[i] += lines._maximum(noise, places, weights[np.sort(distinct)], clamp, 0.01)
            baseline += weights.sum(axis=1).max()
    return float(totals[0]), float(totals[1]), float(baseline)
