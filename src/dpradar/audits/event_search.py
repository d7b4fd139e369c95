"""Search for the two inputs and the event that leak most, without knowledge of the mechanism.

An event is "the score of the output is at least t". Scores are sums of estimated log-likelihood ratios over the
columns of an output (naive Bayes; for one column that is its likelihood ratio), or those of a trained classifier. The
samples used here choose; others, drawn afterwards, test.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..numerics.lazy_numpy import Array, Floats, Ints, NDArray, np
from .category_encoding import Encoder, fit_encoder
from .epsilon_limits import Tally

if TYPE_CHECKING:
    from collections.abc import Callable

    from .epsilon_limits import AuditedClaim
    from .output_sources import Batch

__all__ = ["Event", "best_event", "best_pairs"]

_SMOOTHING = 0.5
_CELLS = 20_000_000  # pairs times categories compared at once
_MOST_THRESHOLDS = 200
_CLASSIFIED = 5_000  # outputs a classifier is trained on
_MOST_COLUMNS = 256  # that a classifier looks at
_CLEARLY = 0.03
_LARGEST = 1e100  # its square is still a number


@dataclass(frozen=True, slots=True, eq=False)
class Event:
    """Inputs ``first`` and ``other``, and the event that a score is at least ``threshold``."""

    first: int
    other: int
    score: Callable[[Array], Floats]
    threshold: float
    text: str
    promise: float = 0.0  # the lower bound on epsilon expected from the test

    def count(self, array: Array) -> int:
        """Return in how many outputs the event happened."""
        return int(np.count_nonzero(self.score(array) >= self.threshold))


def _counts(codes: NDArray[np.int32], inputs: Ints, count: int, size: int) -> Floats:
    """Return how often each input had each category of one column."""
    flat = np.bincount(inputs * size + codes, minlength=count * size)
    return flat.reshape(count, size).astype(float)


def best_pairs(
    encoder: Encoder, batch: Batch, inputs: Ints, pairs: list[tuple[int, int]], delta: float, most: int
) -> list[tuple[int, int]]:
    """Return the ordered pairs of inputs with the largest single-category leaks, judged with their uncertainty.

    For each category the ratio of the two frequencies, each moved by a standard deviation to the cautious side.
    """
    kinds, code = np.unique(inputs, return_inverse=True)
    place = {int(kind): k for k, kind in enumerate(kinds)}
    n_outputs = np.bincount(code).astype(float)
    usable = [(a, b) for a, b in pairs if a in place and b in place]
    if not usable:
        return []
    first, other = (np.array([place[pair[k]] for pair in usable]) for k in (0, 1))
    score = np.full(len(usable), -np.inf)
    table = encoder.codes(batch.array)
    for column, size in enumerate(encoder.sizes):
        share = _counts(table[:, column], code, kinds.size, size) / n_outputs[:, None]
        error = np.sqrt((share * (1.0 - share) + 1.0 / n_outputs[:, None]) / n_outputs[:, None])
        low, high = np.maximum(share - 1.5 * error - delta, 1e-12), np.minimum(share + 1.5 * error, 1.0)
        for start in range(0, len(usable), step := max(1, _CELLS // size)):
            some = slice(start, start + step)
            with np.errstate(divide="ignore"):
                ratio = np.log(low[first[some]]) - np.log(high[other[some]])
            score[some] = np.maximum(score[some], ratio.max(axis=1))
    order = np.argsort(-score, kind="stable")[:most]
    return [usable[k] for k in order.tolist()]


@dataclass(frozen=True, slots=True, eq=False)
class _Ratios:
    """Log-likelihood ratios by column and category."""

    encoder: Encoder
    tables: list[Floats] = field(default_factory=list)

    def __call__(self, array: Array) -> Floats:
        codes = self.encoder.codes(array)
        total = np.zeros(codes.shape[0])
        for column, table in enumerate(self.tables):
            if table.any():
                total += table[codes[:, column]]
        return total

    def describe(self, threshold: float, names: tuple[Any, ...] | None) -> str:
        """Return the event in words where it is about one column, or about a few bits."""
        active = [k for k, table in enumerate(self.tables) if table.any()]
        if self.encoder.kind == "bits" and active:
            parts = [f"{_bit_name(k, names)} {'set' if self.tables[k][1] > 0 else 'not set'}" for k in active[:4]]
            more = f" and {len(active) - 4} more" if len(active) > 4 else ""
            return f"bits in favour ({', '.join(parts)}{more}): score at least {threshold:.4g}"
        if len(self.tables) == 1:
            inside = np.flatnonzero(self.tables[0] >= threshold)
            return f"output in {{{self.encoder.columns[0].describe(inside, names)}}}"
        if len(active) == 1:
            inside = np.flatnonzero(self.tables[active[0]] >= threshold)
            return f"coordinate {active[0]} in {{{self.encoder.columns[active[0]].describe(inside, names)}}}"
        return f"score of {len(active)} coordinates at least {threshold:.4g}"


def _bit_name(column: int, names: tuple[Any, ...] | None) -> str:
    return f"bit {column}" if names is None or column >= len(names) else f"{names[column]}"


def _ratios(encoder: Encoder, one: Array, other: Array) -> _Ratios:
    """Return the ratios estimated from two sets of outputs; those that could be chance count as 0."""
    ratios = _Ratios(encoder)
    codes = encoder.codes(one), encoder.codes(other)
    cells = sum(encoder.sizes)
    noise = np.sqrt(2.0 * np.log(max(cells, 2)))  # the largest of this many standard normal errors
    single = len(encoder.sizes) == 1
    for column, size in enumerate(encoder.sizes):
        a, b = (np.bincount(part[:, column], minlength=size).astype(float) for part in codes)
        if encoder.columns[column].edges is not None:
            a, b = (_smooth(part, encoder.columns[column].atoms.size) for part in (a, b))
        a, b = a + _SMOOTHING, b + _SMOOTHING
        ratio = np.log(a / a.sum()) - np.log(b / b.sum())
        if not single:
            ratio = np.where(np.abs(ratio) > noise * np.sqrt(1.0 / a + 1.0 / b), ratio, 0.0)
        ratios.tables.append(ratio)
    return ratios


def _smooth(counts: Floats, atoms: int) -> Floats:
    """Return counts in which neighbouring bins share; those of single values are left alone."""
    bins = np.pad(counts[atoms:], 1, mode="edge")
    return np.concatenate([counts[:atoms], (bins[:-2] + 2.0 * bins[1:-1] + bins[2:]) / 4.0])


def _classifiers(one: Array, other: Array) -> list[_ClassifierScore]:
    """Return trained classifiers as scores, where scikit-learn is installed."""
    try:
        from sklearn.ensemble import HistGradientBoostingClassifier
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler
        from threadpoolctl import threadpool_limits
    except ImportError:
        return []
    a, b = one[:_CLASSIFIED], other[:_CLASSIFIED]
    width = a.shape[1]
    x, y = _features(np.concatenate([a, b]), width), np.repeat([1, 0], [len(a), len(b)])
    models = {
        "logistic regression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=200)),
        "boosted trees": HistGradientBoostingClassifier(max_iter=30, early_stopping=False, random_state=0),
    }
    with threadpool_limits(1):  # for so little work more threads wait for each other
        return [_ClassifierScore(name, model.fit(x, y), width) for name, model in models.items()]


def _features(array: Array, width: int) -> Floats:
    """Return what a classifier reads: finite numbers, and the columns it knows (a subset may hold new values)."""
    return np.asarray(np.clip(array[:, :width].astype(float), -_LARGEST, _LARGEST))


@dataclass(frozen=True, slots=True, eq=False)
class _ClassifierScore:
    """The score of a trained classifier."""

    name: str
    model: Any
    width: int

    def __call__(self, array: Array) -> Floats:
        return np.asarray(self.model.decision_function(_features(array, self.width)))

    def describe(self, threshold: float, names: tuple[Any, ...] | None) -> str:
        """Return the event in words."""
        return f"{self.name}: score at least {threshold:.4g}"


@dataclass(frozen=True, slots=True, eq=False)
class _HalfLine:
    """The output itself, or its negative, as a score: half-lines."""

    sign: float

    def __call__(self, array: Array) -> Floats:
        return np.asarray(self.sign * array)

    def describe(self, threshold: float, names: tuple[Any, ...] | None) -> str:
        """Return the event in words."""
        return f"output {'at least' if self.sign > 0.0 else 'at most'} {self.sign * threshold:.6g}"


def best_event(
    encoder: Encoder,
    pair: tuple[int, int],
    outputs: tuple[Array, Array],
    draws: int,
    claim: AuditedClaim,
    failure: float,
    names: tuple[Any, ...] | None,
    *,
    train: bool = False,
) -> Event:
    """Return the event for two inputs, learned on one half of their outputs; its threshold is chosen on the other.

    ``draws`` outputs of each input will test it: the threshold is the one with the best lower bound to be expected.
    ``train``: classifiers are tried too, where outputs have several columns.
    """
    (a, x), (b, y) = (np.split(part, [len(part) // 2]) for part in outputs)
    scores: list[Any] = [_HalfLine(1.0), _HalfLine(-1.0)] if encoder.kind == "real" else []
    scores.append(_ratios(encoder, a, b))
    if train and 1 < len(encoder.sizes) <= _MOST_COLUMNS and encoder.kind in ("vector", "bits"):
        scores += _classifiers(a, b)
    events = []
    for score in scores:
        value, threshold = _threshold(score(x), score(y), draws, claim, failure)
        events.append(Event(*pair, score, threshold, score.describe(threshold, names), value))
    # The simplest score, which stands first, unless another is clearly better.
    top = max(event.promise for event in events)
    return next(event for event in events if event.promise >= top - _CLEARLY * abs(top))


def _threshold(one: Floats, other: Floats, draws: int, claim: AuditedClaim, failure: float) -> tuple[float, float]:
    levels = np.unique(np.concatenate([one, other]))
    if levels.size > _MOST_THRESHOLDS:
        scores = np.concatenate([one, other])
        fine = np.concatenate([np.linspace(0, 1, 100), 1.0 - np.geomspace(1e-5, 0.1, 60), np.geomspace(1e-5, 0.1, 40)])
        levels = np.unique(np.quantile(scores, np.clip(fine, 0.0, 1.0)))
    first, second = (part.size - np.searchsorted(np.sort(part), levels, side="left") for part in (one, other))
    # What the test may expect, moved by a standard deviation to the cautious side: the best of many levels is otherwise
    # the luckiest one.
    hits, misses = np.maximum(first - np.sqrt(first), 0.0), second + np.sqrt(second + 1.0) + 1.0
    seen = np.rint(hits / one.size * draws).astype(int)
    false_hits = np.minimum(np.rint(misses / other.size * draws), draws).astype(int)
    best = (-np.inf, float(levels[-1]))
    for level, hit, false_hit in zip(levels.tolist(), seen.tolist(), false_hits.tolist(), strict=True):
        value = claim.promise(Tally(hit, draws, false_hit, draws), failure)
        if value > best[0]:
            best = (value, level)
    return best


def encoder_for(batch: Batch) -> Encoder:
    """Return the encoder for outputs like these."""
    return fit_encoder(batch.kind, batch.array)
