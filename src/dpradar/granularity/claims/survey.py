"""Seventeen published mechanisms for trajectories, and what the linter says of each."""

from __future__ import annotations

import csv
from dataclasses import dataclass, fields
from importlib import resources
from typing import Any

from ..pipeline import Claim, Pipeline, Practice, Step

__all__ = ["SurveyRow", "survey"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyRow:
    """One published mechanism: what it claims, what the doctoral thesis says of it, and our verdict.

    Ours rests on the descriptions in the doctoral thesis (Section 3.4, Table 3.2), not on the papers themselves.
    ``rules`` are those of the linter that apply, none where the claim stands.
    """

    key: str
    reference: str
    year: int
    doi: str
    granularity: str
    notion: str
    family: str
    thesis_verdict: str
    verdict: str
    rules: tuple[str, ...]
    why: str

    @property
    def pipeline(self) -> Pipeline:
        """The mechanism as the linter sees it: one step for each rule that concerns it, beside a private one."""
        claim = Claim(granularity="unbounded", epsilon=1.0)
        steps = [Step(name="release", epsilon=1.0, granularity="unbounded")]
        practices = {
            "present-rows": Practice(noise="laplace", noise_on="present"),
            "data-support": Practice(noise="exponential", support="data"),
        }
        if "present-rows" in self.rules or "data-support" in self.rules:
            practice = next(practices[rule] for rule in self.rules if rule in practices)
            steps = [Step(name=self.family, epsilon=1.0, granularity="unbounded", practice=practice)]
        if "unbudgeted" in self.rules:
            steps.append(Step(name="clusters and frequencies"))
        if "deterministic" in self.rules:
            steps.append(Step(name="clusters", practice=Practice(noise="none")))
        return Pipeline(title=self.key, steps=steps, claim=claim)


def survey() -> tuple[SurveyRow, ...]:
    """Return the survey of trajectory mechanisms: 17 rows, 10 of them with claims that fail.

    Notes
    -----
    Doctoral thesis, Table 3.2. The table ships with the package as ``survey.csv``.

    Examples
    --------
    >>> rows = survey()
    >>> len(rows), sum(row.thesis_verdict == "wrong" for row in rows)
    (17, 10)
    """
    text = resources.files(__package__).joinpath("survey.csv").read_text(encoding="utf-8")
    rows = []
    for row in csv.DictReader(text.splitlines()):
        plain: dict[str, Any] = {name.name: row[name.name] for name in fields(SurveyRow)}
        rules = tuple(rule for rule in row["rules"].split(";") if rule)
        rows.append(SurveyRow(**{**plain, "year": int(row["year"]), "rules": rules}))
    return tuple(rows)
