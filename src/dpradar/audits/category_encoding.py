"""Outputs of any kind as columns of few categories, so that one search serves them all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..numerics.lazy_numpy import Array, Floats, Ints, NDArray, np

if TYPE_CHECKING:
    Codes = NDArray[np.int32]

__all__ = ["Encoder", "fit_encoder"]

_MOST_CATEGORIES = 1_000
_BINS, _FEW_BINS = 64, 10  # of the only column, of one of several
_ATOM = 0.002  # a number that makes up this share of the outputs is a category of its own


@dataclass(frozen=True, slots=True, eq=False)
class CategoryColumn:
    """One column: categories are listed values (atoms) first, then bins between edges (numbers), or all else."""

    atoms: Array
    edges: Floats | None  # None: what is no atom is one category

    @property
    def size(self) -> int:
        """The number of categories."""
        return int(self.atoms.size + (1 if self.edges is None else self.edges.size + 1))

    def codes(self, values: Array) -> Codes:
        """Return the category of each value."""
        at = np.searchsorted(self.atoms, values)
        near = np.minimum(at, max(self.atoms.size - 1, 0))
        listed = self.atoms[near] == values if self.atoms.size else np.zeros(values.size, dtype=bool)
        bin_codes = 0 if self.edges is None else np.searchsorted(self.edges, values, side="right")
        return np.where(listed, near, self.atoms.size + bin_codes).astype(np.int32)

    def describe(self, categories: Ints, names: tuple[Any, ...] | None) -> str:
        """Return the categories in words."""
        words = []
        for category in categories.tolist():
            if category < self.atoms.size:
                atom = self.atoms[category]
                words.append(str(names[int(atom)]) if names is not None else f"{atom:.10g}")
            elif self.edges is None:
                words.append("anything else")
        words += _bin_intervals(categories[categories >= self.atoms.size] - self.atoms.size, self.edges)
        listed = words[:6] + ([f"{len(words) - 6} more"] if len(words) > 6 else [])
        return ", ".join(listed)


def _bin_intervals(bins: Ints, edges: Floats | None) -> list[str]:
    """Return neighbouring bins as intervals."""
    if edges is None or bins.size == 0:
        return []
    ends = np.concatenate([[-np.inf], edges, [np.inf]])
    sorted_bins = np.sort(bins)
    starts = np.flatnonzero(np.r_[True, np.diff(sorted_bins) > 1])
    stops = np.r_[starts[1:] - 1, sorted_bins.size - 1]
    return [f"[{ends[sorted_bins[a]]:.6g}, {ends[sorted_bins[b] + 1]:.6g})" for a, b in zip(starts, stops, strict=True)]


@dataclass(frozen=True, slots=True, eq=False)
class Encoder:
    """The columns of outputs of one kind."""

    kind: str
    columns: tuple[CategoryColumn, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of categories of each column."""
        return tuple(column.size for column in self.columns)

    def codes(self, array: Array) -> Codes:
        """Return the categories, one row per output."""
        if self.kind == "bits":
            bits = np.zeros((array.shape[0], len(self.columns)), dtype=np.int32)
            width = min(array.shape[1], len(self.columns))  # a subset may hold values that were not seen before
            bits[:, :width] = array[:, :width]
            return bits
        table = array[:, None] if array.ndim == 1 else array
        return np.stack([column.codes(table[:, k]) for k, column in enumerate(self.columns)], axis=1)


def fit_encoder(kind: str, array: Array) -> Encoder:
    """Return the columns that fit some outputs, which are then used for all.

    Examples
    --------
    >>> fit_encoder("real", np.array([0.0, 0.0, 0.5, 1.5] * 100)).sizes
    (4,)
    """
    if kind == "bits":
        column = CategoryColumn(np.array([0, 1]), None)
        return Encoder(kind, (column,) * int(array.shape[1]))
    table = array[:, None] if array.ndim == 1 else array
    if kind == "categorical":
        return Encoder(kind, tuple(_categories(table[:, k]) for k in range(table.shape[1])))
    bins = _BINS if table.shape[1] == 1 else _FEW_BINS
    return Encoder(kind, tuple(_numbers(table[:, k], bins) for k in range(table.shape[1])))


def _categories(values: Array) -> CategoryColumn:
    atoms, counts = np.unique(values, return_counts=True)
    if atoms.size > _MOST_CATEGORIES:
        atoms = np.sort(atoms[np.argsort(-counts, kind="stable")[:_MOST_CATEGORIES]])
    return CategoryColumn(atoms, None)


def _numbers(values: Array, bins: int) -> CategoryColumn:
    distinct, counts = np.unique(values, return_counts=True)
    often = counts >= max(2, _ATOM * values.size)
    if often.all() and distinct.size <= _MOST_CATEGORIES:
        return CategoryColumn(distinct, np.empty(0))
    rare_values = np.sort(np.repeat(distinct[~often], counts[~often]))
    shares = np.concatenate([[0.002, 0.01], np.linspace(0.0, 1.0, bins + 1)[1:-1], [0.99, 0.998]])
    # The ends of what was seen are edges too: a value beyond them is news.
    edges = np.unique(
        np.concatenate(
            [[rare_values[0]], np.quantile(rare_values, np.sort(shares)), [np.nextafter(rare_values[-1], np.inf)]]
        )
    )
    return CategoryColumn(distinct[often], edges)
