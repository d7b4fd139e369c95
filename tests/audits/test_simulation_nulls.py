"""Claims that hold exactly are refuted in no more than a fraction ``significance`` of all audits, in every mode.

Each case runs many audits with significance 0.2 on a mechanism whose claim is tight, and counts refutations and lower
bounds above the true epsilon. If these had probability 0.2 each, a count above ``most(runs)`` would come up with
probability 2e-4, so in one of the 60 cases with probability 0.01 at worst; seeds are fixed, and most audits are far
more careful than they have to be. Power: of 400 audits that are wrong twice as often as they say, the count is above
the limit but with probability 1e-6; and where an audit can be nearly tight its rate must be above ``least`` too.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from threadpoolctl import threadpool_limits

import dpradar as dr
from dpradar.audits.samples import Samples

RUNS, LEVEL, EPS = 400, 0.2, 1.0
REPLACE = {"neighbours": "replace-one"}
CLAIM = dr.PureDP(EPS, **REPLACE)
MODES = {"fixed": {}, "sequential": {"sequential": True, "looks": 50}}


def most(runs):
    return int(stats.binom.isf(2e-4, runs, LEVEL))


def check(sampler, *, epsilon=EPS, least=0, runs=RUNS, **options):
    """Audit a true claim many times; ``sampler`` may be a function of the seed that returns a log."""
    options = {"claim": CLAIM, "trials": 1000, "significance": LEVEL} | options
    make = sampler if options.pop("logs", False) else lambda _: sampler
    with threadpool_limits(1):
        results = [dr.audit(make(seed), seed=seed, **options) for seed in range(runs)]
    refuted = sum(r.refuted for r in results)
    above = sum(r.epsilon_lower > epsilon * (1 + 1e-9) for r in results)
    assert refuted <= most(runs)
    assert above <= most(runs)
    assert max(refuted, above) >= least
    return results


def test_the_limit_of_the_counts():
    assert stats.binom.sf(most(RUNS), RUNS, LEVEL) < 2e-4
    assert stats.binom.sf(most(RUNS), RUNS, 2 * LEVEL) > 1 - 1e-6
    assert stats.binom.sf(most(100), 100, 2 * LEVEL) > 0.7


# ---------------------------------------------------------------------------------------------------- known protocols

PROTOCOLS = {
    "grr": dr.GRR(m=8, epsilon=EPS),
    "subset": dr.SubsetSelection(m=8, epsilon=EPS),
    "sue": dr.SUE(m=8, epsilon=EPS),
    "oue": dr.OUE(m=8, epsilon=EPS),
    "olh": dr.OLH(m=8, epsilon=EPS),
    "hadamard": dr.HadamardResponse(m=8, epsilon=EPS),
    "she": dr.SHE(m=8, epsilon=EPS),
}
FAST = ["grr", "subset", "sue", "oue", "olh", "hadamard"]


@pytest.mark.parametrize("name", FAST)
def test_known_protocol(name):
    """All of these have reports at the full ratio e^epsilon, so audits are wrong nearly as often as they may be."""
    protocol = PROTOCOLS[name]
    check(protocol.at(None).sample, protocol=protocol, trials=2000, least=30)


@pytest.mark.parametrize("name", ["grr", "oue"])
def test_known_protocol_in_sequence(name):
    protocol = PROTOCOLS[name]
    results = check(protocol.at(None).sample, protocol=protocol, trials=2000, runs=200, **MODES["sequential"])
    assert max(r.looks for r in results) >= 15


@pytest.mark.slow
@pytest.mark.parametrize("name", PROTOCOLS)
def test_known_protocol_with_many_looks(name):
    protocol = PROTOCOLS[name]
    results = check(protocol.at(None).sample, protocol=protocol, trials=20_000, **MODES["sequential"])
    assert max(r.looks for r in results) >= 40


@pytest.mark.slow
def test_known_protocol_with_real_reports():
    protocol = PROTOCOLS["she"]
    check(protocol.at(None).sample, protocol=protocol, trials=2000, least=20)


@pytest.mark.parametrize("name", ["grr", "sue"])
def test_known_protocol_with_itself_as_the_claim(name):
    protocol = PROTOCOLS[name]
    check(protocol.at(None).sample, protocol=protocol, claim=protocol)


# ---------------------------------------------------------------------------------------------------------------- blind


def laplace(inputs, rng):
    return inputs + rng.laplace(0.0, 1.0, len(inputs))


def laplace_vector(inputs, rng):
    """Two coordinates that move by 1/2 each: epsilon is 1 in all."""
    return 0.5 * inputs[:, None] + rng.laplace(0.0, 1.0, (len(inputs), 2))


def subsets(inputs, rng):
    rows = dr.SubsetSelection(m=6, epsilon=EPS).at(None).sample(inputs, rng)
    return [set(np.flatnonzero(row).tolist()) for row in rows]


def words(inputs, rng):
    honest = rng.random(len(inputs)) < math.e / (math.e + 1)
    return np.where(honest == (inputs == 0), "yes", "no")


def in_place(inputs, rng):
    """Randomised response that writes its answer over the values it was given."""
    lies = rng.random(len(inputs)) >= math.e / (math.e + 1)
    inputs[lies] = 1 - inputs[lies]
    return inputs


BLIND = {
    # sampler, options: everything here is exactly 1-DP
    "categorical": (dr.GRR(m=3, epsilon=EPS).at(None).sample, {"domain": 3, "trials": 2000}),
    "two values": (dr.GRR(m=2, epsilon=EPS).at(None).sample, {"domain": 2, "trials": 2000}),
    "words": (words, {"domain": 2}),
    "in place": (in_place, {"domain": 2}),
    "real": (laplace, {"domain": 2}),
}
TRAINED = {
    "bits": (dr.OUE(m=4, epsilon=EPS).at(None).sample, {"domain": 4}),
    "subsets": (subsets, {"domain": 6}),
    "vector": (laplace_vector, {"domain": 2}),
}


@pytest.mark.parametrize("name", BLIND)
def test_blind(name):
    sampler, options = BLIND[name]
    check(sampler, runs=200 if name == "real" else RUNS, **options)


@pytest.mark.parametrize("name", TRAINED)
def test_blind_with_a_classifier(name):
    sampler, options = TRAINED[name]
    check(sampler, runs=30, **options)


@pytest.mark.slow
@pytest.mark.parametrize("name", TRAINED)
def test_blind_with_a_classifier_many_times(name):
    sampler, options = TRAINED[name]
    check(sampler, **options | {"trials": 2000})


@pytest.mark.slow
@pytest.mark.parametrize("name", [*BLIND, *TRAINED])
def test_blind_in_sequence(name):
    sampler, options = {**BLIND, **TRAINED}[name]
    results = check(sampler, **options | {"trials": 8000}, **MODES["sequential"])
    assert max(r.looks for r in results) >= 30


@pytest.mark.parametrize("name", ["two values", "real"])
def test_blind_in_sequence_fewer_looks(name):
    sampler, options = BLIND[name]
    check(sampler, runs=100, **options | {"trials": 2000}, **MODES["sequential"])


@pytest.mark.parametrize("name", BLIND)
def test_blind_has_power(name):
    """The same mechanisms under a claim of 0.4 are refuted by 8000 outputs in 18 of 20 audits at least."""
    sampler, options = BLIND[name]
    claim = dr.PureDP(0.4, **REPLACE)
    results = [dr.audit(sampler, claim=claim, seed=k, **options | {"trials": 8000}) for k in range(20)]
    assert sum(r.refuted for r in results) >= 18


def logs_of(kind):
    sampler = {"real": laplace, "categorical": dr.GRR(m=2, epsilon=EPS).at(None).sample}[kind]

    def log(seed):
        rng = np.random.default_rng(10**6 + seed)
        inputs = rng.integers(0, 2, 1500)
        return Samples.of(inputs, sampler(inputs, rng))

    return log


@pytest.mark.parametrize("kind", ["real", "categorical"])
def test_log(kind):
    check(logs_of(kind), logs=True, runs=200)


def count_of_many(data, how_many, rng):
    return len(data) + rng.laplace(0.0, 1.0, how_many)


def histogram(data, how_many, rng):
    counts = np.bincount(data, minlength=3)
    return counts + rng.laplace(0.0, 1.0, (how_many, 3))


PAIRS = [([0, 1, 2], [0, 1]), ([1, 1], [1]), ([2], [])]


def test_pairs():
    check(count_of_many, pairs=PAIRS, claim=dr.PureDP(EPS, neighbours="add-remove"), runs=200)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["real", "categorical"])
def test_log_many_times(kind):
    check(logs_of(kind), logs=True)


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_pairs_many_times(mode):
    claim = dr.PureDP(EPS, neighbours="add-remove")
    check(count_of_many, pairs=PAIRS, claim=claim, trials=8000, **MODES[mode])


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_pairs_of_histograms(mode):
    pairs = [(np.array(a, dtype=int), np.array(b, dtype=int)) for a, b in PAIRS]
    options = {"claim": dr.PureDP(EPS, neighbours="add-remove"), "trials": 2000}
    check(histogram, pairs=pairs, **options, **MODES[mode])


# ---------------------------------------------------------------------------------------------------- delta, and curves


def gaussian(inputs, rng):
    return inputs + rng.normal(0.0, 1.0, len(inputs))


DELTA = float(stats.norm.cdf(-0.5) - math.e * stats.norm.cdf(-1.5))  # of a Gaussian with mu = 1, at epsilon = 1
CURVES = {
    "approximate": (dr.ApproxDP(EPS, DELTA, **REPLACE), EPS),
    "gaussian": (dr.GDP(1.0, **REPLACE), math.inf),
    "concentrated": (dr.ZCDP(0.5, **REPLACE), math.inf),
    "mechanism": (dr.Gaussian(sigma=1.0, query=[0.0, 1.0]), math.inf),
}


@pytest.mark.parametrize("name", ["approximate", "gaussian", "mechanism"])
def test_claims_with_a_curve(name):
    claim, epsilon = CURVES[name]
    check(gaussian, domain=2, claim=claim, epsilon=epsilon, runs=150)


@pytest.mark.slow
def test_concentrated_claims():
    claim, epsilon = CURVES["concentrated"]
    check(gaussian, domain=2, claim=claim, epsilon=epsilon)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["approximate", "gaussian", "mechanism"])
def test_claims_with_a_curve_in_sequence(name):
    claim, epsilon = CURVES[name]
    check(gaussian, domain=2, claim=claim, epsilon=epsilon, trials=4000, **MODES["sequential"])


@pytest.mark.parametrize("name", ["approximate", "gaussian"])
def test_curves_have_power(name):
    """The claims about a sigma of 1 are refuted where it is 0.5, in 18 of 20 audits of 8000 outputs at least."""

    def half(inputs, rng):
        return inputs + rng.normal(0.0, 0.5, len(inputs))

    results = [dr.audit(half, domain=2, claim=CURVES[name][0], trials=8000, seed=k) for k in range(20)]
    assert sum(r.refuted for r in results) >= 18


# ---------------------------------------------------------------------------------------------------- by an advantage

GRR = dr.GRR(m=3, epsilon=EPS)
SKEWED = dr.Prior.of([0.5, 0.3, 0.2])
KNOWN = dr.Threat(SKEWED, dr.Knowledge.everything())


def member(reports, known, rng):
    """Name the known value if it was reported, else nobody."""
    return np.where(reports == known, known, -1)


THREATS = {
    "uniform": {"threat": dr.Threat(dr.Prior.uniform(3)), "least": 40},
    "skewed": {"threat": dr.Threat(SKEWED)},
    "known": {"threat": KNOWN, "guess": member},
    "label": {"threat": dr.Threat(SKEWED, dr.Knowledge.labels(["a", "b", "b"]))},
}


@pytest.mark.parametrize("name", THREATS)
def test_advantage(name):
    """GRR reaches the black-box bound for a uniform prior, so that audit is as often wrong as it may be."""
    check(GRR.at(None).sample, **THREATS[name])


@pytest.mark.parametrize("name", THREATS)
def test_advantage_against_the_mechanism_itself(name):
    check(GRR.at(None).sample, claim=GRR, runs=200, **THREATS[name] | {"least": 0})


@pytest.mark.parametrize("name", ["uniform", "skewed"])
def test_advantage_in_sequence(name):
    check(GRR.at(None).sample, trials=2000, runs=100, **THREATS[name] | {"least": 0}, **MODES["sequential"])


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", THREATS)
def test_advantage_of_the_optimal_attack(name, mode):
    threat = THREATS[name]["threat"]
    for protocol in (GRR, dr.OUE(m=3, epsilon=EPS)):
        options = {"protocol": protocol, "claim": protocol, "trials": 2000}
        check(protocol.at(None).sample, threat=threat, **options, **MODES[mode])
