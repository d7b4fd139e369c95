"""``python -m tests.numbers``: answer every question, and compare the answers with the corpus.

Fails where a number changed that CHANGELOG.md does not name, or names as something else, and where a sentence changed.
``--accept`` then writes the new answers into the corpus, if every difference is named, and the new sentences.
"""

from __future__ import annotations

import argparse
import os
import sys
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.numbers.changelog import Verdict

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")  # before numpy is loaded: sums are then made in one order

_WIDTH = 60


def _shown(record: dict[str, Any] | None) -> str:
    if record is None:
        return "-"
    value = record["value"]
    number = f"{value:.9g}" if isinstance(value, int | float) and not isinstance(value, bool) else str(value)
    rule = f" {record['rule']}" if record.get("rule") else ""
    return number if record["side"] == "fact" else f"{number} {record['side']}{rule}"


def table(verdicts: Sequence[Verdict]) -> list[str]:
    """Return one line for each difference."""
    lines = []
    for one in verdicts:
        difference = one.difference
        remark = f"  <- {one.problem}" if one.problem else ""
        change = f"{_shown(difference.old)} -> {_shown(difference.new)}{remark}"
        lines.append(f"{difference.kind:<10} {difference.name:<{_WIDTH}} {change}")
    return lines


def _quantities(*corpora: dict[str, Any]) -> set[tuple[str, str]]:
    return {(question, quantity) for corpus in corpora for question, answer in corpus.items() for quantity in answer}


def _compare_texts(jobs: int, *, accept: bool) -> bool:
    """Print every changed sentence, and write the new ones on request; return whether unaccepted ones are left."""
    from tests.numbers.computing import compute_texts
    from tests.numbers.texts import FILE, changed_lines, commands, read_texts, text_of

    before = read_texts()
    after = compute_texts(commands(), jobs)
    lines = changed_lines(before, after)
    for line in lines:
        sys.stdout.write(f"{line}\n")
    sys.stdout.write(f"{len(after)} texts, {sum(before.get(line) != text for line, text in after.items())} changed.\n")
    if lines and accept:
        FILE.write_text(text_of(after), encoding="utf-8")
        sys.stdout.write("wrote texts.txt\n")
    elif lines:
        sys.stdout.write("Where every change is meant: make numbers ARGS=--accept\n")
    return bool(lines) and not accept


def main(arguments: Sequence[str] | None = None) -> int:
    """Return the exit code: 0 where every difference is named, else 1."""
    from tests.numbers.asking import ROOT
    from tests.numbers.changelog import idle, judge, read_changelog
    from tests.numbers.compare import differences
    from tests.numbers.computing import compute
    from tests.numbers.corpus import CORPUS, merged, read_corpus, text_of
    from tests.numbers.questions import QUESTIONS

    parser = argparse.ArgumentParser(prog="make numbers ARGS=...", description=__doc__)
    parser.add_argument("--accept", action="store_true", help="write the new answers, if every difference is named")
    parser.add_argument("--only", default="*", metavar="PATTERN", help="only these questions, such as 'assess/grr/*'")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes")
    parser.add_argument("--times", type=int, default=0, metavar="N", help="also list the N slowest questions")
    options = parser.parse_args(arguments)

    names = [name for name in QUESTIONS if fnmatchcase(name, options.only)]
    answers, seconds = compute(names, options.jobs)
    corpus = read_corpus()
    before = {name: answer for name, answer in corpus.items() if fnmatchcase(name, options.only)}
    named, problems = read_changelog((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    problems += [f"no question is named `{pattern}`" for pattern in idle(named, _quantities(corpus, answers))]
    verdicts = judge(differences(before, answers), named)
    new = sorted(set(answers) - set(before))

    write = sys.stdout.write
    for line in table(verdicts):
        write(line + "\n")
    for problem in problems:
        write(f"CHANGELOG.md, section Numbers: {problem}\n")
    for name in sorted(seconds, key=seconds.__getitem__, reverse=True)[: options.times]:
        write(f"{seconds[name]:8.2f} s  {name}\n")
    open_ = sum(bool(one.problem) for one in verdicts)
    write(f"{len(names)} questions, {len(new)} of them new; {len(verdicts)} differences, {open_} not named so.\n")
    texts_changed = options.only == "*" and _compare_texts(options.jobs, accept=options.accept)
    if open_ or problems:
        write("Name each under [Unreleased], ### Numbers in CHANGELOG.md: - KIND: `PATTERN` because REASON.\n")
        return 1
    if options.accept:
        rest = {name: answer for name, answer in corpus.items() if name not in before}
        CORPUS.write_text(text_of({**rest, **merged(before, answers)}), encoding="utf-8")
        write(f"wrote {CORPUS.relative_to(ROOT)}\n")
    elif verdicts or new:
        write("Every difference is named. Write it into the corpus: make numbers ARGS=--accept\n")
    return int(texts_changed)


if __name__ == "__main__":
    sys.exit(main())
