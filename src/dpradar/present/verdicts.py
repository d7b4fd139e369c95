"""Sentences about how near a release comes to the raw data, and which limits are kept: one function each."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..results.ceiling import no_worse, share_of
from .attackers import attacker
from .numbers import LARGE, SMALL, advantage_counts, count_up, crowd, percent, safe_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..results import Achieved, Assessment
    from ..results.limit_result import LimitResult

__all__ = [
    "ACKNOWLEDGED",
    "IDLE",
    "VACUOUS",
    "ceiling_sentence",
    "count_sentence",
    "idle_sentence",
    "limit_remark",
    "near_words",
    "rarest_sentence",
    "raw_sentence",
    "remark",
    "share_words",
]

VACUOUS = "This guarantee rules out almost nothing: the bound excludes less than 1 % of what is possible."
VACUOUS_WORD = "This guarantee rules out almost nothing"
NO_WORSE = "publishing the raw data would do no worse"
HARDLY = "hardly better than publishing the raw data"
NOT_SHOWN = "not shown to be better than publishing the raw data"
ACKNOWLEDGED = "near the raw data, which the limit acknowledges"
IDLE = "The raw data would keep this limit too, so it does not protect."
_SNAP = 1e-9
_FEW_DIGITS = 2
_NOTHING = 1e-12  # rounding of a ceiling that is 0


def near_words(share: float, side: str) -> str:
    """Return what it means that a release comes near to the raw data.

    Examples
    --------
    >>> near_words(0.97, "exact"), near_words(1.0, "exact")
    ('hardly better than publishing the raw data', 'publishing the raw data would do no worse')
    """
    if side != "exact":
        return NOT_SHOWN
    return NO_WORSE if no_worse(share) else HARDLY


def share_words(share: float, side: str) -> str:
    """Return a share of what the raw data give, in whole percent, rounded up.

    Examples
    --------
    >>> share_words(0.961, "exact"), share_words(0.2, "upper"), share_words(0.001, "exact")
    ('97 %', 'at most 20 %', 'less than 1 %')
    """
    if 0.0 < share < SMALL:
        return "less than 1 %"
    whole = min(100, math.ceil(100.0 * share - _SNAP))
    return f"{'' if side == 'exact' else 'at most '}{whole} %"


def ceiling_sentence(result: Assessment) -> str | None:
    """Return what publishing the raw data would add, and how much of that the release reaches; None without a prior.

    Examples
    --------
    >>> import dpradar as dr
    >>> threat = dr.Threat(dr.Prior.of([0.99, 0.01]))
    >>> ceiling_sentence(dr.assess(dr.Laplace(scale=1.0), threat))
    'Publishing the raw data would add 198 of 10,000; this release adds 40 % as many.'
    """
    counts, ceiling, share = advantage_counts(result), result.ceiling, result.share
    if counts is None or ceiling is None or share is None or result.rad is None:
        return None
    low = ceiling.value if ceiling.low is None else ceiling.low
    most, least = (max(round(end * counts.people), 0) for end in (ceiling.value, low))
    if ceiling.value <= _NOTHING:
        return "Publishing the raw data would add nothing: this attacker is right without it."
    if low <= 0.0:
        return (
            f"Publishing the raw data would add at most {most:,} of {counts.crowd}, perhaps nothing: how near this "
            "release comes to that is not known."
        )
    if ceiling.side == "exact" or least == most:
        added = f"{max(most, counts.added if result.rad.side == 'exact' else 0):,}"
    else:
        added = f"between {least:,} and {most:,}"
    end = f": {near_words(share, result.rad.side)}." if result.near_ceiling else "."
    return (
        f"Publishing the raw data would add {added} of {counts.crowd}; this release adds "
        f"{share_words(share, result.rad.side)} as many{end}"
    )


def remark(result: Assessment) -> str:
    """Return, for a line in a table, that a bound says almost nothing or that a release hardly protects; else nothing.

    Examples
    --------
    >>> import dpradar as dr
    >>> threat = dr.Threat(dr.Prior.of([0.99, 0.01]))
    >>> remark(dr.assess(dr.Laplace(scale=0.01), threat)), remark(dr.assess(dr.Laplace(scale=1.0), threat))
    (': publishing the raw data would do no worse', '')
    """
    if result.says_nothing:
        return ": rules out almost nothing"
    if result.near_ceiling and result.rad is not None and result.share is not None:
        return f": {near_words(result.share, result.rad.side)}"
    return ""


def rarest_sentence(result: Assessment) -> str | None:
    """Return what is said about people with the rarest value; None unless the prior is skewed.

    Examples
    --------
    >>> import dpradar as dr
    >>> threat = dr.Threat(dr.Prior.of([0.99, 0.01]))
    >>> rarest_sentence(dr.assess(dr.Laplace(scale=1.0), threat))
    'An attacker who wrongly attributes the rarest value to 1 % of people without it finds at most 3 of 100 with it. For
    one person the odds of having it can grow up to 2.8-fold.'
    """
    rarest = result.rarest
    if rarest is None:
        return None
    people = crowd(rarest.tpr.value)
    if attacker(result.threat).knows_value:  # the value is known; the question is whether it was used
        return (
            f"An attacker who is wrong about {percent(rarest.fpr)} of people whose record was not used recognises at "
            f"most {count_up(rarest.tpr.value, people):,} of {people:,} with the rarest value whose record was."
        )
    return (
        f"An attacker who wrongly attributes the rarest value to {percent(rarest.fpr)} of people without it finds at "
        f"most {count_up(rarest.tpr.value, people):,} of {people:,} with it. For one person the odds of having it can "
        f"grow {_odds(rarest.odds)}."
    )


def _odds(odds: float | None) -> str:
    if odds is None:
        return "by any factor, as far as is known"
    return "more than a million-fold" if odds > LARGE else f"up to {safe_number(odds, 'up', _FEW_DIGITS)}-fold"


def limit_remark(limit: LimitResult | Achieved) -> str:
    """Return what stands after "Kept" where a limit is kept by a release that hardly protects; empty otherwise."""
    if limit.raw is None or limit.value is None or not limit.near_ceiling:
        return ""
    if limit.acknowledge:
        return f", {ACKNOWLEDGED}"
    return f", but {near_words(share_of(limit.value, limit.raw.least, limit.raw.most), limit.side)}"


def raw_sentence(one: LimitResult | Achieved) -> str | None:
    """Return what the raw data would give for a quantity that is limited, and how much of that is reached.

    Examples
    --------
    >>> from dpradar.results import Achieved
    >>> from dpradar.results.ceiling import Raw
    >>> raw = Raw(least=0.0, most=0.0198)
    >>> from dpradar.results.description import text_only
    >>> raw_sentence(Achieved(quantity="rad", value=0.01, side="exact", limit=0.1, threat=text_only("any"), raw=raw))
    'Publishing the raw data would give rad 0.0198; this release reaches 51 % of that.'
    """
    if one.raw is None or one.value is None:
        return None
    share = share_of(one.value, one.raw.least, one.raw.most)
    way = "of that" if one.raw.least == 0.0 else f"of the way there from {one.raw.least:.4g}"
    raw = f"Publishing the raw data would give {one.quantity} {one.raw.most:.4g}"
    if one.raw.most - one.raw.least <= _SNAP:
        return f"{raw}, no more than without it."
    end = f": {near_words(share, one.side)}." if one.near_ceiling else "."
    return f"{raw}; this release reaches {share_words(share, one.side)} {way}{end}"


def idle_sentence(limits: Sequence[Achieved]) -> str:
    """Return that the raw data would keep limits too, and what limit would mean something.

    Examples
    --------
    >>> from dpradar.results import Achieved
    >>> from dpradar.results.ceiling import Raw
    >>> raw = Raw(least=0.0, most=0.0198)
    >>> from dpradar.results.description import text_only
    >>> idle_sentence([Achieved(quantity="rad", value=0.0198, limit=0.1, threat=text_only("any"), raw=raw)])
    'Even publishing the raw data would keep this limit, so it does not protect: it gives rad 0.0198, the limit is 0.1.
    A limit that protects lies well below, such as rad 0.0099, half of that.'
    """
    one = next(one for one in limits if one.idle)
    raw = one.raw
    if raw is None:
        return ""
    half = raw.least + 0.5 * (raw.most - raw.least)
    answer = (
        f"Even publishing the raw data would keep this limit, so it does not protect: it gives {one.quantity} "
        f"{raw.most:.4g}, the limit is {one.limit:g}."
    )
    if raw.most - raw.least <= _SNAP:
        return f"{answer} No limit on {one.quantity} can protect here: the raw data tell this attacker nothing by it."
    which = "half of that" if raw.least == 0.0 else "half of the way there from the blind guess"
    return f"{answer} A limit that protects lies well below, such as {one.quantity} {half:.4g}, {which}."


def count_sentence(attackers: Sequence[bool | None], *, accuracy: bool | None, noun: str = "attacker") -> str:
    """Return how many attackers have a limit and keep it, and whether the accuracy does; None means no limit.

    Examples
    --------
    >>> count_sentence([True, True, None], accuracy=True)
    'Limits are set for 2 of 3 attackers, and kept. No limit is set for attacker 3. Accuracy: kept.'
    >>> count_sentence([True, False], accuracy=None)
    'Limits are set for both attackers, and kept for 1 of them.'
    >>> count_sentence([None], accuracy=True), count_sentence([True], accuracy=None)
    ('No limit on the risk is set. Accuracy: kept.', '')
    """
    limited = [met for met in attackers if met is not None]
    without = [str(i) for i, met in enumerate(attackers, 1) if met is None]
    parts = []
    if not limited:
        parts.append("No limit on the risk is set.")
    elif len(attackers) > 1:
        many, kept = len(attackers), sum(limited)
        whom = "both" if many == 2 else f"all {many}"
        whom = f"{len(limited)} of {many}" if without else whom
        outcome = {0: "not kept", len(limited): "kept"}.get(kept, f"kept for {kept} of them")
        parts.append(f"Limits are set for {whom} {noun}s, and {outcome}.")
        if without:
            names = " and ".join([", ".join(without[:-1]), without[-1]] if len(without) > 1 else without)
            parts.append(f"No limit is set for {noun}{'s' if len(without) > 1 else ''} {names}.")
    if accuracy is not None:
        parts.append(f"Accuracy: {'kept' if accuracy else 'not kept'}.")
    return " ".join(parts)
