"""Every sentence about a risk that people are shown, one function each; numbers go to the side that never understates.

Words: 100 people as denominator, 10,000 for all numbers where one is below one in a hundred, never a numerator of one
over a changing denominator; the blind guess beside the result; "at most" or "up to" for upper bounds, "at least" for
lower ones, "about" with its interval for estimates. Two attackers have two names: one goes by the data (maximises rad),
one makes the most correct guesses (maximises success). Sentences that only one kind of result has stand beside its
page, what pictures show in ``pictures``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..numerics.rounding import rounded
from .attackers import attacker
from .numbers import (
    SNAP,
    advantage_counts,
    blind_counts,
    count_up,
    crowd,
    number,
    percent,
    plain_count,
    relation_words,
    safe_number,
    shown_limit,
)
from .verdicts import IDLE, limit_remark

if TYPE_CHECKING:
    from ..results import Assessment, Bound
    from ..results.description import Description
    from ..results.limit_result import LimitResult
    from ..results.suggested_change import Change
    from .numbers import Counts

__all__ = [
    "ATTACKER_KNOWLEDGE",
    "BOTH_TRUE",
    "COUNTED",
    "NOT_COVERED",
    "NOT_COVERED_LIST",
    "NOT_PRIVATE",
    "QUANTITIES",
    "REPORTS",
    "WHOSE_RISK",
    "advantage_sentence",
    "blind_sentence",
    "both_sentence",
    "capital",
    "change_sentence",
    "compared_sentence",
    "cost_sentence",
    "keeps_sentence",
    "largest_sentence",
    "limit_sentence",
    "limit_words",
    "neighbours_sentence",
    "quantity_sentence",
    "rate_sentence",
    "unmet_sentence",
    "worst_sentence",
]

LEARNER = "an attacker who goes by the data"  # maximises rad
KNOWER = "an attacker who knows their record"  # asks whether it was used
GUESSER = "an attacker who makes the most correct guesses"  # maximises success
BOTH_TRUE = (
    "Both are true: an attacker who goes by the data learns most from them; one who may ignore them and name the "
    "likeliest value is right more often."
)
MAYBE_LOWER = "the true value may be lower"
NO_RULE = "no rule covers this case"
ATTACKER_KNOWLEDGE = "knows the mechanism, the prior and every other record"
WHOSE_RISK = "That of one person whose record is in the data, from anyone who sees what is released."
NOT_COVERED_LIST = (  # docs/explanation/reading-the-numbers.md says more about each
    "other releases about the same people that were not included",
    "flaws in the software that adds the noise",
    "records that depend on each other",
    "what the release says about whole groups",
    "a prior that is wrong",
    "how much harm a correct guess does",
)
UNVERIFIED = "This result is unverified: its file has no digest, so that changes to it cannot be detected."
NOT_COVERED = "{}.".format("; ".join(NOT_COVERED_LIST).capitalize())
NOT_PRIVATE = (
    "If the prior was estimated from confidential records, these numbers reveal something about them and are not "
    "themselves differentially private."
)
COUNTED = (
    "The prior was counted in a table, so these numbers reveal something about its records, exact numbers most, and "
    "are not themselves differentially private."
)
QUANTITIES = {
    "rad": "what taking part adds",
    "ceiling": "what publishing the raw data would add",
    "success": "right after the release",
    "gain": "more than by guessing blindly",
    "worst_gain": "gain of any attacker",
    "tpr": "targets found",
    "epsilon": "epsilon",
    "error": "error in 95 of 100 releases",
    "variance": "variance of the noise",
    "frequency_error": "error of a frequency from one report",
}
_SHARES = ("rad", "success", "gain", "worst_gain", "tpr")  # of people
_FPR = {"tpr": "fpr", "epsilon": "delta"}
REPORTS = 10_000
_SAME = 1e-9  # numbers of two attackers that differ by rounding only
_LEAST = 0.5  # below half a person the nearest count is 0


def capital(text: str) -> str:
    """Return text that begins with a capital letter."""
    return f"{text[:1].upper()}{text[1:]}"


def advantage_sentence(result: Assessment) -> str:
    """Return what taking part adds, in people out of 100 (or 10,000 when it is less than one in a hundred)."""
    counts = advantage_counts(result)
    if counts is None:
        return f"No advantage is given: {result.reason.get('rad', '')}."
    most, people = counts.most, counts.crowd
    if attacker(result.threat).knows_value:
        return _recognition_sentence(counts)
    if counts.after is None:
        return f"Taking part adds {most}{counts.added:,} of {people} people to those that {LEARNER} guesses correctly."
    return (
        f"Of {people} people who took part, {LEARNER} guesses {most}{counts.after:,} correctly. The same guesses would "
        f"be right for {counts.before:,} of {people} people whose data were not used. Taking part adds {most}"
        f"{counts.added:,}."
    )


def _recognition_sentence(counts: Counts) -> str:
    """Return what taking part adds where the value is known: the attacker says whether it was used."""
    people, added = counts.crowd, f"{counts.most}{counts.added:,}"
    if counts.after is None:
        return f"Taking part adds {added} of {people} people to those that {KNOWER} recognises as having taken part."
    return (
        f"Of {people} people whose record was used, {KNOWER} says so for {counts.most}{counts.after:,}; of {people} "
        f"whose record was not used, wrongly for {counts.before:,}. Taking part adds {added}."
    )


def blind_sentence(result: Assessment) -> str | None:
    """Return the success beside the blind guess, where the blind guess can fail."""
    counts = blind_counts(result)
    if counts is None or result.baseline is None:
        return None
    speck = SNAP < result.baseline * counts.people < _LEAST
    before = "less than 1" if speck else f"{counts.before:,}"
    return (
        f"Guessing alone: right for {before} of {counts.crowd}. After seeing this release, {GUESSER}: {counts.most}"
        f"{counts.after:,} of {counts.crowd}."
    )


def both_sentence(result: Assessment) -> str | None:
    """Return why two attackers gain different numbers from one release; None where they do not, or one has none.

    Examples
    --------
    >>> import dpradar as dr
    >>> skewed, uniform = dr.Threat(dr.Prior.of([0.8, 0.1, 0.1])), dr.Threat(dr.Prior.uniform(3))
    >>> [both_sentence(dr.assess(dr.GRR(m=3, epsilon=1.0), threat)) is None for threat in (skewed, uniform)]
    [False, True]
    """
    if result.rad is None or result.success is None or result.gain is None or blind_counts(result) is None:
        return None
    if result.hit is not None:  # the same attacker, if it is as often right
        differs = result.success.value - result.hit > _SAME
    else:
        differs = abs(result.rad.value - result.gain.value) > _SAME
    return BOTH_TRUE if differs else None


def worst_sentence(bound: Bound) -> str:
    """Return the gain of any attacker in words.

    Examples
    --------
    >>> from dpradar.results import Bound
    >>> worst_sentence(Bound(value=0.462118, side="upper", rule="total-variation"))
    'For any attacker: right for up to 47 more people in every 100 than by guessing blindly.'
    """
    people, relation = crowd(bound.value), f" ({bound.neighbours})" if bound.neighbours else ""
    more = _more(count_up(bound.value, people), people)
    return f"For any attacker{relation}: right for {more} than by guessing blindly."


def _more(count: int, people: int, most: str = "up to ") -> str:
    """Return how many more are guessed right, in every so many."""
    return f"{most and 'up to '}{count:,} more {'person' if count == 1 else 'people'} in every {people:,}"


def rate_sentence(fpr: float, bound: Bound) -> str:
    """Return the largest true-positive rate at a false-positive rate in words.

    Examples
    --------
    >>> from dpradar.results import Bound
    >>> rate_sentence(0.01, Bound(value=0.0923622, side="upper", rule="trade-off"))
    'An attack that wrongly flags 1 % of non-members finds at most 9.3 % of members (tpr at most 0.092363 at fpr 0.01).'
    """
    share = safe_number(min(100.0 * bound.value, 100.0), "up", 2) if bound.value > 0.0 else "0"
    return (
        f"An attack that wrongly flags {percent(fpr)} of non-members finds at most {share} % of members (tpr "
        f"{number(bound, 6)} at fpr {fpr:g}{relation_words(bound)})."
    )


def largest_sentence(result: Assessment, where: str = "") -> str:
    """Return the headline where no limit is given: the largest extra success, and nothing that praises or blames."""
    counts = advantage_counts(result)
    at = f" ({where})" if where else ""
    if counts is not None:
        more = f"{counts.most and 'up to '}{counts.added:,} more"
        verb = f"{LEARNER} guesses {more} correctly"
        if attacker(result.threat).knows_value:
            verb = f"{KNOWER} recognises {more}"
        return f"Of every {counts.crowd} people, {verb} because they took part{at}."
    blind = blind_counts(result)
    if blind is not None:
        more = f"{GUESSER} is right for {_more(blind.added, blind.people, blind.most)}"
        return f"After seeing this release, {more} than by guessing blindly{at}."
    return f"No number can be given{at}: {result.reason.get('rad', NO_RULE)}."


def quantity_sentence(quantity: str, value: float, side: str) -> str | None:
    """Return one number in people, where it is a share of people.

    Examples
    --------
    >>> quantity_sentence("rad", 0.0999, "exact")
    'Taking part adds 10 of 100 people to those that an attacker who goes by the data guesses correctly.'
    """
    people = crowd(value)
    count = f"{'' if side == 'exact' and count_up(value, people) != 1 else 'at most '}{count_up(value, people):,}"
    return {
        "rad": f"Taking part adds {count} of {people:,} people to those that {LEARNER} guesses correctly.",
        "success": f"After seeing the release {GUESSER} is right for {count} of {people:,} people.",
        "gain": f"{GUESSER.capitalize()} is right for {count} of {people:,} people more than by guessing blindly.",
        "worst_gain": f"Any attacker is right for {count} of {people:,} people more than by guessing blindly.",
    }.get(quantity)


def neighbours_sentence(neighbours: str | None) -> str:
    """Return which data sets are compared."""
    compared = {
        "replace-one": "One record replaced by another (replace-one).",
        "add-remove": "One record added or removed (add-remove).",
    }.get(neighbours or "", "")
    if neighbours == "replace-one":
        return compared
    rad = "What taking part adds (rad) compares using the person's record with using another in its place."
    return f"{compared} {rad}" if compared else f"{rad} The other numbers name their neighbour relation."


def _value(limit: LimitResult) -> str:
    if limit.value is None:
        return f"unknown ({limit.reason or NO_RULE})"
    return f"{'' if limit.side == 'exact' else 'at most '}{shown_limit(limit.value, 'up')}"


def _quantity(limit: LimitResult) -> str:
    where = _FPR.get(limit.quantity)
    at = "" if limit.at is None or where is None else f" at {where} {limit.at:g}"
    words = QUANTITIES.get(limit.quantity, limit.quantity)
    if limit.quantity == "frequency_error" and limit.at is not None:
        words = words.replace("one report", f"{limit.at:,.0f} reports" if limit.at > 1 else "one report")
    return f"{words}{at}" if words == limit.quantity else f"{words} ({limit.quantity}{at})"


def _relation(limit: LimitResult) -> str:
    return f", {limit.neighbours}" if limit.neighbours else ""


def limit_words(limit: LimitResult) -> str:
    """Return a limit by itself, with where it comes from.

    Examples
    --------
    >>> from dpradar.results.limit_result import LimitResult
    >>> limit_words(LimitResult(quantity="rad", limit=0.1, value=0.05, met=True, source="the board"))
    'what taking part adds (rad) at most 0.1 (the board)'
    """
    return f"{_quantity(limit)} at most {limit.limit:g}{f' ({limit.source})' if limit.source else ''}"


def limit_sentence(limit: LimitResult) -> str:
    """Return one limit beside what is reached.

    Examples
    --------
    >>> from dpradar.results.limit_result import LimitResult
    >>> limit_sentence(LimitResult(quantity="rad", limit=0.1, value=0.0594531, side="exact", met=True))
    'Kept: what taking part adds (rad) is 0.059454, the limit 0.1.'
    """
    source = f" ({limit.source})" if limit.source else ""
    reached = f"{_quantity(limit)}{_relation(limit)} is {_value(limit)}, the limit {limit.limit:g}{source}."
    if limit.met:
        return f"Kept{limit_remark(limit)}: {reached}{f' {IDLE}' if limit.idle else ''}"
    if limit.value is None:
        return f"Not confirmed: {reached}"
    return f"Not kept: {reached}" if limit.side == "exact" else f"Not confirmed: {reached[:-1]}; {MAYBE_LOWER}."


def unmet_sentence(limit: LimitResult, where: str, others: int) -> str:
    """Return the headline where a limit is not kept: which, where, and how many more."""
    at = f" ({where})" if where else ""
    words = _quantity(limit) + _relation(limit)
    value, most = _value(limit), f"{limit.limit:g}"
    if limit.quantity in _SHARES and limit.value is not None:
        people = crowd(min(limit.value, limit.limit))
        value = f"{'' if limit.side == 'exact' else 'at most '}{count_up(limit.value, people):,} of {people:,} people"
        most = f"{plain_count(limit.limit * people)} of {people:,}"
    more = "" if others == 0 else f" {others} more {'is' if others == 1 else 'are'} listed below."
    maybe = "" if limit.side == "exact" or limit.value is None else f"; {MAYBE_LOWER}"
    return f"{capital(words)} is {value}, the limit {most}{maybe}{at}.{more}"


def per_report_words(release: Description | None, parameter: str, value: float) -> str:
    """Return that an epsilon is the one of each report, and what all reports come to; nothing for other parameters.

    Examples
    --------
    >>> import dpradar as dr
    >>> from dpradar.results.description import describe_release
    >>> reports = describe_release(dr.Repeated(dr.OUE(m=20, epsilon=1.0), 4))
    >>> per_report_words(reports, "epsilon", 0.5)
    ' per report (2 over all 4 reports)'
    """
    if release is None or release.kind != "repeated" or parameter != "epsilon" or not _is_local(release):
        return ""
    times = int(release.options["times"])
    total = float(times) * value
    if math.isinf(total):
        return " per report"
    return f" per report ({safe_number(total, 'up')} over all {times} reports)"


def _is_local(release: Description) -> bool:
    """Whether what is repeated are reports that people randomise themselves."""
    return bool(release.options["mechanism"].get("group") == "local")


def change_sentence(change: Change, release: Description | None = None) -> str:
    """Return the smallest change that keeps every limit, rounded to the side with more noise.

    Examples
    --------
    >>> from dpradar.results.suggested_change import Change
    >>> change_sentence(Change(parameter="epsilon", value=1.2345678, instead_of=2.0, more_private="down"))
    'The smallest change that keeps every limit: epsilon 1.23456 instead of 2.'
    """
    if change.value is None:
        return f"No {change.parameter} keeps every limit: {change.reason or 'none was found'}."
    value = safe_number(change.value, change.more_private)
    keeps = "keeps" if change.exact else "can be shown to keep"
    per_report = per_report_words(release, change.parameter, change.value)
    smallest = f"{change.parameter} {value}{per_report} instead of {change.instead_of:g}"
    return f"The smallest change that {keeps} every limit: {smallest}."


def cost_sentence(name: str, cost: float, reports: int = REPORTS) -> str | None:
    """Return what noise does to the accuracy, where it is known how to say it; frequencies depend on the reports."""
    if name == "error":
        return f"Each released number is off by less than {_up(cost)} in 95 of 100 releases."
    if name == "frequency_error":
        return (
            f"With {reports:,} reports the noise alone gives the estimated share of a rare value a standard error of "
            f"{cost / math.sqrt(reports):.2g}. It may be larger for a common value, and sampling error comes on top."
        )
    return None


def _up(cost: float) -> str:
    return rounded(cost, 2, "up") if math.isfinite(cost) else "any number"


def keeps_sentence(name: str, *, met: bool) -> str:
    """Return whether one of several releases keeps its limits."""
    return f"{name} keeps every limit." if met else f"{name} does not keep every limit, or cannot be shown to."


def left_out_sentences(result: Assessment) -> list[str]:
    """Return which rules would know more but cannot take so much, so that nobody takes the bound for the truth."""
    return [f"Upper bound only: {rule} was not used ({why})." for rule, why in result.left_out.items()]


def compared_sentence(least: str, most: str, *, exact: bool) -> str:
    """Return which of several releases gives away least and most, by what taking part adds."""
    if exact:
        return f"What taking part adds is smallest for {least} and largest for {most}."
    return f"What taking part adds can be shown to be least for {least}; the loosest upper bound is that of {most}."
