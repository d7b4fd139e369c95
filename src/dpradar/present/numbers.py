"""Numbers as people read them: rounded to the side that never understates, and counted in people."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Literal

from ..numerics.rounding import rounded, significant

if TYPE_CHECKING:
    from ..results import Assessment, Bound, Estimate

__all__ = [
    "Counts",
    "advantage_counts",
    "blind_counts",
    "count_up",
    "crowd",
    "estimated_count",
    "least",
    "number",
    "percent",
    "plain_count",
    "relation_words",
    "safe_number",
    "shown_limit",
]

SNAP = 1e-9  # a blind guess this close to 1 cannot fail
SMALL = 0.01  # below one in a hundred, count in ten thousand
LARGE = 1e6
_TINY = 1e-6
_MOST_PLACES = 12  # decimals; smaller numbers are shown in scientific notation
_LONG_PLACES = 6
_FEW, _MANY = 100, 10_000


def number(bound: Bound, digits: int = 4) -> str:
    """Return a bound as text, rounded to its safe side, with the word that says which side it is.

    Examples
    --------
    >>> from dpradar.results import Bound
    >>> number(Bound(value=0.38914, side="upper", rule="thm-4.2"), 3)
    'at most 0.390'
    """
    word = {"upper": "at most ", "lower": "at least ", "exact": ""}[bound.side]
    return word + rounded(bound.value, digits, "down" if bound.side == "lower" else "up")


def least(bound: Bound, digits: int = 6) -> str:
    """Return the lower end of what an upper bound is known to lie in, such as ", at least 0.25"; "" where it is 0.

    Examples
    --------
    >>> from dpradar.results import Bound
    >>> least(Bound(value=0.38914, side="upper", rule="exact-known-cell", low=0.3, high=0.38914), 3)
    ', at least 0.300'
    """
    bounded = bound.side == "upper" and bound.low is not None and bound.low > 0.0
    return f", at least {rounded(bound.low or 0.0, digits, 'down')}" if bounded else ""


def safe_number(value: float, more_private: str | None, digits: int = 6) -> str:
    """Return a calibrated parameter with a few significant digits, rounded to the side with more noise.

    Examples
    --------
    >>> safe_number(2.5043787, "down", 4), safe_number(22.730878, "up", 4)
    ('2.504', '22.74')
    """
    if not math.isfinite(value):
        return f"{value:g}"
    if float(value).is_integer() and abs(value) < LARGE:
        return f"{value:g}"
    side: Literal["up", "down"] = "down" if more_private == "down" else "up"
    places = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    if places > _MOST_PLACES or abs(value) < _TINY or float(value).is_integer():
        return significant(value, digits, side)
    return rounded(value, places, side)


def shown_limit(value: float, side: Literal["up", "down"]) -> str:
    """Return a number that is compared with a limit: six decimals, or six digits where it is not a probability.

    Examples
    --------
    >>> shown_limit(0.0999999999, "up"), shown_limit(0.10000002, "up"), shown_limit(12.3456789, "up")
    ('0.100000', '0.100001', '12.3457')
    """
    return rounded(value, _LONG_PLACES, side) if 0.0 <= value <= 1.0 else safe_number(value, side)


def relation_words(bound: Bound) -> str:
    """Return the neighbour relation that a number rests on, to stand behind its name; empty where it rests on none.

    Examples
    --------
    >>> import dpradar as dr
    >>> relation_words(dr.assess(dr.GDP(1.0, neighbours="add-remove"), dr.Threat.baseline(0.1)).worst_gain)
    ', add-remove'
    """
    return f", {bound.neighbours}" if bound.neighbours else ""


def crowd(share: float) -> int:
    """Return out of how many people a share is counted: 100, or 10,000 when it is less than one in a hundred."""
    return _MANY if share < SMALL else _FEW


def count_up(share: float, people: int) -> int:
    """Return how many people a share is, rounded up."""
    if math.isinf(share):
        return people
    return min(max(math.ceil(_people(share, people)), 0), people)


def _people(share: float, people: int) -> Decimal:
    """Return a share of some people, exactly: of the decimal that Python prints."""
    return Decimal(repr(float(share))) * people


def estimated_count(estimate: Estimate, people: int) -> tuple[int, int, int]:
    """Return an estimate in people: the nearest count, and an interval that is rounded outward."""
    low, high = math.floor(_people(estimate.low, people)), math.ceil(_people(estimate.high, people))
    return round(estimate.estimate * people), low, high


def plain_count(count: float) -> str:
    """Return a count that need not be whole, such as 0.5 of 10,000."""
    return f"{round(count, 9):g}"


def percent(share: float) -> str:
    """Return a confidence or an error as a percentage."""
    return f"{100 * share:.10g} %"


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """What changes between two groups of ``people``: right for ``before`` in one, ``after`` in the other.

    ``added`` is never below the number it stands for. ``before`` and ``after`` are None where only their difference is
    known; ``most`` is "at most " where the numbers are bounds, and empty where they are exact.
    """

    people: int
    before: int | None
    after: int | None
    added: int
    most: str

    @property
    def crowd(self) -> str:
        """The group in words."""
        return f"{self.people:,}"


def _most(bound: Bound, people: int) -> str:
    # An exact number between 0 and 1 person is shown as 1, which is then a bound.
    speck = 0 < _people(bound.value, people) < 1
    return "at most " if bound.side == "upper" or speck else ""


def advantage_counts(result: Assessment) -> Counts | None:
    """Return what taking part adds, in people; None where no advantage is given.

    Guarantee
    ---------
    ``added`` is the advantage rounded up, and ``after - before`` is never smaller.

    Examples
    --------
    >>> import dpradar as dr
    >>> advantage_counts(dr.assess(dr.GRR(m=10, epsilon=1.0), dr.Threat(dr.Prior.uniform(10))))
    Counts(people=100, before=10, after=24, added=14, most='')
    """
    rad = result.rad
    if rad is None:
        return None
    people = crowd(rad.value)
    added, most = count_up(rad.value, people), _most(rad, people)
    if result.hit is None or result.false_hit is None:
        return Counts(people=people, before=None, after=None, added=added, most=most)
    after = max(count_up(result.hit, people), added)  # up, as is what is added; the difference then goes down
    return Counts(people=people, before=after - added, after=after, added=added, most=most)


def blind_counts(result: Assessment) -> Counts | None:
    """Return the success beside the blind guess, in people; None where there is no blind guess that can fail.

    Guarantee
    ---------
    ``after`` is the success rounded up, and ``after - before`` is never below the gain.
    """
    if result.success is None or result.baseline is None or result.baseline >= 1.0 - SNAP:
        return None
    people = crowd(result.baseline)
    after = count_up(result.success.value, people)
    before = round(result.baseline * people)
    if after - before < _people(result.success.value, people) - _people(result.baseline, people):
        before = math.floor(_people(result.baseline, people))
    before = min(before, after)
    return Counts(people=people, before=before, after=after, added=after - before, most=_most(result.success, people))
