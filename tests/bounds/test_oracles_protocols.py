"""Hashing, histogram encoding and Hadamard response against channels that are listed output by output."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.linalg import hadamard

import dpradar as dr
from dpradar.bounds.exact.known_cell import known_cell_risk
from tests.every import every
from tests.twin import brute, channels, formulas, oracles, renyi
from tests.worlds import assert_agrees, epsilon_of, exact_world, floats, label_world, printed_as

if TYPE_CHECKING:
    from collections.abc import Callable

F = Fraction
# Sums of at most a few thousand products of numbers up to 1.
ROUNDING = 1e-13


def hadamard_channel(m: int, ratio: Fraction) -> channels.Matrix:
    """Rows 1..m of the Hadamard matrix of order K > m; +1 has weight e^eps, -1 weight 1."""
    order = 1
    while order <= m:
        order *= 2
    rows = hadamard(order)[1 : m + 1]
    total = (ratio + 1) * F(order, 2)
    return [[(ratio if sign > 0 else F(1)) / total for sign in row.tolist()] for row in rows]


def thresholded(m: int, base: Fraction) -> channels.Matrix:
    """Histogram encoding cut at 3/4, where base = e^(eps/8)."""
    return channels.unary(m, 1 - 1 / (2 * base), 1 / (2 * base**3))


# name -> m -> (mechanism, its channel); e^eps is a fraction, not near a whole number where g is rounded down.
CASES = {
    "blh": lambda m: (dr.BLH(m, epsilon_of(F(7, 2))), channels.local_hashing(m, 2, F(7, 2))),
    "olh, g = 2": lambda m: (dr.OLH(m, epsilon_of(F(3, 2))), channels.local_hashing(m, 2, F(3, 2))),
    "olh, g = 3": lambda m: (dr.OLH(m, epsilon_of(F(5, 2))), channels.local_hashing(m, 3, F(5, 2))),
    "olh, g = 4": lambda m: (dr.OLH(m, epsilon_of(F(7, 2))), channels.local_hashing(m, 4, F(7, 2))),
    "the": lambda m: (dr.THE(m, 8 * epsilon_of(F(5, 4)), threshold=0.75), thresholded(m, F(5, 4))),
    "hadamard": lambda m: (dr.HadamardResponse(m, epsilon_of(F(3))), hadamard_channel(m, F(3))),
}
PRIORS = {
    "two": [F(3, 5), F(2, 5)],
    "uniform": [F(1, 4)] * 4,
    "skewed": [F(1, 2), F(1, 4), F(3, 20), F(1, 10)],
    "zeros": [F(0), F(1, 2), F(1, 2), F(0)],
    "steep": [F(9, 10), F(1, 20), F(1, 20)],
    "two levels": [F(1, 3), F(1, 3), F(1, 6), F(1, 6)],
}
KNOWN = {"nothing": brute.nothing, "labels": lambda m: ["a", "a", "b", "b"][:m], "everything": brute.everything}


@every("known", KNOWN)
@every("pi", PRIORS)
@pytest.mark.parametrize("name", CASES)
def test_every_output_listed(name, pi, known):
    prior = PRIORS[pi]
    mechanism, P = CASES[name](len(prior))
    world = exact_world(prior).knowing(KNOWN[known](len(prior)))
    assert_agrees(dr.assess(mechanism, world.threat), world.exact_risk(P), ROUNDING)


@pytest.mark.parametrize("name", CASES)
def test_attribute_goal(name):
    mechanism, P = CASES[name](4)
    world = label_world(PRIORS["skewed"], ["x", "y", "x", "y"])
    assert_agrees(dr.assess(mechanism, world.threat), world.exact_risk(P), ROUNDING)


@pytest.mark.parametrize("m", [2, 3, 4, 7, 8])
def test_hadamard_matrix(m):
    """The same columns in the same order: value z is row z + 1, the order K the next power of 2 above m."""
    mechanism = dr.HadamardResponse(m, epsilon_of(F(3)))
    rows = np.hstack(list(mechanism.at(None).finite.chunks(3)))
    assert rows == pytest.approx(floats(hadamard_channel(m, F(3))), rel=1e-14, abs=0)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("m", [2, 4])
def test_promise(name, m):
    mechanism, P = CASES[name](m)
    promise = mechanism.at(None).privacy("replace-one")
    assert promise.epsilon == pytest.approx(brute.epsilon(P), rel=1e-13)
    assert promise.tv == pytest.approx(float(brute.total_variation(P)), rel=1e-13)
    rows = floats(P)
    fpr = np.linspace(0.0, 1.0, 101)
    worst = np.min([renyi.tradeoff(one, two, fpr) for one in rows for two in rows], axis=0)
    assert promise.curve.fnr(fpr) == pytest.approx(worst, rel=0, abs=ROUNDING)
    assert mechanism.at(None).privacy("add-remove") is None


@pytest.mark.parametrize(("m", "table"), [(3052, oracles.AUDIT_3052), (5356, oracles.AUDIT_5356)])
@pytest.mark.parametrize("name", ["she", "the", "blh", "olh"])
def test_expected_audit(m, table, name):
    """4-measurement.md 3.3: what the inverted bound finds, in the digits printed there."""
    mechanism = {"she": dr.SHE, "the": dr.THE, "blh": dr.BLH, "olh": dr.OLH}[name]
    for epsilon, row in table.items():
        printed = row[oracles.AUDIT_COLUMNS.index(name)]
        if printed is None:
            continue
        answer = dr.assess(mechanism(m, epsilon), dr.Threat(dr.Prior.uniform(m)))
        assert answer.success.side == "exact"
        # SHE is an integral good to 1e-10, which is not always 1e-6 of rad: an upper bound then, with its lower end.
        assert answer.rad.side == "exact" or (name == "she" and answer.rad.high - answer.rad.low < 2.1e-10)
        ours = oracles.AUDIT_CORRECTED.get((m, epsilon, name))
        assert printed_as(formulas.audit_epsilon(m, answer.success.value), oracles.p(printed, ours))


@pytest.mark.parametrize("m", [2, 10, 3052])
@pytest.mark.parametrize("epsilon", [0.5, 2.0, 6.0])
def test_closed_forms(m, epsilon):
    """Sums over how many other values look like the true one; the integral of the largest coordinate."""
    g = formulas.olh_size(epsilon)
    t = formulas.the_threshold(epsilon)
    expected = {
        dr.BLH(m, epsilon): formulas.hashing_success(m, 2, epsilon),
        dr.OLH(m, epsilon): formulas.hashing_success(m, g, epsilon),
        dr.THE(m, epsilon, threshold=t): formulas.the_success(m, epsilon),
        dr.SHE(m, epsilon): formulas.she_success(m, epsilon),
    }
    for mechanism, success in expected.items():
        answer = dr.assess(mechanism, dr.Threat(dr.Prior.uniform(m)))
        # Sums are good to the last digits of success; the integral of SHE says itself that it is good to 1e-10.
        doubt = 1e-10 if isinstance(mechanism, dr.SHE) else 1e-14
        assert answer.success.value == pytest.approx(success, rel=1e-12, abs=1.01 * doubt)
        low, high = answer.rad.low, answer.rad.high
        assert low - 1e-15 <= success - 1 / m <= answer.rad.value + 1e-15
        assert answer.rad.value == high <= low + 2.1e-10


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0, 10.0])
def test_best_threshold(epsilon):
    """The minimum is flat: the two searches agree to the root of the rounding error."""
    assert dr.THE(5, epsilon).level == pytest.approx(formulas.the_threshold(epsilon), rel=0, abs=1e-6)


@pytest.mark.parametrize("name", ["blh", "olh, g = 3", "the", "hadamard"])
@pytest.mark.parametrize("pi", [[F(1, 2), F(3, 10), F(1, 5)], [F(1, 3)] * 3])
def test_two_reports(name, pi):
    mechanism, P = CASES[name](3)
    world = exact_world(pi)
    answer = dr.assess(dr.Repeated(mechanism, 2), world.threat)
    twice = channels.repeated(P, 2)
    exact = world.exact_risk(twice)
    assert answer.rad.high >= float(exact["rad"]) - ROUNDING
    assert answer.success.high >= float(exact["success"]) - ROUNDING
    assert answer.rad.side == "exact"
    assert_agrees(answer, exact, ROUNDING)


@pytest.mark.parametrize("times", [1, 3])
def test_three_reports(times):
    mechanism, P = CASES["blh"](2)
    world = exact_world(PRIORS["two"])
    answer = dr.assess(dr.Repeated(mechanism, times), world.threat)
    assert_agrees(answer, world.exact_risk(channels.repeated(P, times)), ROUNDING)


@pytest.mark.parametrize("kind", [dr.BLH, dr.OLH, dr.THE, dr.SHE, dr.HadamardResponse])
def test_many_reports(kind):
    """More reports leak more, never more than everything, and never less than the attack that is run."""
    m, threat = 8, dr.Threat(dr.Prior.of([0.3, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1]))
    answers = [dr.assess(dr.Repeated(kind(m, 1.0), times), threat) for times in (1, 4, 16)]
    rads = [answer.rad.value for answer in answers]
    assert rads[0] == pytest.approx(dr.assess(kind(m, 1.0), threat).rad.value, rel=1e-9, abs=1e-9)
    assert rads == sorted(rads)
    assert rads[-1] <= 1 - threat.prior.collision + 1e-9
    run = dr.attack(dr.Repeated(kind(m, 1.0), 4), threat, trials=50_000, seed=1, confidence=1 - 1e-9)
    assert run.rad.low <= rads[1]
    assert run.success.low <= answers[1].success.value


@pytest.mark.parametrize("kind", [dr.BLH, dr.OLH, dr.THE, dr.HadamardResponse])
def test_epsilon_zero(kind):
    answer = dr.assess(kind(4, 0.0), dr.Threat(dr.Prior.of([0.4, 0.3, 0.2, 0.1])))
    assert answer.rad.value == pytest.approx(0.0, abs=1e-15)
    assert answer.success.value == pytest.approx(0.4, abs=1e-15)


def test_she_needs_epsilon():
    with pytest.raises(dr.ParameterError, match="infinite"):
        dr.SHE(3, 0.0)


def test_large_epsilon():
    """Only what the encoding itself hides is left, and nothing overflows."""
    m, threat = 5, dr.Threat(dr.Prior.uniform(5))
    columns = [[2 * int(sign > 0) / 8 for sign in row.tolist()] for row in hadamard(8)[1 : m + 1]]
    own = 2 / 3  # of THE: where the variance is least, e^(-eps(1-t)/2) = 2/3
    limits = {
        dr.BLH: formulas.hashing_success(m, 2, 700.0),
        dr.THE: own + (1 - own) / m,
        dr.HadamardResponse: brute.success(columns, [1 / m] * m, brute.nothing(m), brute.exact(m)),
    }
    for kind, limit in limits.items():
        # The threshold is found to 1e-8, which moves e^(-eps(1-t)/2) by 350 times as much.
        loose = 350e-8 if kind is dr.THE else ROUNDING
        assert dr.assess(kind(m, 700.0), threat).success.value == pytest.approx(limit, rel=loose)
    # OLH uses at most 2^32 hashed values: it tends to (m+1)/2m while there are enough of them, then to 1.
    assert dr.assess(dr.OLH(m, 21.0), threat).success.value == pytest.approx((m + 1) / (2 * m), rel=1e-8)
    assert dr.assess(dr.OLH(m, 700.0), threat).success.value == pytest.approx(1.0, rel=1e-8)


# Histogram encoding. Without the own coordinate the likelihood ratio of a value is r = e^(clip(2x - 1) eps / 2), x the
# noise on its coordinate: independent for all values, with atoms where x < 0 and where x > 1.


def ratio_law(epsilon: float) -> tuple[Callable[[float], float], float]:
    """The distribution function of r, and its largest value."""
    top = math.exp(epsilon / 2)

    def below(r: float) -> float:
        if r < 1 / top:
            return 0.0
        return 1.0 if r >= top else 1 - math.exp(-(epsilon + 2 * math.log(r)) / 4) / 2

    return below, top


def she_success(epsilon: float, pi: list[float], a: list) -> float:
    """E max pi_z r_z over every fibre, the maximum of independent numbers: the integral of Pr[it is above s]."""
    below, top = ratio_law(epsilon)
    total = 0.0
    for fibre in brute.fibres(a):
        some = [pi[z] for z in fibre if pi[z] > 0]
        jumps = sorted({p * t for p in some for t in (1 / top, top)})
        total += jumps[0] if jumps else 0.0
        for low, high in pairwise(jumps):
            total += quad(lambda s, some=some: 1 - math.prod(below(s / p) for p in some), low, high, epsabs=1e-13)[0]
    return total


def she_rad_binned(epsilon: float, pi: list[float], a: list, cells: int) -> float:
    """Rad when only the cell of every coordinate is seen: a lower bound that tends to the true one."""
    steps = np.exp(-np.linspace(0, epsilon / 2, cells + 1)) / 2
    noise = np.concatenate([[0.5], -np.diff(steps), [steps[-1]]])
    shapes = [tuple(-1 if i == z else 1 for i in range(len(pi))) for z in range(len(pi))]
    ratios = [(noise[::-1] / noise).reshape(shape) for shape in shapes]
    weight = math.prod(noise.reshape(shape) for shape in shapes)
    mean = sum(p * r for p, r in zip(pi, ratios, strict=True))
    total = 0.0
    for fibre in brute.fibres(a):
        best = np.full(weight.shape, -np.inf if len(fibre) == len(pi) else 0.0)
        for z in fibre:
            np.maximum(best, pi[z] * (ratios[z] - mean), out=best)
        total += float((weight * best).sum())
    return total


HISTOGRAMS = [[0.6, 0.4], [1 / 3, 1 / 3, 1 / 3], [0.5, 0.3, 0.2], [0.0, 0.7, 0.3]]


@every("known", KNOWN)
@every("pi", HISTOGRAMS)
@pytest.mark.parametrize("epsilon", [0.7, 2.0, 5.0])
def test_histogram_encoding(epsilon, pi, known):
    m, a = len(pi), KNOWN[known](len(pi))
    world = exact_world(pi).knowing(a)
    answer = dr.assess(dr.SHE(m, epsilon), world.threat)
    assert answer.success.side == "exact"
    assert answer.success.low - 1e-12 <= she_success(epsilon, pi, a) <= answer.success.high + 1e-12
    coarse, fine = (she_rad_binned(epsilon, pi, a, cells) for cells in (40, 80))
    assert coarse <= fine <= answer.rad.value + 1e-13
    if answer.rad.rule == "exact-one-hot":
        # The cells are off by their width squared: a third of the last step is left, give or take kinks in a cell.
        assert answer.rad.value == pytest.approx(fine + (fine - coarse) / 3, rel=0, abs=(fine - coarse) / 3)


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 6.0])
def test_histogram_of_two_values(epsilon):
    """The difference of two Laplace variables: tv = 1 - e^(-eps/2) (2 + eps/2) / 2."""
    tv = 1 - math.exp(-epsilon / 2) * (2 + epsilon / 2) / 2
    promise = dr.SHE(2, epsilon).at(None).privacy("replace-one")
    assert promise.epsilon == epsilon
    assert promise.tv == pytest.approx(tv, rel=1e-13)
    for pi in ([0.5, 0.5], [0.8, 0.2]):
        rad = dr.assess(dr.SHE(2, epsilon), dr.Threat(dr.Prior.of(pi))).rad
        exact = 2 * pi[0] * pi[1] * tv
        assert exact * (1 - 1e-14) <= rad.value <= exact + 1e-4
        assert rad.low is None or rad.low <= exact


@pytest.mark.parametrize(("epsilon", "pi"), [(2.0, [0.6, 0.4]), (8.0, [0.9, 0.1])])
def test_known_cell_of_two_values(epsilon, pi):
    tv = 1 - math.exp(-epsilon / 2) * (2 + epsilon / 2) / 2
    threat = dr.Threat(dr.Prior.of(pi), dr.Knowledge.everything())
    exact = 2 * pi[0] * pi[1] * tv
    assert dr.assess(dr.SHE(2, epsilon), threat).rad.value == pytest.approx(exact, rel=1e-12)
    low, high = known_cell_risk(dr.SHE(2, epsilon).at(None).one_hot, threat.prior, threat.cover).rad
    assert low <= exact <= high


@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_histogram_promise(epsilon):
    """The curve never lies above that of the binned histogram, and not far below."""
    cells = 200
    steps = np.exp(-np.linspace(0, epsilon / 2, cells + 1)) / 2
    noise = np.concatenate([[0.5], -np.diff(steps), [steps[-1]]])
    own = noise[::-1]
    fpr = np.linspace(0.0, 1.0, 201)
    binned = renyi.tradeoff(np.outer(own, noise).ravel(), np.outer(noise, own).ravel(), fpr)
    curve = dr.SHE(5, epsilon).at(None).privacy("replace-one").curve.fnr(fpr)
    assert np.all(curve <= binned + 1e-12)
    assert np.all(curve >= binned - 2e-3)
