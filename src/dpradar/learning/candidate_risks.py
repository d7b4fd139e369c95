"""What the best attacker reaches on given candidate gradients: exactly, or by Monte Carlo with an interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..attacks.attack_options import CONFIDENCE, TRIALS
from ..attacks.attack_runs import checked_seed, draw_targets
from ..bounds import assess
from ..errors import ParameterError
from ..mechanisms import DPSGD
from ..numerics.confidence_intervals import empirical_bernstein
from ..numerics.lazy_numpy import Floats, np
from ..params import as_floats
from ..results.attack import Estimate
from .gradient_attack import candidate_mechanism
from .gradient_scores import CLIP, NOISE, RATE, check_norms

if TYPE_CHECKING:
    from ..results import Assessment, Bound
    from ..threats import Threat

__all__ = ["CandidateRisk", "candidate_risk"]

_EXACT = 1e-4  # an enclosure this narrow is better than any simulation
_ENTRIES = 4_000_000  # draws times candidates at once


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateRisk:
    """The risk of given candidate gradients, and two bounds: for their distances, and for any gradients.

    ``rad`` and ``success`` are what the best attacker reaches; a method "exact" means that the interval holds for sure,
    any other that each holds with probability ``confidence``. ``by_distances`` knows how far apart these gradients are,
    ``any_gradients`` only how long they may be; both replace one record.
    """

    rad: Estimate
    success: Estimate
    method: str
    confidence: float
    by_distances: Assessment | None  # None: all gradients are equal, and nothing can be learned
    any_gradients: Assessment


def candidate_risk(
    gradients: Any,
    threat: Threat,
    *,
    clip: float,
    noise_multiplier: float,
    sample_rate: float = 1.0,
    draws: int = 200_000,
    confidence: float = 0.95,
    seed: int = 0,
) -> CandidateRisk:
    """Return what the best attacker reaches on gradients that are known beforehand, and what bounds say about it.

    ``gradients``: one table for each step, with the clipped gradient of each candidate as a row; a single table is one
    step. Only their inner products are kept. ``threat`` is about the candidates: any prior, knowledge and goal.

    Guarantee
    ---------
    Equally long orthogonal candidates that take part in every step: exact, for the exact goal. Otherwise outputs are
    drawn, and the value of the best guess given each of them is averaged: each interval holds with probability
    ``confidence`` (Maurer and Pontil 2009). The bounds hold for sure.

    Assumes
    -------
    The gradients do not depend on earlier noise: one step, or a model whose gradients are fixed. Those of one adaptive
    training are no guarantee for others; ``any_gradients`` is. Of the other records it is known which take part.

    Notes
    -----
    [RAD] Theorem 4.3 given the output: sum over what may be known of the best sum of (posterior - prior), with
    ln-likelihoods sum_t ln(1 - q + q exp((<r_t, mu_zt> - |mu_zt|^2/2)/(C sigma)^2)). An attacker who
    learns in which steps the target takes part knows more, and sees fewer of its gradients than at q = 1: so
    ``by_distances``, which is that of q = 1, holds for every q.

    Examples
    --------
    >>> import dpradar as dr
    >>> threat = dr.Threat(dr.Prior.uniform(8), dr.Knowledge.everything())
    >>> risk = candidate_risk(np.eye(8), threat, clip=1.0, noise_multiplier=0.5)  # 1/sigma = 2
    >>> round(risk.rad.estimate, 4), risk.method
    (0.6612, 'exact')
    >>> risk = candidate_risk(
    ...     [[1.0, 0.0], [0.8, 0.6], [-1.0, 0.0]], dr.Threat(dr.Prior.uniform(3)), clip=1.0, noise_multiplier=1.0
    ... )
    >>> risk.rad.high < risk.by_distances.rad.value < risk.any_gradients.rad.value
    True
    """
    scale = CLIP.check("candidate_risk", clip) * NOISE.check("candidate_risk", noise_multiplier)
    rate = RATE.check("candidate_risk", sample_rate)
    n_draws = int(TRIALS.check("candidate_risk", draws))
    level = CONFIDENCE.check("candidate_risk", confidence)
    grams = _grams(gradients, threat, float(clip), scale)
    total = np.asarray(grams.sum(axis=0))
    lengths = np.diagonal(total)
    distances = np.maximum(lengths[:, None] + lengths[None, :] - 2.0 * total, 0.0)
    near = assess(candidate_mechanism(distances), threat) if np.any(distances > 0.0) else None
    rad = None if near is None or rate < 1.0 else _exact_estimate(near.rad, -1.0)
    success = None if near is None or rate < 1.0 else _exact_estimate(near.success, threat.best_blind_guess)
    exact = rad is not None and success is not None
    if rad is None or success is None:
        rng = np.random.default_rng(checked_seed("candidate_risk", seed))
        # Without sampling the steps together are one.
        gains, rights = _simulate(total[None] if rate == 1.0 else grams, rate, threat, n_draws, rng)
        rad, success = _mean(gains, 1.0 - level, _least_gain(threat)), _mean(rights, 1.0 - level, 0.0)
    return CandidateRisk(
        rad=rad,
        success=success,
        method="exact" if exact else f"Monte Carlo, {n_draws:,} outputs",
        confidence=1.0 if exact else level,
        by_distances=near,
        any_gradients=assess(DPSGD(noise_multiplier, rate, len(grams)), threat),
    )


def _grams(gradients: Any, threat: Threat, clip: float, scale: float) -> Floats:
    """Return for each step the inner products of the candidates' gradients over the variance of the noise."""
    tables = _tables(gradients)
    m = threat.finite.size
    grams = []
    for table in tables:
        rows = as_floats("candidate_risk.gradients", "a table of numbers for each step", table, "Rows of equal length.")
        if threat.finite.is_continuous or rows.ndim != 2 or rows.shape[0] != m or rows.shape[1] == 0:
            allowed = f"one table for each step, with {m} rows: one for each value of the prior"
            raise ParameterError("candidate_risk.gradients", allowed, f"shape {rows.shape}")
        gram = rows @ rows.T
        check_norms(gram, clip)
        grams.append(gram / scale**2)
    if not grams:
        raise ParameterError("candidate_risk.gradients", "given for at least one step", "none")
    return np.array(grams)


def _tables(gradients: Any) -> list[Any]:
    """Return one table for each step; a table of numbers is one step."""
    try:
        return [gradients] if np.ndim(gradients) == 2 else list(gradients)
    except (TypeError, ValueError):  # steps with tables of different shapes, or no tables at all
        if isinstance(gradients, (list, tuple)):
            return list(gradients)
        got = type(gradients).__name__
        raise ParameterError("candidate_risk.gradients", "one table for each step", got) from None


def _exact_estimate(bound: Bound | None, least: float) -> Estimate | None:
    """Return a value that is known to four digits as an interval, else None; it is not below ``least``."""
    if bound is None:
        return None
    low = bound.value if bound.side == "exact" else max(least, -1.0 if bound.low is None else bound.low)
    if bound.value - low > _EXACT:
        return None
    return Estimate(estimate=bound.value, low=low, high=bound.value)


def _simulate(
    grams: Floats, rate: float, threat: Threat, draws: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return for each of many outputs what the best guess gains, and how often the best guess is right."""
    pi, cover = threat.finite.probabilities, threat.cover
    roots = [_root(gram) for gram in grams]
    gains, rights = np.empty(draws), np.empty(draws)
    for start in range(0, draws, size := max(1, _ENTRIES // pi.size)):
        count = min(size, draws - start)
        targets = draw_targets(threat, count, rng)
        logs = np.zeros((count, pi.size))
        for gram, root in zip(grams, roots, strict=True):
            part = 1.0 if rate == 1.0 else (rng.random((count, 1)) < rate).astype(float)
            inner = part * gram[targets] + rng.standard_normal((count, root.shape[1])) @ root.T
            loss = inner - 0.5 * np.diagonal(gram)
            logs += loss if rate == 1.0 else np.logaddexp(np.log1p(-rate), np.log(rate) + loss)
        with np.errstate(divide="ignore"):
            logs += np.log(pi)
        posterior = np.exp(logs - logs.max(axis=1, keepdims=True)).T
        posterior /= posterior.sum(axis=0)
        rows = slice(start, start + count)
        gains[rows], rights[rows] = cover.best_total(posterior - pi[:, None]), cover.best_total(posterior)
    return gains, rights


def _root(gram: Floats) -> Floats:
    """Return R with R R^T = gram; the inner products of the noise with the gradients are R times standard normals."""
    values, vectors = np.linalg.eigh(gram)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def _least_gain(threat: Threat) -> float:
    """Return the least that the best guess can gain given an output: 0, unless every guess may be right for somebody.

    Where guesses name cells of a partition they gain 0 on average, so that the best one gains at least that.
    """
    cover = threat.cover
    missed = all(block.misses for block in cover.blocks) and bool(np.all(cover.single_hits < cover.guesses))
    return 0.0 if cover.parts is not None or missed else -1.0


def _mean(values: Floats, failure: float, least: float) -> Estimate:
    clipped = np.clip(values, least, 1.0)  # rounding may leave a value a speck outside
    low, high = empirical_bernstein(clipped, low=least, high=1.0, failure=failure)
    return Estimate(estimate=float(clipped.mean()), low=low, high=high)
