"""Attack trained runs by their gradients, and say what the best attacker can reach on given candidates."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Literal

from .._version import __version__
from ..attacks.attack_options import CONFIDENCE
from ..attacks.attack_protocol import BatchOutcome
from ..attacks.attack_runs import checked_seed, count_outcomes
from ..attacks.optimal import separates_values
from ..attacks.posterior_attack import LikeliestValue, PosteriorAttack
from ..errors import ParameterError
from ..mechanisms import Gaussian
from ..numerics.lazy_numpy import Floats, Ints, np
from ..params import as_floats, shown
from ..results.attack import AttackRun
from ..threats import Threat
from .gradient_scores import GradientScores, printed_rule

if TYPE_CHECKING:
    from ..attacks.attack_protocol import Attack
    from ..attacks.optimal import Maximise

__all__ = ["attack_gradients", "candidate_mechanism", "checked_targets"]

_UNLIKELY = 1e-9  # the prior gives such counts of some target less often than this
_NEGATIVE = 1e-6  # relative to the largest: rounding in sums of squared distances, in single precision too
_ROUNDING = 4.0 * sys.float_info.epsilon  # of an eigenvalue, relative to the largest, for each candidate
_LEAST_DISTANCE = 1e-10  # a squared distance below this, over the variance of the noise, moves no risk by 1e-5


def attack_gradients(
    scores: GradientScores,
    targets: Any,
    threat: Threat,
    *,
    maximise: Maximise = "rad",
    rule: Literal["exact", "printed"] = "exact",
    confidence: float = 0.95,
    seed: int = 0,
) -> AttackRun:
    """Guess the target of every run from its gradients and say how often that is right, and what the gradients add.

    ``threat`` is about the candidates (value i of its prior is candidate i): any prior, any knowledge, any goal.
    ``rule="printed"`` is the rule of [RAD] Algorithm 2, for comparison.

    Guarantee
    ---------
    With the exact rule no attack on these gradients has a larger rad (or success) on average. Each interval holds its
    number with probability ``confidence``.

    Assumes
    -------
    The targets of the runs were drawn from the prior, or each candidate was the target of its share of the runs.

    Examples
    --------
    >>> import numpy as np, dpradar as dr
    >>> rng, eye = np.random.default_rng(1), np.eye(4)
    >>> targets = rng.integers(0, 4, size=2000)
    >>> scores = GradientScores(runs=2000, candidates=4, clip=1.0, noise_multiplier=0.5)
    >>> scores.add(eye[targets] + rng.normal(0.0, 0.5, (2000, 4)), eye)
    >>> run = attack_gradients(scores, targets, dr.Threat(dr.Prior.uniform(4)))
    >>> exact = dr.assess(candidate_mechanism(scores.distances), dr.Threat(dr.Prior.uniform(4))).rad.value
    >>> run.rad.low < exact < run.rad.high
    True
    """
    level = CONFIDENCE.check("attack_gradients", confidence)
    if maximise not in ("rad", "success"):
        raise ParameterError("attack_gradients.maximise", "'rad' or 'success'", shown(maximise))
    if rule not in ("exact", "printed"):
        raise ParameterError("attack_gradients.rule", "'exact' or 'printed'", shown(rule))
    if not isinstance(threat, Threat):
        raise ParameterError("attack_gradients.threat", "a Threat about the candidates", shown(threat))
    rng = np.random.default_rng(checked_seed("attack_gradients", seed))
    if scores.steps == 0:
        hint = "Add what was released, step by step: scores.add(residual, gradients)."
        raise ParameterError("attack_gradients.scores", "of at least one step", "none", hint)
    prior, true_indices = threat.finite, checked_targets(scores, targets, threat)
    _check_shares(true_indices, prior.probabilities)
    if rule == "printed":
        outcome = _printed_rule_outcome(scores, true_indices, threat)
    else:
        alone = separates_values(threat.cover) and len(threat.cover.blocks) == 1 and not threat.cover.single.size
        exact: Attack = (
            LikeliestValue(np.asarray, prior.size)
            if alone and prior.is_uniform
            else PosteriorAttack(np.asarray, prior.probabilities, threat.cover, maximise)
        )
        outcome = exact.play(scores.likelihoods, true_indices, rng)
    rad, success, false_hit = count_outcomes(outcome).estimates(1.0 - level)
    return AttackRun(
        rad=rad,
        success=success,
        false_hit=false_hit,
        trials=scores.runs,
        confidence=level,
        strategy=f"gradients of {scores.steps} steps, {rule} rule",
        maximise=maximise if rule == "exact" else None,
        threat=threat.description,
        baseline=threat.reported_baseline,
        version=__version__,
    )


def checked_targets(scores: GradientScores, targets: Any, threat: Threat) -> Ints:
    """Return the targets as numbers of candidates, or raise: one for each run, each possible under the prior."""
    prior, array = threat.finite, np.asarray(targets)
    if prior.is_continuous or prior.size != scores.candidates or array.shape != (scores.runs,):
        allowed = f"about {scores.candidates} candidates, with {scores.runs} targets"
        got = f"{'a continuous prior' if prior.is_continuous else f'{prior.size} values'} and {array.size} targets"
        raise ParameterError("attack_gradients", allowed, got)
    if not np.issubdtype(array.dtype, np.integer) or array.min() < 0 or array.max() >= scores.candidates:
        allowed = f"whole numbers from 0 to {scores.candidates - 1}"
        raise ParameterError("attack_gradients.targets", allowed, shown(array.tolist()))
    if np.any(prior.probabilities[array] == 0.0):
        hint = "What is known about it would leave no candidate that the prior allows."
        raise ParameterError("attack_gradients.targets", "of positive prior probability", "one of probability 0", hint)
    return array.astype(np.intp)


def _check_shares(targets: Ints, pi: Floats) -> None:
    """Raise if the targets are not what the prior would draw: success and rad would be those of another prior."""
    from scipy import special

    counts = np.bincount(targets, minlength=pi.size)
    tails = np.minimum(special.bdtr(counts, targets.size, pi), special.bdtrc(counts - 1, targets.size, pi))
    worst = int(tails.argmin())
    if tails[worst] < _UNLIKELY / pi.size:
        got = f"{counts[worst]:,} of {targets.size:,} with a target of probability {pi[worst]:.3g}"
        hint = "Draw the targets from the prior, or give each candidate its share of the runs."
        raise ParameterError("attack_gradients.targets", "drawn from the prior", got, hint)


def _printed_rule_outcome(scores: GradientScores, targets: Ints, threat: Threat) -> BatchOutcome:
    """Judge the guesses of the printed rule: by the exact goal only, as in the paper."""
    if threat.goal.kind != "exact":
        raise ParameterError("rule", "'exact' unless the goal is the exact candidate", "'printed'")
    guesses = printed_rule(scores.plain, threat.codes)
    _, fibre = np.unique(threat.codes, return_inverse=True)
    guess = guesses[np.arange(targets.size), fibre[targets]]
    masses = np.append(threat.finite.probabilities, 0.0)
    # Nothing known: someone is named almost surely (not when all sums are equal), each with the same probability.
    constant = threat.finite.is_uniform and guesses.shape[1] == 1 and bool(np.all(guesses >= 0))
    return BatchOutcome(guess == targets, np.minimum(masses[guesses].sum(axis=1), 1.0), constant=constant)


def candidate_mechanism(distances: Any) -> Gaussian:
    """Return what the gradients of given candidates release, as Gaussian noise of unit variance around one point each.

    ``distances`` are the sums over the steps of |mu_i - mu_j|^2 / (C sigma)^2, as :class:`GradientScores` adds them up.
    Only they matter: any points at these distances give the same risk.

    Assumes
    -------
    Every record takes part in every step, and the gradients do not depend on earlier noise (one step; a convex problem
    near its optimum; a linear model). Distances that were seen on one adaptive run are no guarantee for others: bounds
    that hold are those of ``assess(DPSGD(...), threat)``.

    Examples
    --------
    >>> import dpradar as dr
    >>> apart = 4.0 * 2.0 * (1.0 - np.eye(8))  # orthogonal gradients of norm C, sqrt(T)/sigma = 2
    >>> threat = dr.Threat(dr.Prior.uniform(8), dr.Knowledge.everything())
    >>> round(dr.assess(candidate_mechanism(apart), threat).rad.value, 4)
    0.6612
    """
    table = as_floats("distances", "a square table of squared distances", distances, "Rows of equal length.")
    if table.ndim != 2 or table.shape[0] != table.shape[1] or not np.all(np.isfinite(table)):
        raise ParameterError("distances", "a square table of squared distances", f"shape {table.shape}")
    if not np.any(table > 0.0):
        hint = "The candidates have equal gradients, so nothing distinguishes them."
        raise ParameterError("distances", "not all 0", "0", hint)
    m = table.shape[0]
    centre = np.eye(m) - 1.0 / m
    gram = -0.5 * centre @ (0.5 * (table + table.T)) @ centre
    values, vectors = np.linalg.eigh(gram)
    largest = float(values.max())
    if values.min() < -_NEGATIVE * max(largest, 1e-300):
        raise ParameterError("distances", "squared distances between points", "a table that no points have")
    # No direction is dropped that could be more than rounding: candidates that are near each other and far from the
    # others differ in small ones only. Where rounding itself is that large, it counts as a distance: the safe side.
    speck = _ROUNDING * m * largest
    if speck > _LEAST_DISTANCE:
        values = np.maximum(values, 0.0) + speck
        speck = 0.0
    positive = values > speck
    return Gaussian(1.0, query=vectors[:, positive] * np.sqrt(values[positive]))
