"""What counts as the attacker's success."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from ..errors import ParameterError
from ..numerics.decimals import as_fraction, whole_numbers
from ..numerics.lazy_numpy import Array, ArrayLike, Bools, Floats, Ints, np
from ..options import About
from ..options.alternatives import Alternative, Alternatives
from ..params import Param, as_floats
from .attackers import RECORD
from .knowledge import codes_of, column_codes, columns_alternative, labels_alternative
from .prior import checked_labels

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from .prior import Prior

__all__ = ["Goal"]

_ETA = Param(name="eta", low=0.0, what="how far off a guess may be and still count as right", typical=(0.0, 100.0))
_TOLERANCE = Param(name="tolerance", low=0.0, what="how much is added to eta", typical=(0.0, 1e-6))


@dataclass(frozen=True, slots=True, eq=False)
class Goal:
    """What counts as success: the exact value, a guess within eta of it, or a label or column of it.

    Examples
    --------
    >>> Goal.within(2.5)
    Goal.within(2.5, 'absolute')
    >>> Goal.columns("diagnosis")
    Goal.columns('diagnosis')
    """

    KINDS: ClassVar[Alternatives] = Alternatives.of(
        Alternative("exact", "the exact value"),
        Alternative(
            "within",
            "a guess near the value",
            "number",
            "ETA",
            field="within",
            about=About("a guess is right if it is off by at most this much", label="how near", example="1"),
            attackers=(RECORD.name,),
        ),
        labels_alternative("sought"),
        columns_alternative("sought"),
    )

    kind: Literal["exact", "within", "labels", "columns"]
    eta: float = 0.0
    names: tuple[Hashable, ...] = ()
    loss: Literal["absolute"] | Floats | Callable[[Any, Any], float] = field(default="absolute")
    reach: Fraction | None = None  # eta exactly; unless given the decimal that Python prints

    def __post_init__(self) -> None:
        if self.reach is None:
            object.__setattr__(self, "reach", as_fraction(self.eta))

    @classmethod
    def exact(cls) -> Goal:
        """The guess must be the target's value."""
        return cls("exact")

    @classmethod
    def within(
        cls,
        eta: float | Fraction | Decimal,
        loss: str | ArrayLike | Callable[[Any, Any], float] = "absolute",
        *,
        tolerance: float | Fraction | Decimal = 0.0,
    ) -> Goal:
        """The guess may be off by at most ``eta`` of the loss.

        ``loss`` is ``"absolute"`` (difference of numeric values), a matrix with entry (value, guess), or a function of
        (value, guess). Guesses are values of the prior (any number for a continuous prior, and with the absolute loss
        for one that was counted in a table and may lack values).

        Values and eta are read as the decimals that Python prints, and the difference is compared exactly: 0.9 is
        within 0.2 of 0.7, and of two time stamps a microsecond apart neither is within 0 of the other. Whole numbers,
        ``Decimal`` and ``Fraction`` are taken as they are. ``tolerance`` is added to eta, for values that were computed
        and are known to fewer digits than they print. With a continuous prior eta is the real number; losses of a
        matrix or a function are compared as the floats they are.

        Examples
        --------
        >>> from dpradar.threats import Prior
        >>> Goal.within(0.2).hits(Prior.uniform(2, [0.7, 0.9])).all()
        np.True_
        >>> Goal.within(0).hits(Prior.uniform(2, [1.7e9, 1.7e9 + 1e-6])).sum()  # each is right for itself only
        np.int64(2)
        >>> Goal.within(1, tolerance=1e-9)
        Goal.within(1.000000001, 'absolute')
        """
        eta, tolerance = (Fraction(x) if isinstance(x, Decimal) and x.is_finite() else x for x in (eta, tolerance))
        checked, added = _ETA.check("Goal.within", eta), _TOLERANCE.check("Goal.within", tolerance)
        reach = as_fraction(eta)
        if added:
            reach += as_fraction(tolerance)
            checked = _ETA.check("Goal.within", reach)
        if isinstance(loss, str):
            if loss != "absolute":
                allowed = "'absolute', a matrix or a function (value, guess) -> loss"
                raise ParameterError("Goal.loss", allowed, repr(loss), "Pass your own loss as a matrix or a function.")
            return cls("within", checked, reach=reach)
        if callable(loss):
            return cls("within", checked, loss=loss, reach=reach)
        hint = "Entry (i, j) is the loss of guessing value j when the value is i."
        matrix = as_floats("Goal.loss", "a square matrix of numbers >= 0", loss, hint)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or np.any(np.isnan(matrix)) or np.any(matrix < 0.0):
            raise ParameterError(
                "Goal.loss", "a square matrix of numbers >= 0", f"an array of shape {matrix.shape}", hint
            )
        matrix.setflags(write=False)
        return cls("within", checked, loss=matrix, reach=reach)

    @classmethod
    def labels(cls, labels: Sequence[Hashable]) -> Goal:
        """The guess must name the target's label (attribute inference); one label per value of the prior."""
        return cls("labels", names=checked_labels("Goal.labels", labels))

    @classmethod
    def columns(cls, *names: str) -> Goal:
        """The guess must name these columns of the target's record (attribute inference)."""
        if not names:
            raise ParameterError(
                "Goal.columns", "one or more column names", "none", "Use Goal.exact() for all columns."
            )
        return cls("columns", names=tuple(names))

    @property
    def is_absolute(self) -> bool:
        """Whether success is an absolute difference of numbers of at most eta."""
        return self.kind == "within" and isinstance(self.loss, str)

    def partition(self, prior: Prior) -> Ints | None:
        """Return a code per value when a guess names one code; None when success sets overlap."""
        if self.kind == "exact":
            return np.arange(prior.size, dtype=np.intp)
        if self.kind == "columns":
            return column_codes("Goal.columns", prior, tuple(map(str, self.names)))
        if self.kind == "labels":
            if len(self.names) != prior.size:
                allowed, hint = f"{prior.size} labels, one for each value of the prior", "A guess names one label."
                raise ParameterError("Goal.labels", allowed, f"{len(self.names)}", hint)
            return codes_of(self.names)
        return None

    def hits(self, prior: Prior) -> Bools:
        """Return the matrix (guess, value) of successes, for a loss given as a matrix or a function."""
        m = prior.size
        if isinstance(self.loss, np.ndarray):
            if self.loss.shape != (m, m):
                allowed, hint = f"a {m} x {m} matrix, as the prior has {m} values", "Give one row and column per value."
                raise ParameterError("Goal.loss", allowed, f"{self.loss.shape}", hint)
            return np.ascontiguousarray((self.loss <= self.eta).T)
        if not callable(self.loss):
            numbers, reach = self.windows(prior)
            return np.asarray(np.abs(numbers[:, None] - numbers[None, :]) <= reach, dtype=bool)
        records = [prior.record(i) for i in range(m)]
        table = np.array([[float(self.loss(z, g)) for z in records] for g in records])
        if np.any(np.isnan(table)) or np.any(table < 0.0):
            hint = "Check the function on each pair (value, guess)."
            raise ParameterError(
                "Goal.loss", "a function that returns numbers >= 0", "a negative or missing loss", hint
            )
        return table <= self.eta

    def windows(self, prior: Prior) -> tuple[Array, Any]:
        """Return the prior's values and eta as multiples of one unit: |a - b| <= eta is decided on these, exactly."""
        numbers, (reach,) = whole_numbers(prior.exact_numbers("Goal.within"), self.reach)
        return numbers, reach

    @property
    def summary(self) -> dict[str, Any]:
        """What results hold of it: how many classes there are, not which."""
        options: dict[str, Any] = {"kind": self.kind}
        if self.kind == "within":
            options |= {"eta": float(self.eta), "loss": self.loss if isinstance(self.loss, str) else "own"}
        if self.kind == "labels":
            options["classes"] = len(set(self.names))
        if self.kind == "columns":
            options["columns"] = [str(name) for name in self.names]
        return options

    def __repr__(self) -> str:
        if self.kind == "within":
            loss = "'absolute'" if isinstance(self.loss, str) else "own loss"
            short = f"{self.eta:g}"
            return f"Goal.within({short if float(short) == self.eta else repr(self.eta)}, {loss})"
        if self.kind == "labels":
            return f"Goal.labels({len(set(self.names))} labels)"
        return f"Goal.{self.kind}({', '.join(map(repr, self.names))})"
