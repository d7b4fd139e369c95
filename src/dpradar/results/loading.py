"""Read a saved result, of whatever kind it is."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path
from typing import Any

from ..errors import ParameterError, SpecError, why_unreadable
from ..numerics.limited_reading import read_text
from . import accounting, advice, assessment, attack, audit, calibration, correlation, lint, run
from .agreement import contradictions
from .checking import MOST_PROBLEMS, checked

__all__ = ["load", "result_of"]

_KINDS: dict[str, Any] = {
    accounting.SCHEMA: accounting.Accounting,
    advice.SCHEMA: advice.Advice,
    assessment.SCHEMA: assessment.Assessment,
    attack.SCHEMA: attack.AttackRun,
    audit.SCHEMA: audit.AuditResult,
    calibration.SCHEMA: calibration.Calibration,
    correlation.SCHEMA: correlation.Correlation,
    lint.SCHEMA: lint.LintReport,
    run.SCHEMA: run.RunResult,
}


def load(path: str | Path) -> Any:
    """Return the result saved at ``path``: an assessment, a calibration, an attack, an audit or a run.

    Examples
    --------
    >>> import dpradar as dr, tempfile, pathlib
    >>> a = dr.assess(dr.GRR(m=10, epsilon=1.0))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     a.save(pathlib.Path(folder) / "a.json")
    ...     dr.load(pathlib.Path(folder) / "a.json") == a
    True
    """
    try:
        data = json.loads(read_text(Path(path)))
    except (OSError, ValueError, RecursionError) as error:
        raise ParameterError("load", "a file written by save()", str(path), why_unreadable(error)) from None
    return result_of(data, str(path))


def result_of(data: Any, place: str = "data") -> Any:
    """Return the result that ``to_dict`` wrote, of whatever kind it is, or raise SpecError with what is wrong in it."""
    schema = data.get("schema") if isinstance(data, dict) else None
    kind = _KINDS.get(schema) if isinstance(schema, str) else None
    if kind is None:
        raise ParameterError("load", "a file written by save()", place, f"Known: {', '.join(_KINDS)}.")
    result = kind.from_dict(checked(data, str(schema), place))
    problems = list(islice(contradictions(data, result.to_dict()), MOST_PROBLEMS))
    if problems:
        raise SpecError(place, problems)
    return result
