"""Find the least noise that keeps every limit."""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

from .._version import __version__
from ..bounds.question import Case
from ..errors import ParameterError
from ..mechanisms.cost import cost_of
from ..params import Param, shown
from ..results.calibration import Achieved, Calibration, Status
from ..results.description import describe_release
from .limit import UNRESOLVED, Limit
from .release_family import Family, family_of
from .search import ParameterSearch, Probe

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..threats import Prior

__all__ = ["DEFAULT_PRECISION", "calibrate", "calibrate_family"]

DEFAULT_PRECISION = 1e-5

_PRECISION = Param(
    name="precision",
    low=1e-9,
    high=0.1,
    what="the relative distance of the answer from the least noise",
    typical=(1e-6, 1e-2),
)
_DIRECTION_PROBES = (1e-3, 0.03, 0.1, 0.5, 1.0, 2.0, 10.0, 30.0, 1e3)  # where the direction of a function shows
_PATIENCE = 1.0  # seconds of silence before progress is reported


def calibrate(
    family: Any,
    limits: Limit | Sequence[Limit],
    *,
    precision: float = DEFAULT_PRECISION,
    progress: Callable[[str], None] | None = None,
    times: int = 1,
    **fixed: Any,
) -> Calibration:
    """Return the least noise that keeps every limit, or, with limits on accuracy alone, the most.

    Guarantee
    ---------
    The limits hold at the returned value, by the same rules as ``assess``. With a little less noise (``precision``)
    one of them breaks. For families that are not provably ordered, some 260 noisier releases are assessed too, and the
    answer moves up until all of them keep the limits.

    Assumes
    -------
    As ``assess`` does. A limit without a prior is evaluated on the records of the other limits' priors, where there
    are any, because they settle the sensitivity.

    Parameters
    ----------
    family
        A mechanism or guarantee class whose one free parameter is chosen (the others by name), or a function of one
        number that returns a mechanism, such as ``lambda sigma: Repeated(Gaussian(sigma), 40)``.
    limits
        One or several; all are kept, and ``binding`` names the one that decides.
    precision
        The relative distance of the answer from the least noise.
    progress
        Called with a line of text for every value tried, once the search has taken a second.
    times
        The number of times the release is made about the same person, with independent noise.

    Notes
    -----
    Ctrl-C stops the search; the best value found so far, if there is one, is returned with status "stopped".

    Examples
    --------
    >>> import dpradar as dr
    >>> c = dr.calibrate(dr.Laplace, dr.Limit(dr.Threat(dr.Prior.uniform(10)), rad=0.1))
    >>> round(9 / c.value, 4), round(c.cost["error"], 3)
    (2.1201, 12.717)
    """
    checked = _checked_limits(limits)
    release_family = family_of(family, fixed, times)
    return calibrate_family(release_family, checked, _PRECISION.check("calibrate", precision), progress)


def calibrate_family(
    family: Family, limits: Sequence[Limit], precision: float, progress: Callable[[str], None] | None
) -> Calibration:
    """Return the calibration of a family; ``calibrate`` describes it."""
    if any(why := limit.unreachable_reason for limit in limits):
        if family.one_parameter:
            family.build(family.start)  # options that contradict each other are told first
        return _unmet(family, f"no {family.parameter} keeps the limits: {why}", 0)
    directed_family = _with_direction(family, limits)
    risky = any(limit.risks for limit in limits)
    search = _search(directed_family, limits, precision, _delayed_progress(progress), risky=risky)
    status: Status
    try:
        status = search.run()  # type: ignore[assignment]
    except KeyboardInterrupt:
        if search.valid is None:
            raise
        search.best, status = search.valid, "stopped"
    return _result(search, limits, status, risky=risky)


def _checked_limits(limits: Limit | Sequence[Limit]) -> tuple[Limit, ...]:
    result = (limits,) if isinstance(limits, Limit) else tuple(limits) if isinstance(limits, (list, tuple)) else ()
    if not result or not all(isinstance(limit, Limit) for limit in result):
        hint = "Such as Limit(Threat(Prior.uniform(10)), rad=0.1)."
        raise ParameterError("calibrate.limits", "a Limit or a list of them", shown(limits), hint)
    return result


def _delayed_progress(progress: Callable[[str], None] | None) -> Callable[[str], None]:
    start = time.monotonic()

    def report(text: str) -> None:
        if progress is not None and time.monotonic() - start > _PATIENCE:
            progress(text)

    return report


def _priors_of_limits(limits: Sequence[Limit]) -> list[Prior | None]:
    priors = [limit.attacker.prior for limit in limits if limit.attacker.prior is not None]
    return list({id(prior): prior for prior in priors}.values()) or [None]


def _search(
    family: Family, limits: Sequence[Limit], precision: float, progress: Callable[[str], None], *, risky: bool
) -> ParameterSearch:
    def measure(limit: Limit, release: Any, about: Prior | None) -> list[Achieved]:
        return limit.achieved(release, about) if risky else limit.costs_of(release)

    return ParameterSearch(
        family, limits, measure, _priors_of_limits(limits), precision, progress, sign=1 if risky else -1
    )


def _with_direction(family: Family, limits: Sequence[Limit]) -> Family:
    """Return the family with the direction in which the risk falls, determined by trial when nothing else states it."""
    if family.direction is not None:
        return family
    upward = replace(family, direction="up")
    risky = any(limit.risks for limit in limits)
    search = _search(upward, limits, 1e-3, lambda _: None, risky=risky)
    probes = [probe for x in _DIRECTION_PROBES if (probe := search.probe(upward.u(x))) is not None]
    if len(probes) < 2:
        hint = f"Tried {family.parameter} = {', '.join(f'{x:g}' for x in _DIRECTION_PROBES)}."
        raise ParameterError("calibrate.family", "a function defined for such numbers", "errors", hint)
    falls = probes[-1].excess < probes[0].excess
    return upward if falls == risky else replace(family, direction="down")


def _result(search: ParameterSearch, limits: Sequence[Limit], status: Status, *, risky: bool) -> Calibration:
    family, best = search.family, search.best
    if best is None or status == "unmet":
        return _unmet(family, _why_unmet(search), search.tried)
    costs = [one for limit in limits for one in limit.costs_of(best.mechanism)]
    over = [one for one in costs if one.value > (one.limit or 0.0)]
    if risky and over:
        worst = over[0]
        reason = (
            f"the risk limits need {family.parameter} {best.x:.6g}, where {worst.quantity} is {worst.value:.4g}, "
            f"more than {worst.limit:g}: relax one of the limits"
        )
        return _unmet(family, reason, search.tried)
    achieved = best.achieved + (tuple(costs) if risky else _resulting_risks(limits, best))
    return Calibration(
        parameter=family.parameter,
        value=best.x,
        status=status,
        more_private=family.direction,
        achieved=achieved,
        binding=None if status == "free" else _binding(best),
        cost=cost_of(best.mechanism),
        reason=_reason(search, status),
        tried=search.tried,
        release=describe_release(best.mechanism),
        mechanism=best.mechanism,
        assumes=_assumes(limits, best.mechanism),
        version=__version__,
    )


def _assumes(limits: Sequence[Limit], release: Any) -> tuple[str, ...]:
    """Return what the description takes for granted, such as a stated sensitivity or how records are sampled."""
    cases = [
        Case(release, limit.attacker, limit.neighbours, about=about if limit.attacker.prior is None else None)
        for limit, about in product(limits, _priors_of_limits(limits))
        if limit.risks
    ]
    return tuple(dict.fromkeys(note for case in cases for note in case.assumes))


def _unmet(family: Family, reason: str, evaluations: int) -> Calibration:
    return Calibration(
        parameter=family.parameter,
        value=None,
        status="unmet",
        more_private=family.direction,
        reason=reason,
        tried=evaluations,
        version=__version__,
    )


def _resulting_risks(limits: Sequence[Limit], best: Probe) -> tuple[Achieved, ...]:
    """Return what the risk comes to when only the accuracy was limited."""
    risks = []
    for limit in limits:
        if limit.threat is not None:
            quantity = "success" if limit.threat.kind == "membership" else "rad"
            whole: dict[str, Any] = {quantity: 1.0}
            whole_risk = Limit(limit.threat, neighbours=limit.neighbours, **whole)
            try:
                risks += [replace(one, limit=None) for one in whole_risk.achieved(best.mechanism)]
            except ParameterError:
                continue  # it is not stated how much one person changes the output, so only the accuracy is known
    return tuple(risks)


def _binding(best: Probe) -> str:
    """Return the limit that is nearest to being broken."""

    def used(one: Achieved) -> float:
        return one.value / one.limit if one.limit else 1.0

    return max((one for one in best.achieved if one.limit is not None), key=used).label


def _why_unmet(search: ParameterSearch) -> str:
    if not search.probes:
        return "nothing could be tried"
    last = max(search.probes, key=lambda probe: search.sign * probe.u)
    broken = [one for one in last.achieved if one.value > (one.limit or 0.0)]
    unresolved = [one for one in broken if one.rule.startswith(UNRESOLVED)]
    if unresolved:
        return (
            f"whether some {search.family.parameter} keeps the limits is not known: {unresolved[0].rule}, and "
            f"{unresolved[0].quantity} is limited. Limit epsilon at a larger delta"
        )
    excess = "; ".join(
        f"{one.quantity} is still {one.value:.4g}, more than {one.limit:g} ({one.rule})" for one in broken
    )
    return f"no value of {search.family.parameter} keeps the limits: at {last.x:.6g} {excess or 'a limit is broken'}"


def _reason(search: ParameterSearch, status: Status) -> str:
    family = search.family
    if status == "free":
        end = "least" if search.sign > 0 else "most"
        return f"every {family.parameter} keeps the limits, even the {end} noise tried ({family.x(search.best.u):.6g})"  # type: ignore[union-attr]
    if status == "stopped":
        return "stopped before the search was over: the value keeps the limits, but less noise might do"
    return ""
