"""Published statements beside our numbers: each figure has some, each can fail, and none is unexplained."""

from __future__ import annotations

import math
import os
from pathlib import Path

import pytest

from dpradar_reproduction import figures
from dpradar_reproduction.all_figures import reproduce_all
from dpradar_reproduction.page import VERDICTS, allowed, judged
from dpradar_reproduction.paper_figure import Effort
from dpradar_reproduction.statements import STATEMENTS, Statement
from dpradar_reproduction.table import Table
from tests.every import every

ALL = [(name, statement) for name, statements in STATEMENTS.items() for statement in statements]
PAGES = Path(__file__).parents[2] / "docs"
# Less than a second each; the slow test has all of them.
FAST = [
    *("unify:fig2", "unify:fig4", "unify:fig8", "measurement:fig4.1", "measurement:fig6.1", "measurement:fig6.2"),
    *("measurement:table6.2", "measurement:fig10.8", "thesis:fig2.1", "thesis:fig6.1", "thesis:fig6.4"),
    *("thesis:fig6.6", "thesis:table3.2", "thesis:table6.1", "thesis:table6.2"),
]


def test_every_figure_has_a_statement_and_no_statement_is_without_a_figure():
    assert set(STATEMENTS) == set(figures.names())
    assert all(STATEMENTS.values())


@every(("name", "statement"), ALL, ids=lambda one: one if isinstance(one, str) else one.says[:30])
def test_a_statement_says_what_it_must(name, statement):
    assert statement.where
    assert statement.what
    assert statement.printed
    assert statement.says.endswith(".")
    if statement.other_data:
        assert statement.instead is not None
        assert not statement.because
        return
    low, high = statement.agrees
    assert low <= high
    assert "inf" not in allowed(statement)
    assert "nan" not in allowed(statement)
    assert math.isfinite(low) or math.isfinite(high)  # some number does not agree
    assert bool(statement.because) is (statement.instead is not None)
    assert statement.instead is not None or not (statement.wrong or statement.page)
    if statement.instead is not None:
        assert statement.instead[0] <= statement.instead[1]
        # What agrees and what is expected instead are told apart; the end point may be shared.
        assert statement.instead[1] <= low or high <= statement.instead[0]
    assert statement.page or not statement.wrong
    if statement.page:
        assert (PAGES / f"{statement.page}.md").is_file()


def perturbed(table):
    """Tables that are wrong in one column, in all of them, or in the order or number of their rows."""
    numeric = [
        column
        for column in table.columns
        if any(isinstance(row[column], int | float) and row[column] is not None for row in table.rows)
    ]

    def changed(columns, change):
        rows = [
            {
                name: change(cell) if name in columns and isinstance(cell, int | float) else cell
                for name, cell in row.items()
            }
            for row in table.rows
        ]
        return Table(table.columns, tuple(rows))

    changes = [lambda x: -3.0 * x - 1.0, lambda x: 0.37 * x, lambda x: 1.7 * x + 0.2, lambda x: 30.0 * x + 5.0]
    for column in numeric:
        for change in changes:
            yield changed([column], change)
    for column in table.columns:  # the cells of a column in another order
        cells = [row[column] for row in table.rows]
        rows = [{**row, column: cell} for row, cell in zip(table.rows, cells[::-1], strict=True)]
        yield Table(table.columns, tuple(rows))
    for column in table.columns:
        yield Table(table.columns, tuple({**row, column: None} for row in table.rows))
        yield Table(table.columns, tuple({**row, column: "3"} for row in table.rows))


def can_fail(statement, table):
    """Whether some wrong table gets another verdict, or, where nothing is compared, another number."""
    right = statement.judge(table)
    answers = (statement.judge(wrong) for wrong in perturbed(table))
    if statement.other_data:
        return any(answer != right for answer in answers)
    return any(answer.verdict not in (right.verdict, "not computed") for answer in answers)


def check(name, out, data, *, quick_tells=True):
    files = figures.reproduce(name, out, data, effort=Effort(quick=True))
    table = Table.read_csv(files[0])
    for statement in STATEMENTS[name]:
        answer = statement.judge(table)
        assert answer.verdict != "unexplained", (name, statement.says, answer)
        if answer.verdict == "not computed":
            assert not quick_tells
            continue
        assert can_fail(statement, table), (name, statement.says)


@pytest.mark.parametrize("name", FAST)
def test_fast_figures_are_explained_and_their_statements_can_fail(name, tmp_path, monkeypatch):
    monkeypatch.delenv("DPRADAR_DATA", raising=False)
    check(name, tmp_path, None, quick_tells=name not in ("thesis:fig6.6", "thesis:table6.2"))


@pytest.mark.slow
def test_all_figures_are_explained_and_their_statements_can_fail(tmp_path):
    folder = os.environ.get("DPRADAR_DATA")
    data = Path(folder) if folder else None
    run = reproduce_all(tmp_path, data, effort=Effort(quick=True, workers=2))
    assert run.state("failed") == []
    undecided = []
    for name in run.state("done"):
        table = Table.read_csv(tmp_path / run.outcomes[name].files[0])
        for statement, answer in judged(name, run.outcomes[name], tmp_path):
            assert answer.verdict != "unexplained", (name, statement.says, answer)
            if answer.verdict == "not computed":
                undecided.append(name)
            else:
                assert can_fail(statement, table), (name, statement.says)
    allowed = {"rad:fig4", "rad:fig5"} if data else {"rad:fig6", "thesis:fig6.6", "thesis:fig6.8", "thesis:table6.2"}
    assert set(undecided) <= allowed


def statement_of(**changes):
    changes = {"where": "Figure 1", "says": "It is.", "printed": "1", "what": "it", **changes}
    return Statement(ours=lambda table: table.numbers("x")[0], **changes)


@pytest.mark.parametrize(
    ("x", "changes", "verdict"),
    [
        (1.0, {"agrees": (0.9, 1.1)}, "agrees"),
        (1.2, {"agrees": (0.9, 1.1)}, "unexplained"),
        (2.0, {"agrees": (0.9, 1.1), "instead": (1.9, 2.1), "because": "so"}, "differs"),
        (2.0, {"agrees": (0.9, 1.1), "instead": (1.9, 2.1), "because": "so", "wrong": True}, "wrong"),
        (3.0, {"agrees": (0.9, 1.1), "instead": (1.9, 2.1), "because": "so", "wrong": True}, "unexplained"),
        (0.5, {"instead": (0.0, 1.0), "other_data": "others"}, "not comparable"),
        (1.5, {"instead": (0.0, 1.0), "other_data": "others"}, "unexplained"),
        (math.nan, {"agrees": (0.9, 1.1)}, "not computed"),
        (None, {"agrees": (0.9, 1.1)}, "not computed"),
    ],
)
def test_verdicts(x, changes, verdict):
    assert statement_of(**changes).judge(Table(("x",), ({"x": x},))).verdict == verdict
    assert verdict in VERDICTS


def test_a_statement_without_its_rows_is_not_computed():
    assert statement_of(agrees=(0.0, 1.0)).judge(Table(("x",), ())).verdict == "not computed"
    assert statement_of(agrees=(0.0, 1.0)).judge(Table(("y",), ({"y": 1.0},))).verdict == "not computed"


@pytest.mark.parametrize(
    ("agrees", "text"),
    [
        ((-1e-9, math.inf), "at least 0"),
        ((0.5 - 1e-9, 0.5 + 1e-9), "0.5, up to rounding"),
        ((-1.0, 0.0), "at most 0"),
        ((5e4, 2e5), "50,000 to 200,000"),
        ((0.725, 0.735), "0.725 to 0.735"),
    ],
)
def test_what_is_allowed_in_words(agrees, text):
    assert allowed(statement_of(agrees=agrees)) == text
    assert allowed(statement_of(agrees=agrees, tolerance="as printed")) == f"{text} (as printed)"
