"""[UNIFY] Figures 1 to 10: printed numbers, the order of the bounds, and points recomputed here with other formulas."""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import NormalDist

import numpy as np
import pytest

from dpradar.guarantees.renyi import renyi_success
from dpradar_reproduction import unify_fig1, unify_fig2, unify_fig3, unify_fig4, unify_fig5, unify_fig6
from dpradar_reproduction.baselines import GIVEN, OWN, WORST, shown, worst_gain

PHI, QUANTILE = NormalDist().cdf, NormalDist().inv_cdf


def gaussian_success(mu: float, base: float) -> float:
    return PHI(QUANTILE(base) + mu)


def gaussian_epsilon(mu: float, delta: float) -> float:
    """Balle and Wang (2018), Theorem 8, by bisection; complementary error functions keep the tails."""

    def tail(x: float) -> float:
        return 0.5 * math.erfc(x / math.sqrt(2.0))

    low, high = 0.0, 200.0
    for _ in range(200):
        middle = 0.5 * (low + high)
        at = tail(middle / mu - mu / 2) - math.exp(middle) * tail(middle / mu + mu / 2)
        low, high = (middle, high) if at > delta else (low, middle)
    return high


def zcdp(rho: float, base: float) -> float:
    return math.exp(-(max(math.sqrt(-math.log(base)) - math.sqrt(rho), 0.0) ** 2))


def best_success(masses: np.ndarray, losses: np.ndarray, base: float) -> float:
    """Neyman and Pearson: the most probability under P of events with probability ``base`` under Q."""
    order = np.argsort(-losses)
    p, q = masses[order], (masses * np.exp(-losses))[order]
    left, gained = base, 0.0
    for one, other in zip(p, q, strict=True):
        if other >= left:
            return gained + one * left / other
        left, gained = left - other, gained + one
    return 1.0


# ------------------------------------------------------------------------------------------------- worst baselines


def test_worst_gain_against_closed_forms():
    rho = 0.2  # order 2, below ln(2)/2: sqrt(b) e^rho - b is largest at b = e^(2 rho)/4, where it is b
    gain, base = worst_gain(lambda b: np.minimum(np.sqrt(b) * math.exp(rho), 1.0))
    assert (gain, base) == pytest.approx((math.exp(2 * rho) / 4, math.exp(2 * rho) / 4), abs=1e-7)
    gain, base = worst_gain(lambda b: np.array([gaussian_success(1.0, x) if 0 < x < 1 else x for x in b]))
    assert (gain, base) == pytest.approx((2 * PHI(0.5) - 1, PHI(-0.5)), abs=1e-6)
    assert worst_gain(lambda b: b) == (0.0, 0.0)
    assert [shown(at) for at in (0.01, WORST)] == ["baseline 0.01", WORST]


# -------------------------------------------------------------------------------------------------- Figures 1 and 7


@pytest.fixture(scope="module")
def gpt2():
    return unify_fig1.compute(unify_fig1.GPT2, baselines=(0.0001, 0.1, 0.5, 0.9))


@pytest.fixture(scope="module")
def cifar():
    return unify_fig1.compute(unify_fig1.CIFAR, noises=(8.0, 10.0))


def test_printed_epsilons(gpt2):
    """With 792 steps, as in the authors' code, all but one printed epsilon round as printed; 1.9 should be 1.95."""
    own = gpt2.where(panel="noise")
    assert own.numbers("epsilon").round(2).tolist() == [3.95, 3.2, 2.7, 1.95, 1.45]


def test_789_steps_of_the_notes():
    short = replace(unify_fig1.GPT2, steps={0.5715: 789}, usual_steps=789, level=None)
    (row,) = unify_fig1.compute(short).where(panel="noise").rows
    assert row["f_dp"] == pytest.approx(0.1606, abs=2e-4)
    assert row["epsilon"] == pytest.approx(3.94, abs=5e-3)


def test_a_fifth_less_noise(gpt2):
    own = gpt2.where(panel="noise")
    assert np.all((own.numbers("saved") > 0.22) & (own.numbers("saved") < 0.235))
    assert np.all(own.numbers("f_dp") < own.numbers("rdp_same"))
    assert np.all(own.numbers("rdp_same") <= own.numbers("rdp") + 1e-9)
    (goal,) = gpt2.where(panel="target").rows
    assert goal["saved"] == pytest.approx(0.2216, abs=1e-3)
    assert goal["noise"] == pytest.approx(0.5896, abs=1e-3)


def test_the_noise_for_renyi_dp_does_what_it_says(gpt2):
    (goal,) = gpt2.where(panel="target").rows
    for noise, gain in ((goal["noise_rdp"], 0.15), (0.7498, gpt2.numbers("rdp", noise=0.7498)[0])):
        bound = unify_fig1.GPT2.renyi(noise, 792)
        grid = np.linspace(0.0, 1.0, 4001)
        assert np.max(renyi_success(bound, grid) - grid) == pytest.approx(gain, abs=1e-5)


def test_total_variation_against_another_library(gpt2):
    pld = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
    kwargs = {"sampling_prob": 256 / 67349, "value_discretization_interval": 1e-3, "use_connect_dots": True}
    other = pld.from_gaussian_mechanism(0.5715, **kwargs).self_compose(792)
    ours = gpt2.where(panel="noise", noise=0.5715)
    assert ours.numbers("f_dp")[0] == pytest.approx(other.get_delta_for_epsilon(0.0), rel=2e-3)
    assert ours.numbers("epsilon")[0] == pytest.approx(other.get_epsilon_for_delta(1e-5), rel=2e-3)


@pytest.mark.parametrize(("noise", "rate"), [(0.5715, 256 / 67349), (4.0, 8192 / 50000), (1.0, 1.0)])
def test_divergence_against_the_binomial_sum(noise, rate):
    """For whole orders (Mironov, Talwar and Zhang 2019, Section 3.3): no integral."""
    orders = np.array([2.0, 3.0, 7.0])
    divergences = unify_fig1.sampled_gaussian_divergence(noise, rate, orders)
    for order, value in zip(orders.astype(int), divergences, strict=True):
        total = math.fsum(
            math.comb(order, k) * (1 - rate) ** (order - k) * rate**k * math.exp((k * k - k) / (2 * noise**2))
            for k in range(order + 1)
        )
        assert value == pytest.approx(math.log(total) / (order - 1), rel=1e-9, abs=1e-13)


def test_state_level_against_the_baseline(gpt2):
    for row in gpt2.where(panel="baseline").rows:
        base, rho = row["baseline"], 3.65 * 0.274
        assert row["f_dp"] == pytest.approx(gaussian_success(math.sqrt(2 * rho), base) - base, abs=1e-10)
        assert row["rdp"] == pytest.approx(zcdp(rho, base) - base, abs=1e-10)
        assert row["f_dp"] < row["rdp"]


def test_cifar(cifar):
    """The paper's target 0.25: between noise 6 and 8 by f-DP, noise 10 by Renyi DP."""
    own = cifar.where(panel="noise")
    assert own.numbers("f_dp") == pytest.approx([0.2238, 0.1646], abs=3e-4)
    assert own.numbers("rdp") == pytest.approx([0.3363, 0.2487], abs=3e-4)
    (goal,) = cifar.where(panel="target").rows
    assert 6.0 < goal["noise"] < 8.0
    assert goal["saved"] == pytest.approx(0.38, abs=5e-3)
    assert not cifar.where(panel="baseline").rows


def test_normalisation_counts():
    bare = replace(unify_fig1.CIFAR, normalisation_mu=0.0)
    without, with_ = (training.run(8.0, 693).at(None).privacy("add-remove").tv for training in (bare, unify_fig1.CIFAR))
    assert without < with_ < without + (2 * PHI(math.sqrt(2) / 16) - 1)


# ---------------------------------------------------------------------------------------------- Figures 2, 8 and 10


@pytest.fixture(scope="module")
def singled():
    sigmas = [*np.geomspace(0.3, 10.0, 25).tolist(), 2.0 / 1.7, 2.0 / 5.304]
    return unify_fig2.compute({"Gaussian": sigmas, "Laplace": [0.15, 0.25, 0.5, 1.0, 4.0]})


def test_singling_out_under_gaussian_noise(singled):
    weight, n = 1 / 5000, 500
    base = n * weight * (1 - weight) ** (n - 1)
    for row in singled.where(mechanism="Gaussian", records=n).rows:
        mu = 2.0 / row["noise"]
        epsilon = gaussian_epsilon(mu, 1e-5)
        assert row["epsilon"] == pytest.approx(epsilon, rel=1e-9)
        assert row["spso"] == pytest.approx(gaussian_success(mu, weight) - weight, abs=1e-10)
        assert row["pso"] == pytest.approx(min(1.0, n * (math.exp(epsilon) * weight + 1e-5)) - base, abs=1e-9)
        assert row["pso_f"] == pytest.approx(min(1.0, n * gaussian_success(mu, weight)) - base, abs=1e-9)


def test_spso_informs_between_10_and_20_and_saturates_near_35(singled):
    own = singled.where(mechanism="Gaussian", records=5000)
    epsilon, spso = own.numbers("epsilon"), own.numbers("spso")
    middle = (epsilon >= 10) & (epsilon <= 20)
    assert middle.sum() >= 3
    assert np.all((spso[middle] > 0.05) & (spso[middle] < 0.5))
    near = (epsilon > 34.5) & (epsilon < 36)
    assert np.all(spso[near] > 0.95)
    assert near.any()
    assert np.all(spso[epsilon > 40] > 0.98)


def test_pso_bounds_say_nothing_where_spso_does(singled):
    """From epsilon 3 on both PSO bounds allow success 1; the gain is then 1 - base, which SPSO can exceed."""
    own = singled.where(mechanism="Gaussian")
    useless = own.numbers("epsilon") > 3.0
    for name in ("pso", "pso_f"):
        assert own.numbers(name)[useless] == pytest.approx(1.0 - own.numbers("base_pso")[useless], abs=1e-12)
    late = singled.where(mechanism="Gaussian", records=5000)
    epsilon, above = late.numbers("epsilon"), late.numbers("spso") > late.numbers("pso")
    assert not above[epsilon < 22].any()
    assert above[epsilon > 25].all()


def test_the_new_pso_bound_does_gain(singled):
    """The paper sees "no significant gain"; near epsilon 2.3 and n = 500 it is a quarter."""
    fine = unify_fig2.compute({"Gaussian": np.linspace(3.0, 4.0, 11).tolist()}, records=[500, 1000])
    saved = fine.numbers("pso") - fine.numbers("pso_f")
    assert saved.max() == pytest.approx(0.25, abs=0.01)
    assert np.all(singled.numbers("pso_f") <= singled.numbers("pso") + 1e-12)


def test_singling_out_under_laplace_noise(singled):
    weight = 1 / 5000
    for row in singled.where(mechanism="Laplace").rows:
        epsilon = 2.0 / row["noise"]
        success = math.exp(epsilon) * weight
        if weight >= math.exp(-epsilon) / 2:
            success = 1.0 - math.exp(-epsilon) / (4 * weight)
        assert row["epsilon"] == pytest.approx(epsilon, rel=1e-12)
        assert row["spso"] == pytest.approx(success - weight, abs=1e-12)
        assert row["pso_f"] == pytest.approx(row["pso"], abs=1e-12)  # "identical", as the caption of Figure 8 says


# ---------------------------------------------------------------------------------------------------------- Figure 3


def test_reconstruction_under_gaussian_noise():
    table = unify_fig3.compute(sigmas=np.geomspace(0.15, 5.0, 7))
    for row in table.rows:
        mu, base = 1.0 / row["sigma"], row["baseline"]
        rho = mu * mu / 2
        assert row["epsilon"] == pytest.approx(gaussian_epsilon(mu, 1e-5), rel=1e-9)
        assert row["f_dp"] < row["zcdp"] + 1e-12
        assert row["zcdp"] <= row["rdp"] + 1e-9
        if base is None:
            assert row["at"] == OWN
            assert row["f_dp"] == pytest.approx(2 * PHI(mu / 2) - 1, abs=1e-10)
            continue
        assert row["f_dp"] == pytest.approx(gaussian_success(mu, base) - base, abs=1e-9)
        assert row["zcdp"] == pytest.approx(zcdp(rho, base) - base, abs=1e-9)
        assert row["rdp"] == pytest.approx(min(1.0, math.sqrt(base) * math.exp(rho)) - base, abs=1e-9)
    for name in ("rdp", "zcdp"):
        assert np.all(table.numbers(name, at=OWN) >= table.numbers(name, at=WORST) - 1e-9)
    assert table.numbers("f_dp", at=OWN) == pytest.approx(table.numbers("f_dp", at=WORST), abs=1e-9)


# -------------------------------------------------------------------------------------------------- Figures 4 and 9


@pytest.fixture(scope="module")
def census():
    return unify_fig4.compute(GIVEN)


def test_every_level_has_a_source():
    dhc, redistricting = unify_fig4.levels("dhc"), unify_fig4.levels("redistricting")
    assert (len(dhc), len(redistricting)) == (8, 6)
    assert all(level.basis for level in dhc + redistricting)
    for levels in (dhc, redistricting):
        assert sum(level.share for level in levels) == 1
    assert sum(level.rho for level in dhc) == pytest.approx(3.65, abs=1e-12)
    assert sum(level.rho for level in redistricting) == pytest.approx((542 / 339) ** 2, abs=1e-12)
    assert unify_fig4.levels("no such release") == ()


def test_state_level_as_printed(census):
    """Epsilon 10.6 at 1e-10, 73 percentage points by zCDP, 52 by f-DP."""
    (own,) = census.where(level="State", at=OWN).rows
    assert own["rho"] + 2 * math.sqrt(own["rho"] * math.log(1e10)) == pytest.approx(10.6, abs=5e-3)
    assert own["zcdp"] == pytest.approx(0.7304, abs=5e-5)
    assert own["gdp"] == pytest.approx(0.5205, abs=5e-5)
    assert own["f_dp"] == pytest.approx(0.52, abs=5e-3)


def test_discrete_noise_against_a_convolution(census):
    """Ten discrete Gaussians, shifted by 1 each: the law of their sum, and Neyman and Pearson."""
    for level in unify_fig4.levels()[:3]:
        k = np.arange(-120, 121)
        one = np.exp(-(k**2) * level.rho / 10.0)
        total = np.ones(1)
        for _ in range(10):
            total = np.convolve(total, one / one.sum())
        (own,) = census.where(level=level.name, at=OWN).rows
        here, there = np.append(total, np.zeros(10)), np.append(np.zeros(10), total)
        assert own["f_dp"] == pytest.approx(0.5 * np.abs(here - there).sum(), abs=1e-10)
        seen = (here > 1e-40) & (there > 1e-40)
        for base in GIVEN:
            success = best_success(there[seen], np.log(there[seen] / here[seen]), base)
            (row,) = census.where(level=level.name, at=base).rows
            assert row["f_dp"] == pytest.approx(success - base, abs=1e-9)


def test_discrete_noise_is_not_quite_gaussian(census):
    """mu-GDP with mu = sqrt(2 rho) holds for the Gaussian; the discrete one is within 0.001 of it, on both sides."""
    gap = census.numbers("f_dp") - census.numbers("gdp")
    assert np.all(np.abs(gap) < 1e-3)
    (row,) = census.where(level="State", at=0.01).rows
    assert row["f_dp"] - row["gdp"] == pytest.approx(8.7e-5, abs=1e-6)


def test_census_bounds_are_ordered(census):
    chain = [census.numbers(name) for name in ("f_dp", "zcdp_curve", "zcdp")]
    assert np.all(chain[0] < chain[1])
    assert np.all(chain[1] <= chain[2] + 1e-12)
    for row in census.rows:
        if row["baseline"] is not None:
            assert row["zcdp"] == pytest.approx(zcdp(row["rho"], row["baseline"]) - row["baseline"], abs=1e-10)


def test_up_to_33_percent(census):
    """As in the authors' code, at the worst baseline of f-DP; with every bound at its own worst it is 34 %."""
    assert census.numbers("less", at=WORST).max() == pytest.approx(0.33, abs=2e-3)
    assert census.numbers("less", at=OWN).max() == pytest.approx(0.341, abs=2e-3)


def test_figure_4_is_part_of_figure_9(census):
    place = unify_fig4.levels()[:1]
    for row in unify_fig4.compute(places=place).rows:
        assert row in census.rows


def test_a_rare_disease():
    """Prevalence 1 in 10,000, state level: Theorem D.1 is far below the printed 0.001 pp, Theorem 3.3 far above."""
    mu, rare = math.sqrt(2 * 3.65 * 0.274), 1e-4
    cut = math.log((1 - rare) / rare) / mu
    bayes = rare * PHI(cut - mu / 2) + (1 - rare) * PHI(-cut - mu / 2)
    assert rare - bayes < 1e-12
    assert gaussian_success(mu, 1 - rare) - (1 - rare) == pytest.approx(1e-4, rel=2e-3)
    table = unify_fig5.compute(sigmas=[2.0 / mu], baselines=[1 - rare])
    assert table.numbers("thm_d_1")[0] - (1 - rare) < 1e-11
    assert table.numbers("thm_3_2")[0] - (1 - rare) == pytest.approx(1e-4, rel=2e-3)


# ---------------------------------------------------------------------------------------------------------- Figure 5


@pytest.fixture(scope="module")
def attribute():
    return unify_fig5.compute(baselines=(0.5, 0.6, 0.75, 0.9, 0.99))


def entropy(p: float) -> float:
    return -p * math.log2(p) - (1 - p) * math.log2(1 - p)


def fano_in_bits(base: float, bits: float) -> float:
    """The largest success with h(base) - bits <= h(error), everything in bits."""
    needed = entropy(base) - bits
    if needed <= 0:
        return 1.0
    low, high = 1e-15, 0.5
    for _ in range(100):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if entropy(middle) < needed else (low, middle)
    return 1.0 - low


def test_theorem_d_1_is_lowest_everywhere(attribute):
    lowest = attribute.numbers("thm_d_1")
    for name in ("fano_exact", "fano", "thm_3_2", "zcdp"):
        assert np.all(lowest <= attribute.numbers(name) + 1e-11)


def test_attribute_bounds_against_closed_forms(attribute):
    for row in attribute.rows:
        mu, base = 2.0 / row["sigma"], row["baseline"]
        cut = math.log(base / (1 - base)) / mu
        bayes = (1 - base) * PHI(cut - mu / 2) + base * PHI(-cut - mu / 2)
        assert row["epsilon"] == pytest.approx(gaussian_epsilon(mu, 1e-5), rel=1e-9)
        assert row["thm_d_1"] == pytest.approx(1 - bayes, abs=1e-9)
        assert row["thm_3_2"] == pytest.approx(gaussian_success(mu, base), abs=1e-9)
        assert row["zcdp"] == pytest.approx(zcdp(mu * mu / 2, base), abs=1e-9)
        r = math.exp(-mu * mu / 2)
        bits = -sum(p * math.log2(p + (1 - p) * r) for p in (base, 1 - base))
        assert row["fano"] == pytest.approx(fano_in_bits(base, bits), abs=1e-9)


def test_fano_in_one_unit_beats_theorem_3_2(attribute):
    """The authors' code subtracts bits from nats; their Fano bound is then the looser one, which it is not."""
    for sigma in (1.0, 2.0, 3.0, 4.0, 5.0):
        own = attribute.where(sigma=sigma)
        assert np.all(own.numbers("fano") < own.numbers("thm_3_2"))
    (row,) = attribute.where(sigma=2.0, baseline=0.5).rows
    mixed = fano_in_bits(0.5, 1.0 - math.log(2) + 1 - math.log2(1 + math.exp(-0.5)))
    assert row["fano"] == pytest.approx(0.81822, abs=1e-5)
    assert mixed == pytest.approx(0.927, abs=1e-3)
    assert row["fano"] < row["thm_3_2"] < mixed


def test_information_by_quadrature_against_a_sample_free_identity():
    """For equal priors the information is ln 2 minus E ln(1 + e^-L) under N(mu^2/2, mu^2): Gauss-Hermite."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(200)
    for mu in (0.4, 1.0, 4.0):
        losses = mu * mu / 2 + mu * nodes
        expected = math.log(2) - float(weights @ np.logaddexp(0.0, -losses)) / math.sqrt(2 * math.pi)
        assert unify_fig5.gaussian_pair_information(0.5, mu) == pytest.approx(expected, abs=1e-9)


# ---------------------------------------------------------------------------------------------------------- Figure 6


@pytest.fixture(scope="module")
def queries():
    return unify_fig6.compute(queries=range(1, 17))


def test_queries_within_the_limit(queries):
    assert unify_fig6.most_queries(queries, "f_dp") == 15
    assert queries.numbers("f_dp", at=0.1)[14:16] == pytest.approx([0.1976, 0.2065], abs=1e-4)
    # "5 by optimal composition": only when the composed guarantee is read at one delta, and then also by adding up.
    assert unify_fig6.most_queries(queries, "one_point") == unify_fig6.most_queries(queries, "added") == 5
    assert unify_fig6.most_queries(queries, "optimal") == 14
    for delta, most in ((1e-10, 5), (1e-3, 5), (1e-2, 7)):
        other = unify_fig6.compute(queries=range(4, 10), delta=delta)
        assert unify_fig6.most_queries(other, "one_point") == most


def test_optimal_composition_against_the_binomial_distribution(queries):
    for k in (5, 14, 15):
        ups = np.arange(k + 1)
        share = 1 / (1 + math.exp(-0.2))
        masses = np.array([math.comb(k, int(j)) * share**j * (1 - share) ** (k - j) for j in ups])
        expected = best_success(masses, 0.2 * (2 * ups - k), 0.1) - 0.1
        assert queries.numbers("optimal", at=0.1, queries=k)[0] == pytest.approx(expected, abs=1e-9)


def test_fifteen_laplace_queries_against_a_sum_of_losses(queries):
    """The privacy loss of one query, rounded up and down on a grid, summed 15 times; atoms at both ends."""
    cells, epsilon = 100, 0.2
    edges = np.linspace(-epsilon, epsilon, cells + 1)
    inside = np.diff(0.5 * np.exp((edges - epsilon) / 2))
    gains = []
    for upward in (False, True):
        one = np.zeros(cells + 1)
        one[0], one[-1] = 0.5 * math.exp(-epsilon), 0.5
        one[int(upward) : cells + int(upward)] += inside
        total = np.ones(1)
        for _ in range(15):
            total = np.convolve(total, one)
        gains.append(best_success(total, np.linspace(-15 * epsilon, 15 * epsilon, total.size), 0.1) - 0.1)
    value = queries.numbers("f_dp", at=0.1, queries=15)[0]
    assert sum(one) == pytest.approx(1.0, abs=1e-12)
    assert min(gains) - 1e-3 < value < max(gains) + 1e-3
    assert max(gains) - min(gains) < 0.02


def test_query_bounds_are_ordered(queries):
    chain = [queries.numbers(name) for name in ("f_dp", "optimal", "one_point")]
    assert np.all(chain[0] <= chain[1] + 1e-9)
    assert np.all(chain[1] <= chain[2] + 2e-5)
    assert queries.numbers("added", at=0.1)[:5] == pytest.approx(
        [0.1 * math.expm1(0.2 * k) for k in range(1, 6)], abs=1e-12
    )
