"""Renyi divergences between two yes/no answers: how far apart bounds on them let the two probabilities be.

D_t(p||x) = ln(p^t x^(1-t) + (1-p)^t (1-x)^(1-t))/(t-1) for orders t > 1, and the Kullback-Leibler divergence for t = 1.
Everything is worked out from the logarithms of p, 1 - p, x and 1 - x, so that nothing overflows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .lazy_numpy import Floats, Ints, np

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["UNIT", "Frontier", "divergence"]

Logs = tuple[Floats, Floats, Floats, Floats]  # of p, 1 - p, x and 1 - x

UNIT = 2.0**-53
_SETTLED = 1e-11  # relative change of three Newton steps after which more are not worth it; they converge quadratically


def divergence(order: Floats, logs: Logs) -> tuple[Floats, Floats, Floats]:
    """Return the divergence of each order, its tilt, and a bound on the rounding error of the divergence.

    The tilt is the share of the first outcome in p^t x^(1-t) + (1-p)^t (1-x)^(1-t).

    Examples
    --------
    >>> p, x = np.array([0.75]), np.array([0.25])
    >>> value, tilt, noise = divergence(np.array([2.0]), (np.log(p), np.log1p(-p), np.log(x), np.log1p(-x)))
    >>> round(float(np.exp(value[0])), 9), round(float(tilt[0]), 9), bool(noise[0] < 1e-13)
    (2.333333333, 0.964285714, True)
    """
    lp, lq, lx, ly = logs
    a, b, s = lp - lx, lq - ly, order - 1.0
    p, kl = np.exp(lp), s == 0.0
    top = np.logaddexp(lp + s * a, lq + s * b)
    below = np.where(kl, 1.0, s)
    value = np.where(kl, p * a + np.exp(lq) * b, top / below)
    tilt = np.where(kl, p, np.exp(lp + s * a - top))
    return value, tilt, 16.0 * UNIT * (1.0 + 1.0 / below) * (1.0 + abs(lp) + abs(lq) + abs(lx) + abs(ly))


def _divergence_slope(order: Floats, tilt: Floats, logs: Logs) -> Floats:
    """Return the derivative of the divergence in log p."""
    lp, lq, lx, ly = logs
    p, kl = np.exp(lp), order == 1.0
    share = np.where(kl, 1.0, 1.0 - 1.0 / order)
    return np.where(kl, p * (lp - lx - lq + ly), (tilt - p) / (np.exp(lq) * share))


@dataclass(frozen=True, slots=True, eq=False)
class Frontier:
    """The pairs x <= p with D_t(p||x) <= epsilon(t) for some orders t >= 1, which rise; all epsilons are above 0.

    ``slope`` above 0 says that epsilon(t) = slope t, and then the orders between those given are used as well.
    """

    order: Floats
    epsilon: Floats
    slope: float = 0.0

    def meeting(self) -> float:
        """Return the largest logit L of p for which the pair (1 - p, p) is inside, rounded up.

        Examples
        --------
        >>> logit = Frontier(np.array([1.0]), np.array([0.5])).meeting()
        >>> round(logit * math.tanh(logit / 2.0), 12)
        0.5
        """
        # D_1 = L tanh(L/2) >= L - 0.56 and divergences grow with the order, so the root is below epsilon + 1.
        low, high = np.zeros_like(self.epsilon), self.epsilon + 1.0
        for _ in range(64):
            middle = 0.5 * (low + high)
            less = -np.logaddexp(0.0, middle)
            value, _, noise = divergence(self.order, (less + middle, less, less, less + middle))
            beyond = value > self.epsilon + 2.0 * noise
            low, high = np.where(beyond, low, middle), np.where(beyond, middle, high)
        return float(high.min())

    def power(self, lx: Floats, ly: Floats, most: float) -> Floats:
        """Return the largest p inside for each x, rounded up, from log x and log(1-x); none is above ``most``."""
        x = np.exp(lx)
        # The first outcome alone gives p <= (x e^epsilon)^((t-1)/t), and Pinsker p <= x + sqrt(epsilon/2).
        alone = np.min((lx[:, None] + self.epsilon) * (1.0 - 1.0 / self.order), axis=1)
        start = np.minimum(np.exp(np.minimum(alone, 0.0)), x + math.sqrt(self.epsilon.min() / 2.0))
        start = np.minimum(np.minimum(start * (1.0 + 1e-12), most), 1.0 - UNIT)

        def logs(p: Floats) -> Logs:
            return np.log(p), np.log1p(-p), lx, ly

        def move(p: Floats, order: Floats, excess: Floats, tilt: Floats) -> Floats:
            # e^((t-1)/t D_t) is a norm of something affine in p, hence convex in p.
            kl, share = order == 1.0, 1.0 - 1.0 / order
            height = np.where(kl, excess, -np.expm1(-share * excess) / np.where(kl, 1.0, share))
            step = np.zeros_like(p)
            np.divide(height, _divergence_slope(order, tilt, logs(p)), out=step, where=excess > 0.0)
            return np.maximum(p * (1.0 - step), x)

        return self._approach(np.maximum(start, x), logs, move)

    def floor(self, lp: Floats, lq: Floats) -> Floats:
        """Return a lower bound on log x for the x inside, from log p and log(1-p); cheap and coarse."""
        # As in `power`: Pinsker, and the first outcome alone.
        kl = self.order == 1.0
        with np.errstate(divide="ignore"):
            start = np.log(np.maximum(np.exp(lp) - math.sqrt(self.epsilon.min() / 2.0), 0.0))
        if not kl.all():
            order, epsilon = self.order[~kl], self.epsilon[~kl]
            start = np.maximum(start, np.max(np.multiply.outer(lp, order / (order - 1.0)) - epsilon, axis=1))
        if kl.any():
            start = np.maximum(start, lp + (np.exp(lq) * lq - self.epsilon[kl].min()) * np.exp(-lp))
        return np.asarray(np.minimum(start - 1e-12 * (1.0 + abs(start)), lp))

    def reference(self, lp: Floats, lq: Floats) -> Floats:
        """Return log x for the smallest x inside for each p, rounded down, from log p and log(1-p)."""

        def logs(lx: Floats) -> Logs:
            return lp, lq, lx, np.log1p(-np.exp(lx))

        def move(lx: Floats, _order: Floats, excess: Floats, tilt: Floats) -> Floats:
            # (t-1) D_t is a log-sum-exp of functions convex in log x, hence convex in log x.
            x, step = np.exp(lx), np.zeros_like(lx)
            np.divide(excess * (1.0 - x), tilt - x, out=step, where=excess > 0.0)
            return np.minimum(lx + step, lp)

        return self._approach(self.floor(lp, lq), logs, move)

    def lines(self, lx: Floats, most: float) -> tuple[Floats, Floats]:
        """Return log slope and intercept of a line above all pairs inside that touches them at x, both rounded up."""
        ly = np.log1p(-np.exp(lx))
        p = self.power(lx, ly, most)
        logs = (np.log(p), np.log1p(-p), lx, ly)
        order, _ = self._tightest(logs)
        _, tilt, noise = divergence(order, logs)
        kl, rise, above = order == 1.0, _divergence_slope(order, tilt, logs), tilt - np.exp(lx)
        # The level set of that order through (x, p) is convex and holds every pair inside; this is its tangent.
        factor_error = noise * np.where(kl, p, (order - 1.0) * tilt * (1.0 - tilt))  # rounding error of the two factors
        least = np.minimum(np.where(kl, rise, tilt - p), above)
        reliable = least > 100.0 * factor_error  # elsewhere a vertical line stands in
        above, rise, least = (np.where(reliable, factor, 1.0) for factor in (above, rise, least))
        slope, margin = np.log(above / rise) + logs[0] - lx - ly, 4.0 * factor_error / least + noise
        intercept = p * (1.0 + 4.0 * UNIT) - np.exp(slope - margin + lx)
        return np.where(reliable, slope + margin, np.inf), np.where(reliable, intercept, 0.0)

    def _approach(
        self, start: Floats, logs: Callable[[Floats], Logs], move: Callable[[Floats, Floats, Floats, Floats], Floats]
    ) -> Floats:
        """Walk from outside to the frontier by Newton steps on convex functions, which do not cross it.

        What is returned is the last place where some order was broken by more than the rounding error (or the start):
        it is outside whether or not the steps have converged. The steps aim at epsilon plus twice that error.
        """
        place = outside = start
        for _ in range(40):
            before = place
            order, epsilon = self._tightest(logs(place))
            for steps_left in (3, 2, 1, 0):
                value, tilt, noise = divergence(order, logs(place))
                outside = np.where(value > epsilon + noise, place, outside)
                if steps_left:
                    place = move(place, order, np.maximum(value - epsilon - 2.0 * noise, 0.0), tilt)
            if np.all(abs(place - before) <= _SETTLED * abs(before)):
                break
        return outside

    def _tightest(self, logs: Logs) -> tuple[Floats, Floats]:
        """Return, for each pair, the order with the largest ratio of divergence and epsilon, and that epsilon."""
        lp, lq, lx, ly = logs
        a, b, s = lp - lx, lq - ly, self.order - 1.0
        kl = s == 0.0
        value = np.logaddexp(lp[:, None] + np.multiply.outer(a, s), lq[:, None] + np.multiply.outer(b, s))
        value /= np.where(kl, 1.0, s)
        value[:, kl] = (np.exp(lp) * a + np.exp(lq) * b)[:, None]
        best = np.argmax(value / self.epsilon, axis=1)
        if self.slope == 0.0:
            return self.order[best], self.epsilon[best]
        order = self._between(best, logs)
        return order, self.slope * order

    def _between(self, best: Ints, logs: Logs) -> Floats:
        """Return the orders around the best of the list at which D_t / t is largest, by Newton steps in t."""
        listed = self.order[best]
        low = 1.0 + np.maximum(self.order[np.maximum(best - 1, 0)] - 1.0, 0.01 * (self.order[1] - 1.0))
        high = self.order[np.minimum(best + 1, self.order.size - 1)]
        a, b = logs[0] - logs[2], logs[1] - logs[3]
        t = np.maximum(listed, low)
        for _ in range(3):
            value, tilt, _ = divergence(t, logs)
            first = (tilt * a + (1.0 - tilt) * b - value) / (t - 1.0)  # of D_t in t
            second = (tilt * (1.0 - tilt) * (a - b) ** 2 - 2.0 * first) / (t - 1.0)
            step = np.zeros_like(t)
            np.divide(first - value / t, second, out=step, where=second < 0.0)
            t = np.clip(t - step, low, high)
        between, at_listed = (divergence(order, logs)[0] / order for order in (t, listed))
        return np.where(between > at_listed, t, listed)
