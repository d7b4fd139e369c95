"""What the attacker knows of the target beside the release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from ..errors import ParameterError
from ..numerics.lazy_numpy import Ints, np
from ..options import About
from ..options.alternatives import Alternative, Alternatives
from .attackers import RECORD, TABLE
from .prior import checked_labels, plain_label

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from .prior import Prior

__all__ = ["Knowledge", "codes_of", "column_codes", "columns_alternative", "labels_alternative"]


def codes_of(labels: Sequence[Hashable]) -> Ints:
    """Number the labels 0, 1, ... in order of first appearance."""
    code_of_label: dict[Hashable, int] = {}
    return np.array(
        [code_of_label.setdefault(plain_label(label), len(code_of_label)) for label in labels], dtype=np.intp
    )


def column_codes(owner: str, prior: Prior, names: tuple[str, ...]) -> Ints:
    """Number the records by the values of the named columns."""
    if prior.columns is None:
        raise ParameterError(owner, "used with Prior.records", "a prior without columns", f"Columns asked: {names}.")
    unknown = [name for name in names if name not in prior.columns]
    if unknown:
        raise ParameterError(
            owner, f"columns of the prior {sorted(prior.columns)}", f"{unknown}", "Check the spelling."
        )
    return codes_of(list(zip(*(prior.columns[name] for name in names), strict=True)))


def labels_alternative(field: str) -> Alternative:
    """Return the kind of knowledge or goal that is a label; ``field``: its name in the addresses of forms."""
    return Alternative(
        "labels",
        "which group the person is in",
        "list",
        "A,A,B",
        field=field,
        about=About("one name for each value: a, a, b", label="group of each value", example="a, a, b"),
        attackers=(RECORD.name,),
    )


def columns_alternative(field: str) -> Alternative:
    """Return the kind of knowledge or goal that is some columns; ``field``: its name in the addresses of forms."""
    return Alternative(
        "columns",
        "some columns of the record",
        "list",
        "NAMES",
        field=field,
        about=About("names from the header", label="which columns"),
        attackers=(TABLE.name,),
    )


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What is known of the target: nothing, everything, a label per value, or some columns.

    Examples
    --------
    >>> Knowledge.columns("age", "sex")
    Knowledge.columns('age', 'sex')
    >>> from dpradar.threats import Prior
    >>> Knowledge.labels(["north", "north", "south"]).codes(Prior.uniform(3)).tolist()
    [0, 0, 1]
    """

    KINDS: ClassVar[Alternatives] = Alternatives.of(
        Alternative("nothing", "nothing about the person"),
        Alternative("everything", "the value; asks if it was used", attackers=(RECORD.name,)),
        labels_alternative("known"),
        columns_alternative("known"),
    )

    kind: Literal["nothing", "everything", "labels", "columns"]
    names: tuple[Hashable, ...] = ()

    @classmethod
    def nothing(cls) -> Knowledge:
        """The attacker knows only the prior: reconstruction."""
        return cls("nothing")

    @classmethod
    def everything(cls) -> Knowledge:
        """The attacker knows the whole record and asks whether it was used: membership."""
        return cls("everything")

    @classmethod
    def labels(cls, labels: Sequence[Hashable]) -> Knowledge:
        """The attacker knows the target's label; one label per value of the prior."""
        return cls("labels", checked_labels("Knowledge.labels", labels))

    @classmethod
    def columns(cls, *names: str) -> Knowledge:
        """The attacker knows these columns of the target's record."""
        if not names:
            raise ParameterError("Knowledge.columns", "one or more column names", "none", "Use Knowledge.nothing().")
        return cls("columns", tuple(names))

    def codes(self, prior: Prior) -> Ints:
        """Return for each value of the prior a number: equal numbers look alike to the attacker."""
        if self.kind == "nothing":
            return np.zeros(prior.size, dtype=np.intp)
        if self.kind == "everything":
            return np.arange(prior.size, dtype=np.intp)
        if self.kind == "columns":
            return column_codes("Knowledge.columns", prior, tuple(map(str, self.names)))
        if len(self.names) != prior.size:
            allowed, hint = (
                f"{prior.size} labels, one for each value of the prior",
                "Equal labels look alike to the attacker.",
            )
            raise ParameterError("Knowledge.labels", allowed, f"{len(self.names)}", hint)
        return codes_of(self.names)

    @property
    def summary(self) -> dict[str, Any]:
        """What results hold of it: how many groups there are, not which."""
        options: dict[str, Any] = {"kind": self.kind}
        if self.kind == "labels":
            options["groups"] = len(set(self.names))
        if self.kind == "columns":
            options["columns"] = [str(name) for name in self.names]
        return options

    def __repr__(self) -> str:
        if self.kind == "labels":
            return f"Knowledge.labels({len(set(self.names))} labels)"
        return f"Knowledge.{self.kind}({', '.join(map(repr, self.names))})"
