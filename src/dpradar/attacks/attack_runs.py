"""Run an attack many times and estimate rad, success and false hits from the counts."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .._version import __version__
from ..errors import ParameterError, UnsupportedError
from ..mechanisms.capabilities import SIMULATION_ONLY
from ..numerics.confidence_intervals import bernstein_from_moments, clopper_pearson
from ..numerics.lazy_numpy import Array, np
from ..options.entry_points import plugin_notes
from ..params import shown
from ..results.attack import AttackRun, Estimate
from ..results.description import describe_release
from .attack_options import CONFIDENCE, LARGEST_SEED, TRIALS
from .optimal import Maximise, OptimalAttack, optimal_attack
from .strategies import as_attack
from .work_units import WorkUnits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ..mechanisms.capabilities import Release
    from ..threats import Threat
    from .attack_protocol import Attack, BatchOutcome

__all__ = ["AttackJob", "attack", "attack_job"]

_ENTRIES = 8_000_000  # reports times values in one piece of work
_MOST_REPORTS = 250_000
_MOST_WORK = 5e10  # reports times values in one call: some minutes
_SAME = 1e-12
_WORKERS = 2  # numpy lets other threads work while it does; more than two are held up by memory


@dataclass(slots=True)
class AttackCounts:
    """Sums over the trials so far, from which everything else follows."""

    trials: int = 0
    hits: int = 0
    others: float = 0.0
    squares: float = 0.0
    least: float = 1.0
    most: float = 0.0
    sampled: bool = False
    fixed_others: bool = True  # the second term is one number for every possible report

    def add(self, other: AttackCounts) -> None:
        """Add the sums of another piece of work."""
        self.trials += other.trials
        self.hits += other.hits
        self.others += other.others
        self.squares += other.squares
        self.least, self.most = min(self.least, other.least), max(self.most, other.most)
        self.sampled |= other.sampled
        self.fixed_others &= other.fixed_others

    @property
    def constant(self) -> bool:
        """Whether the chance to be right for someone else is the same for every report, so that it is known."""
        return self.fixed_others and self.most - self.least <= _SAME

    def estimates(self, failure: float) -> tuple[Estimate, Estimate, Estimate]:
        """Return rad, success and false hit; each interval fails with probability at most ``failure``."""
        n = self.trials
        mean = self.others / n
        success = Estimate(**_interval(self.hits / n, clopper_pearson(self.hits, n, failure)))
        if self.constant:
            false_hit = Estimate(estimate=self.most, low=self.most, high=self.most)
            ends = (success.low - self.most, success.high - self.most)
            return Estimate(**_interval(self.hits / n - self.most, ends)), success, false_hit
        false_hit = Estimate(**_interval(mean, self._others(failure)))
        (low, high), (least, most) = clopper_pearson(self.hits, n, failure / 2.0), self._others(failure / 2.0)
        return Estimate(**_interval(self.hits / n - mean, (low - most, high - least))), success, false_hit

    def _others(self, failure: float) -> tuple[float, float]:
        if self.sampled:
            return clopper_pearson(round(self.others), self.trials, failure)
        n = self.trials
        mean = self.others / n
        variance = max(0.0, (self.squares - n * mean * mean) / max(n - 1, 1)) if n > 1 else 1.0
        return bernstein_from_moments(n, mean, variance, low=0.0, high=1.0, failure=failure)


def _interval(estimate: float, ends: tuple[float, float]) -> dict[str, float]:
    return {"estimate": float(estimate), "low": float(min(ends[0], estimate)), "high": float(max(ends[1], estimate))}


def attack(
    mechanism: Any,
    threat: Threat,
    *,
    trials: int = 100_000,
    seed: int | None = None,
    maximise: Maximise = "rad",
    strategy: Any = None,
    confidence: float = 0.95,
    progress: Callable[[int, int], None] | None = None,
) -> AttackRun:
    """Draw targets and reports, attack every report, and say how often the attack is right and what the release adds.

    ``strategy`` is the optimal attack unless given: ``"report"`` (say what was reported), ``"prior"`` (say the
    likeliest value), or a function ``(reports, known, rng) -> guesses``; see :mod:`dpradar.attacks.strategies`.
    ``progress`` is called with the trials done and asked for. Interrupting (Ctrl-C) ends the run and
    returns what was counted so far. Trials times values are limited to 5e10; a campaign has no such limit.

    Guarantee
    ---------
    Each interval holds the number of *this* attack with probability ``confidence``, for every number of trials. For the
    optimal attack these numbers are those of :func:`dpradar.assess`.

    Assumes
    -------
    The mechanism is what it says it is: reports are drawn from its description, not from someone's implementation
    (that is what :func:`dpradar.audit` is for). They are simulated: the notes say that a real release needs a library
    made for it.

    Notes
    -----
    [RAD] Section 6. The second term of rad, success on an independent target, is not sampled: given the report it is a
    sum over the prior. Limits are those of Clopper and Pearson (1934) for the hits, and of Maurer and Pontil (2009) for
    the mean of that sum. Work is cut into pieces with seeds of their own, so the result does not depend on the number
    of threads; memory is bounded by the size of a piece.

    Examples
    --------
    >>> import dpradar as dr
    >>> r = attack(dr.OUE(m=10, epsilon=3.0), dr.Threat(dr.Prior.uniform(10)), trials=20_000, seed=1)
    >>> r.rad.low <= dr.assess(dr.OUE(m=10, epsilon=3.0), dr.Threat(dr.Prior.uniform(10))).rad.value <= r.rad.high
    True
    """
    job = attack_job(
        mechanism, threat, trials=trials, seed=seed, maximise=maximise, strategy=strategy, confidence=confidence
    )
    if progress is not None and not callable(progress):
        raise ParameterError("attack.progress", "a function (done, asked), or None", repr(progress))
    width = _width(job.best.release, threat)
    if job.pieces.total * width > _MOST_WORK:
        allowed = f"at most {int(_MOST_WORK // width):,} for {width:,} values"
        hint = "More would take very long in one run: ask for fewer, or for a campaign, which can be interrupted."
        raise ParameterError("attack.trials", allowed, f"{job.pieces.total:,}", hint)
    return job.result(job.pieces.run(_WORKERS), progress)


@dataclass(frozen=True, slots=True, eq=False)
class AttackJob:
    """An attack to be run: the work units, which any process may compute, and the result from all of them."""

    mechanism: Any
    best: OptimalAttack
    chosen: Attack
    pieces: WorkUnits[AttackCounts]
    confidence: float
    maximise: Maximise | None

    def result(
        self, parts: Iterable[tuple[int, AttackCounts]], progress: Callable[[int, int], None] | None = None
    ) -> AttackRun:
        """Return the answer from the pieces, given in order."""
        counts, note = _add_up(parts, self.pieces.total, progress)
        rad, success, false_hit = counts.estimates(1.0 - self.confidence)
        seed = self.pieces.root.entropy
        return AttackRun(
            rad=rad,
            success=success,
            false_hit=false_hit,
            trials=counts.trials,
            asked=self.pieces.total,
            confidence=self.confidence,
            strategy=self.chosen.name,
            maximise=self.maximise,
            release=describe_release(self.mechanism),
            threat=self.best.threat.description,
            seed=int(seed) if isinstance(seed, int) else None,
            baseline=self.best.threat.reported_baseline,
            notes=(*self.best.release.assumes, *plugin_notes(self.mechanism), *note, SIMULATION_ONLY),
            version=__version__,
        )


def attack_job(
    mechanism: Any,
    threat: Threat,
    *,
    trials: int = 100_000,
    seed: int | None = None,
    maximise: Maximise = "rad",
    strategy: Any = None,
    confidence: float = 0.95,
) -> AttackJob:
    """Return what :func:`attack` with these arguments has to do, cut into pieces."""
    total = int(TRIALS.check("attack", trials))
    level = CONFIDENCE.check("attack", confidence)
    root = np.random.SeedSequence(checked_seed("attack", seed))
    best = optimal_attack(mechanism, threat, maximise)
    strategy_attack: Attack = best if strategy is None else as_attack(strategy, best.release, threat)
    release = best.release
    size = max(1, min(_MOST_REPORTS, _ENTRIES // max(_width(release, threat), 1)))

    def run_unit(count: int, rng: np.random.Generator) -> AttackCounts:
        return _unit_counts(release, threat, strategy_attack, count, rng)

    units = WorkUnits(run_unit, total, size, root)
    return AttackJob(mechanism, best, strategy_attack, units, level, maximise if strategy is None else None)


def checked_seed(owner: str, seed: object) -> int:
    """Return the seed, a new one for None, or raise unless it is a whole number that is not negative."""
    if seed is None:
        return secrets.randbits(48)  # short enough to be typed, and for every reader of JSON
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise ParameterError(f"{owner}.seed", "a whole number at least 0, or None", shown(seed))
    if seed > LARGEST_SEED:
        raise ParameterError(f"{owner}.seed", "at most 1e38, or None", "a larger number")
    return int(seed)


def _add_up(
    parts: Iterable[tuple[int, AttackCounts]], requested: int, progress: Callable[[int, int], None] | None
) -> tuple[AttackCounts, tuple[str, ...]]:
    """Add up the pieces, in order."""
    sums = AttackCounts()
    try:
        for _, counts in parts:
            sums.add(counts)
            if progress is not None:
                progress(sums.trials, requested)
    except KeyboardInterrupt:
        if sums.trials == 0:
            raise
        return sums, (f"interrupted after {sums.trials:,} of {requested:,} trials",)
    return sums, ()


def _width(release: Release, threat: Threat) -> int:
    """Return how many numbers a report takes, roughly, together with the work on it."""
    if threat.finite.is_continuous:
        return 100
    size = threat.finite.size
    return 32 if release.diagonal is not None and not threat.cover.blocks[1:] else size


def draw_targets(threat: Threat, count: int, rng: np.random.Generator) -> Array:
    """Return targets drawn from the prior: numbers of values, or records of a continuous prior."""
    prior = threat.finite
    if prior.interval is not None:
        return np.asarray(prior.interval.quantile(rng.random(count)))
    if prior.is_uniform:
        return rng.integers(0, prior.size, size=count)
    running = np.cumsum(prior.probabilities)
    return np.asarray(
        np.minimum(np.searchsorted(running, rng.random(count) * running[-1], side="right"), prior.size - 1)
    )


def _unit_counts(
    release: Release, threat: Threat, player: Attack, count: int, rng: np.random.Generator
) -> AttackCounts:
    if release.sample is None:
        message = f"{release.name} cannot be drawn from"
        raise UnsupportedError(message)
    targets = draw_targets(threat, count, rng)
    return count_outcomes(player.play(release.sample(targets, rng), targets, rng))


def count_outcomes(outcome: BatchOutcome) -> AttackCounts:
    """Return the sums of what an attack did."""
    others = outcome.others
    return AttackCounts(
        trials=others.size,
        hits=int(np.count_nonzero(outcome.hits)),
        others=float(others.sum()),
        squares=float(np.square(others).sum()),
        least=float(others.min()),
        most=float(others.max()),
        sampled=outcome.sampled,
        fixed_others=outcome.constant,
    )
