"""Search for the least noise: bracket, root and scan; neither continuity nor monotonicity is assumed."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ..errors import NumericsError, ParameterError
from ..guarantees.accuracy import Accuracy, computed_with
from ..numerics.lazy_numpy import np
from .risk_order import no_riskier

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..results.calibration import Achieved
    from ..threats import Prior
    from .limit import Limit
    from .release_family import Family

__all__ = ["ParameterSearch", "Probe"]

_COARSE, _FINE = Accuracy(coarseness=10.0), Accuracy(coarseness=1.0)
_COARSE_PRECISION = 4e-3
_ROOM = -2e-4
_FAR = 50.0  # the logarithm of a ratio of value to limit that is as bad as any
_SCANS = ((2.3, 200), (7.0, 60))  # how far above the answer (in log noise) and at how many places one looks
_ROUNDS = 20  # of looking and moving up


@dataclass(frozen=True, slots=True, eq=False)
class Probe:
    """One parameter value tried: what it gives, and the logarithm of the worst ratio of value to limit."""

    u: float
    x: float
    mechanism: Any
    achieved: tuple[Achieved, ...]
    excess: float

    @property
    def ok(self) -> bool:
        """Whether every limit is kept."""
        return self.excess <= 0.0


def _excess(achieved: Sequence[Achieved]) -> float:
    worst = -math.inf
    for one in achieved:
        limit = one.limit or 0.0
        if one.value <= limit:
            worst = max(worst, min(math.log(max(one.value, 1e-12 * max(limit, 1e-300)) / limit), 0.0) if limit else 0.0)
        else:
            worst = max(worst, min(math.log(one.value / limit), _FAR) if limit else _FAR, 1e-15)
    return worst


@dataclass(slots=True, eq=False)
class ParameterSearch:
    """Finds the least u (the most, when ``sign`` is -1) that keeps the limits."""

    family: Family
    limits: Sequence[Limit]
    measure: Callable[[Limit, Any, Prior | None], list[Achieved]]
    abouts: Sequence[Prior | None]
    precision: float
    progress: Callable[[str], None]
    sign: int = 1
    probes: list[Probe] = field(default_factory=list)
    best: Probe | None = None
    valid: Probe | None = None  # the least noise so far that keeps the limits: what an interrupted search returns
    tried: int = 0
    problem: ParameterError | None = None

    def probe(self, u: float) -> Probe | None:
        """Try one noise coordinate; None where the family does not exist."""
        x = self.family.x(u)
        for earlier in self.probes:
            if earlier.x == x:
                return earlier
        try:
            mechanism = self.family.build(x)
        except ParameterError as error:
            self.problem = error
            return None
        achieved = [
            one
            for limit in self.limits
            for about in self._abouts(limit)
            for one in self.measure(limit, mechanism, about)
        ]
        probe = Probe(u, x, mechanism, tuple(achieved), _excess(achieved))
        self.probes.append(probe)
        self.tried += 1
        if probe.ok and (self.valid is None or self.sign * probe.u < self.sign * self.valid.u):
            self.valid = probe
        self.progress(f"{self.family.parameter} {x:.6g}: {'keeps' if probe.ok else 'breaks'} the limits")
        return probe

    def _abouts(self, limit: Limit) -> Sequence[Prior | None]:
        """Return whose records the release is about: a threat without a prior is evaluated on those of the others."""
        return (None,) if limit.attacker.prior is not None else self.abouts

    def run(self) -> str:
        """Search and return "met", "free" or "unmet"; ``best`` is then the answer, or the end of the range."""
        start = self.family.u(self.family.start)
        with computed_with(_COARSE) as usage:
            self.probe(start)
            if usage.grid:  # a coarse grid of privacy losses finds the neighbourhood of the answer cheaply
                start, step = self._coarse_start(start)
        if not usage.grid:
            return self._fine(start, 0.5)
        self.probes.clear()
        with computed_with(_FINE):
            status = self._fine(start, step)
        return self._confirmed() if status == "met" else status

    def _fine(self, start: float, step: float) -> str:
        status, bad, good = self._bracket(start, step)
        if status != "met" or good is None or bad is None:
            self.best = good if status == "free" else None
            return status
        self.best = good
        self.best = self._root(bad, good, self.precision)
        return self._settle()

    def _confirmed(self) -> str:
        """Return "met" once the answer holds with the accuracy that ``assess`` uses."""
        self.probes.clear()
        for _ in range(50):
            if self.best is None:
                break
            probe = self.probe(self.best.u)
            if probe is not None and probe.ok:
                self.best = probe
                # With room to spare the grid of the search was too coarse: search on as finely as ``assess`` computes.
                return "met" if probe.excess > _ROOM else self._fine(probe.u, 0.01)
            self.best = replace(self.best, u=self.best.u + 2.0 * self.precision)
        return "unmet"

    def _coarse_start(self, start: float) -> tuple[float, float]:
        """Return where to start on a fine grid of privacy losses, and with what step."""
        status, bad, good = self._bracket(start, 0.5)
        if status == "met" and good is not None and bad is not None:
            return self._root(bad, good, _COARSE_PRECISION).u, 0.01
        return (start if status == "unmet" else self.family.span[0 if self.sign > 0 else 1]), 0.5

    def _bracket(self, start: float, step: float) -> tuple[str, Probe | None, Probe | None]:
        """Return a probe that breaks the limits and one that keeps them, with more noise (less, for accuracy)."""
        ends = self.family.span
        first = self.probe(min(max(start, ends[0]), ends[1]))
        if first is None:
            first = self._first_probe_on_grid()
        if first is None and self.problem is not None:
            raise self.problem  # wrong whatever the noise
        if first is None:
            message = f"no value of {self.family.parameter} between {self.family.low:g} and {self.family.high:g} works"
            raise NumericsError(message)
        towards = self.sign if not first.ok else -self.sign
        last = first
        while True:
            u = last.u + towards * step
            inside = ends[0] <= u <= ends[1]
            second = self.probe(min(max(u, ends[0]), ends[1]))
            if second is None:
                second, inside = self._edge(last, u), False
            if second.ok != first.ok:
                return ("met", last, second) if second.ok else ("met", second, last)
            if not inside:
                return ("free", None, second) if first.ok else ("unmet", second, None)
            last, step = second, 2.0 * step

    def _first_probe_on_grid(self) -> Probe | None:
        low, high = self.family.span
        for u in np.linspace(low, high, 41):
            probe = self.probe(float(u))
            if probe is not None:
                return probe
        return None

    def _edge(self, inside: Probe, outside: float) -> Probe:
        """Return the last probe before the family ceases to exist."""
        inner, outer = inside, outside
        for _ in range(40):
            if abs(outer - inner.u) <= self.precision:
                break
            middle = self.probe(0.5 * (inner.u + outer))
            if middle is None:
                outer = 0.5 * (inner.u + outer)
            elif middle.x == inner.x:
                break
            else:
                inner = middle
        return inner

    def _root(self, bad: Probe, good: Probe, precision: float) -> Probe:
        """Return a probe that keeps the limits, within ``precision`` of one that does not."""
        from scipy import optimize

        def excess(u: float) -> float:
            probe = self.probe(u)
            if probe is None:
                return 1.0
            return probe.excess if probe.excess != 0.0 else -1e-15

        if self.family.integer:
            return self._whole(bad, good)
        if abs(good.u - bad.u) > precision:
            optimize.brentq(excess, bad.u, good.u, xtol=0.5 * precision, rtol=1e-15, maxiter=100)
        return self._nearest(bad.u, good.u)

    def _whole(self, bad: Probe, good: Probe) -> Probe:
        while abs(good.x - bad.x) > 1:
            middle = self.probe(self.family.u((good.x + bad.x) // 2))
            if middle is None or middle.x in (good.x, bad.x):
                break
            good, bad = (middle, bad) if middle.ok else (good, middle)
        return good

    def _nearest(self, bad: float, good: float) -> Probe:
        """Return, of the probes between two coordinates, the one closest to the bad side beyond which all are good."""
        low, high = min(bad, good), max(bad, good)
        inside = sorted((p for p in self.probes if low <= p.u <= high), key=lambda p: -self.sign * p.u)
        best = inside[0]
        for one in inside:
            if not one.ok:
                break
            best = one
        return best

    def _settle(self) -> str:
        """Look at noisier releases than the answer, and move up where one of them breaks a limit."""
        if self.sign < 0 or self.best is None or self.family.integer:
            return "met"
        for _ in range(_ROUNDS):
            broken = self._broken()
            if broken is None:
                return "met"
            bad, good = broken
            if good is None:
                break
            self.best = self._root(bad, good, self.precision)
        self.best = None
        return "unmet"

    def _broken(self) -> tuple[Probe, Probe | None] | None:
        """Return the noisiest release looked at that breaks a limit, and the next one above it that keeps them."""
        if self.best is None or self._all_noisier_are_no_riskier():
            return None
        places = np.unique(np.concatenate([self.best.u + reach * np.arange(1, n + 1) / n for reach, n in _SCANS]))
        after: float | None = None
        for u in places[places <= self.family.span[1]].tolist()[::-1]:
            probe = None if self._is_no_riskier(u) else self.probe(u)
            if probe is not None and not probe.ok:
                return probe, None if after is None else self.probe(after)
            after = u
        return None

    def _all_noisier_are_no_riskier(self) -> bool:
        """Whether all releases with more noise are known to be no riskier: the noisiest is, and one parameter differs.

        Where the order of releases says so of two values of the parameter, it does of every value between them.
        """
        if self.best is None or not self.family.one_parameter:
            return False
        try:
            return no_riskier(self.best.mechanism, self.family.build(self.family.x(self.family.span[1])))
        except ParameterError:
            return False  # it does not exist, so that the others are compared one by one

    def _is_no_riskier(self, u: float) -> bool:
        """Whether the release at u is known to be no riskier than the answer."""
        if self.best is None:
            return False
        try:
            return no_riskier(self.best.mechanism, self.family.build(self.family.x(u)))
        except ParameterError:
            return True
