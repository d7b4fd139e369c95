"""Every mode of the audit: what an interruption leaves, that a seed repeats, the result as JSON and in sentences."""

from __future__ import annotations

import math
import os
import py_compile

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import dpradar as dr
from dpradar.audits.import_by_name import import_object
from dpradar.audits.samples import Samples
from dpradar.errors import ParameterError

CLAIM = dr.PureDP(1.0, neighbours="replace-one")
GRR = dr.GRR(m=3, epsilon=1.0)
OPTIONS = {"claim": CLAIM, "domain": 3, "trials": 2000, "seed": 1}


@pytest.fixture(autouse=True)
def _one_thread():
    """Classifiers with many threads on a busy machine take seconds instead of milliseconds."""
    with threadpool_limits(1):
        yield


def grr(inputs, rng):
    return GRR.at(None).sample(inputs, rng)


def audit(sampler, **options):
    return dr.audit(sampler, **OPTIONS | options)


def stop_at(share):
    def progress(done, total):
        if done >= share * total:
            raise KeyboardInterrupt

    return progress


def log(n=6000):
    rng = np.random.default_rng(2)
    inputs = rng.integers(0, 3, n)
    return Samples.of(inputs, inputs)


THREAT = {"threat": dr.Threat(dr.Prior.uniform(3)), "protocol": GRR}
SEQUENTIAL = {"sequential": True, "looks": 10}
MODES = {
    # options; all but the log have several pieces of work in sequence
    "blind": {},
    "blind in sequence": SEQUENTIAL,
    "protocol": {"protocol": GRR},
    "protocol in sequence": {"protocol": GRR, **SEQUENTIAL},
    "threat": THREAT,
    "threat in sequence": {**THREAT, **SEQUENTIAL},
    "skewed": {"threat": dr.Threat(dr.Prior.of([0.5, 0.3, 0.2]))},
    "skewed in sequence": {"threat": dr.Threat(dr.Prior.of([0.5, 0.3, 0.2])), **SEQUENTIAL},
    "log": {"log": True},
}


def run(mode, **options):
    options = MODES[mode] | options
    return audit(log() if options.pop("log", False) else grr, **options)


@pytest.mark.parametrize("mode", MODES)
def test_interrupted(mode):
    """What was counted is returned, with limits that hold at every look: below those of a fixed sample."""
    whole = run(mode)
    result = run(mode, progress=stop_at(0.6))
    assert result.interrupted
    assert not whole.interrupted
    assert sum(note.startswith("interrupted") for note in result.notes) == 1
    assert result.looks >= 1
    assert result.trials <= whole.trials
    if "sequence" in mode:
        assert result.trials < whole.trials
    else:
        assert result.epsilon_lower < whole.epsilon_lower
    assert result.refuted is (mode == "log")
    assert dr.AuditResult.from_dict(result.to_dict()) == result


def interrupting(inputs, rng):
    if len(inputs) > 32:
        raise KeyboardInterrupt
    return grr(inputs, rng)


@pytest.mark.parametrize("mode", ["protocol", "threat"])
def test_interrupted_before_anything_was_tested(mode):
    """There is nothing to tell, so the interruption goes on its way."""
    with pytest.raises(KeyboardInterrupt):
        audit(interrupting, **MODES[mode])


def test_interrupted_during_the_search():
    result = audit(interrupting, **MODES["blind"])
    assert (result.epsilon_lower, result.epsilon_estimate, result.refuted) == (0.0, None, False)
    assert result.interrupted
    assert "nothing was tested" in result.explain()


def test_a_claimed_mechanism_is_about_the_values_of_the_domain():
    """Noise of scale 1 on the numbers 0..4 has epsilon 4, not 1."""

    def honest(inputs, rng):
        return inputs + rng.laplace(0.0, 1.0, len(inputs))

    def half(inputs, rng):
        return inputs + rng.laplace(0.0, 0.5, len(inputs))

    for domain in (5, [0, 1, 2, 3, 4]):
        options = {"claim": dr.Laplace(scale=1.0), "domain": domain, "trials": 20_000, "seed": 1}
        assert not dr.audit(honest, **options).refuted
        assert dr.audit(half, **options).refuted


@pytest.mark.parametrize("mode", MODES)
def test_a_seed_repeats(mode):
    first = run(mode)
    assert run(mode) == first
    assert first.seed == 1
    assert mode == "log" or run(mode, seed=2) != first


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode != "log"])
def test_workers_change_nothing(mode):
    assert run(mode, workers=2, trials=20_000) == run(mode, workers=1, trials=20_000)


def test_without_a_seed_the_result_has_one():
    first = audit(grr, seed=None)
    assert audit(grr, seed=first.seed) == first
    assert audit(grr, seed=None).seed != first.seed


def test_sequential_stops_and_looks_to_the_end():
    stopped = audit(lambda i, rng: i, trials=100_000, **SEQUENTIAL)
    assert stopped.refuted
    assert stopped.trials < 50_000
    assert any("stopped at look" in note for note in stopped.notes)
    for options in ({}, {"threat": dr.Threat(dr.Prior.uniform(3))}, {"protocol": GRR}):
        result = audit(grr, sequential=True, looks=1, trials=20_000, **options)
        assert result.trials == 20_000
        assert result.looks == 2  # at the end too
        assert result.epsilon_lower > 0.6


def test_progress_ends_at_the_number_asked_for():
    for mode in MODES:
        seen = []
        run(mode, progress=lambda done, total, seen=seen: seen.append((done, total)))
        done, totals = [a for a, _ in seen], {b for _, b in seen}
        assert done == sorted(done)
        assert len(totals) == 1
        assert done[-1] == totals.pop()


# ---------------------------------------------------------------------------------------- the answer


@pytest.mark.parametrize("mode", MODES)
def test_json_there_and_back(mode, tmp_path):
    result = run(mode)
    assert dr.AuditResult.from_dict(result.to_dict()) == result
    result.save(tmp_path / "audit.json")
    assert dr.load(tmp_path / "audit.json") == result
    with pytest.raises(ParameterError, match="schema"):
        dr.AuditResult.from_dict(result.to_dict() | {"schema": "dpradar/risk/1"})


def test_infinite_numbers_survive_json(tmp_path):
    result = audit(lambda i, rng: i)
    result.save(tmp_path / "audit.json")
    assert '"inf"' in (tmp_path / "audit.json").read_text(encoding="utf-8")
    assert math.isinf(dr.load(tmp_path / "audit.json").epsilon_estimate)


@pytest.mark.parametrize("mode", MODES)
def test_explained(mode):
    """Verdict, bound and estimate are told apart, and what is not refuted is not called proven."""
    result = run(mode)
    text = result.explain()
    first = text.splitlines()[0]
    if result.refuted:
        assert first.startswith("REFUTED. PureDP")
        assert "at most 5 % of audits" in first
    else:
        assert first.startswith("NOT REFUTED. The outputs do not contradict PureDP")
        assert "does not prove" in first
    assert "95 % confidence" in text
    assert "Estimate, not a bound" in text
    assert "Seed: 1" in text
    shown = float(text.split("the outputs show at least ")[1].split()[0])
    assert shown <= result.epsilon_lower < shown + 1e-3 * max(1.0, shown)
    assert (result.rad is not None) is ("threat" in MODES[mode])
    assert (result.witness is None) is ("threat" in MODES[mode])


def test_no_estimate_is_negative():
    """An attack that was right less often than chance suggests an epsilon of 0, not less."""
    flat = dr.GRR(m=3, epsilon=1e-3).at(None).sample
    results = [audit(flat, seed=k, threat=dr.Threat(dr.Prior.uniform(3))) for k in range(6)]
    assert any(r.rad.estimate < 0.0 for r in results)
    assert all(r.epsilon_estimate >= 0.0 and r.epsilon_lower >= 0.0 for r in results)


def test_a_sampler_that_changes_twice_in_a_second_is_read_again(tmp_path):
    """Cached bytecode is told from old one by the second and the size only."""
    file = tmp_path / "mine.py"
    cached = tmp_path / "__pycache__"
    for level in ("0.7", "0.2"):
        file.write_text(f"LEVEL = {level}\n")
        os.utime(file, (1_700_000_000, 1_700_000_000))
        assert import_object("mine.py:LEVEL", "sampler", tmp_path) == float(level)
        py_compile.compile(str(file), doraise=True)  # as an import of somebody else would
    assert list(cached.iterdir())
