"""Set-valued reports under goals other than the exact value, against a list of all reports."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import dpradar as dr
from dpradar.bounds.exact.set_partitions import partition_risk
from dpradar.bounds.exact.set_reports import names_values
from dpradar.bounds.exact.set_windows import set_window_risk
from dpradar.bounds.exact.weighted_sums import levels_of, sum_laws
from dpradar.bounds.question import Inapplicable
from tests.every import every
from tests.twin import brute, channels, protocols
from tests.twin import set_reports as twin

TOLERANCE = 1e-12


def mechanism(name: str, m: int, epsilon: float):
    """The protocol as dpradar describes it."""
    if name == "THE":
        return dr.THE(m=m, epsilon=epsilon, threshold=twin.THRESHOLD)
    return getattr(dr, name)(m=m, epsilon=epsilon)


def drawn_prior(rng: np.random.Generator, m: int) -> np.ndarray:
    """A prior over m values: flat, skewed, very skewed, or with a value that does not occur."""
    pi = rng.dirichlet(np.full(m, rng.choice([0.3, 1.0, 5.0])))
    if rng.random() < 0.15:
        pi[rng.integers(m)] = 0.0
    if rng.random() < 0.15:
        pi[rng.integers(m)] *= 1e-12
    return pi / pi.sum()


def table(columns: int, rows: int) -> dr.Prior:
    """Each of so many values of x together with each of so many of y, equally likely."""
    records = range(columns * rows)
    return dr.Prior.records({"x": [i % columns for i in records], "y": [i // columns for i in records]})


@every(("name", "seed"), [(name, seed) for name in twin.PROTOCOLS for seed in range(60)])
def test_a_column_known_and_another_wanted(name, seed):
    """Each guess is right for one value of a fibre at most; some miss it, or none does."""
    rng = np.random.default_rng(seed)
    m, epsilon = int(rng.integers(3, 10)), float(rng.choice([0.01, 0.3, 1.0, 2.0, 3.0, 7.0]))
    pi, known, wanted = drawn_prior(rng, m), rng.integers(0, 1 + rng.integers(3), m), np.zeros(m, dtype=int)
    for x in set(known.tolist()):
        wanted[known == x] = rng.permutation(int((known == x).sum()))
    threat = dr.Threat(dr.Prior.of(pi), dr.Knowledge.labels(known.tolist()), dr.Goal.labels(wanted.tolist()))
    answer = dr.assess(mechanism(name, m, epsilon), threat)
    _, law = twin.reports(name, m, epsilon)
    rad, success, hit = twin.risk(law, pi, known, twin.cells(wanted))
    assert answer.rad.rule == answer.success.rule == "exact-sets"
    assert answer.rad.low - TOLERANCE <= rad <= answer.rad.high + TOLERANCE
    assert answer.rad.high - answer.rad.low <= TOLERANCE
    assert answer.success.value == pytest.approx(success, rel=0, abs=TOLERANCE)
    if pi[pi > 0.0].min() > 1e-6:  # else the list calls a tie what is none
        assert answer.hit == pytest.approx(hit, rel=0, abs=1e-9)


@every(
    ("name", "columns", "rows", "rad"),
    [
        ("OUE", 2, 30, 0.1038009),
        ("OUE", 6, 10, 0.2175257),
        ("OUE", 10, 6, 0.2501708),
        ("OUE", 20, 3, 0.2387340),
        ("SubsetSelection", 6, 10, 0.2286750),
        ("OLH", 6, 10, 0.2173663),
        ("SUE", 6, 10, 0.1615796),
    ],
)
def test_sixty_records_with_a_known_column(name, columns, rows, rad):
    threat = dr.Threat(table(columns, rows), dr.Knowledge.columns("x"), dr.Goal.columns("y"))
    answer = dr.assess(mechanism(name, 60, 2.0), threat)
    assert answer.rad.side == answer.success.side == "exact"
    assert answer.rad.value == pytest.approx(rad, rel=0, abs=5.1e-8)


@every(("columns", "rows", "rad"), [(2, 30, 0.1039608), (10, 6, 0.2804514), (20, 3, 0.3322848)])
def test_a_guess_that_is_wrong_for_everyone_in_the_fibre_is_an_abstention(columns, rows, rad):
    """The exact goal names records of other fibres too; so does one more y that occurs with one x only."""
    known = dr.Knowledge.columns("x")
    answer = dr.assess(dr.OUE(m=60, epsilon=2.0), dr.Threat(table(columns, rows), known))
    assert answer.rad.value == pytest.approx(rad, rel=0, abs=5.1e-8)
    rare = dr.Prior.records(
        {
            "x": [i % columns for i in range(60)] + ["other"],
            "y": [i // columns for i in range(60)] + ["other"],
        },
        weights=[1.0] * 60 + [1e-9],
    )
    answer = dr.assess(dr.OUE(m=61, epsilon=2.0), dr.Threat(rare, known, dr.Goal.columns("y")))
    assert answer.rad.value == pytest.approx(rad, rel=0, abs=2e-7)


@every("epsilon", [1e-3, 1.0, 20.0])
@every(
    ("known", "wanted"),
    [([0, 0, 0], [0, 1, 2]), ([0, 0, 1], [0, 1, 2]), ([0, 0, 1], [0, 1, 0])],
)
def test_one_value_has_all_but_1e_12_of_the_probability(epsilon, known, wanted):
    """The risk is far below the rounding of 1, and yet no digit of it is lost."""
    prior = dr.Prior.of([1.0 - 1e-12, 6e-13, 4e-13])
    P = channels.oue(3, protocols.exponential(epsilon))
    masses = [Fraction(float(p)) for p in prior.probabilities]
    threat = dr.Threat(prior, dr.Knowledge.labels(known), dr.Goal.labels(wanted))
    answer = dr.assess(dr.OUE(m=3, epsilon=epsilon), threat)
    assert answer.rad.side == "exact"
    assert answer.rad.value == pytest.approx(float(brute.rad(P, masses, known, brute.labels(wanted))), rel=1e-11)


# A guess names one of several cells.


def drawn_partition(rng: np.random.Generator, m: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A prior, what is known and what is wanted: cells of one mass, of several, and one that is missing somewhere."""
    kind = rng.integers(5)
    size = int(rng.integers(2, 4))
    known, wanted, pi = np.zeros(m, dtype=int), rng.integers(0, 3, m), np.ones(m)
    if kind == 0:  # anything
        pi, known = drawn_prior(rng, m), rng.integers(0, 1 + rng.integers(3), m)
    elif kind == 1:  # equally likely values, cells of any sizes
        known = rng.integers(0, 1 + rng.integers(3), m)
    elif kind == 2:  # cells of one size, the last of which may be smaller
        wanted = np.arange(m) // size
        known = wanted // int(rng.integers(1, 4))
        wanted = wanted % 2 if rng.random() < 0.5 else wanted
    elif kind == 3:  # cells of one mass but different values
        weights = rng.dirichlet(np.ones(size))
        pi = np.concatenate([rng.permutation(weights) for _ in range(m // size)] + [np.zeros(m % size)])
        wanted = np.arange(m) // size  # where m is no multiple, one more guess, which is right for nobody
    else:  # some values do not occur
        pi[: int(rng.integers(1, 3))] = 0.0
        wanted, known = np.arange(m) // size, np.arange(m) // (2 * size)
    return pi / pi.sum(), known, wanted


def same_masses(pi, known, wanted) -> bool:
    """Whether rad is promised: in every fibre the cells have one mass, and where a guess may miss it all is flat."""
    flat = np.ptp(pi[pi > 0.0]) < 1e-12
    for x in set(known.tolist()):
        fibre = (known == x) & (pi > 0.0)
        masses = [pi[fibre & (wanted == y)].sum() for y in set(wanted.tolist())]
        here = [mass for mass in masses if mass > 0.0]
        if fibre.sum() <= len(here):
            continue  # one value in each cell
        free = len(here) < len(masses) and sum(here) < 1.0 - 1e-9
        if np.ptp(here) > 1e-12 or (free and not flat):
            return False
    return True


@every("name", twin.PROTOCOLS)
def test_partitions(name):
    rads = successes = hits = 0
    for seed in range(120):
        rng = np.random.default_rng(seed)
        m, epsilon = int(rng.integers(4, 10)), float(rng.choice([0.01, 0.3, 1.0, 2.0, 3.0, 7.0]))
        pi, known, wanted = drawn_partition(rng, m)
        threat = dr.Threat(dr.Prior.of(pi), dr.Knowledge.labels(known.tolist()), dr.Goal.labels(wanted.tolist()))
        if names_values(threat.cover):
            continue
        release = mechanism(name, m, epsilon).at(threat.prior)
        flat = np.ptp(pi[pi > 0.0]) < 1e-12
        if name == "SubsetSelection" and not flat:
            continue
        risk = partition_risk(release.inclusion, release.set_law, threat.prior, threat.cover)
        _, law = twin.reports(name, m, epsilon)
        rad, success, hit = twin.risk(law, pi, known, twin.cells(wanted))
        successes += 1
        assert risk.success == pytest.approx((success, success), rel=0, abs=TOLERANCE), seed
        assert risk.rad is not None or not same_masses(pi, known, wanted), seed
        if risk.rad is not None:
            rads += 1
            assert risk.rad[0] - TOLERANCE <= rad <= risk.rad[1] + TOLERANCE, seed
            assert risk.rad[1] - risk.rad[0] <= TOLERANCE, seed
        if risk.hit is not None and epsilon > 0.1 and pi[pi > 0.0].min() > 1e-6:
            hits += 1
            assert risk.hit == pytest.approx(hit, rel=0, abs=1e-9), seed
    assert rads >= 25
    assert successes >= 40
    assert hits >= 5


@every(
    ("name", "cells", "size", "rad"),
    [
        ("OUE", 20, 50, 0.0165889),
        ("OUE", 50, 20, 0.0133411),
        ("OLH", 20, 50, 0.0165461),
        ("SubsetSelection", 20, 50, 0.0166093),
    ],
)
def test_a_column_of_a_thousand_records(name, cells, size, rad):
    threat = dr.Threat(table(size, cells), goal=dr.Goal.columns("y"))
    answer = dr.assess(mechanism(name, 1000, 2.0), threat)
    assert answer.rad.rule == answer.success.rule == "exact-sets"
    assert answer.rad.side == answer.success.side == answer.gain.side == "exact"
    assert answer.rad.value == pytest.approx(rad, rel=0, abs=5.1e-8)
    assert answer.gain.value == pytest.approx(rad, rel=0, abs=5.1e-8)  # with equal masses the false hit is the baseline
    assert answer.hit == pytest.approx(answer.success.value, rel=1e-12)


@every("name", ["OUE", "SubsetSelection"])
@every("epsilon", [1e-3, 0.5, 4.0, 20.0])
@every("size", [2, 100, 5000])
def test_ten_thousand_values(name, epsilon, size):
    """Nothing overflows; the answers are certified, and lie between what one value and two cells would give."""
    m = 10_000
    threat = dr.Threat(dr.Prior.uniform(m), goal=dr.Goal.labels([i // size for i in range(m)]))
    answer = dr.assess(mechanism(name, m, epsilon), threat)
    assert answer.rad.side == answer.success.side == "exact"
    assert 0.0 < answer.rad.value <= dr.OUE(m=2, epsilon=epsilon).at(None).privacy("replace-one").tv * 2.0


@every("name", ["OUE", "SubsetSelection", "BLH"])
@every("epsilon", [1e-3, 1.0, 20.0])
@every(("free", "size"), [(False, 3), (True, 3), (True, 1)])
def test_small_and_large_epsilon_inside_fibres(name, epsilon, free, size):
    """The relative error stays small where hardly any bit, or nearly every second one, is set."""
    known = [0] * 6 + [1] * 3
    wanted = [i // size for i in range(6)] + ([0, 0, 0] if free else [0, 1, 1])
    m, prior = 9, dr.Prior.uniform(9)
    threat = dr.Threat(prior, dr.Knowledge.labels(known), dr.Goal.labels(wanted))
    release = mechanism(name, m, epsilon).at(prior)
    risk = partition_risk(release.inclusion, release.set_law, prior, threat.cover)
    _, law = twin.reports(name, m, epsilon)
    rad, success, _ = twin.risk(law, prior.probabilities, known, twin.cells(wanted))
    assert risk.success == pytest.approx((success, success), rel=1e-12)
    if risk.rad is not None:
        assert risk.rad[1] == pytest.approx(rad, rel=1e-6 if epsilon < 0.1 else 1e-10)
        assert risk.rad[1] - risk.rad[0] <= 1e-7 * risk.rad[1]


@every("number", [5, 12])
@every("rate", [1e-3, 0.12, 0.5])
def test_laws_of_many_values_lie_on_either_side(number, rate):
    """Fewer values than the sum has: means are kept, and convex functions of it are enclosed."""
    rng = np.random.default_rng(number)
    weights = np.concatenate([rng.dirichlet(np.ones(number - 1)), [1e-12]])
    bits = np.array(list(np.ndindex(*(2,) * number)))
    masses, sums = np.where(bits == 1, rate, 1.0 - rate).prod(axis=1), bits @ weights
    tight, wide = sum_laws(levels_of(weights), rate, 10)
    assert tight.values.size <= wide.values.size <= 11
    for law in (tight, wide):
        assert law.masses.sum() == pytest.approx(1.0, rel=1e-12)
        assert law.values @ law.masses == pytest.approx(masses @ sums, rel=1e-9)
    for at in np.linspace(0.0, 1.0, 23):
        true = masses @ np.maximum(sums - at, 0.0)
        low, high = (law.masses @ np.maximum(law.values - at, 0.0) for law in (tight, wide))
        assert low <= true + 1e-14
        assert true <= high + 1e-14
    for law in sum_laws(levels_of(weights), rate, 4000):
        assert law.masses @ np.maximum(law.values - 0.3, 0.0) == pytest.approx(
            masses @ np.maximum(sums - 0.3, 0.0), rel=0, abs=1e-7
        )


@every("name", ["OUE", "SUE", "SubsetSelection", "OLH", "THE"])
@every("epsilon", [30.0, 60.0, 66.0, 72.0, 100.0, 200.0, 700.0])
@every("kind", ["cells", "unequal cells", "free cells", "windows"])
def test_reports_that_all_but_name_the_value(name, epsilon, kind):
    """Bits of other values are rarer than any float can add up: never a risk below the one that is all but reached."""
    m, place = 40, list(range(40))
    known, goal = dr.Knowledge.nothing(), dr.Goal.labels([i // 4 for i in place])
    if kind == "unequal cells":
        goal = dr.Goal.labels([min(i // 4, 4) for i in place])
    if kind == "free cells":
        known = dr.Knowledge.labels([i // 20 for i in place])
    if kind == "windows":
        goal = dr.Goal.within(1)
    protocol = getattr(dr, name)(m=m, epsilon=epsilon)
    answer = dr.assess(protocol, dr.Threat(dr.Prior.uniform(m), known, goal))
    channel = protocol.at(None).inclusion
    own = channel.included(1)[0] * (1.0 - channel.later(1)[0]) ** (m - 1)  # the value is the only one reported
    if kind != "unequal cells":
        blind = 0.1 if kind != "windows" else 3.0 / m
        assert answer.rad.value >= own * (1.0 - blind) - 1e-9
    assert answer.success.value >= own - 1e-9


# A guess may be off.


@every("name", twin.PROTOCOLS)
@every("m", range(3, 10))
def test_windows(name, m):
    for eta in range(1, (m - 1) // 2 + 1):
        for epsilon in (0.01, 0.3, 1.0, 2.0, 7.0, 25.0):
            threat = dr.Threat(dr.Prior.uniform(m), goal=dr.Goal.within(eta))
            law = mechanism(name, m, epsilon).at(threat.prior).set_law
            risk = set_window_risk(law, threat.prior, threat.cover)
            _, listed = twin.reports(name, m, epsilon)
            known = np.zeros(m, dtype=int)
            rad, success, _ = twin.risk(listed, threat.prior.probabilities, known, twin.windows(m, eta))
            assert risk.rad == pytest.approx((rad, rad), rel=1e-9, abs=1e-15), (eta, epsilon)
            assert risk.success == pytest.approx((success, success), rel=1e-11), (eta, epsilon)


@every(
    ("m", "epsilon", "eta", "rad"),
    [(101, 2.0, 2, 0.06926764), (11, 1.0, 2, 0.10634455)],
)
def test_windows_of_oue(m, epsilon, eta, rad):
    threat = dr.Threat(dr.Prior.uniform(m), goal=dr.Goal.within(eta))
    law = dr.OUE(m=m, epsilon=epsilon).at(threat.prior).set_law
    assert set_window_risk(law, threat.prior, threat.cover).rad[1] == pytest.approx(rad, rel=0, abs=5e-9)


@every("name", ["OUE", "SubsetSelection", "BLH"])
@every("epsilon", [1e-3, 2.0, 20.0])
def test_windows_on_many_values(name, epsilon):
    """Wider windows are easier to hit and never carry more than their share; nothing overflows."""
    threats = [dr.Threat(dr.Prior.uniform(1000), goal=dr.Goal.within(eta)) for eta in (0, 1, 2)]
    answers = [dr.assess(mechanism(name, 1000, epsilon), threat) for threat in threats]
    for answer, threat in zip(answers, threats, strict=True):
        assert answer.rad.side == answer.success.side == "exact"
        assert answer.rad.rule == "exact-sets"
        assert answer.baseline <= answer.success.value <= answer.baseline + answer.rad.value + 1e-12
        assert answer.rad.value <= answer.ceiling.value
        assert threat.best_blind_guess == pytest.approx(answer.baseline)
    assert answers[0].success.value < answers[1].success.value < answers[2].success.value


def test_windows_that_are_not_followed():
    """Each is refused with its reason; the upper bounds remain, and quickly, with little memory."""
    uniform = dr.Prior.uniform(1000)
    questions = {
        "follows": dr.Threat(uniform, goal=dr.Goal.within(5)),
        "follows windows": dr.Threat(uniform, goal=dr.Goal.within(200)),
        "evenly spaced": dr.Threat(dr.Prior.uniform(30, [i * i for i in range(30)]), goal=dr.Goal.within(30)),
        "more of them": dr.Threat(dr.Prior.uniform(30), goal=dr.Goal.within(20)),
        "equally likely": dr.Threat(dr.Prior.of(np.arange(1, 31) / 465), goal=dr.Goal.within(2)),
        "nothing is known": dr.Threat(
            dr.Prior.uniform(30), dr.Knowledge.labels([i // 10 for i in range(30)]), dr.Goal.within(2)
        ),
    }
    for reason, threat in questions.items():
        oue = dr.OUE(m=threat.prior.size, epsilon=2.0)
        with pytest.raises(Inapplicable, match=reason):
            set_window_risk(oue.at(threat.prior).set_law, threat.prior, threat.cover)
        answer = dr.assess(oue, threat)
        assert answer.rad.side == "upper"
        assert any(reason in row.why for row in answer.others if row.rule == "exact-sets")
