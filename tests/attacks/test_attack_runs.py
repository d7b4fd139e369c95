"""Running attacks: seeds, threads, interruption, ties, and the messages for bad input."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import dpradar as dr
from dpradar.attacks import attack_runs as running
from tests.attacks.powers import FAILURE
from tests.every import every

GRR = dr.GRR(5, 1.0)
UNIFORM = dr.Threat(dr.Prior.uniform(5))
SKEWED = dr.Prior.of([0.4, 0.3, 0.0, 0.2, 0.1], [0.0, 1.0, 2.0, 4.0, 7.0])
LINE = dr.Threat(dr.Prior.continuous(stats.uniform(0.0, 1.0), 0.0, 1.0), goal=dr.Goal.within(0.1))
LABELS = dr.Knowledge.labels(list("aabbb"))

# Each has a few pieces of work: 8 million numbers, or 250,000 reports.
RUNS = {
    "diagonal": (GRR, dr.Threat(SKEWED), 600_000),
    "some member": (dr.OUE(3052, 2.0), dr.Threat(dr.Prior.uniform(3052)), 9_000),
    "likeliest member": (dr.OLH(3052, 2.0), dr.Threat(dr.Prior.of(np.arange(1.0, 3053.0) / 4_658_878)), 9_000),
    "known member": (dr.SUE(3052, 2.0), dr.Threat(dr.Prior.uniform(3052), dr.Knowledge.everything()), 6_000),
    "general": (dr.Laplace(1.0), dr.Threat(SKEWED, LABELS, dr.Goal.within(1.0)), 600_000),
    "composed": (dr.Composed([GRR, dr.Gaussian(2.0)]), dr.Threat(SKEWED), 600_000),
    "continuous": (dr.Laplace(0.2), LINE, 3_000),
}


def quick(name: str, **options) -> dr.AttackRun:
    mechanism, threat, trials = RUNS[name]
    return dr.attack(mechanism, threat, trials=trials, **{"seed": 1, **options})


@pytest.mark.parametrize("name", RUNS)
def test_threads_do_not_matter(name, monkeypatch):
    runs = []
    for workers in (1, 2, 3):
        monkeypatch.setattr(running, "_WORKERS", workers)
        runs.append(quick(name))
    assert runs[0] == runs[1] == runs[2]


@pytest.mark.parametrize("name", ["diagonal", "some member", "composed"])
def test_seeds(name):
    assert quick(name) == quick(name)
    assert quick(name).rad != quick(name, seed=2).rad
    assert quick(name, seed=np.int64(1)) == quick(name)


def test_without_a_seed():
    """Another result every time, and the seed that repeats it."""
    first, second = (dr.attack(GRR, UNIFORM, trials=5_000) for _ in range(2))
    assert first.seed != second.seed
    assert dr.attack(GRR, UNIFORM, trials=5_000, seed=first.seed) == first


def test_more_trials_go_on_from_fewer():
    """Pieces have seeds of their own, so a longer run starts with the same pieces."""
    seen: list[int] = []
    short = quick("diagonal", progress=lambda done, total: seen.append(done))
    assert seen == sorted(set(seen))
    assert seen[-1] == short.trials == short.asked == 600_000
    assert len(seen) >= 3


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("name", ["diagonal", "some member", "general"])
def test_interrupted(name, workers, monkeypatch):
    """What was counted until then, which is what a run of so many trials counts."""
    monkeypatch.setattr(running, "_WORKERS", workers)

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    run = quick(name, progress=stop, confidence=1 - FAILURE)
    assert run.interrupted
    assert 0 < run.trials < run.asked
    assert f"interrupted after {run.trials:,} of {run.asked:,} trials" in run.notes
    mechanism, threat, _ = RUNS[name]
    again = dr.attack(mechanism, threat, trials=run.trials, seed=1, confidence=1 - FAILURE)
    assert (again.rad, again.success, again.false_hit) == (run.rad, run.success, run.false_hit)
    assert not again.interrupted
    exact = dr.assess(mechanism, threat).rad.value
    assert run.rad.low <= exact <= run.rad.high


def test_pieces_that_differ():
    """The chance to be right for others is the same all through one piece and the next, but not for both."""
    counts = running.AttackCounts()
    for chance in (0.2, 0.4):
        squares = 100 * chance**2
        counts.add(
            running.AttackCounts(trials=100, hits=50, others=100 * chance, squares=squares, least=chance, most=chance)
        )
    assert not counts.constant
    _, _, false_hit = counts.estimates(0.05)
    assert false_hit.estimate == pytest.approx(0.3)
    assert false_hit.low < 0.25
    assert false_hit.high > 0.35


def test_other_errors_are_not_swallowed():
    def broken(done: int, total: int) -> None:
        message = "of the caller"
        raise RuntimeError(message)

    with pytest.raises(RuntimeError, match="of the caller"):
        quick("diagonal", progress=broken)


@pytest.mark.parametrize("trials", [1, 2, 7])
@pytest.mark.parametrize("name", RUNS)
def test_very_few_trials(name, trials):
    mechanism, threat, _ = RUNS[name]
    run = dr.attack(mechanism, threat, trials=trials, seed=3)
    assert run.trials == trials
    for interval in (run.rad, run.success, run.false_hit):
        assert -1.0 <= interval.low <= interval.estimate <= interval.high <= 1.0
    assert run.success.low >= 0.0


def test_saved_and_loaded(tmp_path):
    run = quick("diagonal", maximise="success")
    run.save(tmp_path / "run.json")
    assert dr.load(tmp_path / "run.json") == run
    assert run.maximise == "success"
    assert "the" in run.explain()


def test_a_release_says_what_it_assumes():
    assert any("hash" in note for note in dr.attack(dr.OLH(5, 1.0), UNIFORM, trials=100, seed=1).notes)


# Ties are broken at random: the target's value is named as often as any other that is as likely.
NO_NEWS = dr.Channel(np.full((4, 2), 0.5))
TIES = {
    "any value when nothing is held": (dr.OUE(4, 1.0), np.zeros((1, 4), dtype=bool), None, 1 / 4),
    "one of those held": (dr.OUE(4, 1.0), np.array([[True, True, False, True]]), None, 1 / 3),
    "one of the likeliest held": (dr.OUE(4, 1.0), np.array([[True, True, False, True]]), [0.4, 0.4, 0.1, 0.1], 1 / 2),
    "coordinates above 1": (dr.SHE(4, 1.0), np.array([[1.5, 3.0, 0.2, 7.0]]), None, 1 / 3),
    "nothing told": (NO_NEWS, np.array([0]), None, 1 / 4),
    "nothing told, skewed": (NO_NEWS, np.array([0]), [0.4, 0.3, 0.2, 0.1], 1 / 4),
    "column of ones": (dr.HadamardResponse(4, 1.0), np.array([0]), None, 1 / 4),
}


@pytest.mark.parametrize("name", TIES)
def test_ties(name):
    mechanism, report, weights, chance = TIES[name]
    prior = dr.Prior.uniform(4) if weights is None else dr.Prior.of(weights)
    best = dr.optimal_attack(mechanism, dr.Threat(prior))
    rng = np.random.default_rng(4)
    # Small batches, because some attacks put ties into one random order for each of them.
    hits = sum(
        int(best.play(np.repeat(report, 10, axis=0), np.zeros(10, dtype=np.intp), rng).hits.sum()) for _ in range(4_000)
    )
    # Of one batch the guesses may be all alike: as few as 4,000 independent ones.
    assert abs(hits / 40_000 - chance) < 6.5 * np.sqrt(chance * (1 - chance) / 4_000)


BAD = {
    "mechanism": (lambda: dr.attack(None, UNIFORM), "given a mechanism"),
    "a guarantee": (lambda: dr.attack(dr.PureDP(1.0, "replace-one"), UNIFORM), "guarantee cannot be attacked"),
    "no sampler": (lambda: dr.attack(dr.DPSGD(1.0, 0.01, 10), UNIFORM), "cannot be attacked"),
    "worst case": (lambda: dr.attack(GRR, dr.Threat.worst()), "threat with a prior"),
    "membership": (lambda: dr.attack(GRR, dr.Threat.membership(0.5)), "threat with a prior"),
    "baseline": (lambda: dr.attack(GRR, dr.Threat.baseline(0.1)), "threat with a prior"),
    "wrong size": (lambda: dr.attack(dr.GRR(4, 1.0), UNIFORM), "4 inputs"),
    "continuous": (lambda: dr.attack(GRR, LINE), "finitely many"),
    "no trials": (lambda: dr.attack(GRR, UNIFORM, trials=0), "at least 1"),
    "half a trial": (lambda: dr.attack(GRR, UNIFORM, trials=1.5), "whole number"),
    "words": (lambda: dr.attack(GRR, UNIFORM, trials="many"), "whole number"),
    "too many": (lambda: dr.attack(GRR, UNIFORM, trials=10**13), "at most"),
    "seed": (lambda: dr.attack(GRR, UNIFORM, seed=-1), "seed must be"),
    "long seed": (lambda: dr.attack(GRR, UNIFORM, seed=10**50), "seed must be at most 1e38"),
    "seed of words": (lambda: dr.attack(GRR, UNIFORM, seed="a"), "seed must be"),
    "maximise": (lambda: dr.attack(GRR, UNIFORM, maximise="gain"), "'rad' or 'success'"),
    "confidence": (lambda: dr.attack(GRR, UNIFORM, confidence=1.0), "below 1"),
    "per cent": (lambda: dr.attack(GRR, UNIFORM, confidence=95), "below 1"),
    "nan": (lambda: dr.attack(GRR, UNIFORM, confidence=float("nan")), "below 1"),
    "strategy": (lambda: dr.attack(GRR, UNIFORM, strategy="best"), "'report', 'prior' or a function"),
    "a number": (lambda: dr.attack(GRR, UNIFORM, strategy=3), "'report', 'prior' or a function"),
    "bits as a report": (lambda: dr.attack(dr.OUE(5, 1.0), UNIFORM, strategy="report"), "values themselves"),
    "columns": (lambda: dr.attack(dr.HadamardResponse(5, 1.0), UNIFORM, strategy="report"), "from -1 to 4"),
    "shape": (lambda: dr.attack(GRR, UNIFORM, strategy=lambda r, k, g: np.zeros(3, int)), "per report"),
    "not whole": (lambda: dr.attack(GRR, UNIFORM, strategy=lambda r, k, g: r / 2), "whole number"),
    "too large": (lambda: dr.attack(GRR, UNIFORM, strategy=lambda r, k, g: r + 9), "from -1 to 4"),
    "nothing": (lambda: dr.attack(GRR, UNIFORM, strategy=lambda r, k, g: None), "per report"),
    "on a line": (lambda: dr.attack(dr.Laplace(1.0), LINE, strategy="prior"), "finitely many"),
}


@every("name", BAD)
def test_bad_input(name):
    call, message = BAD[name]
    with pytest.raises(dr.DpradarError, match=message):
        call()


MISTAKES = {
    "no threat": lambda: dr.attack(GRR, None),
    "a prior instead of a threat": lambda: dr.attack(GRR, dr.Prior.uniform(5)),
    "a class instead of a mechanism": lambda: dr.attack(dr.GRR, UNIFORM),
    "an array as a strategy": lambda: dr.attack(GRR, UNIFORM, strategy=np.array([1, 2])),
    "guesses of different lengths": lambda: dr.attack(GRR, UNIFORM, strategy=lambda r, k, g: [[1], [1, 2]]),
    "progress": lambda: dr.attack(GRR, UNIFORM, progress=3),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_get_a_message(name):
    with pytest.raises(dr.DpradarError):
        MISTAKES[name]()
