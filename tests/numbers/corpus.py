"""The corpus as a file: sorted, one quantity a line, so that a diff can be read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.numbers.compare import ABOUT, differences

__all__ = ["CORPUS", "merged", "read_corpus", "text_of"]

CORPUS = Path(__file__).with_name("corpus.json")


def read_corpus(path: Path = CORPUS) -> dict[str, Any]:
    """Return the answers of the corpus; none where there is no file yet."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def text_of(answers: dict[str, Any]) -> str:
    """Return the file: a block for each question, a line for each quantity."""
    blocks = []
    for question in sorted(answers):
        lines = [f"  {json.dumps(name)}: {_line(answers[question][name])}" for name in sorted(answers[question])]
        blocks.append(f"{json.dumps(question)}: {{\n" + ",\n".join(lines) + "\n}")
    return "{\n" + ",\n".join(blocks) + "\n}\n"


def _line(record: Any) -> str:
    return json.dumps(record, sort_keys=True, ensure_ascii=False, allow_nan=False)


def merged(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Return the new answers, where nothing differs as the old ones have them: other machines round otherwise."""
    changed = {(one.question, one.quantity) for one in differences(old, new)}
    return {question: _kept(question, old.get(question, {}), new[question], changed) for question in new}


def _kept(question: str, old: dict[str, Any], new: dict[str, Any], changed: set[tuple[str, str]]) -> dict[str, Any]:
    return {
        name: old[name] if name != ABOUT and name in old and (question, name) not in changed else record
        for name, record in new.items()
    }
