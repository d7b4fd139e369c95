"""A published statement, our number for it, and whether the two agree."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..table import Table

    Reader = Callable[[Table], float | None]

__all__ = ["Answer", "Statement", "Verdict", "near"]

Verdict = Literal["agrees", "differs", "wrong", "not comparable", "unexplained", "not computed"]
Span = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What a source says in one figure or table, and how our numbers are held against it.

    ``ours`` reads one number from the rows that were computed, never from anywhere else. The source is right when the
    number lies in ``agrees``. Where we know that it does not, ``instead`` is where a derivation or another source puts
    it, ``because`` says why, ``wrong`` whether the publication is at fault (otherwise the setting differs), and
    ``page`` where in the documentation it is derived. A number in neither span is unexplained. ``other_data``: the
    published number belongs to data that cannot be had, so it is shown beside ours and not compared; ours must still
    lie in ``instead``.
    """

    where: str
    says: str
    printed: str
    what: str
    ours: Reader
    agrees: Span = (math.nan, math.nan)
    instead: Span | None = None
    because: str = ""
    wrong: bool = False
    page: str = ""
    other_data: str = ""
    tolerance: str = ""

    def judge(self, table: Table) -> Answer:
        """Return our number and the verdict.

        Examples
        --------
        >>> from dpradar_reproduction.table import Table
        >>> table = Table(("rad",), ({"rad": 0.2},))
        >>> one = Statement(
        ...     where="Figure 1",
        ...     says="",
        ...     printed="0.2",
        ...     what="",
        ...     ours=lambda t: t.numbers("rad")[0],
        ...     agrees=near(0.2, 0.05),
        ... )
        >>> one.judge(table).verdict, one.judge(Table(("rad",), ())).verdict
        ('agrees', 'not computed')
        """
        try:
            value = self.ours(table)
        except (KeyError, IndexError, ValueError, TypeError):
            value = None  # the rows are not there: no data, or the quick version has fewer
        if value is None or math.isnan(value):
            return Answer(None, "not computed")
        number = float(value)
        if self.other_data:
            return Answer(number, "not comparable" if _inside(number, self.instead) else "unexplained")
        if _inside(number, self.agrees):
            return Answer(number, "agrees")
        if self.instead is not None and _inside(number, self.instead):
            return Answer(number, "wrong" if self.wrong else "differs")
        return Answer(number, "unexplained")


@dataclass(frozen=True, slots=True)
class Answer:
    """Our number for a statement, None where it was not computed, and the verdict."""

    number: float | None
    verdict: Verdict


def _inside(number: float, span: Span | None) -> bool:
    return span is not None and span[0] <= number <= span[1]


def near(printed: float, reach: float) -> Span:
    """Return the numbers at most ``reach`` away from a printed one: half a unit of its last digit, for instance.

    Examples
    --------
    >>> near(0.5, 0.25)
    (0.25, 0.75)
    """
    return printed - reach, printed + reach
