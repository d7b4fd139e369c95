"""The verdict of a run: which limits are kept, by how many attackers, and whether the release protects at all."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..results.ceiling import share_of
from . import assessment_parts as parts
from . import sentences, verdicts
from .page import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..results import Assessment
    from ..results.limit_result import LimitResult
    from ..results.run import ReleaseResult, RunResult, ThreatResult
    from ..results.tradeoff import SavedRates
    from .page import Card, State

__all__ = ["AssessedThreat", "limit_state", "run_verdict"]

# Where the count of attackers says the same, it stands instead of these.
_PLAIN_WORDS = ("Limit kept", "Limits kept", "Limits kept where set", "Accuracy kept")


@dataclass(frozen=True, slots=True)
class AssessedThreat:
    """One card and the threat that it is about."""

    card: Card
    release: ReleaseResult
    threat: ThreatResult
    saved: SavedRates | None

    @property
    def assessment(self) -> Assessment:
        """What someone could learn."""
        return self.threat.assessment


def limit_state(limit: LimitResult) -> State:
    """Return whether a limit is kept; never so where the release hardly protects or the raw data would keep it too."""
    if limit.met and (limit.near_ceiling or limit.idle):
        return "none" if limit.acknowledge else "open"
    if limit.met:
        return "met"
    return "unmet" if limit.side == "exact" and limit.value is not None else "open"


def _weight(assessment: Assessment) -> float:
    bound = assessment.rad or assessment.gain or assessment.worst_gain
    return -1.0 if bound is None else round(bound.value, 9)  # the first of those that differ by rounding only


def _where(threat: AssessedThreat, many: int) -> str:
    card = threat.card
    if many == 1:
        return ""
    return f"{card.number}. {card.title}" + (f", {card.group}" if card.group else "")


def _compared(result: RunResult) -> list[str]:
    """Return which releases keep their limits, and which gives away least where that is known for all of them."""
    which = [
        sentences.keeps_sentence(release.name or release.release.text, met=release.met)
        for release in result.releases
        if release.met is not None and result.met is False
    ]
    worst = {
        release.name or release.release.text: max(
            (t.assessment.rad for t in release.assessments if t.assessment.rad is not None),
            key=lambda bound: bound.value,
            default=None,
        )
        for release in result.releases
    }
    exact = all(bound is not None and bound.side == "exact" for bound in worst.values())
    values = {name: bound.value for name, bound in worst.items() if bound is not None}
    if len(values) < 2 or len(values) < len(result.releases) or len(set(values.values())) == 1:
        return which
    least, most = min(values, key=values.__getitem__), max(values, key=values.__getitem__)
    return [*which, sentences.compared_sentence(least, most, exact=exact)]


def _unmet(result: RunResult, threats: Sequence[AssessedThreat]) -> list[tuple[LimitResult, str]]:
    risks = [(limit, _where(one, len(threats))) for one in threats for limit in one.threat.limits if not limit.met]
    return risks + [(limit, release.name) for release in result.releases for limit in release.utility if not limit.met]


def _changes(result: RunResult) -> list[str]:
    changes: dict[str, None] = {}
    for release in result.releases:
        prefix = f"{release.name}: " if len(result.releases) > 1 and release.name else ""
        whole = [release.change] if release.change is not None else [t.change for t in release.assessments]
        for change in whole:
            if change is not None:
                text = sentences.change_sentence(change, release.release)
                changes[prefix + text] = None
    return list(changes)


def run_verdict(result: RunResult, threats: Sequence[AssessedThreat]) -> Verdict:
    """Return the verdict in one sentence, and what must be read with it; open where evidence was interrupted."""
    verdict = _of_limits(result, threats)
    if result.complete:
        return verdict
    interrupted = "An attack or an audit was interrupted: it says nothing about what it had not looked at."
    state: State = "open" if verdict.state == "met" else verdict.state
    word = f"Incomplete. {verdict.word}" if verdict.word else "Incomplete"
    return replace(verdict, state=state, word=word, more=(interrupted, *verdict.more))


def _of_limits(result: RunResult, threats: Sequence[AssessedThreat]) -> Verdict:
    if not threats:
        return Verdict(text="Nothing was assessed.")
    largest = max(threats, key=lambda one: _weight(one.assessment))
    headline = sentences.largest_sentence(largest.assessment, _where(largest, len(threats)))
    compared = _compared(result) if len(result.releases) > 1 else []
    counted = _counted_limits(result, threats)
    beside = [text for one in threats if (text := _raw_text(one, len(threats)))]
    state: State
    if result.met is None:
        word = parts.unprotected_word(one.assessment for one in threats)
        return Verdict(text=headline, state="open" if word else "none", word=word, more=(*beside, *compared))
    if result.met:
        word, state = _kept_word(result)
        if counted and word in _PLAIN_WORDS:  # the count says it all
            word, counted = counted[0].rstrip("."), []
        return Verdict(text=headline, state=state, word=word, more=(*counted, *beside, *compared))
    unmet = _unmet(result, threats)
    first, where = unmet[0]
    state = "unmet" if any(limit_state(limit) == "unmet" for limit, _ in unmet) else "open"
    word = "Limit not kept" if state == "unmet" else "Limit not confirmed"
    text = sentences.unmet_sentence(first, where, len(unmet) - 1)
    more = (*_changes(result), *counted, *beside, *compared)
    return Verdict(text=text, state=state, word=word, more=more)


def _raw_text(one: AssessedThreat, many: int) -> str | None:
    """Return how near a release comes to the raw data for one attacker, where that is too near."""
    text = verdicts.ceiling_sentence(one.assessment)
    if text is None or not one.threat.near_ceiling:
        return None
    where = _where(one, many)
    return f"{where}: {text}" if where else text


def _counted_limits(result: RunResult, threats: Sequence[AssessedThreat]) -> list[str]:
    """Return how many attackers have a limit and keep it, and whether the accuracy does."""
    utility = [limit.met for release in result.releases for limit in release.utility]
    noun = "attacker" if len(result.releases) == 1 else "card"
    accuracy = all(utility) if utility else None
    text = verdicts.count_sentence([one.threat.met for one in threats], accuracy=accuracy, noun=noun)
    return [text] if text else []


def _kept_word(result: RunResult) -> tuple[str, State]:
    """Return the word where every limit is kept; green only if each attacker has one that the raw data would break."""
    word = "Limit kept" if sum(len(threat.limits) for threat in result.threats) == 1 else "Limits kept"
    near = [threat for threat in result.threats if threat.near_ceiling and not threat.acknowledged]
    if result.says_nothing:
        return f"{word}, but this guarantee rules out almost nothing", "open"
    if near:
        return f"{word}, but {_near_words(near[0])}", "open"
    if any(threat.near_ceiling for threat in result.threats):
        return f"{word}, {verdicts.ACKNOWLEDGED}", "none"
    if any(threat.idle for threat in result.threats):
        return f"{word}, but the raw data would keep one too", "open"
    if result.green:
        return word, "met"
    return ("Limits kept where set" if any(threat.limits for threat in result.threats) else "Accuracy kept"), "open"


def _near_words(threat: ThreatResult) -> str:
    assessment = threat.assessment
    if assessment.near_ceiling and assessment.rad is not None and assessment.share is not None:
        return verdicts.near_words(assessment.share, assessment.rad.side)
    return next(
        (
            verdicts.near_words(share_of(limit.value, limit.raw.least, limit.raw.most), limit.side)
            for limit in threat.limits
            if limit.near_ceiling and limit.raw is not None and limit.value is not None
        ),
        verdicts.NOT_SHOWN,
    )
