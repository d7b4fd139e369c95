"""Audits for demonstration: of a built-in mechanism with a deliberate defect, and of pasted pairs."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...audits import Samples, audit
from ...errors import ParameterError
from ...guarantees import GDP, PureDP
from ...mechanisms import Gaussian
from ...numerics.lazy_numpy import Ints, np
from ...options import reading
from ...params import shown
from ...spec.claims import claim_of
from ...spec.question import release_of, threat_of
from ...spec.release_kinds import KINDS
from ...spec.threat_options import VALUES
from ..forms.form import PLACE

if TYPE_CHECKING:
    from ...results import AuditResult

__all__ = [
    "AUDITABLE_KINDS",
    "DEFECTS",
    "audit_pasted_pairs",
    "audit_with_defect",
    "merge_equal_rows",
    "parse_pairs",
    "promised_guarantee",
]

Progress = Callable[[int, int], None]
# What each defect is, and the factor by which it changes the noise: noise k times smaller is epsilon k times larger.
DEFECTS = {"none": ("none", 1.0), "tenth": ("10 % too little noise", 0.9), "half": ("half the noise", 0.5)}
_LOCAL_KINDS = tuple(
    name
    for name, kind in KINDS.items()
    if kind.group == "local" and not getattr(kind.cls, "REPORTS_DEPEND_ON_EPSILON", False)
)
AUDITABLE_KINDS = (*_LOCAL_KINDS, "laplace", "geometric", "gaussian")
_LARGEST_LOG = 1_000_000
_HEADER = ("input", "output")


def promised_guarantee(question: dict[str, Any]) -> Any:
    """Return what the mechanism promises about its values: a guarantee, with the relation of values of a domain.

    Examples
    --------
    >>> promised_guarantee({"kind": "laplace", "scale": 5.0, "values": "0:10"})
    PureDP(epsilon=2.0, neighbours='replace-one')
    """
    release = release_of(question, PLACE)
    if KINDS[question["kind"]].group == "local":
        return PureDP(release.epsilon, neighbours="replace-one")
    prior = threat_of(question, PLACE).prior
    if prior is None or prior.values is None:
        raise ParameterError(VALUES.name, "given: LOW:HIGH or a list", "nothing")
    largest_difference = float(np.ptp(np.asarray(prior.values, dtype=float)))
    if isinstance(release, Gaussian):
        return GDP(largest_difference / release.sigma, neighbours="replace-one")
    return PureDP(largest_difference / release.scale, neighbours="replace-one")


def question_with_defect(question: dict[str, Any], defect: str) -> dict[str, Any]:
    """Return the question with the noise that the defect leaves."""
    param = KINDS[question["kind"]].noise
    if param is None or defect not in DEFECTS:
        raise ParameterError("defect", f"one of {', '.join(DEFECTS)}", shown(defect))
    _, factor = DEFECTS[defect]
    factor = factor if param.more_private == "up" else 1.0 / factor
    return {**question, param.name: question[param.name] * factor}


def audit_with_defect(data: dict[str, Any], progress: Progress) -> AuditResult:
    """Return the audit of a built-in mechanism whose noise may be smaller than claimed."""
    question = data["question"]
    threat = threat_of(question, PLACE)
    promised, claim = release_of(question, PLACE), promised_guarantee(question)
    release = release_of(question_with_defect(question, data["defect"]), PLACE).at(threat.prior)
    size = threat.finite.size

    def sampler(inputs: Ints, rng: np.random.Generator) -> Any:
        return release.sample(np.asarray(inputs), rng)

    protocol = promised if KINDS[question["kind"]].group == "local" else None
    return audit(
        sampler,
        claim=claim,
        domain=size,
        protocol=protocol,
        progress=progress,
        **data["settings"],
    )


def merge_equal_rows(text: str) -> str:
    r"""Return rows in which every different pair stands once, with how often, so that they are short.

    Examples
    --------
    >>> print(merge_equal_rows("a,1\na,1\nb,2"))
    input,output,count
    a,1,2
    b,2,1
    """
    counts: dict[tuple[str, str], int] = {}
    for row in _parse_rows(text):
        pair = (row[0], row[1])
        counts[pair] = counts.get(pair, 0) + int(reading.whole(row[2], "rows") if len(row) > 2 else 1)
    text_buffer = io.StringIO()
    writer = csv.writer(text_buffer, lineterminator="\n")
    writer.writerow((*_HEADER, "count"))
    writer.writerows((*pair, count) for pair, count in counts.items())
    return text_buffer.getvalue().strip()


def parse_pairs(text: str) -> tuple[list[Any], list[Any]]:
    r"""Return inputs and outputs of rows "input,output" or "input,output,how often", with or without that header.

    Examples
    --------
    >>> parse_pairs("input,output,count\n0,a,2\n1,b,1")
    ([0, 0, 1], ['a', 'a', 'b'])
    """
    rows = _parse_rows(text)
    counts = [reading.whole(row[2], "rows") if len(row) > 2 else 1 for row in rows]
    if min(counts) < 0 or sum(counts) > _LARGEST_LOG:
        raise ParameterError("rows", f"at most {_LARGEST_LOG:,} pairs, with no negative count", f"{sum(counts):,}")
    inputs, outputs = _parse_cells([row[0] for row in rows]), _parse_cells([row[1] for row in rows])
    many = [int(count) for count in counts]
    return _repeat(inputs, many), _repeat(outputs, many)


def _parse_rows(text: str) -> list[list[str]]:
    rows = [[cell.strip() for cell in row] for row in csv.reader(io.StringIO(text.strip())) if row]
    if rows and tuple(rows[0][:2]) == _HEADER:
        rows = rows[1:]
    if not rows or len({len(row) for row in rows}) != 1 or len(rows[0]) not in (2, 3):
        hint = "One pair per line, such as 0,1 or 0,1,250."
        raise ParameterError("rows", "rows of an input, an output and optionally a count", shown(text), hint)
    return rows


def _repeat(values: list[Any], counts: list[int]) -> list[Any]:
    return [value for value, count in zip(values, counts, strict=True) for _ in range(count)]


def _parse_cells(cells: list[str]) -> list[Any]:
    """Return cells as integers or floats if all can be read as such, and as text otherwise."""
    for kind in (int, float):
        try:
            values = [kind(cell) for cell in cells]
        except ValueError:
            continue
        if all(map(math.isfinite, values)):
            return values
    return list(cells)


def audit_pasted_pairs(data: dict[str, Any]) -> AuditResult:
    """Return the audit of pasted pairs."""
    samples = Samples.of(*parse_pairs(data["rows"]))
    return audit(samples, claim=claim_of(data["claim"], PLACE, "replace-one"), **data["settings"])
