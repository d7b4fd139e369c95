"""The reconstruction advantage of a user-supplied attack, with intervals, from its logged results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._version import __version__
from ..errors import ParameterError
from ..numerics.confidence_intervals import clopper_pearson, empirical_bernstein
from ..numerics.decimals import near
from ..numerics.lazy_numpy import Array, Bools, Floats, np
from ..params import Param
from ..results.attack import AttackRun, Estimate
from .attack_options import CONFIDENCE

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["measure"]

_WITHIN = Param(name="within", low=0.0, what="how far off a guess may be", typical=(0.0, 10.0))


def measure(  # noqa: PLR0913 (keywords that stand for themselves)
    guesses_with: Any,
    guesses_without: Any,
    *,
    truth: Any = None,
    truth_without: Any = None,
    within: float = 0.0,
    paired: bool = False,
    targets: Sequence[Any] | Array | None = None,
    confidence: float = 0.95,
    name: str = "a logged attack",
) -> AttackRun:
    """Return success, false hit and rad of any attack, with intervals, from what it guessed.

    ``guesses_with`` are its guesses about people who took part, ``guesses_without`` its guesses about people who did
    not (the same attack on a release made without them, with what is known of them). Give the ``truth`` behind them
    (and ``truth_without``, unless it is the same), or give hits: arrays of booleans. Numbers count as right when they
    are at most ``within`` off.

    ``paired=True``: entry i of both is about the same target, so that differences are taken target by target, which is
    more precise. ``targets`` names the target of each entry when some occur several times (several models trained with
    the same person, say): such entries are not independent, so they are averaged first.

    Guarantee
    ---------
    Each interval holds its number with probability ``confidence``, whatever the attack is and for every sample size.

    Assumes
    -------
    Different targets are independent draws from the population that the result is about.

    Notes
    -----
    Success with minus success without is rad ([RAD] Definition 4.1; U-ReRo of Sauer 2025). Clopper and Pearson (1934)
    on the counts; for paired results on the two kinds of disagreement; Maurer and Pontil (2009) on averages per target.

    Examples
    --------
    >>> run = measure(["a", "b", "c", "a"] * 50, ["a", "c", "c", "c"] * 50, truth=["a", "b", "c", "b"] * 50)
    >>> run.success.estimate, run.false_hit.estimate, run.rad.estimate
    (0.75, 0.5, 0.25)
    """
    failure = 1.0 - CONFIDENCE.check("measure", confidence)
    within = _WITHIN.check("measure", within)
    first = _hits("guesses_with", guesses_with, truth, within)
    second = _hits("guesses_without", guesses_without, truth if truth_without is None else truth_without, within)
    if paired and first.size != second.size:
        hint = "Entry i of both is about the same target; leave paired=False otherwise."
        raise ParameterError("guesses_without", f"{first.size} entries when paired", f"{second.size}", hint)
    if targets is not None:
        rad, success, false_hit, count = _by_target(first, second, targets, failure, paired=paired)
    else:
        success, false_hit = _share(first, failure), _share(second, failure)
        rad, count = (_paired if paired else _difference)(first, second, failure), first.size
    return AttackRun(
        rad=rad,
        success=success,
        false_hit=false_hit,
        trials=int(count),
        confidence=1.0 - failure,
        strategy=name,
        paired=paired,
        notes=() if targets is None else (f"{first.size:,} results about {count:,} targets",),
        version=__version__,
    )


def _hits(owner: str, guesses: Any, truth: Any, within: float) -> Bools:
    hint = "Give guesses and truth=, or booleans that say which guesses were right."
    answers = _as_array(owner, guesses, hint)
    if answers.ndim != 1 or answers.size == 0:
        raise ParameterError(owner, "a list with one entry per guess", f"shape {answers.shape}", hint)
    if truth is None:
        if answers.dtype != bool:
            raise ParameterError(owner, "booleans when no truth is given", f"{answers.dtype}", hint)
        return answers
    right = _as_array("truth", truth, hint)
    if right.shape != answers.shape:
        raise ParameterError("truth", f"{answers.size} entries, one per guess", f"{right.size}", hint)
    if (answers.dtype.kind in "US") != (right.dtype.kind in "US") and "O" not in (answers.dtype.kind, right.dtype.kind):
        # "1" is never equal to 1: every guess would count as wrong, and the risk as 0.
        hint = "Give guesses and truth as the same kind, words or numbers."
        raise ParameterError("truth", f"of the kind of the guesses, {answers.dtype}", f"{right.dtype}", hint)
    if within > 0.0:
        try:
            return near(answers, right, within)
        except (TypeError, ValueError):
            message = "Leave within= out for guesses that are not numbers."
            raise ParameterError(owner, "numbers when within is given", f"{answers.dtype}", message) from None
    return np.asarray(answers == right)


def _as_array(owner: str, values: Any, hint: str) -> Array:
    try:
        return np.asarray(values)
    except ValueError:
        raise ParameterError(owner, "a flat list", "lists of different lengths", hint) from None


def _share(hits: Bools, failure: float) -> Estimate:
    count = int(np.count_nonzero(hits))
    low, high = clopper_pearson(count, hits.size, failure)
    return Estimate(estimate=count / hits.size, low=low, high=high)


def _difference(first: Bools, second: Bools, failure: float) -> Estimate:
    one, other = _share(first, failure / 2.0), _share(second, failure / 2.0)
    return Estimate(estimate=one.estimate - other.estimate, low=one.low - other.high, high=one.high - other.low)


def _paired(first: Bools, second: Bools, failure: float) -> Estimate:
    """Only targets on whom the two disagree count: rad is the share won minus the share lost."""
    return _difference(first & ~second, second & ~first, failure)


def _by_target(
    first: Bools, second: Bools, targets: Any, failure: float, *, paired: bool
) -> tuple[Estimate, Estimate, Estimate, int]:
    names = _as_array("targets", targets, "Name the target behind each entry.")
    if names.shape != first.shape or (not paired and second.size != first.size):
        hint = "Name the target behind each entry of both lists."
        raise ParameterError("targets", f"{first.size} names, one per guess", f"{names.size}", hint)
    codes_by_name: dict[Any, int] = {}
    code = np.array([codes_by_name.setdefault(name, len(codes_by_name)) for name in names.tolist()])
    count = np.bincount(code)
    one, other = np.bincount(code, weights=first) / count, np.bincount(code, weights=second) / count
    parts = [(one - other, -1.0), (one, 0.0), (other, 0.0)]
    rad, success, false_hit = (_average(values, low, failure) for values, low in parts)
    return rad, success, false_hit, count.size


def _average(values: Floats, low: float, failure: float) -> Estimate:
    ends = empirical_bernstein(values, low=low, high=1.0, failure=failure)
    return Estimate(estimate=float(values.mean()), low=ends[0], high=ends[1])
