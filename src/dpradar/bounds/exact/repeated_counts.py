"""A local report sent several times: Theorem 4.3 from the law of the counts, without listing sequences."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ...errors import NumericsError
from ...mechanisms.counts import TooMany, choices, log_factorials, subset_law
from ...numerics.lazy_numpy import Floats, Int64s, np
from ..question import Inapplicable
from .exact_risk import ExactRisk, with_rounding

if TYPE_CHECKING:
    from ...mechanisms.counts import CountModel
    from ...threats import Prior
    from ...threats.hit_classes import Cover

__all__ = ["count_risk"]

Interval = tuple[float, float]

_HALF = 0.5
_ATOMS = 4_000_000  # different values of (probability, count): 200 MB
_CELLS = 12_000_000  # numbers in a table of histograms: 96 MB
_TIMES = 2_000  # laws of all counts given the own one: some seconds
_STEPS = 30_000_000  # numbers in the largest tables of all programmes over subsets: some seconds
_WORK = 2e10  # multiplications in powers of polynomials: some seconds
_NEGLIGIBLE = 1e-19
_CHECK = 1e-9  # how far a total that is known may be off
_ROUNDING = _TIE = 1e-12  # of sums over counts and histograms; a tie as in finite_channel.py
_LEVELS = 12
_GRIDS = (1 << 11, 1 << 13, 1 << 15)
_GRID_WORK = 40_000_000  # grid points times products of laws: some seconds
_WIDTH = 1e-7
_TRANSFORM = 1e-10  # allowance for the rounding of the transforms, as in known.py
_INDEPENDENT = "the counts of the other values are taken as independent, which can only raise the upper end"
_GRID = "both ends are proven up to the rounding of fast Fourier transforms, for which 1e-10 is allowed"


def count_risk(model: CountModel, prior: Prior, cover: Cover) -> ExactRisk:
    """Return rad and success of the best attackers on reports repeated about the same value.

    Guarantee
    ---------
    The value is inside every interval. Intervals are points, exact up to rounding (about 1e-12), for the success on
    randomised response (uniform prior) and unary encoding (any prior), for rad where nothing is known, and wherever
    the histograms of counts can be listed. ``hit`` is that of the rad-optimal attack, ties broken at random.

    Notes
    -----
    The counts are sufficient, so rad and success are expectations over them; see docs/derivations/repeated.md. rad is
    found for a uniform prior when nothing is known, and for priors with few different probabilities when everything is.

    Examples
    --------
    >>> from dpradar.mechanisms import GRR
    >>> from dpradar.mechanisms.counts import of_grr
    >>> from dpradar.threats import Prior, Threat
    >>> model, prior = of_grr(GRR(m=100, epsilon=1.0), times=300), Prior.uniform(100)
    >>> round(count_risk(model, prior, Threat(prior).cover).rad[1], 6)
    0.460569
    """
    obstacles = (
        (prior.size != model.m, f"needs a prior over the {model.m} values that are reported"),
        (model.times > _TIMES, f"counts at most {_TIMES} reports"),
        (any(block.kind != "singletons" for block in cover.blocks), "needs a goal that separates values of a fibre"),
    )
    for present, message in obstacles:
        if present:
            raise Inapplicable(message)
    if not cover.blocks:
        return _known_record_risk(model, prior, cover)
    low, high = _success(model, prior, cover)
    note = () if low == high else (_INDEPENDENT,)
    if not (prior.is_uniform and cover.blocks[0].members.size == model.m):
        return ExactRisk(success=(low, high), assumes=note)
    # Whatever the attack says, it is right for an independent target with probability 1/m.
    error = _ROUNDING if model.epsilon > 0.0 else 0.0
    least, most = (with_rounding(max(0.0, end - 1.0 / model.m) if error else 0.0, error) for end in (low, high))
    hit = None if note or cover.blocks[0].misses else high
    return ExactRisk(rad=(least[0], most[1]), success=(low, high), hit=hit, assumes=note)


def _success(model: CountModel, prior: Prior, cover: Cover) -> Interval:
    pi = prior.probabilities
    sure_success = float(pi[cover.single[cover.single_hits > 0]].sum())
    if model.omega is None:
        success = sure_success + sum(_fibre_success(model, pi[block.members]) for block in cover.blocks)
        return min(success, 1.0), min(success, 1.0)
    if not prior.is_uniform:
        message = "needs a uniform prior, or independent bits (unary encoding)"
        raise Inapplicable(message)
    sizes, counts = np.unique([block.members.size for block in cover.blocks], return_counts=True)
    low = high = sure_success
    for size, count in zip(sizes.tolist(), counts.tolist(), strict=True):
        below, above = _win_probability(model, size)
        share = count * size / model.m
        low, high = low + share * below, high + share * above
    return min(low, 1.0), min(high, 1.0)


def _fibre_success(model: CountModel, pi: Floats) -> float:
    """Return the success in one fibre when counts are independent, as a sum over (value, count) of its winning.

    The values are ordered by score pi e^(count epsilon); one wins when every other one stands before it. Equal scores
    are put in any order. All values of equal probability are one row: the first of c to reach a count adds up to
    (F(n)^c - F(n-1)^c) / f(n).
    """
    levels, counts = np.unique(pi[pi > 0.0], return_counts=True)
    if levels.size == 0:
        return 0.0
    if levels.size * (model.times + 1) > _ATOMS:
        message = f"sorts the counts of different probabilities, at most {_ATOMS} of them"
        raise Inapplicable(message)
    law = model.blank
    below, above = np.cumsum(law), np.append(np.cumsum(law[:0:-1])[::-1], 0.0)
    with np.errstate(divide="ignore"):
        log_below = np.where(below > _HALF, np.log1p(-np.minimum(above, 1.0)), np.log(below))
        ratio = np.divide(law, below, out=np.ones_like(law), where=below > 0.0)
        step = -np.log1p(-np.minimum(ratio, 1.0))
    order = np.argsort((np.log(levels)[:, None] + model.epsilon * np.arange(law.size)).ravel(), kind="stable")
    # The product of all distribution functions just after an atom, summed from the top, where it is 1.
    steps = np.outer(counts, step).ravel()[order]
    product = np.empty_like(steps)
    product[order] = -np.append(np.cumsum(steps[:0:-1])[::-1], 0.0)
    with np.errstate(invalid="ignore"):
        log_rest = product.reshape(levels.size, -1) - log_below
    # Where F underflows, the true value's own chance of so low a count does too.
    others = np.where(below > 0.0, np.exp(np.minimum(np.nan_to_num(log_rest, nan=-np.inf), 0.0)), 0.0)
    return float((levels[:, None] * model.own * others * _geometric_sum(ratio, counts[:, None])).sum())


def _geometric_sum(ratio: Floats, count: Int64s) -> Floats:
    """Return (1 - (1-x)^c) / x, the sum of (1-x)^0 .. (1-x)^(c-1)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        grown = -np.expm1(count * np.log1p(-np.minimum(ratio, 1.0))) / ratio
    return np.where(ratio > 0.0, grown, count)


def _win_chance(law: Floats, count: int, size: int) -> float:
    """Return the chance to be the first of ``size`` values when the others' counts have the law independently."""
    below = float(law[: count + 1].sum())
    if below <= 0.0:
        return 0.0
    ratio = np.array([law[count] / below if count < law.size else 0.0])
    log_below = math.log1p(-float(law[count + 1 :].sum())) if below > _HALF else math.log(below)
    return math.exp((size - 1) * log_below) * float(_geometric_sum(ratio, np.array([size]))[0]) / size


def _win_probability(model: CountModel, size: int) -> Interval:
    """Return Pr[the true value wins among ``size`` values], for randomised response and subset selection."""
    pmf, blank = model.own, model.blank
    # Where no other value can be expected to come as far, the chance to win is 1 within 1e-19, and not more than 1.
    open_ = [
        count
        for count in range(pmf.size)
        if max(pmf[count], blank[count]) > _NEGLIGIBLE and (size - 1) * model.others(count)[count:].sum() > _NEGLIGIBLE
    ]
    wins = np.ones(pmf.size)
    try:
        wins[open_] = _win_chances(model, open_, size)
    except TooMany:
        # Counts are negatively associated. Given the true value's count, all others stay below it at most as often as
        # if they were independent; under the reference the largest of independent counts would be smaller.
        wins[open_] = [_win_chance(model.others(count), count, size) for count in open_]
        least = float(pmf @ [_win_chance(blank, count, size) for count in range(pmf.size)])
        return min(least, float(pmf @ wins)), float(pmf @ wins)
    # Without any privacy loss everyone of the fibre wins equally often: a check of the whole computation.
    if abs(size * float(blank @ wins) - 1.0) > _CHECK:
        message = f"the chances of {size} values to win add up to {size * float(blank @ wins):.12g}"
        raise NumericsError(message)
    return float(pmf @ wins), float(pmf @ wins)


def _win_chances(model: CountModel, counts: list[int], size: int) -> list[float]:
    """Return Pr[a value with this count wins in a fibre of ``size`` values], for each of the counts."""
    if model.omega != 1:
        most = min(_CELLS, _STEPS // max(1, len(counts)))
        # The longest programme first, so that it fails, if it does, before the others have been run.
        first = sorted(counts, key=lambda count: abs(2 * count - model.times))
        chances = {count: _win_chance_by_subsets(model, count, size, most) for count in first}
        return [chances[count] for count in counts]
    if len(counts) * 2.0 * math.log2(size) * model.times**2 > _WORK:
        raise TooMany
    return [_win_chance_by_naming(model, count, size) for count in counts]


def _win_chance_by_naming(model: CountModel, count: int, size: int) -> float:
    """Return Pr[a value named ``count`` times wins] when the other reports name other values, uniformly.

    With the others' counts Poisson, given their total: the coefficient of x^rest in ((a x^count + b)^size - b^size)
    / (size a x^count) times the values outside the fibre; a, b = the Poisson terms at and below ``count``.
    """
    remaining = model.times - count
    if count > remaining:
        return 1.0
    mean = remaining / (model.m - 1)
    terms = _poisson(mean, count)
    powers = _difference_of_powers(terms, size, remaining + 1)
    outside = _poisson(mean * (model.m - size), remaining)
    total = float(powers @ outside[remaining::-1][: powers.size])
    return total / (size * float(_poisson(float(remaining), remaining)[remaining]))


def _poisson(mean: float, top: int) -> Floats:
    log_mean = math.log(mean) if mean > 0.0 else -math.inf
    return np.asarray(np.exp(np.append(0.0, np.arange(1, top + 1) * log_mean) - mean - log_factorials(top)))


def _difference_of_powers(terms: Floats, power: int, length: int) -> Floats:
    """Return (A^n - B^n) / (A - B) where A has all terms and B all but the last; only positive numbers are added.

    With D_n for it: D_2n = D_n (2 B^n + (A - B) D_n) and D_(n+1) = D_n A + B^n.
    """
    shift = terms.size - 1
    lower = terms[:-1] if shift else np.zeros(1)
    below, result = lower, np.ones(1)
    for bit in bin(power)[3:]:
        both = _add_padded(2.0 * below, np.append(np.zeros(shift), terms[-1] * result))
        result = np.convolve(result, both[:length])[:length]
        below = np.convolve(below, below)[:length]
        if bit == "1":
            result = _add_padded(np.convolve(result, terms), below)[:length]
            below = np.convolve(below, lower)[:length]
    return result


def _add_padded(one: Floats, two: Floats) -> Floats:
    short, long = sorted((one, two), key=len)
    return np.append(short + long[: short.size], long[short.size :])


def _win_chance_by_subsets(model: CountModel, count: int, size: int, most: int) -> float:
    """Return Pr[a value in ``count`` of the reports wins], the others of its fibre being tracked from ``count`` on."""
    omega = model.omega or 1
    sizes = [omega - 1] * count + [omega] * (model.times - count)
    states, weights = subset_law(sizes, size - 1, model.m - size, count, count, most)
    return float((weights / (1.0 + states[:, 1])).sum())


def _known_record_risk(model: CountModel, prior: Prior, cover: Cover) -> ExactRisk:
    pi, guesses, hits = prior.probabilities[cover.single], cover.guesses, cover.single_hits
    success = (min(float(pi[hits > 0].sum()), 1.0),) * 2
    undecided, always = (hits > 0) & (hits < guesses), float(pi[hits == guesses].sum())
    blind = float((pi * hits / guesses)[undecided].sum())
    if model.epsilon == 0.0 or not undecided.any() or pi.max() == 1.0:
        return ExactRisk(rad=(0.0, 0.0), success=success, hit=blind + always)
    listed = _histograms(model) if prior.is_uniform else None
    if listed is not None:
        excess, above, tie = _by_histogram(model, *listed)
        share = float(pi[undecided].sum())
        rad = share * min(excess, 1.0 - 1.0 / model.m)
        hit = min(share * above + tie * blind + always, 1.0)
        return ExactRisk(rad=with_rounding(rad, _ROUNDING), success=success, hit=hit)
    levels, counts = np.unique(pi[pi > 0.0], return_counts=True)
    if levels.size > _LEVELS:
        return ExactRisk(success=success)
    targets = np.array([(pi[undecided] == level).sum() for level in levels])
    interval = _by_law_of_sum(model, levels, counts, targets)
    return ExactRisk(rad=interval, success=success, assumes=(_GRID if model.omega is None else _INDEPENDENT,))


def _histograms(model: CountModel) -> tuple[Int64s, Floats] | None:
    """Return the histograms of counts (columns 0..times) and their log-probabilities; None if there are too many."""
    if model.omega == 1:
        return _partitions(model.m, model.times)
    if model.omega is not None:
        try:
            states, weights = subset_law([model.omega] * model.times, model.m, 0, model.times, 0)
        except TooMany:
            return None
        return states[:, 1:], np.log(weights)
    if math.comb(model.m + model.times, model.times) * (model.times + 1) * max(model.times, 50) > 25 * _CELLS:
        return None
    table, remaining = np.zeros((1, 0), dtype=np.int64), np.array([model.m])
    for _ in range(model.times):
        rows, number = choices(np.zeros_like(remaining), remaining, _CELLS)
        table, remaining = np.column_stack([table[rows], number]), remaining[rows] - number
    table = np.column_stack([table, remaining])
    factorial = log_factorials(model.m)
    return table, factorial[-1] - factorial[table].sum(axis=1) + table @ model.log_blank


def _partitions(m: int, times: int) -> tuple[Int64s, Floats] | None:
    """Return the ways to distribute ``times`` single reports over m values, by how many values have which count."""
    if _partition_number(times, m) * (times + 1) * max(times, 50) > 50 * _CELLS:  # each size of a part copies it all
        return None
    remaining, values = np.array([times]), np.array([m])
    table = np.zeros((1, times + 1), dtype=np.int64)
    for part in range(times, 1, -1):
        least = np.maximum(remaining - values * (part - 1), 0)  # what is left must fit into smaller parts
        rows, number = choices(least, np.minimum(remaining // part, values), _CELLS)
        table, remaining, values = table[rows], remaining[rows] - part * number, values[rows] - number
        table[:, part] = number
    table[:, 1], table[:, 0] = remaining, values - remaining
    # m (m-1) .. (m-r+1) ways to choose the r values named, over m^times, without the logarithm of m!.
    falling = np.append(0.0, np.cumsum(np.log1p(-np.arange(min(m, times)) / m)))
    values_named = m - table[:, 0]
    factorial = log_factorials(times)
    equal = factorial[table[:, 1:]].sum(axis=1) + table[:, 1:] @ factorial[1:]
    return table, falling[values_named] + (values_named - times) * math.log(m) + factorial[-1] - equal


def _partition_number(times: int, m: int) -> int:
    """Return the number of partitions of ``times`` into at most m parts, or of parts up to m, which is the same."""
    ways = [1] + [0] * times
    for part in range(1, min(m, times) + 1):
        for total in range(part, times + 1):
            ways[total] += ways[total - part]
        if ways[times] > _CELLS:
            break
    return ways[times]


def _by_histogram(model: CountModel, table: Int64s, logs: Floats) -> tuple[float, float, float]:
    """Return E[(L - mean)_+] under the reference, and Pr[L > mean] and Pr[L = mean] for L of the true value."""
    ratios, counts = model.log_ratios, np.arange(model.times + 1)
    totals = np.zeros(4)
    step = max(1, 2_000_000 // counts.size)
    for start in range(0, logs.size, step):
        share = table[start : start + step] / model.m
        top = model.times - np.argmax(share[:, ::-1] > 0.0, axis=1)
        # In units of the row's largest ratio: nothing overflows, and a whole row underflows only if its chance does.
        scaled = np.exp(np.minimum(model.epsilon * (counts - top[:, None]), 0.0))
        mean = (share * scaled).sum(axis=1)
        weight = np.exp(logs[start : start + step] + ratios[top])
        over, hits = scaled - mean[:, None], share * scaled
        parts = (share * np.maximum(over, 0.0), hits * (over > _TIE), hits * (np.abs(over) <= _TIE), hits)
        totals += [float(weight @ part.sum(axis=1)) for part in parts]
    if abs(totals[3] - 1.0) > _CHECK:
        message = f"the histograms of counts add up to {totals[3]:.12g}"
        raise NumericsError(message)
    return float(totals[0]), float(totals[1]), float(totals[2])


def _by_law_of_sum(model: CountModel, levels: Floats, counts: Int64s, targets: Int64s) -> Interval:
    """Return rad = sum pi_z E[(1 - pi_z - sum of the other pi_i L_i / L_z)_+], from the law of the sum on a grid."""
    pmf = model.own
    likely = np.flatnonzero(pmf > _NEGLIGIBLE)
    laws = {count: model.others(count) for count in likely.tolist()}
    charged = float((targets * levels * (1.0 - levels)).sum())
    products = likely.size * np.count_nonzero(targets) * float((2.0 * np.log2(counts + 1.0)).sum())
    low, high = 0.0, charged * model.pair_tv
    if model.omega is not None:
        low = charged * sum(float(pmf[n]) * max(0.0, 1.0 - _mean_ratio(model, n, law)) for n, law in laws.items())
    for size in _GRIDS:
        if size * products > _GRID_WORK:
            break
        bounds = np.zeros(2)
        for index in np.flatnonzero(targets):
            groups = list(zip(levels.tolist(), (counts - (np.arange(counts.size) == index)).tolist(), strict=True))
            for count, law in laws.items():
                excess = _excess(law, groups, model.epsilon, count, 1.0 - levels[index], size)
                bounds += targets[index] * levels[index] * pmf[count] * np.array(excess)
        skipped = max(0.0, 1.0 - float(pmf[likely].sum())) * charged
        high = min(high, float(bounds[1]) + skipped + _TRANSFORM)
        low = max(low, float(bounds[0]) - _TRANSFORM) if model.omega is None else low
        # A finer grid does not help where the counts are not independent and the interval is wide for that reason.
        if bounds[1] - bounds[0] <= max(_WIDTH, 0.01 * (high - low)):
            break
    return min(low, high), high


def _mean_ratio(model: CountModel, count: int, law: Floats) -> float:
    """Return E[L of another value] / L(count); its excess over the mean is at least that over the sum (Jensen)."""
    with np.errstate(over="ignore"):
        return float(law[law > 0.0] @ np.exp(model.epsilon * (np.flatnonzero(law > 0.0) - count)))


def _excess(
    law: Floats, groups: list[tuple[float, int]], epsilon: float, count: int, reach: float, size: int
) -> Interval:
    """Return bounds on E[(reach - X)_+], X the sum of weight * e^((n - count) epsilon) over independent n of the law.

    Upper: every term is split between two points of a grid, its mean kept. Lower: outcomes with the same sum of grid
    cells are replaced by their mean. X beyond the reach adds nothing, so that only the grid up to it is kept.
    """
    scaled = np.exp(np.minimum(epsilon * (np.arange(law.size) - count), 700.0))
    reach -= float(scaled[0]) * sum(weight * number for weight, number in groups)
    if reach <= 0.0:
        return 0.0, 0.0
    scaled -= scaled[0]
    grid = reach / size
    total = np.zeros((3, size))
    total[:2, 0] = 1.0
    for weight, number in groups:
        value = weight * scaled
        inside = value < reach
        cell = np.minimum((value[inside] / grid).astype(np.int64), size - 1)
        mass, rise = law[inside], np.clip(value[inside] / grid - cell, 0.0, 1.0)
        rows = np.zeros((3, size + 1))
        np.add.at(rows[0], cell, mass * (1.0 - rise))
        np.add.at(rows[0], cell + 1, mass * rise)
        np.add.at(rows[1], cell, mass)
        np.add.at(rows[2], cell, mass * value[inside])
        total = _add_terms(total, rows[:, :size], number)
    upper = float(total[0] @ (reach - grid * np.arange(size)))
    return float(np.maximum(reach * total[1] - total[2], 0.0).sum()), upper


def _add_terms(total: Floats, rows: Floats, number: int) -> Floats:
    """Return the rows of a total after ``number`` more independent terms, by repeated doubling."""
    while number:
        total = _convolve_rows(total, rows) if number & 1 else total
        number >>= 1
        rows = _convolve_rows(rows, rows) if number else rows
    return total


def _convolve_rows(one: Floats, two: Floats) -> Floats:
    """Return the rows (upper law, mass, mass times mean) of a sum of two independent variables."""
    size = one.shape[1]
    a, b = np.fft.rfft(one, 2 * size), np.fft.rfft(two, 2 * size)
    product = np.stack([a[0] * b[0], a[1] * b[1], a[1] * b[2] + a[2] * b[1]])
    return np.maximum(np.fft.irfft(product, 2 * size)[:, :size], 0.0)
