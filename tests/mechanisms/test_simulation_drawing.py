"""Random bits, subsets, hashes and columns follow their laws; each test would notice a law that is a little off.

Counts are compared with exact binomial tails, or by chi-square, at 1e-9 (divided by the number of comparisons); seeds
are fixed, so a pass stays a pass.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.linalg import hadamard
from scipy.stats import binom, chi2

import dpradar as dr
from dpradar.mechanisms.ldp import hashing
from dpradar.mechanisms.ldp.drawing import coins, row_chunks, subsets
from dpradar.mechanisms.ldp.hashing import hash_values
from tests.every import every

FAILURE = 1e-9


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def plausible(count: float, n: int, p: float, failure: float = FAILURE) -> bool:
    """An exact two-sided binomial test."""
    return bool(binom.cdf(count, n, p) > failure / 2 and binom.sf(count - 1, n, p) > failure / 2)


def fits(counts: np.ndarray, probabilities: np.ndarray) -> bool:
    """A chi-square test; cells have an expected count of at least 100."""
    expected = counts.sum() * probabilities
    assert expected.min() >= 100
    return bool(chi2.sf(((counts - expected) ** 2 / expected).sum(), counts.size - 1) > FAILURE)


CHANCES = [1e-6, 1 / 256, 1 / 256 + 1e-4, 0.3, 0.5, 0.999]


@pytest.mark.parametrize("chance", CHANCES)
def test_coins(chance):
    bits = coins(rng(1), 4_000, 2_000, chance)
    assert bits.shape == (4_000, 2_000)
    assert bits.dtype == bool
    ones = int(bits.sum())
    assert plausible(ones, bits.size, chance)
    # Power: 1e-6 is 8 expected ones, for which only 20 times as many can be told apart; 0.3 is known to 0.3 %.
    apart = 20.0 if chance == 1e-6 else 1 + 13 * math.sqrt((1 - chance) / (chance * bits.size))
    assert not plausible(ones, bits.size, min(apart * chance, 1 - (1 - chance) / 1.5))


@pytest.mark.parametrize(("chance", "value"), [(0.0, False), (1.0, True)])
def test_sure_coins(chance, value):
    assert np.all(coins(rng(2), 100, 1_000, chance) == value)


@pytest.mark.parametrize("chance", [0.3, 1 / 256 + 1e-4])
def test_coins_are_independent(chance):
    """Neighbours in a row, in a column and eight apart (one random word) agree as often as independent bits."""
    bits = coins(rng(3), 2_000, 2_000, chance)
    for one, other in (
        (bits[:, 1:], bits[:, :-1]),
        (bits[1:], bits[:-1]),
        (bits[:, 8:], bits[:, :-8]),
        (bits[:, 7:], bits[:, :-7]),
    ):
        # Products of neighbours are dependent in pairs only: even and odd starting points on their own.
        both = one & other
        for rows in (0, 1):
            for columns in (0, 1):
                part = both[rows::2, columns::2]
                assert np.sqrt(part.size) * abs(part.mean() - chance**2) < 7.5 * chance * np.sqrt(1 + 3 * chance)


@pytest.mark.parametrize("size", [(0, 5), (5, 0), (1, 1), (3, 7)])
def test_any_shape(size):
    assert coins(rng(4), *size, 0.5).shape == size


def test_chunks_cover_the_rows():
    for rows, columns, entries in ((0, 5, 10), (7, 3, 10), (5, 100, 10), (10, 1, 3)):
        covered = [i for some in row_chunks(rows, columns, entries) for i in range(some.start, some.stop)]
        assert covered == list(range(rows))


# Dense: coins at the wanted share. Sparse (below a tenth): fewer coins, the rest put in one by one.
@pytest.mark.parametrize(("columns", "size"), [(6, 1), (6, 2), (6, 3), (6, 5), (21, 2), (11, 1), (40, 1)])
@pytest.mark.parametrize("held", [True, False])
def test_subsets_are_uniform(columns, size, held):
    n, own = 200_000, columns // 2
    bits = subsets(rng(5), columns, size, np.full(n, own), np.full(n, held))
    assert np.all(bits.sum(axis=1) == size)
    assert np.all(bits[:, own] == held)
    others = [c for c in range(columns) if c != own]
    sets = {s: i for i, s in enumerate(itertools.combinations(others, size - held))}
    members = np.delete(bits, own, axis=1)
    place = members @ (1 << np.arange(columns - 1, dtype=np.int64))
    index = {sum(1 << (c - (c > own)) for c in s): i for s, i in sets.items()}
    counts = np.bincount(np.vectorize(index.__getitem__, otypes=[int])(place), minlength=len(sets))
    if len(sets) == 1:
        return
    assert fits(counts, np.full(len(sets), 1 / len(sets)))
    tilted = 1 + 0.3 * np.linspace(-1, 1, len(sets))
    assert not fits(counts, tilted / tilted.sum())


@pytest.mark.parametrize(("columns", "size"), [(3052, 820), (3052, 54), (3052, 7), (500, 1), (500, 499)])
def test_large_subsets(columns, size):
    """Every other column is a member equally often, and so is every pair of neighbours."""
    n = 4_000
    own = rng(6).integers(0, columns, n)
    held = rng(7).random(n) < 0.5
    bits = subsets(rng(8), columns, size, own, held)
    assert np.all(bits.sum(axis=1) == size)
    assert np.all(bits[np.arange(n), own] == held)
    free = np.ones_like(bits)
    free[np.arange(n), own] = False
    share = (size - held.mean()) / (columns - 1)
    seen = (bits & free).sum(axis=0)
    places = free.sum(axis=0)
    tail = FAILURE / columns
    assert np.all(binom.sf(seen - 1, places, min(share * 1.001 + 1e-12, 1.0)) > tail)
    assert np.all(binom.cdf(seen, places, share * 0.999) > tail)


# Local hashing. 55 = floor(e^4 + 1), 2981 = floor(e^8 + 1), 70000 needs the wide hash.
RANGES = [2, 3, 55, 2981, 70_000]
PAIRS = [(0, 1), (1, 2), (0, 2), (7, 8), (0, 3051), (1023, 1024), (12, 34), (100_000, 100_001)]


@pytest.mark.parametrize("g", RANGES)
@pytest.mark.parametrize("value", [0, 1, 3051])
def test_hashes_are_uniform(g, value):
    n = 2_000_000
    seeds = rng(9).integers(0, 1 << 64, n, dtype=np.uint64, endpoint=False)
    hashes = hash_values(seeds, np.full(n, value), g)
    assert hashes.max() < g
    cells = np.bincount(hashes.astype(np.intp) if g <= 3000 else hashes.astype(np.intp) // 700, minlength=min(g, 100))
    assert fits(cells, np.full(cells.size, 1 / cells.size))


@pytest.mark.parametrize("g", RANGES)
def test_two_values_collide_by_chance(g):
    """Pr[same hash] = 1/g for every pair of values, which is what the risk of a report depends on."""
    n = 1_000_000
    seeds = rng(10).integers(0, 1 << 64, n, dtype=np.uint64, endpoint=False)
    for one, other in PAIRS:
        same = int((hash_values(seeds, np.full(n, one), g) == hash_values(seeds, np.full(n, other), g)).sum())
        assert plausible(same, n, 1 / g, FAILURE / len(PAIRS))
        if g <= 55:
            assert not plausible(same, n, 1.3 / g)
            assert not plausible(same, n, 0.7 / g)


@pytest.mark.parametrize("g", [2, 3])
def test_hashes_of_several_values_are_independent(g):
    """All g^k hashes of k values are equally likely."""
    n, k = 2_000_000, 8 if g == 2 else 5
    seeds = rng(11).integers(0, 1 << 64, n, dtype=np.uint64, endpoint=False)
    for values in (range(k), range(0, 64 * k, 64), [3, 141, 592, 653, 1000, 1001, 2002, 3051][:k]):
        joint = np.zeros(n, dtype=np.intp)
        for value in values:
            joint = joint * g + hash_values(seeds, np.full(n, value), g).astype(np.intp)
        counts = np.bincount(joint, minlength=g**k)
        assert fits(counts, np.full(g**k, g**-k))


@every("seed", [0, 1, 2**63, 2**64 - 1, 12345])
@every("g", RANGES)
def test_values_of_one_seed_spread(seed, g):
    """One function over many values: no bucket is far from its share (every seed names a usable function)."""
    values = np.arange(200_000)
    hashes = hash_values(np.full(values.size, seed, dtype=np.uint64), values, g).astype(np.intp)
    cells = np.bincount(hashes * min(g, 100) // g, minlength=min(g, 100))
    edges = -(-np.arange(min(g, 100) + 1) * g // min(g, 100))
    assert fits(cells, np.diff(edges) / g)


@pytest.mark.parametrize("g", RANGES)
def test_block_is_holds(g):
    """The matrix of equal hashes is what single questions give."""
    epsilon = math.log(g - 0.5)
    reader = dr.OLH(40, epsilon).at(None).sets
    assert reader.g == g
    reports = reader.sample(rng(12).integers(0, 40, 300), rng(13))
    rows, values = np.divmod(np.arange(300 * 40), 40)
    direct = hash_values(reports[rows, 0], values, g) == reports[rows, 1]
    assert np.array_equal(reader.block(reports, np.arange(40)).ravel(), direct)
    assert np.array_equal(reader.holds(reports, rows, values), direct)


@pytest.mark.parametrize("g", [2, 3, 55, 2981, 1 << 16])
def test_block_at_the_borders(g, monkeypatch):
    """Words next to the border between two hashes: the comparison puts them where the product does."""
    some = np.unique(np.linspace(0, g - 1, 7).astype(np.uint64))
    firsts = {-(-(int(y) + k) * (1 << 32) // g) for y in some for k in (0, 1)}
    words = np.array(sorted({w for f in firsts for w in (f - 1, f) if 0 <= w < 1 << 32}), dtype=np.uint32)
    monkeypatch.setattr(hashing, "_words", lambda seeds, values, g: np.tile(words, (len(seeds), 1)))
    hashes = (words.astype(np.uint64) * np.uint64(g)) >> np.uint64(32)
    reader = hashing.HashedReports(words.size, 1.0, g, 0.5)
    reports = np.stack([np.zeros_like(some), some], axis=1)
    assert np.array_equal(reader.block(reports, np.arange(words.size)), hashes[None, :] == some[:, None])


@pytest.mark.parametrize("kind", [dr.BLH, dr.OLH])
@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_hashed_reports(kind, epsilon):
    """The true value is held with probability keep, every other one with 1/g, and lies are uniform."""
    n, m = 400_000, 6
    mechanism = kind(m, epsilon)
    reader = mechanism.at(None).sets
    reports = reader.sample(np.full(n, 2), rng(14))
    held = reader.block(reports, np.arange(m)).sum(axis=0)
    keep = math.exp(epsilon) / (math.exp(epsilon) + mechanism.g - 1)
    assert plausible(held[2], n, keep, FAILURE / m)
    for value in (0, 1, 3, 4, 5):
        assert plausible(held[value], n, 1 / mechanism.g, FAILURE / m)
    for factor in (0.7, 1.3):
        wrong = math.exp(factor * epsilon)
        assert not plausible(held[2], n, wrong / (wrong + mechanism.g - 1))
    # Unsigned numbers: nothing below 0 on the way.
    g = np.uint64(mechanism.g)
    distance = (reports[:, 1] + g - hash_values(reports[:, 0], np.full(n, 2), mechanism.g)) % g
    law = np.full(mechanism.g, (1 - keep) / (mechanism.g - 1))
    law[0] = keep
    assert fits(np.bincount(distance.astype(np.intp), minlength=mechanism.g), law)


@pytest.mark.parametrize("m", [2, 5, 8])
def test_hadamard_columns(m):
    """Counts of all columns against the matrix; epsilon times 0.7 and 1.3 are rejected."""
    n, order = 200_000, 1 << m.bit_length()
    signs = hadamard(order)
    for value in range(m):
        columns = dr.HadamardResponse(m, 1.5).at(None).sample(np.full(n, value), rng(value))
        counts = np.bincount(columns, minlength=order)

        def law(epsilon: float, value: int = value) -> np.ndarray:
            weights = np.where(signs[value + 1] > 0, math.exp(epsilon), 1.0)
            return weights / weights.sum()

        assert fits(counts, law(1.5))
        assert not fits(counts, law(0.7 * 1.5))
        assert not fits(counts, law(1.3 * 1.5))


@pytest.mark.parametrize("threshold", [0.5, 0.8, 1.0])
def test_thresholded_histogram_is_the_histogram_cut(threshold):
    """Bits of THE have the law of noisy coordinates above the threshold."""
    n, m, epsilon = 400_000, 3, 2.0
    bits = dr.THE(m, epsilon, threshold=threshold).at(None).sample(np.full(n, 1), rng(15))
    noisy = dr.SHE(m, epsilon).at(None).sample(np.full(n, 1), rng(16)) > threshold
    own, other = 1 - math.exp(-epsilon * (1 - threshold) / 2) / 2, math.exp(-epsilon * threshold / 2) / 2
    chances = [other, own, other]
    law = [
        math.prod(p if b else 1 - p for p, b in zip(chances, bs, strict=True))
        for bs in itertools.product((0, 1), repeat=m)
    ]
    for rows in (bits, noisy):
        assert fits(np.bincount(rows @ np.array([4, 2, 1]), minlength=8), np.array(law))


# The usual unbiased estimate of a frequency of 0 from n reports has variance (frequency_error)^2 / n.
@pytest.mark.parametrize(
    "kind", [dr.GRR, dr.SubsetSelection, dr.SUE, dr.OUE, dr.BLH, dr.OLH, dr.THE, dr.SHE, dr.HadamardResponse]
)
@pytest.mark.parametrize("epsilon", [1.0, 3.0])
def test_frequency_error(kind, epsilon):
    n, m = 200_000, 12
    mechanism = kind(m, epsilon)
    release = mechanism.at(None)
    reports = release.sample(rng(17).integers(1, m, n), rng(18))
    if kind is dr.SHE:
        each = reports[:, 0]
        low, high = -math.inf, math.inf
    else:
        held = reports == 0 if kind is dr.GRR else release.sets.block(reports, np.array([0]))[:, 0]
        own, other = inclusion(mechanism)
        each = (held - other) / (own - other)
        low, high = -other / (own - other), (1 - other) / (own - other)
    error = mechanism.cost()["frequency_error"]
    # The mean has standard error error/sqrt(n); the variance is a multiple of the share's, whose error is below 4 %.
    assert abs(each.mean()) < 6.2 * error / math.sqrt(n)
    assert each.std() == pytest.approx(error, rel=0.04)
    assert low <= each.min() <= each.max() <= high
    for factor in (0.7, 1.3):
        assert kind(m, factor * epsilon).cost()["frequency_error"] != pytest.approx(each.std(), rel=0.04)


def inclusion(mechanism) -> tuple[float, float]:
    """Pr[a value is held | it is the true one] and Pr[... | it is not], by the definitions."""
    epsilon, m = mechanism.epsilon, mechanism.m
    e, half = math.exp(epsilon), math.exp(epsilon / 2)
    size = max(1, math.floor(m / (e + 1)))
    member = size * e / (size * e + m - size)
    t, g = getattr(mechanism, "level", 1.0), getattr(mechanism, "g", 2)
    return {
        dr.GRR: (e / (e + m - 1), 1 / (e + m - 1)),
        dr.SubsetSelection: (member, (size - member) / (m - 1)),
        dr.SUE: (half / (half + 1), 1 / (half + 1)),
        dr.OUE: (0.5, 1 / (e + 1)),
        dr.THE: (1 - math.exp(-epsilon * (1 - t) / 2) / 2, math.exp(-epsilon * t / 2) / 2),
        dr.HadamardResponse: (e / (e + 1), 0.5),
        dr.BLH: (e / (e + g - 1), 1 / g),
        dr.OLH: (e / (e + g - 1), 1 / g),
    }[type(mechanism)]
