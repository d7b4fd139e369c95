"""The largest rad of any (epsilon, delta)-DP mechanism with delta > 0: a linear program, reduced by symmetry."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from ..errors import NumericsError
from ..guarantees.approx import tv_of_approx
from ..numerics.lazy_numpy import Floats, Ints, np
from .question import Case, Inapplicable
from .rule import Finding

__all__ = ["MOST_LEVELS", "approx_black_box", "approx_black_box_rule"]

MOST_LEVELS = 35  # different probabilities: about 10 s
_FEW_LEVELS = 16  # what a prior with more of them is rounded to: well under a second


@dataclass(slots=True)
class _Program:
    """Rows of a sparse linear program in the making: maximise gain, rows <= right, sums = 1, 0 <= x <= cap."""

    names: dict[tuple[object, ...], int] = field(default_factory=dict)
    cap: list[float] = field(default_factory=list)
    rows: list[tuple[dict[int, float], float]] = field(default_factory=list)
    sums: list[dict[int, float]] = field(default_factory=list)

    def variable(self, *name: object, cap: float = 1.0) -> int:
        if name not in self.names:
            self.names[name] = len(self.names)
            self.cap.append(cap)
        return self.names[name]


def approx_black_box(pi: Floats, epsilon: float, delta: float) -> tuple[float, float]:
    """Return (primal, dual) values of the largest rad over all (epsilon, delta)-DP mechanisms.

    Guarantee
    ---------
    The second is a proof from above: the value of a feasible dual point, recomputed from the solver's multipliers with
    every violation charged to the bound. The first is what the solver says.

    Notes
    -----
    Ours. Values of equal probability can be averaged over, so the program has one variable per *kind* of entry of the
    channel and grows with the cube of the number of different probabilities, not of the values.

    Examples
    --------
    >>> primal, dual = approx_black_box(np.full(10, 0.1), 1.0, 1e-5)
    >>> round(dual, 6)
    0.131977
    """
    levels, counts = np.unique(np.asarray(pi, dtype=float), return_counts=True)
    if levels.size > MOST_LEVELS:
        message = f"solves a linear program for at most {MOST_LEVELS} different probabilities, here {levels.size}"
        raise Inapplicable(message)
    program = _Program()
    gain = _objective(program, levels, counts)
    _rows_sum_to_one(program, counts)
    for of in range(levels.size):
        for against in range(levels.size):
            if of != against or counts[of] > 1:
                _compare(program, counts, of, against, math.exp(-epsilon), delta)
    return _solve(program, gain)


def _entry(program: _Program, guess: int, record: int, *, same: bool) -> int:
    return program.variable("own", guess) if same else program.variable("other", guess, record)


def _objective(program: _Program, levels: Floats, counts: Ints) -> dict[int, float]:
    gain: dict[int, float] = {}
    for record, (pi, number) in enumerate(zip(levels.tolist(), counts.tolist(), strict=True)):
        gain[_entry(program, record, record, same=True)] = number * pi * (1.0 - pi)
        for guess, (target, copies) in enumerate(zip(levels.tolist(), counts.tolist(), strict=True)):
            others = copies - (guess == record)
            if others:
                gain[_entry(program, guess, record, same=False)] = -number * pi * others * target
    return gain


def _rows_sum_to_one(program: _Program, counts: Ints) -> None:
    for record in range(counts.size):
        row = {_entry(program, record, record, same=True): 1.0}
        for guess, copies in enumerate(counts.tolist()):
            others = copies - (guess == record)
            if others:
                row[_entry(program, guess, record, same=False)] = float(others)
        program.sums.append(row)


def _compare(program: _Program, counts: Ints, of: int, against: int, shrink: float, delta: float) -> None:
    """Add sum over guesses of (P(g|of) - e^eps P(g|against))_+ <= delta, in units of e^eps so that nothing is huge."""
    kinds = [
        ("first", 1, _entry(program, of, of, same=True), _entry(program, of, against, same=False)),
        ("second", 1, _entry(program, against, of, same=False), _entry(program, against, against, same=True)),
    ]
    for guess, copies in enumerate(counts.tolist()):
        others = copies - (guess == of) - (guess == against)
        if others > 0:
            entry, entry_against = _entry(program, guess, of, same=False), _entry(program, guess, against, same=False)
            kinds.append((f"guess {guess}", others, entry, entry_against))
    budget: dict[int, float] = {}
    for kind, number, entry, entry_against in kinds:
        excess = program.variable("excess", of, against, kind, cap=min(1.0, delta / number))
        budget[excess] = float(number)
        program.rows.append(({entry: shrink, entry_against: -1.0, excess: -shrink}, 0.0))
    program.rows.append((budget, delta))


def _solve(program: _Program, gain: dict[int, float]) -> tuple[float, float]:
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    size = len(program.names)
    objective = np.zeros(size)
    objective[list(gain)] = list(gain.values())

    def matrix(rows: list[dict[int, float]]) -> object:
        index = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
        columns = np.concatenate([list(row) for row in rows])
        entries = np.concatenate([list(row.values()) for row in rows])
        return coo_array((entries, (index, columns)), shape=(len(rows), size)).tocsr()

    upper, right = matrix([row for row, _ in program.rows]), np.array([r for _, r in program.rows])
    equal, cap = matrix(program.sums), np.array(program.cap)
    answer = linprog(
        -objective,
        A_ub=upper,
        b_ub=right,
        A_eq=equal,
        b_eq=np.ones(len(program.sums)),
        bounds=np.stack([np.zeros(size), cap], axis=1),
        method="highs",
        options={"time_limit": 60.0},
    )
    if answer.status != 0:
        message = f"the linear program was not solved: {answer.message}"
        raise NumericsError(message)
    # Weak duality: any y >= 0 and any z prove right.y + sum z + sum cap (gain - A'y - E'z)_+.
    y = np.maximum(-answer.ineqlin.marginals, 0.0)
    z = -answer.eqlin.marginals
    reduced = objective - upper.T @ y - equal.T @ z  # type: ignore[attr-defined]
    dual = float(right @ y + z.sum() + cap @ np.maximum(reduced, 0.0))
    return float(-answer.fun), dual


def approx_black_box_rule(case: Case) -> list[Finding]:
    """The exact black-box value for (epsilon, delta)-DP by linear programming, reported from its dual side (ours)."""
    case.need_nothing_known()
    case.need_exact_goal()
    promise = case.privacy("replace-one")
    if promise.epsilon is None or promise.delta <= 0.0:
        message = "needs an (epsilon, delta) guarantee with delta > 0 under replace-one"
        raise Inapplicable(message)
    pi = case.finite_prior.probabilities
    if np.unique(pi).size <= MOST_LEVELS:
        _, dual = approx_black_box(pi, promise.epsilon, promise.delta)
        return [Finding(quantity="rad", value=min(1.0, dual), assumes=(promise.source,), neighbours=promise.relation)]
    rounded = _fewer_levels(pi, _FEW_LEVELS)
    _, dual = approx_black_box(rounded, promise.epsilon, promise.delta)
    # rad(pi) - rad(rounded) <= (tv + max/2) |pi - rounded|_1 for every mechanism; docs/derivations/black-box.md.
    tv = tv_of_approx(promise.epsilon, promise.delta)
    charge = (tv + 0.5 * float(rounded.max())) * float(np.abs(pi - rounded).sum())
    note = f"the prior rounded to {_FEW_LEVELS} different probabilities, which is charged with {charge:.3g}"
    return [
        Finding(
            quantity="rad", value=min(1.0, dual + charge), assumes=(promise.source, note), neighbours=promise.relation
        )
    ]


def _fewer_levels(pi: Floats, most: int) -> Floats:
    """Return the prior with groups of close probabilities replaced by their means, cutting the worst group first."""
    order = np.argsort(pi)
    sorted_pi = pi[order]
    groups = [(0, pi.size)]

    def spread(group: tuple[int, int]) -> float:
        part = sorted_pi[group[0] : group[1]]
        return float(np.abs(part - part.mean()).sum())

    while len(groups) < most:
        worst = max(groups, key=spread)
        if spread(worst) == 0.0:
            break
        groups.remove(worst)
        part = sorted_pi[worst[0] : worst[1]]
        middle = worst[0] + int(np.searchsorted(part, part.mean(), side="right"))
        groups += [(worst[0], middle), (middle, worst[1])]
    result = np.empty(pi.size)
    for low, high in groups:
        result[order[low:high]] = sorted_pi[low:high].mean()
    return result
