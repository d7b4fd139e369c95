"""The tables of a pipeline file: which keys each has. The keys are declared at the classes that they describe."""

from __future__ import annotations

from typing import Annotated, Any

from ..granularity import Claim, Facts, Partition, Practice, Step
from ..granularity.option_shapes import Cells, RelationName
from ..options import About, ListOf, option_of
from ..options.tables import Table, options_in
from .file_tables import nested
from .model import ReleaseSpec, Spec

__all__ = ["ALONE", "FOR_PEOPLE", "PRACTICE", "TABLES", "TOP", "pipeline_file"]

_FOR_PEOPLE = options_in(ReleaseSpec, "what", "note", "date")

TABLES = {
    "claim": Table("Claim", "What is claimed of all steps together.", options_in(Claim)),
    "data": Table("Data", "What is known of every database that may occur.", options_in(Facts)),
    "partition": Table("Partition", "How the data are divided among steps.", options_in(Partition)),
    "step": Table(
        "Step",
        "One step: what it costs, and what it reads.",
        (
            *options_in(Step),
            *_FOR_PEOPLE,
            option_of("cells", Annotated[Any, Cells(), About("")], None),
            *options_in(Practice),
        ),
    ),
}
PRACTICE, FOR_PEOPLE = (tuple(one.name for one in options) for options in (options_in(Practice), _FOR_PEOPLE))
ALONE, _SEVERAL = ("claim", "data"), ("partition", "step")
_TOP = (
    *options_in(Spec, "title"),
    *options_in(ReleaseSpec, "note"),
    option_of("targets", Annotated[Any, ListOf("a list of granularities", each=RelationName()), About("")], None),
)


def _tables(*, separately: bool) -> tuple[Any, ...]:
    return tuple(
        nested(name, table, needed=name == "step", several=name in _SEVERAL, separately=separately)
        for name, table in TABLES.items()
    )


TOP = Table("Pipeline", "Keys outside of tables.", (*_TOP, *_tables(separately=True)))


def pipeline_file() -> Table:
    """Return the keys of a whole file."""
    what = "Steps that read data, what each costs, and what is claimed of all."
    return Table("Pipeline", what, (*_TOP, *_tables(separately=False)))
