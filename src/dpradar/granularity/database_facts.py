"""Facts that hold for every possible database: sizes, and what is public."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated, Literal

from annotated_types import Ge

from ..options import About
from ..options.tables import options_in

if TYPE_CHECKING:
    from .neighbour_relation import Granularity

__all__ = ["Facts", "domain_warnings"]

Hidden = Literal["values", "points", "people"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Limits on the databases; what is not given is unlimited.

    ``size`` says whether the number of records is public. ``hidden`` says how much of a stream (or of the records of
    users) is secret: only the "values" of points (who has points when is public), also which "points" exist, or also
    which "people" take part (someone without points is then not there). Where it is not given, the worst is assumed.

    Examples
    --------
    >>> Facts(points_per_user=20, times=96, hidden="points").limit("points_per_user")
    20.0
    >>> Facts().limit("times")
    inf
    """

    records: Annotated[int, Ge(1), About("the largest number of records of a table")] | None = None
    size: Annotated[Literal["public", "private"], About("whether the number of records is public")] | None = None
    users: Annotated[int, Ge(1), About("the number of users")] | None = None
    points_per_user: Annotated[int, Ge(1), About("the largest number of points or records of one user")] | None = None
    trajectories_per_user: Annotated[int, Ge(1), About("the largest number of trajectories of one user")] | None = None
    points_per_trajectory: Annotated[int, Ge(1), About("the largest number of points of one trajectory")] | None = None
    times: Annotated[int, Ge(1), About("the number of times of a stream")] | None = None
    hidden: Annotated[Hidden, About("the secret part of a stream")] | None = None
    vertices: Annotated[int, Ge(1), About("the number of vertices of a graph")] | None = None
    degree: Annotated[int, Ge(1), About("the largest degree of a vertex")] | None = None

    def __post_init__(self) -> None:
        for option in options_in(Facts):
            object.__setattr__(self, option.name, option.check("Facts", getattr(self, option.name)))

    def limit(self, name: str) -> float:
        """Return a limit as a number, infinite where it is not known."""
        value = getattr(self, name)
        return math.inf if value is None else float(value)

    def stated_facts(self) -> dict[str, int | str]:
        """Return the facts that were stated, by name."""
        return {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) is not None}


def domain_warnings(granularity: Granularity, facts: Facts) -> tuple[str, ...]:
    """Return where a relation protects nothing, or leaves something unprotected, on the databases that may occur.

    Notes
    -----
    Doctoral thesis, Example A.5 and Remark A.6: on tables of one public size no two are unbounded neighbours, so that
    every mechanism is unbounded 0-DP there, even one that publishes the table.

    Examples
    --------
    >>> from dpradar.granularity import Granularity
    >>> domain_warnings(Granularity.unbounded(), Facts(size="public"))
    ('unbounded: no two tables of the same public size are neighbours, so every mechanism satisfies it, even one that
    publishes the table',)
    """
    name, leaves, hidden = granularity.name, granularity.neighbours == "add-remove", facts.hidden
    nothing = "so every mechanism satisfies it, even one that publishes"
    reason = "are never connected, so"
    cases = (
        (
            name == "unbounded" and facts.size == "public",
            f"no two tables of the same public size are neighbours, {nothing} the table",
        ),
        (
            name == "user" and leaves and hidden in ("values", "points"),
            f"nobody joins or leaves where hidden is {hidden!r}, {nothing} everything",
        ),
        (
            name == "trajectory" and leaves and hidden == "values",
            f"no trajectory comes or goes where hidden is 'values', {nothing} everything",
        ),
        (
            name == "bounded" and facts.size == "private",
            f"tables of different sizes {reason} the number of records is not protected",
        ),
        (
            name in ("user", "element") and not leaves and hidden == "people",
            f"different groups of people {reason} who takes part is not protected",
        ),
        (
            name == "l-trajectory" and hidden in ("points", "people"),
            f"other times of recording {reason} when points were recorded is not protected",
        ),
    )
    return tuple(f"{granularity}: {text}" for holds, text in cases if holds)
