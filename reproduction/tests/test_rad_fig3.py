"""[RAD] Figure 3: values and order of the black-box bounds."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import dpradar as dr
from dpradar_reproduction import rad_fig3
from dpradar_reproduction.rule_values import bound_of
from tests.twin import blackbox, formulas, oracles

EXTREMES = (1e-9, 1e-6, 1e-4, 1e-2, 12.0, 20.0, 40.0)


@pytest.fixture(scope="module")
def table():
    return rad_fig3.compute(epsilons=(*EXTREMES, *rad_fig3.EPSILONS))


def test_values_of_the_notes():
    rows = oracles.BLACK_BOX_U10
    table = rad_fig3.compute(epsilons=[float(row["epsilon"]) for row in rows])
    for row, ours in zip(rows, table.rows, strict=True):
        for column in ("prop_5_3", "thm_5_5", "thm_4_2"):
            assert oracles.off(ours[column], row[column]) <= 0.5


def test_bounds_are_ordered_on_the_whole_grid_and_beyond(table):
    """Theorem 4.2 >= Proposition 5.3 >= Theorem 5.5 >= OUE's exact value, for every epsilon."""
    chain = [table.numbers(column) for column in ("thm_4_2", "prop_5_3", "thm_5_5", "oue_exact")]
    for upper, lower in pairwise(chain):
        assert np.all(upper >= lower - 1e-15)
    # Strict where the notes' figure shows a gap.
    grid = np.isin(table.numbers("epsilon"), rad_fig3.EPSILONS)
    assert np.all(chain[1][grid] > chain[2][grid])
    assert np.all(chain[2][grid] > chain[3][grid])


def test_proposition_5_3_has_its_third_term():
    """Its two own terms pass above Theorem 4.2 from epsilon 2.1 on; the printed minimum includes Theorem 4.2."""
    guarantee = dr.ApproxDP(epsilon=3.0, delta=1e-5, neighbours="replace-one")
    assessment = dr.assess(guarantee, dr.Threat(dr.Prior.uniform(10)))
    own = min(0.1 * np.expm1(3.0) + 1e-5, (0.9 * np.expm1(3.0) + 1e-5) * np.exp(-3.0))
    assert own > bound_of(assessment, "rad", "thm-4.2")
    assert bound_of(assessment, "rad", "prop-5.3") == pytest.approx(bound_of(assessment, "rad", "thm-4.2"), abs=1e-12)
    (row,) = rad_fig3.compute(epsilons=[3.0]).rows
    assert row["prop_5_3"] == pytest.approx(row["thm_4_2"], abs=1e-12)


def test_theorem_5_5_is_the_best_black_box_bound_for_a_uniform_prior(table):
    """The linear program over all mechanisms gives the same number; it may not be smaller than GRR's risk."""
    black_box, thm_5_5 = table.numbers("black_box"), table.numbers("thm_5_5")
    # At epsilon 20 the solver leaves 2e-8, on the safe side.
    assert black_box == pytest.approx(thm_5_5, abs=1e-7)
    assert np.all(black_box >= thm_5_5 - 1e-12)
    figure = np.isin(table.numbers("epsilon"), rad_fig3.EPSILONS)
    assert black_box[figure] == pytest.approx(thm_5_5[figure], abs=1e-11)
    for epsilon, value in zip(table.numbers("epsilon"), table.numbers("black_box"), strict=True):
        assert value >= formulas.grr_success(10, epsilon) - 0.1 - 1e-12


def test_black_box_value_against_another_program():
    small = rad_fig3.compute(epsilons=[0.5, 1.0, 2.0], m=4, delta=1e-3)
    reference = [blackbox.approx_lp([0.25] * 4, e, 1e-3).upper for e in (0.5, 1.0, 2.0)]
    assert small.numbers("black_box") == pytest.approx(reference, abs=1e-8)


def test_oue(table):
    reference = [formulas.oue_success(10, e) - 0.1 for e in table.numbers("epsilon")]
    assert table.numbers("oue_exact") == pytest.approx(reference, abs=1e-12)
