"""The page of an assessment: what someone could learn about one person from one release."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import assessment_parts as parts
from . import sentences, verdicts
from .page import Entry, Page, Reproduce, Verdict

if TYPE_CHECKING:
    from ..results import Assessment

__all__ = ["page"]


def page(result: Assessment) -> Page:
    """Return the page of an assessment."""
    card, saved = parts.card_of(result), parts.saved_rates(result)
    lines = [] if saved is None else [(result.release.text, saved)]
    others = parts.other_table(result, "Other bounds considered")
    entries = [
        Entry(term="Release", text=result.release.text, only="document"),
        *parts.prior_entries([("1", result)]),
        Entry(term="dpradar", text=result.version, only="document"),
    ]
    return Page(
        kind="assessment",
        title=f"Disclosure risk of {result.release}",
        verdict=_verdict(result),
        cards=(card,),
        curve=parts.curve_of(lines, [(card, result, saved)]),
        label=parts.label_of([(card, result)], [result.release.text], [result.neighbours]),
        tables=(parts.value_table([("", result, saved)]),),
        others=() if others is None else (others,),
        reproduce=Reproduce(entries=tuple(entries), listings=(parts.citation_of([result], result.version),)),
    )


def _verdict(result: Assessment) -> Verdict:
    """Return the largest extra success; without a limit nothing is praised, but what hardly protects is said to."""
    word = parts.unprotected_word([result])
    ceiling = verdicts.ceiling_sentence(result) if word else None
    return Verdict(
        text=sentences.largest_sentence(result),
        state="open" if word else "none",
        word=word,
        more=() if ceiling is None else (ceiling,),
    )
