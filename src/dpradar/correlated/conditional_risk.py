"""The risk of one person whose record moves others: the release as a channel from the target's value to the output."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..bounds import assess as assess_channel
from ..errors import ParameterError
from ..mechanisms import Channel
from ..numerics.lazy_numpy import Floats, Ints, np
from ..numerics.rounding import SLACK
from ..params import as_floats
from ..results.description import text_only
from ..threats import Goal, Knowledge, Prior, Threat
from .finite_models import checked_channel, sensitivity
from .shared_options import EPSILON

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..results import Assessment, Bound
    from ..results.bound import Quantity, Side
    from .models import Joint

__all__ = ["assess"]

_FIRST_CELLS = 64
_MOST_CELLS = 16_384
_CLOSE = 1e-6  # the two ends of an answer
_ASSUMES = "of the other records only those stated are known; the rest follow the target as the model says"
_RULE = "conditional-channel"


@dataclass(frozen=True, slots=True)
class _LaplaceMixtures:
    """Laplace noise around each of the places, mixed with the weights of each row."""

    places: Floats
    weights: Floats
    scale: float

    def density(self, at: Floats) -> Floats:
        """Return the density of every row."""
        kernel = np.exp(-np.abs(self.places[:, None] - at[None, :]) / self.scale) / (2.0 * self.scale)
        return np.asarray(self.weights @ kernel)

    def cells(self, grid: Floats) -> Floats:
        """Return the probabilities of the cells between the points of the grid, and of the tails."""
        difference = (grid[None, :] - self.places[:, None]) / self.scale
        below = np.where(difference < 0.0, 0.5 * np.exp(np.minimum(difference, 0.0)), 0.5)
        above = np.where(difference >= 0.0, 0.5 * np.exp(-np.maximum(difference, 0.0)), 0.5)
        inside = np.where(  # differences on the side where they are exact
            difference[:, 1:] <= 0.0,
            below[:, 1:] - below[:, :-1],
            above[:, :-1] - above[:, 1:],
        )
        mass = np.concatenate([below[:, :1], inside, above[:, -1:]], axis=1)
        return np.asarray(self.weights @ mass)

    def points(self, grid: Floats) -> Floats:
        """Return the channel that shows more: in each cell, which of two hat functions the output was drawn from.

        On a cell without a place inside, every density solves p'' = p / scale^2, so it is p(u) sinh(v-t) + p(v)
        sinh(t-u) over sinh(v-u): a mixture of two densities with weights proportional to the values at the ends. Told
        which, an attacker learns at least as much; outputs with the same end point are alike and are merged.
        """
        half = np.tanh(np.diff(grid) / (2.0 * self.scale)) * self.scale  # the integral of each hat function
        share = np.zeros(grid.size)
        share[:-1] += half
        share[1:] += half
        share[[0, -1]] += self.scale  # the tails, where all densities fall alike
        return self.density(grid) * share


def assess(
    model: Joint,
    *,
    target: int,
    epsilon: float | None = None,
    channel: Any = None,
    query: Any = None,
    known: Mapping[int, int] | None = None,
    knowledge: Knowledge | None = None,
    goal: Goal | None = None,
) -> Assessment:
    """Return what someone could learn about one record from a release about all of them, other records being unknown.

    Guarantee
    ---------
    As ``dpradar.assess``, for the channel from the target's value to the output in which the other records follow the
    target: rad, success and gain with both ends of an interval; ``worst_gain`` is the largest total variation.

    Parameters
    ----------
    model
        The joint distribution of all records.
    target
        Which record is attacked, from 0.
    epsilon
        Laplace noise on the query is calibrated to this epsilon, as if records were independent (replace-one).
    channel
        Instead: a mechanism as a matrix, one row for each table of records (last record fastest).
    query
        A number for each table of records, an array of the shape of the model; the sum of all values by default.
    known
        Values (from 0) of the records that the attacker knows, by record.
    knowledge, goal
        As in :class:`dpradar.Threat`, about the values of the target's record.

    Examples
    --------
    Alice and Bob have the same bit with probability 0.9; the sum is released with epsilon 1.

    >>> from dpradar.correlated import Joint, assess
    >>> a = assess(Joint([[0.45, 0.05], [0.05, 0.45]]), target=0, epsilon=1.0)
    >>> round(a.worst_gain.value, 6), round(a.rad.value, 6)
    (0.568909, 0.284454)
    """
    view = _view(model, target, dict(known or {}))
    prior = Prior.of(view.prior, values=view.values.tolist())
    threat = Threat(prior, knowledge=knowledge or Knowledge.nothing(), goal=goal or Goal.exact())
    if (epsilon is None) == (channel is None):
        raise ParameterError("correlated.assess", "given either epsilon or channel", "both or neither")
    about = f"{model!r}, record {target} attacked, {len(known or {})} others known"
    if channel is not None:
        rows = checked_channel(model, channel)[view.tables]
        matrix = np.einsum("xu,xuy->xy", view.weights, rows)
        return _with_assumptions(assess_channel(Channel(matrix), threat), f"a channel on {about}")
    answers = model.total() if query is None else _checked_query(model, query)
    scale = _scale(answers, EPSILON.check("correlated.assess", epsilon))
    places, index = np.unique(answers.ravel()[view.tables], return_inverse=True)
    weights = np.zeros((view.values.size, places.size))
    for x, (where, share) in enumerate(zip(index.reshape(view.tables.shape), view.weights, strict=True)):
        np.add.at(weights[x], where, share)
    return _enclose(_LaplaceMixtures(places, weights, scale), threat, f"Laplace noise of scale {scale:g} on {about}")


def _scale(answers: Floats, epsilon: float) -> float:
    span = sensitivity(answers)
    if span <= 0.0 or epsilon <= 0.0:
        got = "a query that is the same for all records" if span <= 0.0 else "epsilon 0"
        raise ParameterError("correlated.assess", "given a query that depends on the records, and epsilon > 0", got)
    return span / epsilon


def _checked_query(model: Joint, query: Any) -> Floats:
    answers = as_floats("correlated.assess.query", "numbers", query, "One number for each table of records.")
    if answers.shape != model.probabilities.shape or not np.all(np.isfinite(answers)):
        allowed = f"an array of finite numbers of shape {model.probabilities.shape}"
        raise ParameterError("correlated.assess.query", allowed, f"shape {answers.shape}")
    return answers


@dataclass(frozen=True, slots=True)
class _AttackerView:
    """What the attacker does not know: the target's values with their probabilities, and what goes with each.

    ``tables[x, u]`` is the place of the table with target value x and unknown records u among all tables,
    ``weights[x, u]`` its probability given x and what is known.
    """

    values: Floats
    prior: Floats
    tables: Ints
    weights: Floats


def _view(model: Joint, target: int, known: dict[int, int]) -> _AttackerView:
    joint = np.asarray(model.probabilities)
    if not 0 <= target < model.records:
        raise ParameterError("correlated.assess.target", f"a record from 0 to {model.records - 1}", target)
    for record, value in known.items():
        if not (0 <= record < joint.ndim and record != target and 0 <= value < joint.shape[record]):
            hint = "Give {record: value}, both counted from 0, without the target."
            raise ParameterError("correlated.assess.known", "values of other records", f"{record}: {value}", hint)
    place = tuple(known.get(j, slice(None)) for j in range(joint.ndim))
    axis = target - sum(record < target for record in known)
    numbers = np.arange(joint.size).reshape(joint.shape)
    mass, tables = (np.moveaxis(array[place], axis, 0).reshape(joint.shape[target], -1) for array in (joint, numbers))
    total = mass.sum(axis=1)
    possible = total > 0.0
    if possible.sum() < 2:
        hint = "What is known leaves at most one value of the target."
        raise ParameterError("correlated.assess.known", "compatible with two values of the target", "others", hint)
    weights = mass[possible] / total[possible, None]
    law = total[possible] / total[possible].sum()
    return _AttackerView(np.asarray(model.values[target])[possible], law, tables[possible], weights)


def _enclose(mixtures: _LaplaceMixtures, threat: Threat, name: str) -> Assessment:
    """Return the answer between that of cells, which hide where in a cell the output was, and that of end points."""
    grid = _first_grid(mixtures, _FIRST_CELLS)
    while True:
        low = assess_channel(Channel(_normalise_rows(mixtures.cells(grid))), threat)
        high = assess_channel(Channel(_normalise_rows(mixtures.points(grid))), threat)
        if _largest_gap(low, high) <= _CLOSE or 2 * grid.size > _MOST_CELLS:
            break
        grid = np.union1d(grid, (grid[1:] + grid[:-1]) / 2.0)
    return _enclosing_assessment(low, high, name)


def _first_grid(mixtures: _LaplaceMixtures, cells: int) -> Floats:
    """Return the places themselves, which no cell may have inside, and points between them."""
    places = mixtures.places
    if places.size == 1:
        return np.array([places[0] - mixtures.scale, places[0], places[0] + mixtures.scale])
    between = np.linspace(places[0], places[-1], cells + 1)
    return np.union1d(places, between)


def _normalise_rows(matrix: Floats) -> Floats:
    return np.asarray(matrix / matrix.sum(axis=1, keepdims=True))  # rounding only


def _largest_gap(low: Assessment, high: Assessment) -> float:
    pairs = [(low.bounds[q], high.bounds[q]) for q in low.bounds]
    return max((b.value - a.value for a, b in pairs if a is not None and b is not None), default=0.0)


def _enclosing_assessment(low: Assessment, high: Assessment, name: str) -> Assessment:
    bounds: dict[Quantity, Bound | None] = {}
    for quantity, upper in high.bounds.items():
        lower = low.bounds[quantity]
        if upper is None or lower is None:
            bounds[quantity] = upper
            continue
        value = min(upper.value + SLACK, 1.0)
        floor = max(lower.value if lower.low is None else lower.low, 0.0) - SLACK
        exact = lower.side == "exact" or quantity == "worst_gain"  # total variations of both channels are exact
        side: Side = "exact" if exact and value - floor <= 2.0 * _CLOSE else "upper"
        bounds[quantity] = replace(upper, value=value, low=max(floor, 0.0) if exact else None, high=value, side=side)
    changed: Any = bounds
    rad = bounds["rad"]
    if low.hit is not None and rad is not None:
        changed = {**bounds, "false_hit": max(0.0, low.hit - rad.value)}
    return _with_assumptions(replace(low, **changed, others=high.others), name)


def _with_assumptions(result: Assessment, name: str) -> Assessment:
    """Return the assessment with what it assumes said of correlated records."""
    bounds: Any = {
        quantity: None
        if bound is None
        else replace(
            bound,
            rule=f"{_RULE}, {bound.rule}",
            cites=("dpradar derivation", *bound.cites),
            assumes=(_ASSUMES, *bound.assumes),
        )
        for quantity, bound in result.bounds.items()
    }
    return replace(result, release=text_only(name), **bounds)
