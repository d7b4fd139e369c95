"""Notions of risk against small worlds in which every data set, mechanism and attack is gone through."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

import dpradar as dr
from dpradar import notions
from dpradar.errors import ParameterError, UnsupportedError
from dpradar.notions.event_power import group_power, power
from tests.every import every
from tests.twin import notions as twin

SOLVER = 1e-7  # HiGHS; these programs are small and well scaled
LEVELS = ((0.05, 0.0), (0.5, 0.0), (1.5, 0.0), (0.3, 0.05))
WORLDS = (  # population, records, weight
    ((0.25,) * 4, 2, 0.25),
    ((0.2,) * 5, 2, 0.2),
    ((0.5, 0.3, 0.2), 2, 0.5),
    ((0.1, 0.2, 0.3, 0.4), 2, 0.3),
    ((0.15, 0.25, 0.6), 3, 0.25),
)


def promised(epsilon: float, delta: float, relation: str) -> dr.ApproxDP:
    return dr.ApproxDP(epsilon, delta, neighbours=relation)


def isolation_world(law, n, weight):
    """The probability of every data set, and which predicates isolate a record of it."""
    states, sets = twin.data_sets(len(law), n), twin.predicates(law, weight)
    chance = np.array([twin.probability(law, s) for s in states])
    right = np.array([[float(twin.isolates(p, s)) for p in sets] for s in states])
    return states, chance, right


# Singling out.


@pytest.mark.parametrize("law", [(0.25,) * 4, (0.5, 0.3, 0.2), (1 / 6,) * 6])
@pytest.mark.parametrize(("epsilon", "delta"), LEVELS)
def test_no_mechanism_singles_out_the_target_more_often(law, epsilon, delta):
    """States: the target's value, the other records being fixed; the last state has no target."""
    for weight in (0.2, 0.25, 0.5):
        sets = twin.predicates(law, weight)
        gain = np.array([[law[z] * (z in p) for p in sets] for z in range(len(law))] + [[0.0] * len(sets)])
        k = len(law)
        pairs = {
            "replace-one": [(i, j) for i in range(k) for j in range(k) if i != j],
            "add-remove": [(i, k) for i in range(k)] + [(k, i) for i in range(k)],
        }
        best = max(sum(law[z] for z in p) for p in sets)
        for relation, neighbours in pairs.items():
            worst = twin.largest(gain, neighbours, epsilon, delta)
            bound = notions.singling_out(promised(epsilon, delta, relation), best, neighbours=relation)
            assert worst <= bound.value + SOLVER
            if relation == "add-remove" and len({*law}) == 1 and best > 0.0 and math.exp(epsilon) * best + delta < 0.5:
                assert worst == pytest.approx(bound.value, abs=1e-6)  # and some mechanism reaches it


@pytest.mark.parametrize(("law", "n", "weight"), WORLDS)
@pytest.mark.parametrize(("epsilon", "delta"), LEVELS)
def test_no_mechanism_isolates_a_record_more_often(law, n, weight, epsilon, delta):
    states, chance, right = isolation_world(law, n, weight)
    worst = twin.largest(chance[:, None] * right, twin.replace_one(states), epsilon, delta)
    release = promised(epsilon, delta, "replace-one")
    tight = notions.isolation_success(release, weight, n)
    published = notions.predicate_singling_out(release, weight, n)
    classic = notions.classic_singling_out(release, weight, n, delta=delta)
    assert worst <= tight.value + SOLVER
    assert tight.value <= published.value <= classic.value + 1e-12
    assert published.value == pytest.approx(min(1.0, n * power(release.privacy("replace-one"), weight)))
    assert classic.value == pytest.approx(min(1.0, n * (math.exp(epsilon) * weight + delta)))


@pytest.mark.parametrize(("law", "n", "weight"), WORLDS)
@pytest.mark.parametrize(("epsilon", "delta"), LEVELS[1:])
def test_isolation_is_bounded_under_add_remove_too(law, n, weight, epsilon, delta):
    """[UNIFY] states Theorem F.2 for replace-one; the data set without the record is a reference as well."""
    states, chance, right = isolation_world(law, n, weight)
    fewer = twin.data_sets(len(law), n - 1)
    gain = np.vstack([chance[:, None] * right, np.zeros((len(fewer), right.shape[1]))])
    release = promised(epsilon, delta, "add-remove")
    bounds = [f(release, weight, n, neighbours="add-remove").value for f in (notions.predicate_singling_out,)]
    bounds += [notions.classic_singling_out(release, weight, n, delta=delta, neighbours="add-remove").value]
    bounds += [notions.isolation_success(release, weight, n).value]
    pairs = twin.add_remove(states + fewer)
    assert twin.largest(gain, pairs, epsilon, delta) <= min(bounds) + SOLVER
    # Only the direction "with against without" is needed.
    with_first = [(i, j) for i, j in pairs if i < len(states) <= j]
    assert twin.largest(gain, with_first, epsilon, delta) <= min(bounds[:2]) + SOLVER


def test_the_three_bounds_on_isolation():
    """Which one wins, and that each is its formula."""
    for epsilon, weight, n, rule in (
        (0.01, 0.25, 4, "isolation-by-groups"),
        (0.5, 0.02, 10, "isolation-consistent"),
        (3.0, 1e-4, 100, "isolation-consistent"),
    ):
        release = promised(epsilon, 0.0, "replace-one")
        bound = notions.isolation_success(release, weight, n)
        groups = notions.narcissus(release, notions.isolation_baseline(weight, n), n).value
        assert bound.rule == rule
        assert bound.value <= groups
        assert bound.value < notions.predicate_singling_out(release, weight, n).value
        if rule == "isolation-by-groups":
            assert bound.value == groups
        else:
            inside = weight * (1.0 - bound.value + bound.value / n)
            assert bound.value == pytest.approx(n * power(release.privacy("replace-one"), inside), rel=1e-9)
    removed = notions.isolation_success(promised(0.5, 0.0, "add-remove"), 1e-3, 10)
    assert removed.rule == "predicate-singling-out"
    assert "neighbours: add-remove" in removed.assumes


def test_the_consistent_bound_needs_replace_one():
    """With the add/remove epsilon in its place it would be broken."""
    states, chance, right = isolation_world((0.2,) * 5, 2, 0.2)
    fewer = twin.data_sets(5, 1)
    gain = np.vstack([chance[:, None] * right, np.zeros((len(fewer), right.shape[1]))])
    worst = twin.largest(gain, twin.add_remove(states + fewer), 0.5)
    misread = notions.isolation_success(promised(0.5, 0.0, "replace-one"), 0.2, 2)
    assert misread.rule == "isolation-consistent"
    assert worst > misread.value + 0.01


@pytest.mark.parametrize("name", ["per record", "count", "learner", "random"])
@pytest.mark.parametrize(("law", "n", "weight"), WORLDS)
def test_best_predicate_against_given_mechanisms(name, law, n, weight):
    """The best predicate for every output by brute force; the promise is the mechanism's own trade-off curve."""
    states, chance, right = isolation_world(law, n, weight)
    k = len(law)
    mechanism = {
        "per record": lambda: twin.per_record(
            np.full((k, k), 0.4 / (k - 1)) + (0.6 - 0.4 / (k - 1)) * np.eye(k), states
        ),
        "count": lambda: twin.noisy_count(states, 0.8),
        "learner": lambda: twin.noisy_choice(lambda s, o: sum(z == o for z in s), states, k, 2.0),
        "random": lambda: np.random.default_rng(5).dirichlet(np.full(6, 3.0), len(states)),
    }[name]()
    x, y = twin.trade_off_points(mechanism, twin.replace_one(states))
    release = dr.Tradeoff(x, y, neighbours="replace-one")
    success = twin.best_response(mechanism, chance, right)
    assert (
        success
        >= notions.isolation_baseline(max(sum(law[z] for z in p) for p in twin.predicates(law, weight)), n) - 1e-12
    )
    assert success <= notions.isolation_success(release, weight, n).value + 1e-12
    assert success <= notions.classic_singling_out(release, weight, n).value + 1e-12


def test_isolation_baseline_is_the_blind_chance():
    for law, n, weight in WORLDS:
        states, chance, right = isolation_world(law, n, weight)
        shares = [sum(law[z] for z in p) for p in twin.predicates(law, weight)]
        blind = chance @ right
        assert blind == pytest.approx([notions.isolation_baseline(share, n) for share in shares])
        assert len(states) == len(law) ** n
    assert notions.isolation_baseline(1e-6, 10**6) == pytest.approx(math.exp(-1.0), rel=1e-6)
    assert notions.isolation_baseline(1.0, 1) == 1.0
    assert notions.isolation_baseline(1.0, 2) == 0.0


@pytest.mark.parametrize(
    "what",
    [dr.Gaussian(1.0, query=[0.0, 1.0]), dr.ZCDP(0.1, neighbours="replace-one"), dr.Laplace(1.0, query=[0.0, 1.0])],
    ids=repr,
)
def test_best_delta_comes_close_to_the_curve(what):
    """The lines 1 - delta - e^epsilon x have f as their envelope, left of its peak."""
    new = notions.predicate_singling_out(what, 1e-5, 1000).value
    best = notions.classic_singling_out(what, 1e-5, 1000).value
    assert new * (1.0 - 1e-9) <= best <= new * 1.001
    assert best <= notions.classic_singling_out(what, 1e-5, 1000, delta=1e-7).value * (1.0 + 1e-9)


# Groups.


def laplace_cdf(t):
    return mpmath.exp(t) / 2 if t < 0 else 1 - mpmath.exp(-t) / 2


def laplace_quantile(x):
    return mpmath.log(2 * x) if x < 0.5 else -mpmath.log(2 * (1 - x))


@every("n", [2, 50, 500, 501, 10_000, 10**6])
@every("x", [1e-6, 0.01, 0.2, 0.7])
@every("total", [0.3, 2.0, 6.0])
def test_groups_under_noise_that_moves_are_further_apart(n, x, total):
    """Noise on a sum: n records move it n times as far, so f^(n) of a shift is f of n shifts, in closed form."""
    epsilon = total / n
    laplace = dr.Laplace(1.0 / epsilon, query=[0.0, 1.0]).at(None).privacy("replace-one")
    exact, far = (float(laplace_cdf(laplace_quantile(mpmath.mpf(x)) + mpmath.mpf(t))) for t in (total, 1.01 * total))
    power = group_power(laplace, x, n)
    assert exact * (1.0 - 1e-12) <= power
    assert power <= (exact * (1.0 + 1e-9) if n <= 500 else far * (1.0 + 1e-9))
    gaussian = dr.GDP(mu=epsilon, neighbours="replace-one").privacy("replace-one")
    expected = float(mpmath.ncdf(mpmath.sqrt(2) * mpmath.erfinv(2 * mpmath.mpf(x) - 1) + mpmath.mpf(epsilon) * n))
    assert group_power(gaussian, x, n) == pytest.approx(expected, rel=1e-12)


def approx_step(x, grow, delta):
    return min(mpmath.mpf(1), delta + grow * x, 1 - (1 - delta - x) / grow)


@every("delta", [0.0, 1e-6])
@every("x", [0.0, 1e-9, 0.1, 0.8])
@pytest.mark.parametrize("n", [3, 400, 3000])
def test_groups_under_approximate_dp_one_step_at_a_time(n, x, delta):
    with mpmath.workdps(30):
        grow, exact, later = mpmath.exp(mpmath.mpf(2.0) / n), mpmath.mpf(x), mpmath.mpf(x)
        for _ in range(n):
            exact = approx_step(exact, grow, delta)
        for _ in range(math.ceil(1.01 * n)):
            later = approx_step(later, grow, delta)
    power = group_power(dr.ApproxDP(2.0 / n, delta, neighbours="replace-one").privacy("replace-one"), x, n)
    assert float(exact) * (1.0 - 1e-12) <= power <= float(exact if n <= 500 else later) * (1.0 + 1e-9)


def test_groups_reach_their_bound():
    """A yes/no answer whose chance depends on how many records are 1: neighbours keep it, the ends reach it."""
    epsilon, n, chances = 0.4, 3, [0.05]
    promise = dr.PureDP(epsilon, neighbours="replace-one").privacy("replace-one")
    for _ in range(n):
        chances.append(power(promise, chances[-1]))
    states = twin.data_sets(2, n)
    mechanism = np.array([[chances[sum(s)], 1.0 - chances[sum(s)]] for s in states])
    for i, j in twin.replace_one(states):
        assert np.all(mechanism[i] <= math.exp(epsilon) * mechanism[j] * (1.0 + 1e-12))
    assert chances[-1] == pytest.approx(group_power(promise, chances[0], n), rel=1e-12)


@pytest.mark.parametrize("epsilon", [1e-9, 0.5, 20.0])
def test_groups_of_a_million_are_quick_and_end_at_one(epsilon):
    """A rate next to 1 must not be moved on for a million steps."""
    for what in (dr.Laplace(1.0 / epsilon, query=[0.0, 1.0]), dr.PureDP(epsilon, neighbours="add-remove")):
        success = notions.narcissus(what, 0.3, 10**6).value
        assert success == (1.0 if epsilon > 1e-3 else pytest.approx(0.3, rel=0.01))


# Narcissus and generalisation.


def averages(law, n, outputs, rng):
    """Losses of single records: what the training and the test loss weigh each data set and output with."""
    states = twin.data_sets(len(law), n)
    chance = np.array([twin.probability(law, s) for s in states])[:, None]
    loss = rng.random((len(law), outputs)) if rng.random() < 0.5 else np.round(rng.random((len(law), outputs)))
    train = np.array([[np.mean([loss[z, o] for z in s]) for o in range(outputs)] for s in states])
    test = np.tile(np.asarray(law) @ loss, (len(states), 1))
    return states, chance * train, chance * test


@pytest.mark.parametrize(("epsilon", "delta"), LEVELS)
@pytest.mark.parametrize("seed", range(6))
def test_no_learner_generalises_worse(epsilon, delta, seed):
    rng = np.random.default_rng(seed)
    values, n = ((2, 2), (3, 2), (2, 3))[seed % 3]
    law = rng.dirichlet(np.full(values, 2.0))
    states, train, test = averages(law, n, 3, rng)
    pairs, release = twin.replace_one(states), promised(epsilon, delta, "replace-one")
    for goal, limited, name in ((train, test, "test_loss"), (test, train, "train_loss")):
        low, high = -twin.largest(-limited, pairs, epsilon, delta), twin.largest(limited, pairs, epsilon, delta)
        for share in (0.1, 0.5, 0.9):
            level = low + share * (high - low)
            worst = twin.largest(goal, pairs, epsilon, delta, (limited, level))
            assert worst <= notions.generalisation(release, **{name: min(level, 1.0)}).value + 1e-6


def test_generalisation_is_reached_and_needs_replace_one():
    """One record; a rare value answers yes with chance a, the others with chance b: loss = yes on the rare value."""
    a, b, rare = 0.4, 0.4 * math.exp(-1.0), 1e-6
    train, test = rare * a, rare * (rare * a + (1.0 - rare) * b)
    replace = dr.PureDP(1.0, neighbours="replace-one")
    assert notions.generalisation(replace, test_loss=test).value == pytest.approx(train, rel=1e-5)
    # Without the record the answer is yes with chance sqrt(a b): 0.5-DP under add/remove, 1-DP under replace-one.
    assert train > 1.6 * notions.generalisation(dr.PureDP(0.5, neighbours="replace-one"), test_loss=test).value
    assert train <= notions.generalisation(dr.PureDP(0.5, neighbours="add-remove"), test_loss=test).value


@pytest.mark.parametrize(("epsilon", "delta"), LEVELS)
@pytest.mark.parametrize("seed", range(6))
def test_no_mechanism_is_less_resilient_to_its_own_data(epsilon, delta, seed):
    """Any relation between data set and output, linear or not: [UNIFY] Theorem F.1 and Lemma E.2, both directions."""
    rng = np.random.default_rng(seed)
    values, n = ((2, 2), (3, 2), (2, 3))[seed % 3]
    law, states = rng.dirichlet(np.full(values, 2.0)), twin.data_sets(values, n)
    chance = np.array([twin.probability(law, s) for s in states])
    if seed < 3:
        _, chance, relation = isolation_world(law.tolist(), n, 1.0)
    else:
        relation = np.round(rng.random((len(states), 3)))
    own, other = chance[:, None] * relation, chance[:, None] * np.tile(chance @ relation, (len(states), 1))
    pairs, release = twin.replace_one(states), promised(epsilon, delta, "replace-one")
    levels = (chance @ relation).min() + np.array([0.2, 0.7]) * np.ptp(chance @ relation)
    for level in levels:
        worst = twin.largest(own, pairs, epsilon, delta, (other, level))
        assert worst <= notions.narcissus(release, level, n).value + 1e-6
        assert (
            notions.narcissus(release, level, n).value
            == notions.generalisation(release, test_loss=level, records=n).value
        )
        worst = twin.largest(other, pairs, epsilon, delta, (own, level))
        assert worst <= notions.generalisation(release, train_loss=level, records=n).value + 1e-6


def test_narcissus_needs_the_whole_group():
    """The output guesses whether both records have the rare value: one step of the promise would be too little."""
    law, states, epsilon = (0.99, 0.01), twin.data_sets(2, 2), 1.0
    chance = np.array([twin.probability(law, s) for s in states])
    relation = np.array([[float(s == (1, 1)), 0.0] for s in states])
    own, other = chance[:, None] * relation, chance[:, None] * np.tile(chance @ relation, (4, 1))
    level = 0.1 * 0.01**2
    worst = twin.largest(own, twin.replace_one(states), epsilon, 0.0, (other, level))
    release = dr.PureDP(epsilon, neighbours="replace-one")
    assert 2.5 * notions.generalisation(release, test_loss=level).value < worst
    assert 0.96 * notions.narcissus(release, level, 2).value < worst <= notions.narcissus(release, level, 2).value


# Memorisation and influence.


@pytest.mark.parametrize("tv", [0.05, 0.3])
def test_memorisation_and_influence_reach_the_total_variation(tv):
    """Three values, the others fixed; the last state has no record. Two models; the loss is 1 for the first."""
    law = np.array([0.0, 0.4, 0.6])  # of the record in its place; the record trained on is 0
    with_it, instead = np.array([1.0, 0.0, 0.0, 0.0]), np.append(law, 0.0)
    gain = np.outer(with_it - instead, [1.0, 0.0])
    replace = [(i, j) for i in range(3) for j in range(3) if i != j]
    remove = [(i, 3) for i in range(3)] + [(3, i) for i in range(3)]
    for notion in (notions.memorisation, notions.cross_influence):
        bound = notion(dr.TotalVariation(tv, neighbours="replace-one"))
        assert twin.largest(gain, replace, 0.0, tv) == pytest.approx(bound.value, abs=SOLVER)
        assert twin.largest(-gain, replace, 0.0, tv) == pytest.approx(bound.value, abs=SOLVER)
        # The add/remove total variation is no bound for a record that is replaced; twice it is.
        converted = notion(dr.TotalVariation(tv, neighbours="add-remove"))
        assert twin.largest(gain, remove, 0.0, tv) == pytest.approx(converted.value, abs=SOLVER)
        assert converted.value == pytest.approx(2.0 * tv)
        # A record that is left out.
        left_out = np.outer([1.0, 0.0, 0.0, -1.0], [1.0, 0.0])
        out = notion(dr.TotalVariation(tv, neighbours="add-remove"), neighbours="add-remove")
        assert twin.largest(left_out, remove, 0.0, tv) == pytest.approx(out.value, abs=SOLVER)


def test_memorisation_of_a_given_learner():
    """Exponential mechanism on counts: its own distances, and the promise of dpradar about the same mechanism."""
    states = twin.data_sets(3, 2)
    model = twin.noisy_choice(lambda s, o: float(sum(z == o for z in s)), states, 3, 1.2)
    loss = np.random.default_rng(3).random((3, 3))
    law = np.array([0.2, 0.3, 0.5])
    index = {s: i for i, s in enumerate(states)}
    own = max(np.abs(model[i] - model[j]).sum() / 2 for i, j in twin.replace_one(states))
    gaps = []
    for other in range(3):
        rows = np.array([model[index[other, z]] for z in range(3)])
        gaps += [abs((rows[trained] - law @ rows) @ loss[z]) for z in range(3) for trained in range(3)]
    assert max(gaps) <= own
    x, y = twin.trade_off_points(model, twin.replace_one(states))
    assert notions.memorisation(dr.Tradeoff(x, y, neighbours="replace-one")).value == pytest.approx(own)


# Odds.


@pytest.mark.parametrize("seed", range(8))
def test_odds_of_every_event_by_bayes(seed):
    rng = np.random.default_rng(seed)
    channel = rng.dirichlet(np.full(5, 0.7), 3)
    x, y = twin.trade_off_points(channel, [(i, j) for i in range(3) for j in range(3) if i != j])
    curve = dr.Tradeoff(x, y, neighbours="replace-one")
    pure = float(np.max(np.log(channel.max(axis=0) / channel.min(axis=0))))
    prior = rng.dirichlet(np.ones(3))
    for event in range(1, 31):
        chosen = [o for o in range(5) if event >> o & 1]
        says_yes = channel[:, chosen].sum(axis=1)
        for yes in ([0], [1], [0, 2]):  # the question: is it one of these values?
            no = [z for z in range(3) if z not in yes]
            hit, wrong = (float(prior[side] @ says_yes[side] / prior[side].sum()) for side in (yes, no))
            before = float(prior[yes].sum())
            after = before * hit / (before * hit + (1.0 - before) * wrong)
            odds = notions.posterior_odds(curve, wrong, prior=before)
            assert hit / wrong <= odds.ratio.value * (1.0 + 1e-12)
            assert after <= odds.posterior.value + 1e-12
            strict = notions.posterior_odds(dr.PureDP(pure, neighbours="replace-one"), wrong)
            assert odds.ratio.value <= strict.ratio.value * (1.0 + 1e-9)
            assert strict.ratio.value <= math.exp(pure) * (1.0 + 1e-12)


def test_odds_at_the_ends():
    pure, approx = dr.PureDP(2.0, neighbours="replace-one"), dr.ApproxDP(2.0, 1e-9, neighbours="replace-one")
    gaussian = dr.GDP(1.0, neighbours="replace-one")
    assert notions.posterior_odds(pure, 0.0, prior=0.5).posterior.value == pytest.approx(1.0 / (1.0 + math.exp(-2.0)))
    for fpr in (1e-300, 1e-20, 1e-3):
        assert notions.posterior_odds(pure, fpr).ratio.value == pytest.approx(math.exp(2.0))
    assert notions.posterior_odds(approx, 0.0).ratio.value == math.inf
    assert notions.posterior_odds(approx, 1e-12).ratio.value == pytest.approx(math.exp(2.0) + 1e3)
    assert notions.posterior_odds(gaussian, 0.0, prior=1e-9).posterior.value == 1.0
    assert notions.posterior_odds(gaussian, 0.0, prior=0.0).posterior.value == 0.0
    ratios = [notions.posterior_odds(gaussian, fpr).ratio.value for fpr in (1e-30, 1e-9, 1e-3, 0.5, 1.0)]
    assert ratios == sorted(ratios, reverse=True)
    assert ratios[-1] == 1.0
    assert notions.posterior_odds(dr.PureDP(5000.0, neighbours="replace-one"), 0.0).ratio.value == math.inf
    assert notions.posterior_odds(dr.PureDP(0.0, neighbours="replace-one"), 0.0).ratio.value == 1.0


def test_odds_take_the_worse_relation_unless_told():
    run = dr.DPSGD(noise_multiplier=10.0, sample_rate=1.0, steps=100)
    worse, removed = notions.posterior_odds(run, 0.01), notions.posterior_odds(run, 0.01, neighbours="add-remove")
    assert "neighbours: replace-one" in worse.ratio.assumes
    assert worse.ratio.value > removed.ratio.value == pytest.approx(9.2362, abs=1e-4)


# Rounding, relations, inputs.


@pytest.mark.parametrize(
    "what",
    [
        dr.GDP(0.5, neighbours="replace-one"),
        dr.PureDP(0.5, neighbours="replace-one"),
        dr.ZCDP(0.1, neighbours="replace-one"),
        dr.RDP((2, 8), (0.2, 0.8), neighbours="replace-one"),
        dr.Laplace(2.0, query=[0.0, 1.0]),
        dr.Composed([dr.Laplace(5.0, query=[0, 1]), dr.Geometric(0.2, query=[0, 1])]),
        dr.TotalVariation(0.1, neighbours="replace-one"),
        dr.Channel([[1.0, 0.0], [0.2, 0.8]]),
        dr.GRR(m=5, epsilon=1.0),
    ],
    ids=repr,
)
def test_success_is_never_below_the_blind_chance(what):
    """Also where 1 - f(x) rounds to 0."""
    for blind in (0.0, 1e-300, 1e-17, 1e-9, 0.3, 1.0 - 1e-12, 1.0):
        success = notions.singling_out(what, blind).value
        assert blind <= success <= 1.0
        group = notions.narcissus(what, blind, 3).value
        once = notions.generalisation(what, test_loss=blind).value
        assert blind <= once * (1.0 + 1e-12)
        assert once <= group + 1e-12
        assert group <= 1.0
        if blind > 0.0:
            assert notions.posterior_odds(what, blind).ratio.value >= 1.0


def test_the_tightest_relation_is_used_and_named():
    run = dr.DPSGD(noise_multiplier=5.0, sample_rate=1.0, steps=25)
    free, stated = notions.singling_out(run, 0.01), notions.singling_out(run, 0.01, neighbours="replace-one")
    assert free.value < stated.value
    assert "neighbours: replace-one" in stated.assumes
    assert free.cites[0] == "[UNIFY] Theorem 3.1"
    assert free.side == "upper"
    query = dr.Laplace(50.0, query=np.arange(101.0))
    assert "neighbours: reference" in notions.singling_out(query, 0.01).assumes
    assert (
        notions.isolation_success(query, 1e-3, 100).value
        <= notions.isolation_success(query, 1e-3, 100, neighbours="replace-one").value
    )


def test_normalised_numbers():
    assert notions.normalised_gain(0.6, 0.2) == pytest.approx(0.5)
    assert notions.remaining_error(0.6, 0.2) == pytest.approx(0.5)
    assert notions.normalised_gain(0.1, 0.2) == pytest.approx(-0.125)


GDP = dr.GDP(1.0, neighbours="replace-one")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: notions.singling_out(GDP, 1.5),
            "singling_out.weight must be a number at least 0 and at most 1; got 1.5",
        ),
        (lambda: notions.predicate_singling_out(GDP, 0.2, 10), "at most 1/records = 0.1; got 0.2"),
        (lambda: notions.isolation_success(GDP, 0.2, 10), "isolation_success.weight"),
        (lambda: notions.classic_singling_out(GDP, 0.1, 10, delta=2.0), "classic_singling_out.delta"),
        (lambda: notions.narcissus(GDP, 0.1, 0), "narcissus.records must be a whole number at least 1"),
        (lambda: notions.narcissus(GDP, -0.1, 2), "narcissus.baseline"),
        (lambda: notions.narcissus(GDP, 0.1, 2, neighbours="add-remove"), "compares two records"),
        (lambda: notions.generalisation(GDP), "exactly one of train_loss and test_loss; got neither"),
        (lambda: notions.generalisation(GDP, 0.1, 0.1), "got both"),
        (lambda: notions.generalisation(GDP, 0.1, neighbours="add-remove"), "'replace-one' or left out"),
        (lambda: notions.posterior_odds(GDP, -0.1), "posterior_odds.fpr"),
        (lambda: notions.posterior_odds(GDP, 0.1, prior=2), "posterior_odds.prior"),
        (lambda: notions.memorisation(GDP, neighbours="bounded"), "memorisation.neighbours"),
        (lambda: notions.memorisation(3.0), "memorisation must be given a mechanism"),
        (lambda: notions.normalised_gain(0.5, 1.0), "normalised_gain.baseline must be a number at least 0 and below 1"),
        (lambda: notions.remaining_error(1.5, 0.0), "remaining_error.success"),
    ],
)
def test_errors_say_what_is_wrong(call, message):
    with pytest.raises(ParameterError) as caught:
        call()
    assert message in str(caught.value)


def test_a_promise_that_is_not_made_is_an_error():
    with pytest.raises(UnsupportedError, match="memorisation needs a promise under add-remove, and GDP"):
        notions.memorisation(GDP, neighbours="add-remove")
