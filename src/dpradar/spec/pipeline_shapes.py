"""The shape of a pipeline file, by pydantic: keys, types and ranges. Imported only when a file is read."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, WithJsonSchema, create_model

from ..granularity.neighbour_relation import PATTERN
from ..granularity.pipeline import NOISES
from .shapes import Allowed, Day, Table, Text

__all__ = ["PRACTICE", "TABLES", "PipelineTop", "pipeline_model"]

_LOSS = Allowed("a number at least 0, or a table from granularities to numbers", "Such as epsilon = { bounded = 0.5 }.")
_Loss = Annotated[float, Field(ge=0.0)]
Loss = Annotated[_Loss | dict[str, _Loss], _LOSS]
Positive = Annotated[float, Field(ge=0.0, allow_inf_nan=False), Allowed("a number at least 0")]
Delta = Annotated[float, Field(ge=0.0, le=1.0), Allowed("a number at least 0 and at most 1")]
Count = Annotated[int, Field(ge=1), Allowed("a whole number at least 1")]
Cell = Annotated[str | int, Allowed("the name of a cell")]
MOST_CELLS = 100_000
_Number = Annotated[int, Field(ge=1, le=MOST_CELLS)]
_List = Annotated[list[str | int], Field(max_length=MOST_CELLS)]
_CELLS = f"a list of names, a number of cells, or 'all'; at most {MOST_CELLS:,} cells"
Cells = Annotated[_List | _Number | str, Allowed(_CELLS)]
Relation = Annotated[
    str,
    Allowed("the name of a granularity", "Such as 'bounded', 'user:add-remove' or 'w-event:10'."),
    WithJsonSchema({"type": "string", "pattern": PATTERN, "description": "the name of a granularity"}),
]


def _choice(*names: str) -> Any:
    words = f"{', '.join(map(repr, names[:-1]))} or {names[-1]!r}"
    return Annotated[Literal[names], Allowed(words)]


def _model(name: str, what: str, keys: dict[str, Any], needed: tuple[str, ...] = ()) -> type[Table]:
    fields: dict[str, Any] = {key: (kind, ... if key in needed else None) for key, kind in keys.items()}
    return create_model(name, __base__=Table, __doc__=what, **fields)


_FACTS = ("records", "users", "points_per_user", "trajectories_per_user", "points_per_trajectory", "times", "vertices")
_PRACTICE = {
    "noise": _choice(*NOISES),
    "arithmetic": _choice("float", "exact"),
    "noise_on": _choice("all", "present"),
    "support": _choice("fixed", "data"),
    "query": _choice("count", "histogram", "n-gram", "prefix-tree"),
    "longest": Count,
    "gram": Count,
    "assumed": Positive,
}
Claim = _model(
    "Claim",
    "What is claimed of all steps together.",
    {
        "granularity": Relation,
        "epsilon": Positive,
        "mu": Positive,
        "delta": Delta,
        "composition": _choice("sequential", "parallel"),
    },
    ("granularity",),
)
Data = _model(
    "Data",
    "What is known of every database that may occur.",
    {
        **dict.fromkeys((*_FACTS, "degree"), Count),
        "size": _choice("public", "private"),
        "hidden": _choice("values", "points", "people"),
    },
)
Partition = _model(
    "Partition",
    "How the data are divided among steps.",
    {
        "name": Text,
        "kind": _choice("value", "index", "user", "time", "custom"),
        "cells": Cells,
        "changes": Annotated[dict[str, Count], Allowed("a table from granularities to whole numbers")],
        "moves": Positive,
    },
    ("name", "kind"),
)
Step = _model(
    "Step",
    "One step: what it costs, and what it reads.",
    {
        "name": Text,
        "what": Text,
        "note": Text,
        "date": Day,
        "epsilon": Loss,
        "mu": Loss,
        "mechanism": Annotated[dict[str, Any], Allowed("a table as in a release: kind and its parameters")],
        "granularity": Relation,
        "sensitivity": Positive,
        "reads": _choice("data", "outputs", "public"),
        "partition": Text,
        "cell": Cell,
        "cells": Cells,
        "domain": _choice("own", "common"),
        "times": Count,
        **_PRACTICE,
    },
    ("name",),
)
TABLES: dict[str, type[Table]] = {"claim": Claim, "data": Data, "partition": Partition, "step": Step}
PRACTICE = tuple(_PRACTICE)
PipelineTop = _model(
    "Pipeline",
    "Keys outside of tables.",
    {
        "title": Text,
        "note": Text,
        "targets": Annotated[list[Relation], Allowed("a list of granularities")],
        **dict.fromkeys(TABLES, Any),
    },
    ("step",),
)


def pipeline_model() -> type[Table]:
    """Return the shape of a whole file, for the JSON Schema."""
    several: Any = {name: TABLES[name] | list[TABLES[name]] for name in ("partition", "step")}  # type: ignore[valid-type]
    keys = {**{key: one.annotation for key, one in PipelineTop.model_fields.items()}, **TABLES, **several}
    return _model("Pipeline", "Steps that read data, what each costs, and what is claimed of all.", keys, ("step",))
