"""What a result discloses of a prior that was estimated from records: no more digits than its reader needs."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

from ..numerics.rounding import two_digits
from .bound import side_of

if TYPE_CHECKING:
    from .assessment import Assessment, Discarded
    from .bound import Bound

__all__ = ["coarse", "coarse_interval", "shown"]


def shown(value: float) -> float:
    """Return a figure of a prior, such as kappa, with two digits, rounded up.

    Examples
    --------
    >>> shown(0.7837), shown(0.25), shown(0.1 + 0.2)
    (0.79, 0.25, 0.3)
    """
    return two_digits(float(f"{value:.12g}"), "up")


def coarse_interval(bound: Bound) -> Bound:
    """Return a bound whose both ends have two digits, rounded outward.

    Examples
    --------
    >>> from dpradar.results import Bound
    >>> wide = coarse_interval(Bound(value=0.0198, side="exact", rule="raw-data"))
    >>> wide.low, wide.value, wide.side
    (0.019, 0.02, 'upper')
    """
    # Twelve digits count: 1 - kappa of ten equal values is 0.9, whatever its last bit.
    low = two_digits(float(f"{bound.value if bound.low is None else bound.low:.12g}"), "down")
    high = min(1.0, two_digits(float(f"{bound.value:.12g}"), "up"))
    return replace(bound, value=high, low=low, high=high, side=side_of(low, high))


def coarse(result: Assessment) -> Assessment:
    """Return the assessment of an estimated prior with what is not exact to two digits, on the safe side.

    Guarantee
    ---------
    Upper bounds are rounded up, the blind guess down, and the gain is at least what it was; lower ends are left out.
    Exact risks stay as they are, for the prior as it was counted; where the prior is only near the true one no risk is
    exact, and nothing is left that has more than two digits. Rules that lost keep their names and reasons.

    Notes
    -----
    The blind guess is the largest frequency where nothing is known and the value itself is guessed, and bounds are
    functions of kappa. With all their digits the counts of a small table are found by trying. The gain is computed from
    the rounded blind guess: success minus gain must not give it away. Where no risk is exact, ``assess`` has computed
    everything from counts that several tables share (``threats.frequency_cells``),
    unless the table is too small for that.
    """
    exact = "region" not in result.prior
    rad, success = (_rounded(bound, exact=exact) for bound in (result.rad, result.success))
    baseline = None if result.baseline is None else two_digits(float(f"{result.baseline:.12g}"), "down")
    exact_rad = rad is not None and rad.side == "exact"
    return replace(
        result,
        rad=rad,
        success=success,
        gain=_gain(result, rad, success, baseline),
        baseline=baseline,
        ceiling=result.ceiling if exact_rad or result.ceiling is None else coarse_interval(result.ceiling),
        hit=result.hit if exact_rad else None,
        false_hit=result.false_hit if exact_rad else None,
        others=tuple(_other(other, exact=exact) for other in result.others),
        prior=_region(result.prior),
    )


def _other(other: Discarded, *, exact: bool) -> Discarded:
    """Return a rule that lost without its number; if ``exact``, the trivial bound stays, which always holds."""
    why = other.why
    for comparison in ("as tight as ", "looser than "):  # which of the two may depend on the last digit
        if other.bound is not None and why.startswith(comparison):
            why = f"not tighter than {why.removeprefix(comparison).partition(' by ')[0]}"
    bound = other.bound if exact and other.rule == "trivial" else None
    return replace(other, bound=_rounded(bound, exact=False), why=why)


def _rounded(bound: Bound | None, *, exact: bool) -> Bound | None:
    """Return a bound with two digits and no lower end; an exact one stays if ``exact``."""
    if bound is None or (exact and bound.side == "exact"):
        return bound
    value = two_digits(bound.value, "down") if bound.side == "lower" else min(1.0, two_digits(bound.value, "up"))
    return replace(bound, value=value, side="lower" if bound.side == "lower" else "upper", low=None, high=None)


def _gain(result: Assessment, rad: Bound | None, success: Bound | None, baseline: float | None) -> Bound | None:
    gain = result.gain
    same = baseline == result.baseline
    counted = result.prior.get("counted")
    # Several tables share rounded counts, so that nothing gives a single one away.
    shared = isinstance(counted, dict) and counted.get("rounding", 0.0) > 0.0
    if gain is None or success is None or baseline is None or same or shared or "region" in result.prior:
        return _rounded(gain, exact=same and "region" not in result.prior)
    value = two_digits(float(Decimal(repr(success.value)) - Decimal(repr(baseline))), "up")
    if rad is not None:  # gain <= rad for every prior
        value = min(value, rad.value)
    return replace(gain, value=max(value, 0.0), side="upper", low=None, high=None)


def _region(prior: dict[str, object]) -> dict[str, object]:
    region = prior.get("region")
    if not isinstance(region, dict):
        return prior
    low, high = region["baseline"]
    ends = [two_digits(low, "down"), min(1.0, two_digits(high, "up"))]
    return {**prior, "region": {**region, "baseline": ends}}
