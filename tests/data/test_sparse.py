"""Many occupied cells: arrays say what the loop over fibres says, and a million of them need no loop."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpradar as dr
from dpradar.bounds.exact.randomised_response import diagonal_risk
from dpradar.bounds.exact.set_reports import inclusion_risk
from dpradar.bounds.success import bayes_success


def _records(seed, size, groups, labels, zeros=0):
    rng = np.random.default_rng(seed)
    columns = {
        "known": rng.integers(0, groups, size).tolist(),
        "sensitive": rng.integers(0, labels, size).tolist(),
        "number": list(range(size)),
    }
    weights = rng.dirichlet(np.full(size, 0.5))
    weights[:zeros] = 0.0
    return dr.Prior.records(columns, weights)


def _both(threat):
    """Return the cover, and the same without its arrays."""
    cover = threat.cover
    assert cover.parts is not None
    return cover, replace(cover, parts=None, blocks=tuple(cover.blocks))


@settings(max_examples=60)
@given(
    st.integers(0, 10**6), st.integers(2, 40), st.integers(1, 12), st.integers(1, 5), st.integers(0, 2), st.booleans()
)
def test_arrays_and_loops_agree(seed, size, groups, labels, zeros, exact):
    p = _records(seed, size, groups, labels, min(zeros, size - 1))
    goal = dr.Goal.exact() if exact else dr.Goal.columns("sensitive")
    threat = dr.Threat(p, dr.Knowledge.columns("known"), goal)
    arrays, loops = _both(threat)
    mechanism = dr.GRR(m=size, epsilon=1.5)
    one, other = (diagonal_risk(mechanism, p, cover) for cover in (arrays, loops))
    assert one.rad[1] == pytest.approx(other.rad[1], abs=1e-13)
    assert one.success[1] == pytest.approx(other.success[1], abs=1e-13)
    assert one.hit == pytest.approx(other.hit, abs=1e-13)
    assert float(arrays.best_total(p.probabilities)) == pytest.approx(
        float(loops.best_total(p.probabilities)), abs=1e-13
    )
    for left, right in zip(arrays.masses(p.probabilities), loops.masses(p.probabilities), strict=True):
        np.testing.assert_allclose(left, right, atol=1e-13)
    if exact and len(arrays.blocks) > 1:
        sets = dr.OUE(m=size, epsilon=1.5).at(p).sets
        one, other = (inclusion_risk(sets, p, cover) for cover in (arrays, loops))
        assert one.rad[1] == pytest.approx(other.rad[1], abs=1e-13)


def test_blocks_are_a_sequence():
    blocks = dr.Threat(_records(1, 30, 4, 3), dr.Knowledge.columns("known"), dr.Goal.columns("sensitive")).cover.blocks
    assert len(blocks) == len(list(blocks)) == len(blocks[:]) == 4
    assert blocks[-1].members.tolist() == blocks[3].members.tolist()
    with pytest.raises(IndexError):
        _ = blocks[4]


def test_two_answers_of_many_groups_are_bounded_by_chords():
    p = _records(3, 7_000, 2_800, 2)
    threat = dr.Threat(p, dr.Knowledge.columns("known"), dr.Goal.columns("sensitive"))
    guarantee = dr.PureDP(epsilon=1.0, neighbours="replace-one")
    result = dr.assess(guarantee, threat)
    bounds = {one.rule: one.bound for one in result.others if one.quantity == "success"}
    bounds[result.success.rule] = result.success
    curve = guarantee.privacy("replace-one").curve
    total = p.probabilities[threat.cover.single].sum()
    for block in threat.cover.blocks:
        mass = block.sums(p.probabilities[block.members])
        total += mass.sum() * bayes_success(curve, float(mass[0] / mass.sum()))
    assert total - 1e-12 <= bounds["binary"].value <= total + 1e-4


def _assessed(size):
    p = _records(5, size, size // 4, 6)
    threat = dr.Threat(p, dr.Knowledge.columns("known"), dr.Goal.columns("sensitive"))
    return dr.assess(dr.GRR(m=size, epsilon=8.0), threat)


def test_memory_grows_with_the_cells():
    peaks = []
    for size in (5_000, 20_000):
        tracemalloc.start()
        assert _assessed(size).rad.side == "exact"
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 6.0 * peaks[0]  # four times the cells


@pytest.mark.slow
def test_a_million_cells():
    assert _assessed(1_000_000).prior["size"] == 1_000_000
