"""Priors counted in tables, beside a count by hand: names that differ in case, bins, weights, missing values, suppression."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from tests.twin import counted, protocols

from .. import questions, truths
from ..verdicts import Question, Truth, Verdict, judged
from ..written import Body
from .assessing import outcome

NAMES = ("ill", "Ill", "ILL", "age", "Age", "x", "x ", "a b", "value", "count", "select", "n", "é")


class Tables:
    """A small table, counted by dpradar.data and by hand."""

    name = "tables"

    def draw(self, rng: random.Random) -> Question:
        rows = rng.choice((8, 30, 200))
        width = rng.randint(1, 3)
        names = rng.sample(NAMES, width)
        if rng.random() < 0.4:
            other = names[0].swapcase()
            names = [*names, other] if other not in names else names
        table = {name: _column(rng, rows) for name in names}
        column = rng.choice(names)
        numeric = all(isinstance(v, (int, float)) and v == v for v in table[column])
        weight = None
        if rng.random() < 0.3:
            weight = rng.choice(("w", "W", "weight"))
            table[weight] = [rng.choice((0.5, 1.0, 2.0, 10.0)) for _ in range(rows)]
        goal: Any = "exact"
        if numeric and rng.random() < 0.6:
            goal = {"within": rng.choice((0.0, 0.5, 1.0, 2.0))}
        floats = any(isinstance(v, float) for v in table[column])
        return {
            "table": table, "column": column, "weight": weight, "suppress": rng.choice((1, 1, 2, 5)),
            "bins": "values" if floats else None, "goal": goal, "backend": rng.choice(("pandas", "pyarrow", "ibis")),
            "knowledge": rng.choice(("nothing", "nothing", "everything")),
            "release": rng.choice(("grr", "laplace")) if numeric else "grr", "amount": rng.choice((0.5, 1.0, 2.0, 10.0)),
        }  # fmt: skip

    def code(self, question: Question) -> str:
        """The lines that count and ask."""
        made = {
            "pandas": "import pandas as pd\ntable = pd.DataFrame({})\n",
            "pyarrow": "import pyarrow as pa\ntable = pa.table({})\n",
            "ibis": "import ibis, pandas as pd\ntable = ibis.memtable(pd.DataFrame({}))\n",
        }[question["backend"]].format(questions.literal(question["table"]))
        column = question["column"]
        bins = f", bins={{{column!r}: {question['bins']!r}}}" if question["bins"] else ""
        weight = f", weight={question['weight']!r}" if question["weight"] else ""
        release = f"dr.GRR(m=prior.size, epsilon={question['amount']})" if question["release"] == "grr" else f"dr.Laplace({question['amount']})"
        return (
            f"{made}prior = dr.data.prior(table, [{column!r}]{weight}{bins}, suppress={question['suppress']})\n"
            f"threat = dr.Threat(prior, {questions.knowledge(question['knowledge'])}, {questions.goal(question['goal'])})\n"
            f"a = dr.assess({release}, threat)\n"
        )

    def truth(self, question: Question) -> Truth:
        """The numbers of the whole table."""
        cells = counted.prior([(v,) for v in question["table"][question["column"]]], question["table"].get(question["weight"]))
        cells = {cell: p for cell, p in cells.items() if p > 0}
        values = [cell[0] for cell in cells]
        whole = {
            "prior": {"how": "of", "weights": [float(p) for p in cells.values()], "values": values},
            "knowledge": question["knowledge"], "goal": question["goal"],
        }  # fmt: skip
        if question["release"] == "laplace":
            return truths.of_line({**whole, "release": {"name": "Laplace", "scale": question["amount"]}})
        return truths.of_channel(protocols.protocol("GRR", len(values), question["amount"]), whole)

    def judge(self, question: Question) -> Verdict:
        def compare(names: dict[str, Any]) -> Verdict:
            wrong = self._wrong_prior(question, names["prior"])
            if wrong:
                return wrong
            truth = self.truth(question)
            lost = counted.suppressed([(v,) for v in question["table"][question["column"]]], question["suppress"])
            if lost:  # the mechanism may be another one where records were left out: only numbers have one meaning then
                if question["release"] == "grr":
                    return Verdict("fine")
                truth = {name: (low, math.inf) for name, (low, _) in truth.items() if name in ("rad", "success")}
            return judged(names["a"], {k: v for k, v in truth.items() if k != "worst_gain"})

        return outcome(lambda: questions.run(self.code(question)), compare)

    def _wrong_prior(self, question: Question, prior: Any) -> Verdict | None:
        weights = question["table"].get(question["weight"])
        rows = [(v,) for v in question["table"][question["column"]]]
        lost = counted.suppressed(rows, question["suppress"])
        cells = {cell: w for cell, (_, w) in counted.cells(rows, weights).items() if cell not in lost and w > 0}
        total = sum(cells.values(), Fraction(0))
        given = {(counted.plain(v),): p for v, p in zip(prior.columns[question["column"]], prior.probabilities.tolist(), strict=True) if p > 0}
        expected = {cell: float(w / total) for cell, w in cells.items()}
        same = given.keys() == expected.keys() and all(abs(given[c] - p) < 1e-9 for c, p in expected.items())
        if same:
            return None
        check = f"assert sorted(map(float, prior.probabilities)) == pytest.approx({sorted(expected.values())})"
        return Verdict("unsafe", f"the prior is {given}, counted by hand {expected}"[:500], check)

    def smaller(self, question: Question) -> Iterator[Question]:
        table = question["table"]
        for name in table:
            if name not in (question["column"], question["weight"]):
                yield {**question, "table": {k: v for k, v in table.items() if k != name}}
        rows = len(next(iter(table.values())))
        for part in (slice(0, rows // 2), slice(rows // 2, None)):
            if rows > 3:
                yield {**question, "table": {k: v[part] for k, v in table.items()}}
        if question["suppress"] > 1:
            yield {**question, "suppress": 1}
        if question["goal"] != "exact":
            yield {**question, "goal": "exact"}

    def body(self, question: Question, verdict: Verdict) -> Body:
        return Body(self.code(question) + verdict.check, "import pytest\n\nimport dpradar as dr")


def _column(rng: random.Random, rows: int) -> list[Any]:
    kind = rng.randrange(5)
    skew = rng.random()
    if kind == 0:
        levels: list[Any] = [0, 1]
    elif kind == 1:
        levels = [0, 1, 2]
    elif kind == 2:
        levels = ["no", "yes", "No"]
    elif kind == 3:
        levels = [0.1, 0.2, 0.30000000000000004, 0.3]
    else:
        levels = [float(k) for k in range(0, 7)]
        if rng.random() < 0.5:
            levels.append(math.nan)
    weights = [1.0 if k % 2 == 0 else skew**2 + 0.02 for k in range(len(levels))]
    return rng.choices(levels, weights, k=rows)


FAMILIES = [Tables()]
