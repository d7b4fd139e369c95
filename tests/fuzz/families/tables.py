"""Priors counted in tables, beside a count by hand: names that differ in case, weights, missing values, suppression."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tests.twin import counted, protocols

from .. import questions, truths
from ..verdicts import FINE, Question, Truth, Verdict, judged
from ..written import Body
from .assessing import outcome

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

NAMES = ("ill", "Ill", "ILL", "age", "Age", "x", "x ", "a b", "value", "count", "select", "n", "é")


class Tables:
    """A small table, counted by dpradar.data and by hand."""

    name = "tables"

    def prepare(self) -> None:
        """Nothing is shared."""

    def draw(self, rng: random.Random) -> Question:
        draw = rng.choice((_left_out, _left_out, _decimals, *(self._any,) * 7))
        return draw(rng)

    def _any(self, rng: random.Random) -> Question:
        rows = rng.choice((8, 30, 200))
        width = rng.randint(1, 3)
        names = rng.sample(NAMES, width)
        if rng.random() < 0.4:
            other = names[0].swapcase()
            names = [*names, other] if other not in names else names
        table = {name: _column(rng, rows) for name in names}
        column = rng.choice(names)
        numeric = all(isinstance(v, (int, float)) and not math.isnan(v) for v in table[column])
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
            "bins": rng.choice(("values", "values", "width:0.1", "width:0.5")) if floats else None, "goal": goal,
            "backend": rng.choice(("pandas", "pyarrow", "ibis")),
            "knowledge": rng.choice(("nothing", "nothing", "everything")),
            "release": rng.choice(("grr", "laplace")) if numeric else "grr", "amount": rng.choice((0.5, 1.0, 2.0,
            10.0)),
        }  # fmt: skip

    def code(self, question: Question) -> str:
        """The lines that count and ask."""
        lines = {
            "pandas": "import pandas as pd\ntable = pd.DataFrame({})\n",
            "pyarrow": "import pyarrow as pa\ntable = pa.table({})\n",
            "ibis": "import ibis, pandas as pd\ntable = ibis.memtable(pd.DataFrame({}))\n",
        }[question["backend"]].format(questions.literal(question["table"]))
        column, knowledge = question["column"], questions.knowledge(question["knowledge"])
        bins = f", bins={{{column!r}: {question['bins']!r}}}" if question["bins"] else ""
        weight = f", weight={question['weight']!r}" if question["weight"] else ""
        release = (
            f"dr.GRR(m=prior.size, epsilon={question['amount']})"
            if question["release"] == "grr"
            else f"dr.Laplace({question['amount']})"
        )
        return (
            f"{lines}prior = dr.data.prior(table, [{column!r}]{weight}{bins}, suppress={question['suppress']})\n"
            f"threat = dr.Threat(prior, {knowledge}, {questions.goal(question['goal'])})\n"
            f"a = dr.assess({release}, threat)\n"
        )

    def truth(self, question: Question) -> Truth:
        """The numbers of the whole table."""
        cells = counted.prior(
            [(v,) for v in question["table"][question["column"]]], question["table"].get(question["weight"])
        )
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
            if wrong or str(question["bins"]).startswith("width"):
                return wrong or FINE
            truth = self.truth(question)
            lost = counted.suppressed([(v,) for v in question["table"][question["column"]]], question["suppress"])
            if lost and question["release"] == "grr":  # of how many records, where some were left out?
                return FINE
            if lost:
                truth = {name: (low, math.inf) for name, (low, _) in truth.items() if name in ("rad", "success")}
            if "baseline" in truth:  # given with two digits, rounded down
                truth["baseline"] = truth["baseline"][0] - 0.01, truth["baseline"][1]
            return judged(names["a"], {k: v for k, v in truth.items() if k in ("rad", "success", "baseline")})

        return outcome(lambda: questions.run(self.code(question)), compare)

    def _wrong_prior(self, question: Question, prior: Any) -> Verdict | None:
        """Compare the shares; of bins only the sizes, because their names are a matter of taste."""
        weights, column = question["table"].get(question["weight"]), question["table"][question["column"]]
        bins = str(question["bins"])
        cut = counted.width_bin(bins.partition(":")[2]) if bins.startswith("width") else counted.plain
        rows = [(cut(v),) for v in column]
        lost = counted.suppressed(rows, question["suppress"])
        cells = {cell: w for cell, (_, w) in counted.cells(rows, weights).items() if cell not in lost and w > 0}
        total = sum(cells.values(), Fraction(0))
        expected = {cell: float(w / total) for cell, w in cells.items()}
        labels = prior.columns[question["column"]]
        shares = {(counted.plain(v),): p for v, p in zip(labels, prior.probabilities.tolist(), strict=True) if p > 0}
        by_size = sorted(expected.values())
        same = len(by_size) == len(shares) and all(
            abs(x - y) < 1e-9 for x, y in zip(by_size, sorted(shares.values()), strict=True)
        )
        if same and (bins.startswith("width") or _agree(shares, expected)):
            return None
        check = f"assert sorted(p for p in prior.probabilities.tolist() if p) == pytest.approx({by_size})"
        return Verdict("unsafe", f"the prior is {shares}, counted by hand {expected}"[:500], check)

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


def _agree(shares: dict[Any, float], expected: dict[Any, float]) -> bool:
    return shares.keys() == expected.keys() and all(abs(shares[c] - p) < 1e-9 for c, p in expected.items())


def _left_out(rng: random.Random) -> Question:
    """Numbers with rare ones between them, which are left out and within reach of more people than any other guess."""
    suppress, step, common = rng.choice((2, 5)), rng.choice((1, 2, 0.5)), rng.randint(2, 4)
    column: list[Any] = []
    for place in range(2 * common - 1):
        rare = place % 2 == 1
        column += [place * step] * (rng.randint(0, suppress - 1) if rare else rng.randint(suppress, 60))
    rng.shuffle(column)
    name = rng.choice(NAMES)
    return {
        "table": {name: column}, "column": name, "weight": None, "suppress": suppress,
        "bins": "values" if step == 0.5 else None, "goal": {"within": float(step)},
        "backend": rng.choice(("pandas", "pyarrow", "ibis")),
        "knowledge": "nothing", "release": "laplace", "amount": step * rng.choice((0.5, 1.0, 2.0, 10.0)),
    }  # fmt: skip


def _decimals(rng: random.Random) -> Question:
    """Decimals at the edges of bins, where a division of floats falls below: 0.3 / 0.1 < 3."""
    levels, name = [k / 10 for k in range(1, 10)], rng.choice(NAMES)
    column = rng.choices(rng.sample(levels, 5), (9, 7, 5, 3, 2), k=40)
    return {
        "table": {name: column}, "column": name, "weight": None, "suppress": 1,
        "bins": rng.choice(("width:0.1", "width:0.2", "width:0.3")), "goal": "exact",
        "backend": rng.choice(("pandas", "pyarrow", "ibis")), "knowledge": "nothing", "release": "grr", "amount": 1.0,
    }  # fmt: skip


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
        levels = [float(k) for k in range(7)]
        if rng.random() < 0.5:
            levels.append(math.nan)
    weights = [1.0 if k % 2 == 0 else skew**2 + 0.02 for k in range(len(levels))]
    return rng.choices(levels, weights, k=rows)


FAMILIES = [Tables()]
