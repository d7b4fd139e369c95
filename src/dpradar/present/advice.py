"""The page of advice about a stream: what each granularity hides, and what a guarantee implies for it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from .numbers import safe_number
from .page import Entry, Page, Reproduce, Table, Verdict

if TYPE_CHECKING:
    from ..results.advice import Advice

__all__ = ["advice_notes", "advice_table", "loss_text", "page"]


def page(advice: Advice) -> Page:
    """Return the page of advice about a stream.

    Examples
    --------
    >>> from dpradar.granularity import advise
    >>> stream = {"ann": {1: "home", 2: "work", 3: "home"}, "bob": {1: "home", 2: "home"}}
    >>> page(advise(stream, granularity="event", epsilon=0.5, hidden="values")).verdict.text
    'Epsilon 0.5 under event implies epsilon 1.5 under user:replace-one.'
    """
    return Page(
        kind="advice",
        title="What a guarantee means for a stream",
        verdict=Verdict(text=_verdict_text(advice)),
        tables=(advice_table(advice),),
        label=tuple(
            Entry(term=f"Not hidden under {row.granularity}", text=f"{row.exposed}.")
            for row in advice.rows
            if row.exposed
        ),
        notes=tuple(advice_notes(advice)),
        reproduce=Reproduce(entries=(Entry(term="dpradar", text=advice.version, only="document"),)),
    )


def _verdict_text(advice: Advice) -> str:
    """Return the guarantee, and what it implies for the granularity for which it says least."""
    guarantee = f"Epsilon {loss_text(advice.epsilon)} under {advice.granularity}"
    widest = max(reversed(advice.rows), key=lambda row: row.implied, default=None)
    if widest is None:
        return f"{guarantee}."
    implied = "no limit at all" if math.isinf(widest.implied) else f"epsilon {loss_text(widest.implied)}"
    return f"{guarantee} implies {implied} under {widest.granularity}."


def advice_table(advice: Advice) -> Table:
    """Return what a guarantee under one granularity implies under the others."""
    stream = (
        f"{advice.users:,} users, {advice.points:,} points, at most {advice.most_points:,} of one user (median "
        f"{advice.middle_points:g}), {advice.times:,} times"
    )
    return Table(
        caption=f"What epsilon {loss_text(advice.epsilon)} under {advice.granularity} means for this stream ({stream})",
        headings=("Granularity", "Epsilon", "One change is", "Not hidden"),
        rows=tuple((row.granularity, loss_text(row.implied), row.unit, row.exposed or "–") for row in advice.rows),
        narrow=(0, 1, 2),
    )


def advice_notes(advice: Advice) -> list[str]:
    """Return why a loss is infinite, and what must be known about the numbers."""
    infinite = [f"Infinite under {row.granularity}: {row.why}." for row in advice.rows if math.isinf(row.implied)]
    private = "Numbers of points and mixing times come from the data and are not differentially private."
    return [*infinite, *(f"{note}." for note in advice.notes), private]


def loss_text(value: float | None) -> str:
    """Return a loss, rounded up.

    Examples
    --------
    >>> loss_text(0.1 + 0.2), loss_text(math.inf), loss_text(None)
    ('0.300001', 'infinite', '')
    """
    if value is None:
        return ""
    if math.isinf(value):
        return "infinite"
    text = safe_number(value, "up")
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text
