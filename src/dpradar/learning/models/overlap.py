"""Detect whether targets and others are rows of the table that all models are trained on.

People of a small table share all columns by chance, so a coincidence proves nothing. If known records, targets and
others are draws from one population, every way to deal the same rows out to the three groups is equally likely: this
gives the number of coincidences that chance explains, without any model of the population.
"""

from __future__ import annotations

from math import lgamma, log
from typing import TYPE_CHECKING

from ...errors import ParameterError
from ...numerics.lazy_numpy import Ints, np

if TYPE_CHECKING:
    from .attribute_attacker import Targets

__all__ = ["coincidences"]

_CHANCE = log(1e-6)  # of refusing people who are others indeed


def coincidences(targets: Targets, other: Targets, shared: Targets, description: str) -> tuple[str, ...]:
    """Raise where more targets or others are rows of the shared table than chance explains; return notes on the rest.

    Also raises where more others equal their target than chance explains. Records are equal when all known columns,
    the sensitive value and the label are.

    Assumes
    -------
    Shared records, targets and others come from one population. Then people who are others indeed are refused with
    probability at most 1e-6 by each of the four checks: of pairs, of targets, of others, of both together.
    Others who equal their targets without exception are refused always, for this is the common mistake.
    """
    of_targets, of_others, rows = _record_numbers(targets, other, shared)
    same = int(np.sum(of_targets == of_others))
    if same and (same == of_targets.size or _log_chance_of_pairs(of_targets, of_others) < _CHANCE):
        got = "the targets" if same == of_targets.size else f"{same} of {of_targets.size} equal to their target"
        hint = "The second term of RAD is about someone who is not in the training data."
        raise ParameterError("others", "other people than the targets", got, hint)
    notes = [f"{same} of {of_targets.size} others equal their target in all columns"] if same else []
    doubles = f"{int((np.bincount(rows)[rows] > 1).sum())} of {rows.size} of those equal another"
    both, nobody = np.concatenate([of_targets, of_others]), of_targets[:0]
    groups = (
        ("targets", of_targets, of_others),
        ("others", of_others, of_targets),
        ("targets and others", both, nobody),
    )
    for name, some, rest in groups:
        inside = int(np.isin(some, rows).sum())
        if inside and _log_chance_of_rows(some, rest, rows) < _CHANCE:
            got = f"{inside} of {some.size} that equal one of them, while {doubles}"
            hint = "Take these people out of one of the tables: as it is, rad may come out too low."
            raise ParameterError(name, f"people who are not among {description}", got, hint)
        if inside and rest.size:
            text = f"{inside} of {some.size} {name} equal one of {description} in all columns, and {doubles}"
            notes.append(f"{text}: chance may explain it, but if they are the same people, rad is too low")
    return tuple(notes)


def _record_numbers(*groups: Targets) -> list[Ints]:
    """Return a number for each record, the same for equal ones."""
    hashes: list[int] = []
    for group in groups:
        rows = np.ascontiguousarray(group.known_columns + 0.0)  # no -0.0, which has other bytes
        whole = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel().tolist()
        hashes += map(hash, zip(whole, group.truth.tolist(), group.labels.tolist(), strict=True))
    _, numbers = np.unique(np.array(hashes), return_inverse=True)
    return np.split(numbers, np.cumsum([group.size for group in groups])[:-1])


def _log_chance_of_rows(some: Ints, others: Ints, rows: Ints) -> float:
    """Return a limit for the log probability that this many of ``some`` are rows of the shared table.

    Counted are those which occur once among ``some``: what occurs often is common. Let each of M rows choose its group
    on its own, with the shares of the groups. A value that occurs m times is then counted with probability
    q = m a ((1 - a)^(m-1) - b^(m-1)), a and b the shares of ``some`` and ``others``, independently of other values, and
    Markov's inequality for e^(t count) limits the tail. Dealing out is the same under the condition that the groups
    get their sizes, so the limit is divided by the probability of that.
    """
    sizes = np.array([some.size, others.size, rows.size])
    whole = np.concatenate([some, others, rows])
    times = np.bincount(whole)
    counts, shared_counts = np.bincount(some, minlength=times.size), np.bincount(rows, minlength=times.size)
    count = int(np.sum((counts == 1) & (shared_counts > 0)))
    lengths, values = np.unique(times[times > 1], return_counts=True)
    a, b, _ = share = sizes / whole.size
    chance = np.minimum(lengths * a * ((1.0 - a) ** (lengths - 1) - b ** (lengths - 1)), 1.0)
    tilts = np.linspace(0.0, 30.0, 601)  # each gives a valid limit, the best one is taken
    tails = np.log1p(np.expm1(tilts)[:, None] * chance) @ values - tilts * count
    log_sizes = lgamma(whole.size + 1) + sum(n * log(p) - lgamma(n + 1) for n, p in zip(sizes, share, strict=True) if n)
    return float(min(tails.min() - log_sizes, 0.0))


def _log_chance_of_pairs(of_targets: Ints, of_others: Ints) -> float:
    """Return a limit for the log probability that this many others equal the target at the same place.

    With the others in random order, let X of n places agree, and let ``pairs`` count all (i, j) where target i equals
    other j. E[X (X-1) ... (X-j+1)] <= pairs^j / (n (n-1) ... (n-j+1)), for each choice of j such pairs in different
    places comes about with one over the denominator. Markov's inequality: Pr[X >= x] <= the product over i < j of
    pairs / ((n - i) (x - i)), for every j; the best one is taken.
    """
    longest = int(max(of_targets.max(), of_others.max())) + 1
    pairs = float(np.bincount(of_targets, minlength=longest) @ np.bincount(of_others, minlength=longest))
    same = int(np.sum(of_targets == of_others))
    before = np.arange(same)
    return float(min(np.cumsum(np.log(pairs) - np.log(of_targets.size - before) - np.log(same - before)).min(), 0.0))
