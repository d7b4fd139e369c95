"""Every finite-channel, local-protocol, black-box and line number of `oracles`, recomputed."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from tests.twin import blackbox, brute, channels, formulas, lines, oracles
from tests.twin.oracles import off, p

F = Fraction
HALF = 0.5 + 1e-6


def fractions(row):
    return [F(x) for x in row]


def test_tiny_channel_exactly():
    P, pi = [fractions(row) for row in oracles.TINY_CHANNEL], fractions(oracles.TINY_PRIOR)
    assert brute.output_law(P, pi) == fractions(oracles.TINY_LAW)
    for row in oracles.TINY_RAD:
        S = brute.within([0, 1, 2], row["eta"])
        assert brute.rad(P, pi, row["knowledge"], S) == F(row["rad"])
        assert brute.rad_by_attacks(P, pi, [0, 0, 0], S) == brute.rad(P, pi, [0, 0, 0], S)
    kappa = brute.kappas(pi, brute.exact(3)).kappa
    assert brute.total_variation(P) == F(oracles.TINY_TV)
    assert kappa == F(oracles.TINY_KAPPA)
    assert brute.total_variation(P) * (1 - kappa) == F(oracles.TINY_THM_4_2)
    assert off(brute.epsilon(P), oracles.TINY_EPSILON) <= HALF


@pytest.mark.parametrize("row", oracles.LINE_M11)
def test_laplace_and_oue_m11(row):
    values, m = [i / 10 for i in range(11)], 11
    rad = lines.risks(lines.laplace(1 / row["epsilon"]), values, [1 / m] * m, brute.nothing(m), brute.exact(m))[0]
    assert off(rad, row["laplace"]) <= HALF
    assert off(formulas.oue_success(m, row["epsilon"]) - 1 / m, row["oue"]) <= HALF


def test_gaussian_m11():
    values, sigma = [i / 10 for i in range(11)], oracles.GAUSSIAN_M11["sigma"]
    rad = lines.risks(lines.gaussian(sigma), values, [1 / 11] * 11, brute.nothing(11), brute.exact(11))[0]
    assert off(rad, oracles.GAUSSIAN_M11["rad"]) <= HALF


def test_laplace_crosses_oue():
    def gap(epsilon: float) -> float:
        return formulas.laplace_spaced_rad(11, epsilon) - (formulas.oue_success(11, epsilon) - 1 / 11)

    crossing = oracles.LAPLACE_OUE_CROSSING
    assert gap(crossing.value - 0.5 * 10**-crossing.digits) < 0 < gap(crossing.value + 0.5 * 10**-crossing.digits)
    assert off(20 * math.log(2), oracles.LAPLACE_OUE_LIMIT) <= HALF


@pytest.mark.parametrize("row", oracles.LDP_UNIFORM)
def test_local_protocols_uniform(row):
    m, epsilon = row["m"], row["epsilon"]
    assert formulas.subset_size(m, epsilon) == row["omega"]
    assert off(formulas.grr_success(m, epsilon) - 1 / m, row["grr"]) <= HALF
    assert off(formulas.oue_success(m, epsilon) - 1 / m, row["oue"]) <= HALF
    assert off(formulas.ss_success(m, epsilon) - 1 / m, row["ss"]) <= HALF


@pytest.mark.parametrize("row", oracles.BLACK_BOX_U10)
def test_black_box_u10(row):
    pi, epsilon, delta = [0.1] * 10, row["epsilon"], 1e-5
    assert off(blackbox.prop_5_3(pi, brute.exact(10), epsilon, delta), row["prop_5_3"]) <= HALF
    assert off(blackbox.thm_5_5(pi, epsilon, delta), row["thm_5_5"]) <= HALF
    assert off(blackbox.cor_5_6(10, epsilon, delta), row["thm_5_5"]) <= HALF
    assert off(blackbox.thm_4_2(pi, epsilon, delta), row["thm_4_2"]) <= HALF


@pytest.mark.parametrize("row", oracles.THM_5_5)
def test_thm_5_5(row):
    bound, K, R = blackbox.thm_5_5_printed(row["prior"], row["epsilon"])
    assert off(blackbox.thm_5_5(row["prior"], row["epsilon"]), row["bound"]) <= HALF
    assert off(bound, row["bound"]) <= HALF
    assert row.get("K", K) == K
    assert off(R, row.get("R", oracles.Printed(R, 7))) <= HALF


@pytest.mark.parametrize("row", oracles.AUDIT_INVERSE)
def test_audit_inverse(row):
    epsilon = formulas.audit_epsilon_from_rad(row["m"], row["rad"])
    assert off(epsilon, row["epsilon"]) <= HALF
    assert blackbox.cor_5_6(row["m"], epsilon) == pytest.approx(row["rad"], abs=1e-12)


@pytest.mark.parametrize("row", oracles.LAPLACE_CALIBRATION)
def test_laplace_calibration(row):
    epsilon = formulas.laplace_epsilon(10, row["rad"])
    assert off(epsilon, row["epsilon"]) <= HALF
    assert off(math.log(20) / epsilon, row["error"]) <= HALF


@pytest.mark.parametrize("row", oracles.LAPLACE_RERO_CALIBRATION)
def test_laplace_calibration_by_success(row):
    epsilon = formulas.laplace_rero_epsilon(10, row["success"])
    assert off(epsilon, row["epsilon"]) <= HALF
    assert row["error"] is None or off(math.log(20) / epsilon, row["error"]) <= HALF


@pytest.mark.parametrize("row", oracles.GRR_CALIBRATION)
def test_grr_calibration(row):
    assert off(formulas.grr_epsilon(row["m"], row["rad"]), row["epsilon"]) <= HALF


def adult(epsilon: float, eta: int, pi: list[float]) -> lines.Risk:
    values = list(range(101))
    noise, S = lines.laplace(100 / epsilon), brute.within(values, eta)
    return lines.risks(noise, values, pi, brute.nothing(101), S, (0, 100), step=0.2)


@pytest.mark.parametrize(
    "epsilon", [pytest.param(1, marks=pytest.mark.slow), 10, pytest.param(20, marks=pytest.mark.slow)]
)
def test_adult_uniform(epsilon):
    for i, eta in enumerate(oracles.ADULT_ETAS):
        rad, success, _ = adult(epsilon, eta, [1 / 101] * 101)
        assert off(rad, oracles.ADULT_UNIFORM_RAD[epsilon][i]) <= HALF
        if epsilon in oracles.ADULT_UNIFORM_SUCCESS:
            assert off(success, oracles.ADULT_UNIFORM_SUCCESS[epsilon][i]) <= HALF


def test_adult_two_points():
    pi = [0.5, *[0.0] * 99, 0.5]
    for epsilon, printed in oracles.ADULT_TWO_POINT_RAD.items():
        assert [off(adult(epsilon, eta, pi)[0], printed) <= HALF for eta in (0, 40, 99)] == [True] * 3
        assert adult(epsilon, 100, pi)[0] == pytest.approx(0, abs=1e-14)
    worst = oracles.ADULT_WORST_PRIOR
    assert off(adult(20, 20, [1 / 101] * 101)[0], worst["uniform"]) <= HALF
    assert off(adult(20, 20, pi)[0], worst["two_point"]) <= HALF


@pytest.mark.parametrize(("epsilon", "peak"), oracles.ADULT_PEAK_ETA.items())
def test_adult_peak(epsilon, peak):
    """RAD at the printed peak is above both neighbours (a scan of all eta from 0 to 100 gave the same peaks)."""
    rads = {eta: adult(epsilon, eta, [1 / 101] * 101)[0] for eta in (peak - 1, peak, peak + 1)}
    assert max(rads, key=rads.get) == peak


PROTOCOLS = {
    "grr": formulas.grr_success,
    "ss": formulas.ss_success,
    "sue": formulas.sue_success,
    "oue": formulas.oue_success,
    "she": formulas.she_success,
    "the": formulas.the_success,
    "blh": lambda m, epsilon: formulas.hashing_success(m, 2, epsilon),
    "olh": lambda m, epsilon: formulas.hashing_success(m, formulas.olh_size(epsilon), epsilon),
}


@pytest.mark.parametrize(("m", "table"), [(3052, oracles.AUDIT_3052), (5356, oracles.AUDIT_5356)])
@pytest.mark.parametrize("name", oracles.AUDIT_COLUMNS)
def test_expected_audit(m, table, name):
    column = oracles.AUDIT_COLUMNS.index(name)
    ours = oracles.AUDIT_CORRECTED
    rows = {e: p(row[column], ours.get((m, e, name))) for e, row in table.items() if row[column] is not None}
    epsilons = {e: formulas.audit_epsilon(m, PROTOCOLS[name](m, e)) for e in rows}
    assert {e: epsilons[e] for e, printed in rows.items() if off(epsilons[e], printed) > HALF} == {}
    corrected = {e: printed for e, printed in rows.items() if printed.ours is not None}
    assert all(epsilons[e] == pytest.approx(printed.ours, abs=1e-6) for e, printed in corrected.items())


def test_audit_limits():
    for m, printed in oracles.AUDIT_LIMITS.items():
        assert off(formulas.audit_epsilon(m, formulas.oue_success(m, 40)), printed) <= HALF
        assert off(math.log(m + 1), printed) <= HALF
    assert off(math.log(2), oracles.AUDIT_LIMIT_BLH) <= HALF


@pytest.mark.parametrize("m", oracles.GRR_UNIFORM)
def test_grr_uniform(m):
    for epsilon, printed in oracles.GRR_UNIFORM[m].items():
        assert off(formulas.grr_success(m, epsilon) - 1 / m, printed) <= HALF


@pytest.mark.parametrize("row", oracles.GRR_SKEWED)
def test_grr_with_a_skewed_prior(row):
    """(p - q)(1 - kappa), a formula that enumeration confirms on a small domain with any prior."""
    tv = (math.exp(row["epsilon"]) - 1) / (math.exp(row["epsilon"]) + row["m"] - 1)
    assert off(tv * (1 - row["kappa"]), row["rad"]) <= HALF
    assert row["limit"] == pytest.approx(1 - row["kappa"], abs=1e-15)
    P, pi = channels.grr(4, F(3)), [F(1, 2), F(1, 3), F(1, 12), F(1, 12)]
    assert brute.rad(P, pi, brute.nothing(4), brute.exact(4)) == F(2, 6) * (1 - sum(x * x for x in pi))


@pytest.mark.parametrize("row", oracles.LDP_AUDITOR)
def test_expected_ldp_auditor(row):
    n, m, epsilon = 10**6, 3052, row["epsilon"]
    right = PROTOCOLS[row["protocol"]](m, epsilon)
    wrong = (1 - right) / (m - 1)
    right, wrong = round(right * n), round(wrong * n)
    auditor = formulas.lower_limit(right, n, 0.0025) / formulas.upper_limit(wrong, n, 0.0025)
    assert off(math.log(auditor), row["auditor"]) <= HALF
    assert off(formulas.audit_epsilon(m, formulas.lower_limit(right, n, 0.005)), row["lower"]) <= HALF


def test_ceilings():
    n = 10**6
    for tail, printed in oracles.AUDITOR_CEILING.items():
        ratio = formulas.lower_limit(n, n, tail) / formulas.upper_limit(0, n, tail)
        assert off(math.log(ratio), printed) <= HALF
    for row in oracles.AUDIT_CEILING:
        assert off(formulas.audit_epsilon(row["m"], 1 - 1 / n), row["one_failure"]) <= HALF
        assert off(formulas.audit_epsilon(row["m"], formulas.lower_limit(n, n, 0.005)), row["lower"]) <= HALF


def test_bugs_of_grr():
    for epsilon, printed in oracles.BUG_GRR_FULL_DOMAIN.items():
        keep = formulas.grr_success(3052, epsilon)
        assert off(formulas.audit_epsilon(3052, keep + (1 - keep) / 3052), printed) <= HALF
    for row in oracles.BUG_GRR_KEEPS_MORE:
        for epsilon, printed in row["audit"].items():
            success = formulas.grr_success(row["m"], epsilon) + 0.1
            assert off(formulas.audit_epsilon(row["m"], success), printed) <= HALF
        assert off(formulas.audit_epsilon(row["m"], 0.9), row["until"]) <= HALF


def unary_parameters(name: str, epsilon: float) -> tuple[float, float]:
    """(p, q) of a correct unary encoding."""
    if name == "oue":
        return 0.5, 1 / (math.exp(epsilon) + 1)
    return 1 / (1 + math.exp(-epsilon / 2)), 1 / (1 + math.exp(epsilon / 2))


@pytest.mark.parametrize("name", ["sue", "oue"])
@pytest.mark.parametrize("m", [3052, 5356])
def test_bugs_of_unary_encoding(name, m):
    for epsilon, printed in oracles.BUG_UNARY_AUDIT[name].items():
        p_right, q = unary_parameters(name, epsilon)
        assert (
            off(formulas.audit_epsilon(m, formulas.unary_success(m, p_right + (1 - p_right) * q, q)), printed) <= HALF
        )
    for epsilon, printed in oracles.BUG_UNARY_TRUE[name].items():
        p_right, q = unary_parameters(name, epsilon)
        one = p_right + (1 - p_right) * q
        assert off(math.log(one * (1 - q) / (q * (1 - one))), printed) <= HALF


def own_curve_epsilon(name: str, m: int, success: float) -> float:
    """The epsilon at which a correct protocol has this success, by bisection."""
    low, high = 0.0, 30.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if PROTOCOLS[name](m, middle) < success else (low, middle)
    return low


@pytest.mark.parametrize("name", ["sue", "oue"])
def test_bugs_on_the_own_curve(name):
    for epsilon, printed in oracles.BUG_UNARY_OWN_CURVE[name].items():
        p_right, q = unary_parameters(name, epsilon)
        success = formulas.unary_success(3052, p_right + (1 - p_right) * q, q)
        assert off(own_curve_epsilon(name, 3052, success), printed) <= HALF


@pytest.mark.parametrize("row", oracles.PATH_12)
def test_exponential_mechanism_on_a_path(row):
    base = channels.rational(math.exp(row["epsilon"] / 22), 10**9)
    P, pi, a = channels.exponential(channels.path_weights(12, base)), [F(1, 12)] * 12, brute.nothing(12)
    assert off(brute.total_variation(P), row["tv"]) <= HALF
    assert brute.epsilon(P) == pytest.approx(row["actual_epsilon"], abs=1e-7)
    report = {(theta, 0): theta for theta in range(12)}
    for eta, (success, correction, advantage) in row["report"].items():
        S = brute.within(range(12), eta)
        hit, false_hit = brute.hit_of(P, pi, a, S, report), brute.false_hit_of(P, pi, a, S, report)
        assert off(hit, success) <= HALF
        assert off(false_hit, correction) <= HALF
        assert off(hit - false_hit, advantage) <= HALF
        assert off(brute.rad(P, pi, a, S), row["optimal"][eta]) <= HALF


def stationary(chain: list[list[Fraction]]) -> list[Fraction]:
    """Stationary law of a chain on three states, exactly, from the cofactors of I - P."""

    def cofactor(i: int) -> Fraction:
        j, k = (s for s in range(3) if s != i)
        return (1 - chain[j][j]) * (1 - chain[k][k]) - chain[j][k] * chain[k][j]

    weights = [cofactor(i) for i in range(3)]
    return [w / sum(weights) for w in weights]


@pytest.mark.parametrize("row", oracles.MARKOV_ATTACK)
def test_markov_knowledge(row):
    """The attack is random, so its terms are mixed over the fall-back guess; the optimum equals Thm 4.2's bound."""
    chain = [fractions(r) for r in oracles.MARKOV_CHAIN]
    start, tau = stationary(chain), F(row["tau"])
    assert [off(x, y) <= HALF for x, y in zip(start, oracles.MARKOV_STATIONARY, strict=True)] == [True] * 3
    records = [(i, j) for i in range(3) for j in range(3) if chain[i][j] > 0]
    pi = [start[i] * chain[i][j] for i, j in records]
    G = channels.grr(3, channels.rational(math.exp(row["epsilon"]), 10**9))
    P = [G[j] for _, j in records]

    def guess(theta: int, before: int, current: int) -> Fraction:
        """Pr[the attack names `current`]."""
        return F(int(theta == current)) if chain[before][theta] > tau else chain[before][current]

    hit = sum(q * P[z][t] * guess(t, *records[z]) for z, q in enumerate(pi) for t in range(3))
    law = brute.output_law(P, pi)
    false_hit = sum(q * law[t] * guess(t, *records[z]) for z, q in enumerate(pi) for t in range(3))
    assert [off(x, y) <= HALF for x, y in zip((hit, false_hit, hit - false_hit), row["terms"], strict=True)] == [
        True
    ] * 3
    best = brute.rad(P, pi, [i for i, _ in records], brute.labels([j for _, j in records]))
    assert off(best, row["bound"]) <= HALF


@pytest.mark.parametrize("case", oracles.BLACK_BOX_PRIORS)
def test_black_box_priors(case):
    for epsilon, (exact, thm_5_5, thm_7, thm_4_2) in case["rows"].items():
        assert off(blackbox.pure_lp(case["prior"], epsilon).upper, exact) <= HALF
        assert off(blackbox.thm_5_5(case["prior"], epsilon), thm_5_5) <= HALF
        assert off(blackbox.thm_7(case["prior"], epsilon), thm_7) <= HALF
        assert off(blackbox.thm_4_2(case["prior"], epsilon), thm_4_2) <= HALF


def test_cor_1():
    for row in oracles.COR_1:
        assert off(blackbox.cor_5_6(row["m"], row["epsilon"]), row["bound"]) <= HALF
        success = blackbox.cor_5_6(row["m"], row["epsilon"]) + 1 / row["m"]
        assert formulas.audit_epsilon(row["m"], success) == pytest.approx(row["epsilon"], abs=1e-12)
    for row in oracles.THM_5_COR_1:
        assert off(blackbox.thm_5_wpes([0.01] * 100, row["epsilon"], 1e-5), row["thm_5"]) <= HALF
        assert off(blackbox.cor_5_6(100, row["epsilon"], 1e-5), row["cor_1"]) <= HALF
