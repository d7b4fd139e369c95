"""Audit a training procedure by its canaries: records of which it is known whether they were in the training data."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from .._version import __version__
from ..attacks.attack_runs import checked_seed
from ..audits.audit_options import SIGNIFICANCE
from ..audits.epsilon_limits import AuditedClaim, Tally, claim_under
from ..errors import ParameterError
from ..guarantees.approx import DELTA
from ..guarantees.epsilon import epsilon_at
from ..mechanisms.capabilities import Mechanism
from ..numerics.lazy_numpy import Floats, np
from ..params import as_floats, shown
from ..results.audit import AuditResult, Witness

if TYPE_CHECKING:
    from ..guarantees.privacy import Privacy

__all__ = ["canary_audit", "one_run_p_value"]

_FEWEST = 20  # canaries on each side below which half of them cannot choose a threshold
_THRESHOLDS = 200
_SHARES = (1.0, 0.5, 0.25, 0.125, 0.0625)  # of the canaries that are guessed about; the others are left open
_UNFAIR = 1e-9  # a fair coin gives such counts of canaries in and out less often than this
_BISECTIONS, _LARGEST_EPSILON = 60, 200.0
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class _Evidence:
    """The outcome of a test: a lower bound on epsilon, and whether it refutes the claim."""

    epsilon_lower: float
    estimate: float | None
    refuted: bool
    method: str
    witness: Witness
    notes: tuple[str, ...] = ()


def canary_audit(
    in_scores: Any,
    out_scores: Any,
    claim: Any,
    *,
    mode: Literal["models", "one-run"] = "models",
    significance: float = 0.05,
    delta: float | None = None,
    guesses: int | None = None,
    seed: int | None = None,
) -> AuditResult:
    """Say what scores of canaries prove about epsilon (add/remove), and whether they refute the claim.

    ``in_scores`` belong to canaries that were in the training data, ``out_scores`` to canaries that were not; a higher
    score is evidence for "in" (a negative loss, a log-likelihood ratio, an inner product with the gradients).

    ``mode="models"``: **every score comes from a model of its own**, trained with its own randomness, with or without
    its canary. A random half of the scores chooses the threshold, the other half tests it.

    ``mode="one-run"``: all scores come from **one model**. Whether a canary was put in was decided by a fair coin of
    its own, before training, and all canaries are given here. The canaries with the highest scores are guessed to be
    in, those with the lowest to be out. How many are guessed about is tried at five sizes, which the significance is
    divided by, unless ``guesses`` fixes it; it must then be fixed before the scores are seen.

    Guarantee
    ---------
    ``epsilon_lower`` holds, and a true claim is not refuted, except with probability ``significance``.

    Assumes
    -------
    What stands at each mode. Scores of canaries of one model are not independent of each other, so "models" says
    nothing about them, however many there are: its limits are for independent trials. "one-run" needs no independence
    of the scores, only of the coins; without fair coins (exactly half of the canaries in, or canaries that were chosen
    after training) it is not valid either. The claim is about adding or removing one canary.

    Notes
    -----
    models: Clopper and Pearson (1934). one-run: Steinke, Nasr and Jagielski (2023, arXiv:2305.08846), Theorems 5.1
    and 5.2: of r guesses under (epsilon, delta)-DP the number that is right exceeds v with a probability of at most
    :func:`one_run_p_value`. One run proves much less than many: even of a mechanism that leaks all that epsilon
    allows, r canaries show at most ln(r) or so.

    Examples
    --------
    >>> import numpy as np, dpradar as dr
    >>> rng = np.random.default_rng(1)
    >>> inside, outside = rng.normal(2.0, 1.0, 1000), rng.normal(0.0, 1.0, 1000)
    >>> result = canary_audit(inside, outside, dr.PureDP(1.0, neighbours="add-remove"), seed=1)
    >>> result.refuted, 1.0 < result.epsilon_lower < 4.0
    (True, True)
    >>> one = canary_audit(inside, outside, dr.PureDP(1.0, neighbours="add-remove"), mode="one-run", seed=1)
    >>> one.refuted, 1.0 < one.epsilon_lower < 4.0
    (True, True)
    """
    failure = SIGNIFICANCE.check("canary_audit", significance)
    inside, outside = _scores("in_scores", in_scores), _scores("out_scores", out_scores)
    audited = claim_under(claim, "add-remove")
    if delta is not None:
        level = DELTA.check("canary_audit", delta)
        if audited.epsilon is not None and level != audited.delta:
            hint = "Leave delta= out: the claim has one."
            raise ParameterError("canary_audit.delta", f"{audited.delta:g}, the delta of the claim", f"{level:g}", hint)
        audited = replace(audited, delta=level)
    checked = checked_seed("canary_audit", seed)
    rng = np.random.default_rng(checked)
    if mode == "models":
        if guesses is not None:
            raise ParameterError("canary_audit.guesses", "left out unless mode is 'one-run'", shown(guesses))
        evidence = _from_models(inside, outside, audited, failure, rng)
    elif mode == "one-run":
        evidence = _from_one_run(inside, outside, audited, _levels(claim, audited), failure, guesses, rng)
    else:
        raise ParameterError("canary_audit.mode", "'models' or 'one-run'", shown(mode))
    return AuditResult(
        claim=audited.description,
        claim_epsilon=audited.epsilon,
        refuted=evidence.refuted,
        epsilon_lower=audited.reported_lower(evidence.epsilon_lower, refuted=evidence.refuted),
        epsilon_estimate=evidence.estimate,
        delta=audited.delta,
        significance=failure,
        method=evidence.method,
        trials=inside.size + outside.size,
        seed=checked,
        witness=evidence.witness,
        notes=evidence.notes,
        version=__version__,
    )


def one_run_p_value(epsilon: float, delta: float, *, canaries: int, guesses: int, right: int) -> float:
    """Return how likely (epsilon, delta)-DP makes at least ``right`` of ``guesses`` guesses right, at most.

    Each of the ``canaries`` was put in by a fair coin of its own, and ``guesses`` of them were guessed about.

    Guarantee
    ---------
    An upper bound, whatever the mechanism and the guesser do; attained by randomised response when delta is 0.

    Notes
    -----
    Steinke, Nasr and Jagielski (2023, arXiv:2305.08846), Theorem 5.2: with W binomial (r, e^eps/(1+e^eps)) and
    f(v) = P[W >= v], at most f(v) + 2 m delta max_i (f(v-i) - f(v))/i.

    Examples
    --------
    >>> round(one_run_p_value(0.0, 0.0, canaries=10, guesses=10, right=9), 6)
    0.010742
    >>> round(one_run_p_value(0.0, 1e-3, canaries=10, guesses=10, right=9), 6)
    0.014012
    """
    from scipy import special

    if not 0 <= right <= guesses <= canaries:
        allowed = "0 <= right <= guesses <= canaries"
        raise ParameterError("one_run_p_value", allowed, f"right {right}, guesses {guesses}, canaries {canaries}")
    if right == 0 or guesses == 0:
        return 1.0
    share = float(special.expit(epsilon))
    tail = float(special.bdtrc(right - 1, guesses, share))
    if delta == 0.0:
        return min(tail, 1.0)
    below = np.arange(right - 1, -1, -1)  # v-1, v-2, ..., 0
    logs = special.xlogy(below, share) + special.xlogy(guesses - below, float(special.expit(-epsilon)))
    ways = -special.betaln(guesses - below + 1, below + 1) - math.log(guesses + 1)
    steepest = float(np.max(np.cumsum(np.exp(logs + ways)) / np.arange(1, right + 1)))
    return min(tail + 2.0 * canaries * delta * steepest * (1.0 + _ROUNDING), 1.0)


def _scores(name: str, values: Any) -> Floats:
    scores = as_floats(
        f"canary_audit.{name}", "one number for each canary", values, "Higher scores are evidence for 'in'."
    )
    if scores.ndim != 1 or scores.size == 0 or np.any(np.isnan(scores)):
        got = "nan" if scores.ndim == 1 and scores.size else f"shape {scores.shape}"
        raise ParameterError(
            f"canary_audit.{name}", "one number for each canary", got, "Higher scores are evidence for 'in'."
        )
    return scores


# ------------------------------------------------------------------------------------------ a model for every score


def _from_models(
    inside: Floats, outside: Floats, claim: AuditedClaim, failure: float, rng: np.random.Generator
) -> _Evidence:
    if min(inside.size, outside.size) < _FEWEST:
        got = f"{inside.size} and {outside.size}"
        raise ParameterError("canary_audit", f"given at least {_FEWEST} scores in and {_FEWEST} out", got)
    halves = []
    for scores in (inside, outside):
        mixed = rng.permutation(scores)
        halves.append((mixed[: scores.size // 2], mixed[scores.size // 2 :]))
    (choose_in, test_in), (choose_out, test_out) = halves
    # Scores themselves and nothing between them: some may be infinite.
    shares = np.linspace(0.0, 1.0, _THRESHOLDS)
    levels = np.unique(np.quantile(np.concatenate([choose_in, choose_out]), shares, method="inverted_cdf"))
    threshold = max(levels.tolist(), key=lambda level: claim.promise(_tally(choose_in, choose_out, level), failure))
    tally = _tally(test_in, test_out, threshold)
    witness = Witness(
        first="models that were trained with their canary",
        other="models that were not",
        event=f"a score of at least {threshold:.6g}",
        seen_first=tally.seen_first,
        drawn_first=tally.drawn_first,
        seen_other=tally.seen_other,
        drawn_other=tally.drawn_other,
    )
    return _Evidence(
        tally.epsilon_lower(claim.delta, failure, always=False),
        tally.epsilon_estimate(claim.delta),
        claim.refuted_by(tally, failure, always=False),
        "canaries, one model each: half of the scores choose a threshold, the other half test it",
        witness,
        ("valid only if every score comes from a model of its own",),
    )


def _tally(inside: Floats, outside: Floats, level: float) -> Tally:
    hits = (int(np.count_nonzero(inside >= level)), int(np.count_nonzero(outside >= level)))
    return Tally(hits[0], inside.size, hits[1], outside.size)


# ------------------------------------------------------------------------------------------------- one model for all


def _levels(claim: Any, audited: AuditedClaim) -> list[tuple[float, float]]:
    """Return pairs (epsilon, delta) that follow from the claim; for a curve there are many."""
    if audited.epsilon is not None and not audited.tight:
        return [(audited.epsilon, audited.delta)]
    source: Any = claim.at(None) if isinstance(claim, Mechanism) else claim
    promise: Privacy = source.privacy("add-remove")  # there is one: the claim was read from it
    deltas = sorted({0.0, *np.geomspace(1e-9, 0.3, 18).tolist(), audited.delta})
    pairs = [(epsilon_at(promise, delta), delta) for delta in deltas]
    return [pair for pair in pairs if math.isfinite(pair[0])]


def _from_one_run(
    inside: Floats,
    outside: Floats,
    claim: AuditedClaim,
    levels: list[tuple[float, float]],
    failure: float,
    guesses: int | None,
    rng: np.random.Generator,
) -> _Evidence:
    canaries = inside.size + outside.size
    _check_coins(inside.size, canaries)
    if guesses is not None and not 2 <= guesses <= canaries:
        raise ParameterError("canary_audit.guesses", f"a number from 2 to {canaries}", shown(guesses))
    sizes = (guesses // 2,) if guesses is not None else _sizes(canaries)
    # Mixed before they are sorted: canaries with equal scores must not stand in an order that knows who was in.
    order = rng.permutation(canaries)
    scores, member = np.concatenate([inside, outside])[order], (order < inside.size)
    member = member[np.argsort(scores, kind="stable")]
    best, refuted = (-1.0, sizes[0]), False
    for size in sizes:
        right = int(np.count_nonzero(member[canaries - size :]) + np.count_nonzero(~member[:size]))
        counts = {"canaries": canaries, "guesses": 2 * size, "right": right}
        lower = _one_run_epsilon(claim.delta, failure / len(sizes), counts)
        # Every pair bounds the same tail, so the least of them does; no correction is due for trying them all.
        least = min((one_run_p_value(*pair, **counts) for pair in levels), default=1.0)
        refuted |= least <= failure / len(sizes)
        best = max(best, (lower, size))
    lower, size = best
    right_in, wrong = int(np.count_nonzero(member[canaries - size :])), int(np.count_nonzero(member[:size]))
    right = right_in + size - wrong
    estimate = math.inf if right == 2 * size else max(0.0, math.log(max(right, 1) / (2 * size - right)))
    witness = Witness(
        first=f"the {size:,} canaries with the highest scores",
        other=f"the {size:,} with the lowest",
        event="the canary was in the training data",
        seen_first=right_in,
        drawn_first=size,
        seen_other=wrong,
        drawn_other=size,
    )
    note = "valid only if every canary was put in by a fair coin of its own, and all canaries are here"
    method = f"canaries of one run: {2 * size:,} guesses about {canaries:,} canaries, {right:,} right"
    return _Evidence(lower, estimate, refuted, method, witness, (note,))


def _sizes(canaries: int) -> tuple[int, ...]:
    """Return how many canaries are guessed to be in, and as many to be out, at each try."""
    return tuple(sorted({max(1, int(share * canaries) // 2) for share in _SHARES}))


def _check_coins(inside: int, canaries: int) -> None:
    from scipy import special

    rarer = min(inside, canaries - inside)
    if canaries < 2 or 2.0 * float(special.bdtr(rarer, canaries, 0.5)) < _UNFAIR:
        hint = "Put each canary in by a fair coin, and give the scores of all canaries, in and out."
        raise ParameterError("canary_audit", "about canaries chosen by fair coins", f"{inside} of {canaries} in", hint)


def _one_run_epsilon(delta: float, failure: float, counts: dict[str, int]) -> float:
    """Return the largest epsilon found that the counts refute; 0 when they refute none.

    (epsilon', delta)-DP implies (epsilon, delta)-DP for a larger epsilon, so each one that is refuted is a bound.
    """
    low, high = 0.0, _LARGEST_EPSILON
    if one_run_p_value(low, delta, **counts) > failure:
        return 0.0
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        if one_run_p_value(middle, delta, **counts) <= failure:
            low = middle
        else:
            high = middle
    return low
