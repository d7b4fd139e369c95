"""From outcomes and statements to the page of recomputed figures."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from .manifest import write_whole
from .page_document import FigureEntry, ReproductionPage, SourceSection, StatementRow, inline_svg, page_html
from .paper_figure import KEPT_PARTS, printed_cell
from .sources import OMITTED, SOURCES
from .statements import STATEMENTS
from .table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from .all_figures import Run
    from .manifest import Outcome
    from .statements import Answer, Statement, Verdict

__all__ = ["PAGE", "VERDICTS", "allowed", "counts", "judged", "write_page"]

PAGE = "index.html"
_ROWS = 60  # of a table, that the page shows
# In the order of the page, with what each word means; what is worst comes last.
VERDICTS: dict[Verdict, tuple[str, str]] = {
    "agrees": ("agrees", "our number is where the source says, within a stated tolerance"),
    "differs": ("differs, explained", "another setting, other data or another reading; the reason is given"),
    "wrong": ("publication is wrong", "our number is where a derivation puts it, and the source says otherwise"),
    "not comparable": ("not comparable", "the source's data cannot be had: both numbers are shown, for stand-ins"),
    "not computed": ("not computed", "a data set is missing, or the quick version has too few draws to tell"),
    "unexplained": ("differs, unexplained", "neither what the source says nor what we expect: to be looked into"),
}
_WIDE = 1e9
_ROUNDING = 1e-8  # and less is not worth a digit
_LARGE = 1e4  # whole numbers above are written out
_LONG = 100.0  # seconds
_KINDS = {"fig": "Figure", "table": "Table"}
_MISSING = ("no data", "not to be had")
_WORTH = (KEPT_PARTS, *_MISSING, "data folder", "real nodes", "nodes of a part", "stands in", "stand-in", "left out")
_CONVOLUTIONAL = ("rad:fig5", "measurement:fig8.2", "measurement:fig8.3")  # on Fashion-MNIST, in the sources
_SMALLER = "the small MLP of MNIST on Fashion-MNIST too (dpradar reproduce rad:fig5 --network convnet trains the other)"


def judged(name: str, outcome: Outcome | None, folder: Path) -> list[tuple[Statement, Answer]]:
    """Return the statements of a figure with our numbers, from its CSV file; none computed where it is not done."""
    from .statements import Answer

    statements = STATEMENTS.get(name, ())
    if outcome is None or outcome.state != "done":
        return [(statement, Answer(None, "not computed")) for statement in statements]
    table = Table.read_csv(folder / outcome.files[0])
    return [(statement, statement.judge(table)) for statement in statements]


def counts(run: Run, folder: Path) -> dict[Verdict, int]:
    """Return how many statements got each verdict."""
    verdicts = [answer.verdict for name in run.names for _, answer in judged(name, run.outcomes.get(name), folder)]
    return {verdict: verdicts.count(verdict) for verdict in VERDICTS}


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    if value == 0.0 or (abs(value) >= _LARGE and value.is_integer()):
        return f"{value:,.0f}"
    return f"{value:.4g}"


def _statement_row(statement: Statement, answer: Answer) -> StatementRow:
    reasons = {"differs": statement.because, "wrong": statement.because, "not comparable": statement.other_data}
    return StatementRow(
        where=statement.where,
        says=statement.says,
        printed=statement.printed,
        what=statement.what,
        ours=_number(answer.number),
        state=answer.verdict,
        word=VERDICTS[answer.verdict][0],
        why=reasons.get(answer.verdict, ""),
        page=statement.page if answer.verdict in ("differs", "wrong") else "",
        allowed=allowed(statement) if answer.verdict == "agrees" else "",
    )


def allowed(statement: Statement) -> str:
    """Return what numbers agree with a statement, and why so many."""
    low, high = (0.0 if abs(end) <= _ROUNDING else end for end in statement.agrees)
    if _number(low) == _number(high):
        span = f"{_number(low)}, up to rounding"
    elif math.isinf(high) or high >= _WIDE:
        span = f"at least {_number(low)}"
    elif low <= -1.0:
        span = f"at most {_number(high)}"
    else:
        span = f"{_number(low)} to {_number(high)}"
    return f"{span} ({statement.tolerance})" if statement.tolerance else span


def _worst(answers: Sequence[Answer]) -> tuple[str, str]:
    """Return the state and the word for a figure as a whole: of its statements, what a reader should know first."""
    order: tuple[Verdict, ...] = ("unexplained", "wrong", "differs", "agrees", "not comparable", "not computed")
    verdicts = [answer.verdict for answer in answers]
    worst = next(verdict for verdict in order if verdict in verdicts)
    if worst in ("wrong", "differs") and "agrees" in verdicts:
        return worst, f"{verdicts.count('agrees')} of {len(verdicts)} agree"
    return worst, VERDICTS[worst][0]


def _title(name: str) -> str:
    kind, number = re.fullmatch(r".*:(fig|table)(.+)", name).groups()  # type: ignore[union-attr]
    return f"{_KINDS[kind]} {number}"


def _time(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < _LONG else f"{seconds / 60.0:.1f} min"


def _entry(name: str, run: Run, folder: Path) -> FigureEntry:
    from .figures import FIGURES

    figure, outcome = FIGURES[name], run.outcomes.get(name)
    what = figure.what.removeprefix(f"{_title(name)}: ")
    statements = judged(name, outcome, folder)
    state, word = _worst([answer for _, answer in statements]) if statements else ("not computed", "no claim")
    if outcome is None or outcome.state != "done":
        state = word = "not computed" if outcome is None else outcome.state
        error = "" if outcome is None else outcome.error
        return FigureEntry(
            name=name,
            title=_title(name),
            what=what,
            state=state,
            word=word,
            error=error,
            statements=[_statement_row(*one) for one in statements] if outcome and outcome.state == "left out" else (),
        )
    notes = [line for line in outcome.told if _worth(line, name)]
    svg, table = "", Table((), ())
    if figure.draw is not None:
        text = (folder / outcome.files[1]).read_text(encoding="utf-8")
        svg = inline_svg(text, name.replace(":", "-").replace(".", "-"), figure.what)
    else:
        table = Table.read_csv(folder / outcome.files[0])
    return FigureEntry(
        name=name,
        title=_title(name),
        what=what,
        state=state,
        word=word,
        statements=[_statement_row(*one) for one in statements],
        svg=svg,
        headings=table.columns,
        rows=[[printed_cell(row[column]) for column in table.columns] for row in table.rows[:_ROWS]],
        more_rows=max(0, len(table.rows) - _ROWS),
        time=_time(outcome.seconds),
        files=outcome.files,
        notes=notes,
    )


def _worth(line: str, name: str) -> bool:
    """Whether a line of the progress says more than how far the computation is."""
    from .figures import FIGURES

    figure = FIGURES[name]
    return bool(figure.note and line == f"{name}: {figure.note}") or any(word in line for word in _WORTH)


def _stand_ins(run: Run, folder: Path) -> list[tuple[str, str]]:
    """Return what stands in for what, as the tables and the figures themselves say."""
    texts_of: dict[str, dict[str, None]] = {}
    for name in run.state("done"):
        outcome = run.outcomes[name]
        table = Table.read_csv(folder / outcome.files[0])
        for of in ("place", "table"):
            if "stand_in" in table.columns and of in table.columns:
                for row in table.rows:
                    if row["stand_in"] is not None:
                        texts_of.setdefault(str(row[of]), {})[str(row["stand_in"])] = None
        for line in outcome.told:
            data, _, text = line.partition(": ")
            if any(word in line for word in _MISSING) and data not in run.names:
                texts_of.setdefault(data, {})[text] = None
        if "network" in table.columns and "mlp" in table.distinct("network") and name in _CONVOLUTIONAL:
            texts_of.setdefault("The convolutional network", {})[_SMALLER] = None
    return [(term, "; ".join(texts)) for term, texts in sorted(texts_of.items())]


def write_page(run: Run, folder: Path) -> Path:
    """Write the page into the folder and return where it is."""
    sections = []
    for source, title in SOURCES.items():
        names = [name for name in run.names if name.startswith(f"{source}:")]
        if names:
            shown = [_entry(name, run, folder) for name in names]
            sections.append(SourceSection(anchor=source, title=title, figures=shown, omitted=OMITTED.get(source, ())))
    numbers = counts(run, folder)
    total = sum(numbers.values())
    done, left, failed = (run.state(state) for state in ("done", "left out", "failed"))
    seconds = math.fsum(run.outcomes[name].seconds for name in done)
    words = {verdict: str(number or "none") for verdict, number in numbers.items()}
    lines = [
        f"In {words['wrong']} the publication is wrong, {words['differs']} differ for a reason that is given, "
        f"{words['not comparable']} rest on data that cannot be had, {words['not computed']} were not computed, and "
        f"{words['unexplained']} {'differs' if numbers['unexplained'] == 1 else 'differ'} without an explanation.",
        f"{len(done)} of {len(run.names)} figures and tables were computed"
        + (f", {len(left)} left out because a data set is missing" if left else "")
        + (f", {len(failed)} failed" if failed else "")
        + f". {_time(seconds)} of computing.",
    ]
    content = ReproductionPage(
        title="Four sources on disclosure risk, recomputed",
        lead=f"{numbers['agrees']} of {total} published statements agree with our numbers.",
        lines=lines,
        quick=run.effort.quick,
        counts=[(state, word, numbers[state], meaning) for state, (word, meaning) in VERDICTS.items()],
        stand_ins=_stand_ins(run, folder),
        sections=sections,
        facts={"Data": "given" if run.data is not None else "none given"},
    )
    path = folder / PAGE
    write_whole(path, page_html(content))
    return path
