"""Set-valued reports under goals other than the exact value, against a list of all reports."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import dpradar as dr
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
