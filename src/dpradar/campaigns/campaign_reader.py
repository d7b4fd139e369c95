"""Read a campaign: TOML to runs, grids written out, with every problem reported at once."""

from __future__ import annotations

import difflib
import hashlib
import math
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from ..attacks.attack_options import LARGEST_SEED
from ..errors import DpradarError, ParameterError, Problem, SpecError
from ..options.reading import inside
from ..params import shown
from ..spec.model import place_of
from ..spec.problems import problem_of
from ..spec.read import plain_tables, text_of
from .campaign_model import Campaign, Run, canonical
from .campaign_tables import ACTIONS, ANSWER_ONLY_KEYS, DESCRIPTIVE_KEYS, SEED, TOP_LEVEL_TABLE, run_table
from .sharded_runs import check_run_options

__all__ = ["parse", "read"]

MOST_RUNS = 10_000
_START = "docs/how-to/run-a-campaign.md shows one to start from, examples/campaigns has more."


def read(path: str | Path) -> Campaign:
    """Return the campaign in a TOML file, or raise SpecError with all its problems.

    Files that the campaign names are looked for beside it.
    """
    path = Path(path)
    return parse(text_of(path, _START), folder=path.parent, file=str(path))


def parse(text: str, *, folder: Path | None = None, file: str = "the campaign") -> Campaign:
    r"""Return the campaign that a TOML text describes, or raise SpecError with all its problems.

    Without a ``folder`` the text may name no files, hence no sampler either.

    Examples
    --------
    >>> parse('[[run]]\ndo = "atack"\n[[run]]\ndo = "attack"\nkind = "grr"\nm = 9\n[run.grid]\nepsilon = [1.0, -2]\n')
    Traceback (most recent call last):
        ...
    dpradar.errors.SpecError: the campaign has 2 problems:
      run[1].do: must be one of attack, audit, assess, calibrate, learning; got 'atack'. Did you mean 'attack'?
      run[2].grid.epsilon: must be a number at least 0; got -2. It is the privacy-loss bound of differential...
    """
    data = plain_tables(text, file)
    top, problems = TOP_LEVEL_TABLE.read(data, "")
    draft = _Draft(folder, problems=problems)
    draft.seed = top.get(SEED.name, draft.seed)
    runs = data.get("run", [])
    tables = [runs] if isinstance(runs, dict) else runs
    if not isinstance(tables, list) or not tables or not all(isinstance(table, dict) for table in tables):
        if "run" in data:
            draft.problems.append(Problem("run", f"must be [[run]] tables; got {shown(runs)}", "Write [[run]]."))
        tables = []
    for i, table in enumerate(tables):
        draft.add(place_of("run", i, len(tables)), table)
    if draft.problems:
        raise SpecError(file, list(dict.fromkeys(draft.problems)))
    descriptive = {key: value for key, value in top.items() if key != "run"}
    return Campaign(runs=tuple(draft.runs), **descriptive, text=text, folder=folder, file=file)


@dataclass(slots=True)
class _Draft:
    """The runs and problems of a file that is being read."""

    folder: Path | None
    seed: int = 1
    runs: list[Run] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def add(self, place: str, table: dict[str, Any]) -> None:
        """Add the runs of one table."""
        do = table.get("do")
        if do not in ACTIONS:
            matches = difflib.get_close_matches(str(do), ACTIONS, n=1)
            got = "nothing" if do is None else shown(do)
            hint = f"Did you mean {matches[0]!r}?" if matches else ""
            self.problems.append(Problem(f"{place}.do", f"must be one of {', '.join(ACTIONS)}; got {got}", hint))
            return
        grid = table.get("grid", {})
        problem = self._grid_problem(grid, place)
        if problem is not None:
            self.problems.append(problem)
            return
        for values in product(*grid.values()):
            varied = dict(zip(grid, values, strict=True))
            run = self._run(place, {**table, **varied}, varied)
            if run is not None:
                self.runs.append(run)

    def _grid_problem(self, grid: Any, place: str) -> Problem | None:
        hint = "Such as [run.grid] with epsilon = [1.0, 2.0]."
        if not isinstance(grid, dict):
            return Problem(f"{place}.grid", f"must be a table of lists; got {shown(grid)}", hint)
        for key, values in grid.items():
            if key in ("do", "grid", *DESCRIPTIVE_KEYS):
                return Problem(f"{place}.grid.{key}", "cannot be varied", "Write another [[run]].")
            if not isinstance(values, list) or not values:
                return Problem(
                    f"{place}.grid.{key}", f"must be a list with at least one value; got {shown(values)}", hint
                )
        count = math.prod(map(len, grid.values())) + len(self.runs)
        if count > MOST_RUNS:
            return Problem(
                f"{place}.grid", f"must lead to at most {MOST_RUNS:,} runs; got {count:,}", "Make two files."
            )
        return None

    def _run(self, place: str, table: dict[str, Any], varied: dict[str, Any]) -> Run | None:
        """Return one run, or keep its problems; a problem of a value from the grid is reported there."""
        before = len(self.problems)
        options = self._options(place, table)
        earlier, new = self.problems[:before], self.problems[before:]
        self.problems = [*earlier, *(_in_grid(problem, place, varied) for problem in new)]
        if options is None or new:
            return None
        descriptive = {key: options.pop(key) for key in DESCRIPTIVE_KEYS if key in options}
        options.pop("grid", None)
        do, explicit_seed = options.pop("do"), options.pop(SEED.name, None)
        seed = _seed(self.seed, do, options) if explicit_seed is None else int(explicit_seed)
        number, names = len(self.runs) + 1, tuple(varied)
        return Run(number=number, place=place, do=do, options=options, seed=seed, varied=names, **descriptive)

    def _options(self, place: str, table: dict[str, Any]) -> dict[str, Any] | None:
        where = inside(place, self.folder)
        try:
            options, problems = run_table(table, where).read(table, place, self.folder)
            if problems:
                self.problems += problems
                return None
            plain = {
                key: value for key, value in options.items() if key not in ("do", "grid", SEED.name, *DESCRIPTIVE_KEYS)
            }
            check_run_options(table["do"], plain, where)
            if options.get(SEED.name, 0) > LARGEST_SEED:
                raise ParameterError(where(SEED.name), "at most 1e38", "a larger number")  # noqa: TRY301
        except ParameterError as error:
            self.problems.append(problem_of(error, place, table))
            return None
        except DpradarError as error:
            self.problems.append(Problem(place, str(error)))
            return None
        return options


def _in_grid(problem: Problem, place: str, varied: dict[str, Any]) -> Problem:
    key = problem.path.removeprefix(f"{place}.").partition(".")[0].partition("[")[0]
    if key not in varied or not problem.path.startswith(f"{place}."):
        return problem
    return Problem(problem.path.replace(f"{place}.{key}", f"{place}.grid.{key}", 1), problem.message, problem.hint)


def _seed(root: int, do: str, options: dict[str, Any]) -> int:
    """Return the seed of a run: derived from its options, so that adding or moving a run changes no other.

    Short enough to be typed, and for every reader of JSON.
    """
    seeding_options = {key: value for key, value in options.items() if key not in ANSWER_ONLY_KEYS.get(do, ())}
    text = f"{root} {do} {canonical(seeding_options)}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big")
