"""Read a pipeline: TOML to steps, partitions, facts and a claim, and all the problems of a file at once."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ParameterError, Problem, SpecError
from ..granularity import Claim, Facts, Granularity, Partition, Pipeline, Practice, Step
from ..options.reading import inside
from .pipeline_tables import ALONE, FOR_PEOPLE, PRACTICE, TABLES, TOP
from .problems import problem_of
from .question import release_of
from .read import plain_tables, tables_in, text_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..options.tables import Table

__all__ = ["parse_pipeline", "read_pipeline"]

_START = "docs/how-to/account-for-a-pipeline.md shows one to start from, examples/pipelines has more."


def read_pipeline(path: str | Path) -> Pipeline:
    """Return the pipeline in a TOML file, or raise SpecError with all its problems.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> text = '''
    ... [claim]
    ... granularity = "unbounded"
    ... epsilon = 1.0
    ... [[step]]
    ... name = "count"
    ... granularity = "unbounded"
    ... epsilon = 0.5
    ... times = 2
    ... '''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "pipeline.toml"
    ...     _ = file.write_text(text)
    ...     read_pipeline(file).steps
    (Step('count', epsilon 0.5 under unbounded),)
    """
    path = Path(path)
    return parse_pipeline(text_of(path, _START), file=str(path))


def parse_pipeline(text: str, *, file: str = "the pipeline") -> Pipeline:
    r"""Return the pipeline that a TOML text describes, or raise SpecError with all its problems.

    Examples
    --------
    >>> parse_pipeline('titel = "x"\n[[step]]\nname = "count"\nepsilon = -1.0\ngranularity = "bonded"\n')
    Traceback (most recent call last):
        ...
    dpradar.errors.SpecError: the pipeline has 2 problems:
      titel: is not a key of this table. Did you mean 'title'?
      step.epsilon: must be a number at least 0, or a table from granularities to numbers; got -1.0. Such as epsilon...
    """
    draft = _Draft(plain_tables(text, file))
    pipeline = draft.pipeline()
    if draft.problems or pipeline is None:
        raise SpecError(file, draft.problems)
    return pipeline


@dataclass(slots=True)
class _Draft:
    """A file on its way to a pipeline."""

    data: dict[str, Any]
    problems: list[Problem] = field(default_factory=list)

    def pipeline(self) -> Pipeline | None:
        """Return the pipeline, or None where something is wrong with it."""
        top = self._checked(TOP, self.data, "") or {}
        alone = {n: self._checked(TABLES[n], self.data[n], n) or {} for n in ALONE if n in self.data}
        partitions = [one for one in self._each("partition", self._partition) if one is not None]
        named = {partition.name: partition for partition in partitions}
        steps = [
            step
            for group in self._each("step", lambda place, table: self._steps(place, table, named))
            for step in group or ()
        ]
        claim = self._build("claim", lambda: Claim(**alone["claim"]), alone["claim"]) if alone.get("claim") else None
        facts = self._build("data", lambda: Facts(**alone.get("data", {})), alone.get("data", {}))
        texts = self.data.get("targets", [])
        texts = texts if isinstance(texts, list) and all(isinstance(text, str) for text in texts) else []
        targets = self._build("targets", lambda: [Granularity.parse(text) for text in texts])
        if self.problems:
            return None
        title = top.get("title", "")

        def whole() -> Pipeline:
            return Pipeline(steps=steps, partitions=partitions, facts=facts, claim=claim, targets=targets, title=title)

        pipeline: Pipeline | None = self._build("", whole)
        return pipeline

    def _build(self, place: str, make: Callable[[], Any], keys: Any = ()) -> Any:
        """Return what ``make`` returns, or note the problem and return None."""
        try:
            return make()
        except ParameterError as error:
            self.problems.append(problem_of(error, place, keys))
            return None

    def _checked(self, keys: Table, table: Any, place: str) -> dict[str, Any] | None:
        """Return the keys of a table, or None where something is wrong with them."""
        values, problems = keys.read(table, place)
        self.problems += problems
        return None if problems else values

    def _each(self, name: str, make: Callable[[str, dict[str, Any]], Any]) -> list[Any]:
        """Return one object for [name], or for every [[name]]; None where something is wrong with the table."""
        objects = []
        for place, table in tables_in(self.data, name, self.problems):
            checked = self._checked(TABLES[name], table, place)
            objects.append(None if checked is None else make(place, checked))
        return objects

    def _partition(self, place: str, table: dict[str, Any]) -> Partition | None:
        cells = table.get("cells", [])
        if isinstance(cells, str):
            self.problems.append(Problem(f"{place}.cells", f"must be a list or a number; got {cells!r}"))
            return None
        names = [str(k) for k in range(1, cells + 1)] if isinstance(cells, int) else [str(cell) for cell in cells]
        partition: Partition | None = self._build(place, lambda: Partition(**{**table, "cells": names}), table)
        return partition

    def _steps(self, place: str, table: dict[str, Any], partitions: dict[str, Partition]) -> list[Step] | None:
        """Return one step, or one for each cell."""
        table = {key: value for key, value in table.items() if key not in FOR_PEOPLE}
        practice = Practice(**{key: table.pop(key) for key in PRACTICE if key in table})
        if not self._has_partition(place, table.get("partition"), partitions):
            return None
        cells = self._cells(place, table, partitions)
        if cells is None:
            return None
        if "mechanism" in table:
            options = table["mechanism"]
            where = f"{place}.mechanism"
            table["mechanism"] = self._build(where, lambda: release_of(options, inside(where, None)), options)
            if table["mechanism"] is None:
                return None
        table.pop("cells", None)
        return self._build(place, lambda: [_step(table, cell, practice) for cell in cells], table)  # type: ignore[no-any-return]

    def _has_partition(self, place: str, name: str | None, partitions: dict[str, Partition]) -> bool:
        """Return whether the partition of a step can be used; where the file has none of that name, note it."""
        if name is None or name in partitions:
            return True
        value = self.data.get("partition", [])
        tables = [value] if isinstance(value, dict) else value if isinstance(value, list) else []
        names = [str(table["name"]) for table in tables if isinstance(table, dict) and "name" in table]
        if name not in names:  # otherwise the problem of the partition itself is noted already
            near = difflib.get_close_matches(name, names, n=1)
            hint = f"Did you mean {near[0]!r}?" if near else "Describe it in a table [[partition]]."
            allowed = f"one of the partitions {', '.join(names) or '(none)'}"
            self.problems.append(Problem(f"{place}.partition", f"must be {allowed}; got {name!r}", hint))
        return False

    def _cells(self, place: str, table: dict[str, Any], partitions: dict[str, Partition]) -> list[str | None] | None:
        """Return the cells that a step reads one by one; [None] where it reads everything."""
        partition = partitions.get(table.get("partition", ""))
        if "cells" not in table:
            return [str(table["cell"])] if "cell" in table else [None]
        cells, problem = table["cells"], ""
        if "cell" in table:
            problem = "must stand alone; there is also cell"
        elif cells == "all" and (partition is None or not partition.cells):
            problem = "must be a list where the partition lists no cells; got 'all'"
        elif isinstance(cells, str) and cells != "all":
            problem = f"must be a list of names, a number of cells, or 'all'; got {cells!r}"
        if problem:
            self.problems.append(Problem(f"{place}.cells", problem))
            return None
        if cells == "all" and partition is not None:
            return list(partition.cells)
        names = range(1, cells + 1) if isinstance(cells, int) else cells
        return [str(cell) for cell in names]


def _step(table: dict[str, Any], cell: str | None, practice: Practice) -> Step:
    return Step(**(table if cell is None else {**table, "cell": cell}), practice=practice)
