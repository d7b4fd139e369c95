"""From counts to epsilon: limits for a fixed sample and at every look, and the claims they are held against.

Every number here is exact or enumerated, but for one simulation of a confidence sequence, whose failure probability is
stated there.
"""

from __future__ import annotations

import bisect
import math

import numpy as np
import pytest
from scipy import stats
from scipy.special import betaln

import dpradar as dr
from dpradar.audits.epsilon_limits import AuditedClaim, Corner, Tally, claim_under
from dpradar.errors import ParameterError
from dpradar.numerics.confidence_intervals import clopper_pearson_high, clopper_pearson_low
from dpradar.numerics.confidence_sequences import always_high, always_low
from tests.every import every

COUNTS = [
    (0, 1),
    (1, 1),
    (0, 50),
    (50, 50),
    (7, 50),
    (25, 50),
    (49, 50),
    (3, 10**6),
    (10**6 - 2, 10**6),
    (10**8, 10**9),
]
FAILURES = [0.2, 0.05, 1e-3, 1e-9]


# -------------------------------------------------------------------------------------------------- a fixed sample


@every("failure", FAILURES)
@every(("hits", "trials"), COUNTS)
def test_clopper_pearson_is_that_of_scipy(hits, trials, failure):
    low, high = clopper_pearson_low(hits, trials, failure), clopper_pearson_high(hits, trials, failure)
    for side, ours in (("greater", low), ("less", high)):
        theirs = stats.binomtest(hits, trials, alternative=side).proportion_ci(1.0 - failure, "exact")
        # scipy searches for the limit, and stops at 2e-12.
        assert ours == pytest.approx(theirs.low if side == "greater" else theirs.high, rel=1e-7, abs=1e-11)
    assert 0.0 <= low <= hits / trials <= high <= 1.0
    if 0 < hits < trials:
        assert low == pytest.approx(stats.beta.ppf(failure, hits, trials - hits + 1), rel=1e-10)
        assert stats.binom.sf(hits - 1, trials, low) == pytest.approx(failure, rel=1e-6)
        assert stats.binom.cdf(hits, trials, high) == pytest.approx(failure, rel=1e-6)


@pytest.mark.parametrize("n", [1, 2, 7, 20])
def test_clopper_pearson_fails_no_more_often_than_it_says(n):
    """Exact: the probability that the limit lies above p, summed over all outcomes, for many p."""
    failure = 0.1
    limits = np.array([clopper_pearson_low(k, n, failure) for k in range(n + 1)])
    for p in np.concatenate([np.linspace(0.0, 1.0, 201), limits - 1e-9, limits + 1e-9]).clip(0.0, 1.0):
        assert stats.binom.pmf(np.arange(n + 1), n, p)[limits > p].sum() <= failure + 1e-12


def test_nothing_drawn_says_nothing():
    for low, high in ((clopper_pearson_low, clopper_pearson_high), (always_low, always_high)):
        assert (low(0, 0, 0.05), high(0, 0, 0.05)) == (0.0, 1.0)
    for always in (False, True):
        assert Tally().epsilon_lower(0.0, 0.05, always=always) == 0.0
        assert Tally(decided=True).epsilon_lower(0.0, 0.05, always=always) == 0.0
        assert Tally(5, 5, 0, 0).epsilon_lower(0.0, 0.05, always=always) == 0.0
    assert Tally().epsilon_estimate(0.0) is None


# ---------------------------------------------------------------------------------------------------- at every look


def evidence(hits, trials, p):
    """The likelihood averaged over Beta(1/2, 1/2), over that of p."""
    mixture = betaln(hits + 0.5, trials - hits + 0.5) - betaln(0.5, 0.5)
    return math.exp(mixture - hits * math.log(p) - (trials - hits) * math.log1p(-p))


@pytest.mark.parametrize("p", [0.01, 0.3, 0.5, 0.95])
def test_the_evidence_is_a_martingale(p):
    """Its mean is 1 at every size, and one more draw does not change it on average."""
    for n in range(1, 41):
        pmf = stats.binom.pmf(np.arange(n + 1), n, p)
        assert sum(q * evidence(k, n, p) for k, q in enumerate(pmf)) == pytest.approx(1.0, rel=1e-10)
    for n, k in ((1, 0), (5, 3), (30, 30)):
        after = p * evidence(k + 1, n + 1, p) + (1 - p) * evidence(k, n + 1, p)
        assert after == pytest.approx(evidence(k, n, p), rel=1e-12)


@every("failure", FAILURES)
@every(("hits", "trials"), [c for c in COUNTS if c[1] <= 10**6])
def test_the_limit_is_where_the_evidence_reaches_one_over_failure(hits, trials, failure):
    low, high = always_low(hits, trials, failure), always_high(hits, trials, failure)
    assert high == 1.0 - always_low(trials - hits, trials, failure)
    assert low <= hits / trials <= high
    if hits:
        assert 0.0 < low < hits / trials
        assert math.log(evidence(hits, trials, low)) == pytest.approx(-math.log(failure), rel=1e-4)
    else:
        assert low == 0.0


def ever_above(limit, p, failure, most):
    """Return the probability that a limit is above p at one of the first sizes at least, by a walk over the counts."""
    alive, crossed = np.array([1.0]), 0.0
    for n in range(1, most + 1):
        alive = np.append(alive, 0.0) * (1 - p) + np.append(0.0, alive) * p
        # Limits grow with the count, so the first one above p is found by bisection.
        k = bisect.bisect_right(range(n + 1), p, key=lambda count: limit(count, n, failure))
        crossed += alive[k:].sum()
        alive[k:] = 0.0
    return crossed


@pytest.mark.parametrize("p", [0.05, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("failure", [0.5, 0.1])
def test_limits_hold_at_every_size_at_once(p, failure):
    """Exact. Limits for one size fail more often than they say when one looks 200 times: the sequence is needed."""
    crossed = ever_above(always_low, p, failure, 200)
    assert 0.001 < crossed <= failure
    assert ever_above(clopper_pearson_low, p, failure, 200) > max(1.2 * failure, crossed)


def test_limits_hold_at_many_looks():
    """50 looks up to 10^5 draws, 2000 runs: at most 5 % fail. A rate of 5 % gives 150 or more with probability 1e-6."""
    rng, p, failure, runs = np.random.default_rng(4), 0.2, 0.05, 2000
    sizes = np.unique(np.geomspace(20, 10**5, 50).astype(int))
    counts = np.cumsum(rng.binomial(np.diff(sizes, prepend=0), p, size=(runs, sizes.size)), axis=1)
    log_own = counts * math.log(p) + (sizes - counts) * math.log1p(-p)
    log_mixture = betaln(counts + 0.5, sizes - counts + 0.5) - betaln(0.5, 0.5)
    against = (log_mixture - log_own >= -math.log(failure)) & (counts > p * sizes)
    assert 1 <= against.any(axis=1).sum() < 150
    where = list(zip(*np.nonzero(against), strict=True))[:50]
    assert all(always_low(int(counts[r, k]), int(sizes[k]), failure) > p for r, k in where)


# ------------------------------------------------------------------------------------------------ from rates to epsilon

RATES = [(0.5, 0.1), (0.9, 0.6), (0.3, 0.3), (0.2, 0.7), (1.0, 0.25), (0.75, 0.0), (1e-3, 1e-6)]


@every("delta", [0.0, 1e-5, 0.05, 0.3])
@every(("first", "other"), RATES)
def test_corner_is_the_least_epsilon_that_allows_both_rates(first, other, delta):
    """Brute force: (epsilon, delta)-DP for the event and its complement, first given one input and then the other."""
    least = Corner(first, other).epsilon(delta)

    def allowed(epsilon):
        grown = math.exp(epsilon)
        pairs = ((first, other), (1 - other, 1 - first))
        return all(much <= grown * little + delta + 1e-12 for much, little in pairs)

    if math.isinf(least):
        assert not allowed(50.0)
        return
    assert allowed(least + 1e-6)
    assert least == 0.0 or not allowed(least - 1e-4)


@pytest.mark.parametrize("always", [False, True])
@pytest.mark.parametrize("delta", [0.0, 0.01])
def test_limits_of_a_tally_are_on_the_cautious_side(always, delta):
    tally = Tally(700, 1000, 240, 1000)
    corner = tally.corner(0.05, always=always)
    assert corner.first < 0.7
    assert corner.other > 0.24
    lower = tally.epsilon_lower(delta, 0.05, always=always)
    assert 0.0 < lower < tally.epsilon_estimate(delta)
    assert tally.epsilon_lower(delta, 0.01, always=always) < lower
    assert not always or lower < tally.epsilon_lower(delta, 0.05, always=False)


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0])
def test_one_limit_for_reports_that_speak_for_one_of_two(epsilon):
    """Exact, over all outcomes of 12 reports: won with a e^epsilon, lost with a, silent else; delta is 0."""
    failure, n = 0.2, 12
    for quiet in (0.0, 0.4, 0.9):
        lost = (1 - quiet) / (1 + math.exp(epsilon))
        chances = [lost * math.exp(epsilon), lost, quiet]
        wrong = 0.0
        for won in range(n + 1):
            for gone in range(n + 1 - won):
                tally = Tally(won, n, gone, n, decided=True)
                if tally.epsilon_lower(0.0, failure, always=False) > epsilon + 1e-12:
                    wrong += stats.multinomial.pmf([won, gone, n - won - gone], n, chances)
        assert wrong <= failure + 1e-12


def test_delta_or_a_curve_needs_both_limits():
    tally = Tally(600, 1000, 300, 1000, decided=True)
    plain = Tally(600, 1000, 300, 1000)
    assert tally.epsilon_lower(1e-6, 0.05, always=False) == plain.epsilon_lower(1e-6, 0.05, always=False)
    assert tally.epsilon_lower(0.0, 0.05, always=False) > plain.epsilon_lower(0.0, 0.05, always=False)


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("tally", [Tally(70, 100, 24, 90), Tally(3, 50, 1, 60), Tally(10, 10, 0, 20)])
def test_both_limits_of_a_tally_share_the_failure(tally, failure):
    """Each fails with probability failure/2, so that both hold except with probability failure."""
    corner = tally.corner(failure, always=False)
    hits, drawn = tally.seen_first, tally.drawn_first
    assert corner.first == pytest.approx(stats.beta.ppf(failure / 2, hits, drawn - hits + 1), rel=1e-9)
    hits, drawn = tally.seen_other, tally.drawn_other
    assert corner.other == pytest.approx(stats.beta.isf(failure / 2, hits + 1, drawn - hits), rel=1e-9)
    corner = tally.corner(failure, always=True)
    against = evidence(tally.seen_first, tally.drawn_first, corner.first)
    assert math.log(against) == pytest.approx(-math.log(failure / 2), rel=1e-4)
    against = evidence(tally.seen_other, tally.drawn_other, corner.other)
    assert math.log(against) == pytest.approx(-math.log(failure / 2), rel=1e-4)


def test_a_claim_that_is_tested_twice_is_held_against_a_quarter_of_the_failure():
    """Two tests of two limits each. Counts that refute the epsilon of a mechanism at failure/2 a test, but not at
    failure/4, refute the guarantee alone, which is tested once, and not the mechanism."""
    failure, drawn, few = 0.05, 10_000, 1000

    def lower(many, each):
        least = stats.beta.ppf(each, many, drawn - many + 1)
        return math.log(least / stats.beta.isf(each, few + 1, drawn - few))

    at = {each: next(k for k in range(2500, 4000) if lower(k, each) > 1.0) for each in (failure / 2, failure / 4)}
    assert at[failure / 2] + 5 < at[failure / 4]
    once, twice = (claim_under(claim, "replace-one") for claim in (dr.PureDP(1.0, **REPLACE), dr.GRR(m=2, epsilon=1.0)))
    for many, refuted in ((-1, False), (0, True)):
        tally = Tally(at[failure / 2] + many, drawn, few, drawn)
        assert once.refuted_by(tally, failure, always=False) is refuted
        assert not twice.refuted_by(tally, failure, always=False)
        tally = Tally(at[failure / 4] + many, drawn, few, drawn)
        assert twice.refuted_by(tally, failure, always=False) is refuted


# ----------------------------------------------------------------------------------------------------------- claims

N = 10**6
REPLACE = {"neighbours": "replace-one"}
CLAIMS = {
    # claim and the largest rate it allows where 10 % false positives are allowed
    "pure": (dr.PureDP(1.0, **REPLACE), 0.1 * math.e),
    "approximate": (dr.ApproxDP(1.0, 0.05, **REPLACE), 0.1 * math.e + 0.05),
    "gaussian": (dr.GDP(1.0, **REPLACE), stats.norm.cdf(stats.norm.ppf(0.1) + 1.0)),
    "curve": (dr.Tradeoff((0.1, 0.6), (0.6, 0.1), **REPLACE), 0.4),
    "total variation": (dr.TotalVariation(0.2, **REPLACE), 0.3),
    "grr": (dr.GRR(m=3, epsilon=1.0), 0.1 * math.e),
    "grr, flat part": (dr.GRR(m=30, epsilon=1.0), 0.1 + (math.e - 1) / (math.e + 29)),
}


@pytest.mark.parametrize("name", CLAIMS)
def test_a_claim_is_refuted_just_above_what_it_allows(name):
    """With 10^6 draws a side limits are within 0.004 of the rates."""
    claim, most = claim_under(CLAIMS[name][0], "replace-one"), CLAIMS[name][1]
    for always in (False, True):
        for rate, verdict in ((most - 0.002, False), (most, False), (most + 0.012, True)):
            tally = Tally(round(rate * N), N, N // 10, N)
            assert claim.refuted_by(tally, 0.05, always=always) is verdict, (name, rate)
            mirrored = Tally(N - N // 10, N, N - round(rate * N), N)
            assert claim.refuted_by(mirrored, 0.05, always=always) is verdict, (name, rate)


def test_zcdp_as_a_claim():
    """No closed form: what its own curve allows is not refuted, and 0.01 more is."""
    claim = claim_under(dr.ZCDP(0.5, **REPLACE), "replace-one")
    most = 1.0 - claim.curve.at(0.1)
    # A Gaussian with mu = 1 is (1/2)-zCDP.
    assert most >= stats.norm.cdf(stats.norm.ppf(0.1) + 1.0)
    for rate, verdict in ((most, False), (most + 0.01, True)):
        assert claim.refuted_by(Tally(round(rate * N), N, N // 10, N), 0.05, always=False) is verdict


def test_add_remove_claims_are_converted_for_values_that_are_replaced():
    pure = dr.PureDP(1.0, neighbours="add-remove")
    assert claim_under(pure, None).epsilon == 1.0
    assert claim_under(pure, "replace-one").epsilon == pytest.approx(2.0)
    gdp = claim_under(dr.GDP(0.5, neighbours="add-remove"), "replace-one")
    assert gdp.curve.at(0.1) == pytest.approx(dr.GDP(1.0, **REPLACE).privacy("replace-one").curve.at(0.1))


def test_what_is_no_claim():
    with pytest.raises(ParameterError, match="claim"):
        claim_under(1.0, "replace-one")
    with pytest.raises(ParameterError, match="add-remove"):
        claim_under(dr.PureDP(1.0, **REPLACE), "add-remove")


def test_a_mechanism_as_a_claim_is_tested_twice_at_half_the_failure():
    claim = claim_under(dr.GRR(m=30, epsilon=1.0), "replace-one")
    assert claim.tight
    assert claim.epsilon == 1.0
    # Below e^1 times, and yet more than the flat part of GRR's curve allows.
    tally = Tally(round(0.2 * N), N, N // 10, N)
    assert claim.refuted_by(tally, 0.05, always=False)
    assert not claim_under(dr.PureDP(1.0, **REPLACE), "replace-one").refuted_by(tally, 0.05, always=False)


def test_epsilon_zero_can_be_refuted():
    claim: AuditedClaim = claim_under(dr.PureDP(0.0, **REPLACE), "replace-one")
    assert not claim.refuted_by(Tally(500, 1000, 500, 1000), 0.05, always=False)
    assert claim.refuted_by(Tally(700, 1000, 500, 1000), 0.05, always=False)
