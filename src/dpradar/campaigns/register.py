"""What a store is about: the campaign and its runs, checked against what is asked for now."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ParameterError, Problem, SpecError
from ..params import shown
from ..results import Assessment, AttackRun, AuditResult, Calibration
from ..results.loading import result_of
from ..results.record import Result, kind_of_schema
from ..results.shapes import each, mapping, table, text, whole, word
from .model import canonical, digest_of, versions
from .read import parse
from .store import UNSOUND, StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..results.shapes import Check
    from .model import Campaign, Question, Run
    from .store import Store

__all__ = ["answer_of", "begin", "campaign_of", "question_key", "runs_of", "versions_of"]

_MOST_TOLD = 5
# What a run leads to, by what it does.
ANSWERS: dict[str, type[Result]] = {
    "attack": AttackRun,
    "audit": AuditResult,
    "assess": Assessment,
    "calibrate": Calibration,
    "learning": AttackRun,
}
_ROWS = each(
    table(
        {
            "number": whole(1),
            "title": text,
            "name": text,
            "note": text,
            "do": word(*ANSWERS),
            "options": mapping(None),
            "seed": whole(),
            "contents": mapping(text),
            "question": text,
        }
    )
)


def question_key(question: Question) -> str:
    """Return the name of a question: everything that its answer depends on."""
    return digest_of(question.do, question.given(), question.seed, question.contents(), versions())


def runs_of(store: Store) -> list[dict[str, Any]]:
    """Return the runs of a store, as they were written down when it was last started."""
    found: list[dict[str, Any]] = _plain(store, "runs", "[]", _ROWS)
    return found


def versions_of(store: Store) -> dict[str, str]:
    """Return the versions that the numbers in a store were computed with."""
    found: dict[str, str] = _plain(store, "versions", "{}", mapping(text))
    return found


def _plain(store: Store, name: str, default: str, shape: Check) -> Any:
    """Return what a store says about itself, if it is of that shape."""
    try:
        data = json.loads(store.about().get(name, default))
    except (ValueError, RecursionError):
        problem: Problem | None = Problem(name, "must be JSON")
    else:
        problem = next(shape(data, f"{name}."), None)
    if problem is not None:
        raise StoreError(str(store.path), f"it is not sound ({str(problem).rstrip('.')})", UNSOUND)
    return data


def answer_of(store: Store, row: dict[str, Any], answer: str) -> Any:
    """Return the result of a run, checked as that of a file is."""
    place = f"{store.path}, run {row['number']},"
    try:
        data = json.loads(answer)
    except (ValueError, RecursionError):
        raise SpecError(place, [Problem("", "must be JSON")]) from None
    kind = ANSWERS[row["do"]]
    if kind_of_schema(data) != kind.KIND:
        schema = data.get("schema") if isinstance(data, dict) else None
        raise SpecError(place, [Problem("schema", f"must be {kind.schema()!r}; got {shown(schema)}")])
    return result_of(data, place)


def campaign_of(store: Store, campaign: Campaign | None, *, trust_store: bool) -> Campaign:
    """Return the campaign to go on with: the one that was read from a file, if it is that of the store.

    The text in the store may name code and files of somebody else. It is followed only where the caller says so;
    otherwise it is read as a text that may name none.
    """
    about = store.about()
    if not {"campaign", "folder", "file"} <= set(about):
        hint = "`dpradar campaign run FILE` starts one."
        raise ParameterError("the store", "one in which a campaign was started", str(store.path), hint)
    if campaign is not None:
        _check_same(store, campaign)
        return campaign
    if trust_store:
        folder = Path(about["folder"]) if about["folder"] else None
        return parse(about["campaign"], folder=folder, file=about["file"])
    try:
        return parse(about["campaign"], file=about["file"])
    except SpecError:
        hint = (
            "Name it behind the store: campaign resume STORE CAMPAIGN. If you trust whoever made the store, "
            "--trust-store (in Python: trust_store=True) follows what it says, and runs the code that it names."
        )
        allowed = "given, because the text in the store names code or files, which are not followed"
        raise ParameterError("the campaign file", allowed, "none", hint) from None


def _check_same(store: Store, campaign: Campaign) -> None:
    """Refuse a campaign whose runs, or a file named by them, differ from those that the store was started with."""
    before = runs_of(store)
    now = [_row(run, run.question(campaign.folder)) for run in campaign.runs]
    if digest_of(sorted(map(_identity, before))) == digest_of(sorted(map(_identity, now))):
        return
    _check_runs(store, before, now)
    hint = f"`dpradar campaign run {campaign.file} --store {store.path}` goes on with the changed campaign."
    raise ParameterError("the campaign", f"the one that {store.path} was started with", "other trials or runs", hint)


def _identity(row: dict[str, Any]) -> str:
    """Return what a run is about, the contents of the files that it names included."""
    return canonical([row["do"], row["options"], row["seed"], row["contents"]])


def _row(run: Run, question: Question) -> dict[str, Any]:
    return {
        "number": run.number,
        "title": run.title,
        "name": run.name,
        "note": run.note,
        "do": run.do,
        "options": run.options,
        "seed": run.seed,
        "contents": question.contents(),
        "question": question_key(question),
    }


def _base(row: dict[str, Any]) -> str:
    """Return what a run is about, however many trials it has."""
    options = {key: value for key, value in row["options"].items() if key != "trials"}
    return canonical([row["do"], options, row["seed"], row["contents"]])


def begin(store: Store, campaign: Campaign, questions: list[Question], *, changed: bool) -> None:
    """Write down what the store is about; refuse another version, and runs that are gone unless that is meant."""
    rows = [_row(run, question) for run, question in zip(campaign.runs, questions, strict=True)]
    about = store.about()
    if "versions" in about:
        _check_versions(store, versions_of(store))
    if not changed:
        _check_runs(store, runs_of(store), rows)
    store.tell(
        campaign=campaign.text,
        file=campaign.file,
        folder="" if campaign.folder is None else str(campaign.folder.resolve()),
        title=campaign.title,
        versions=canonical(versions()),
        runs=canonical(rows),
        made=about.get("made", dt.datetime.now(dt.UTC).isoformat(timespec="seconds")),
    )


def _check_versions(store: Store, before: dict[str, str]) -> None:
    now = versions()
    other = [f"{name} {before.get(name)} (now {now[name]})" for name in now if now[name] != before.get(name)]
    if other:
        hint = "Numbers of different versions are not mixed. Use those, or another store (command line: --store FILE)."
        raise ParameterError("the store", f"made by the versions in use ({store.path})", ", ".join(other), hint)


def _check_runs(store: Store, before: list[dict[str, Any]], now: list[dict[str, Any]]) -> None:
    kept = {_base(row) for row in now}
    missing = [row for row in before if _base(row) not in kept]
    if not missing:
        return
    told = [f"{row['title']} ({_difference(row, now)})" for row in missing[:_MOST_TOLD]]
    more = f" and {len(missing) - _MOST_TOLD} more" if len(missing) > _MOST_TOLD else ""
    hint = (
        "Give changed=True (command line: --changed) to go on with the new runs; the old shards stay in the store, "
        "apart. Or another store (command line: --store FILE)."
    )
    got = f"without {'; '.join(told)}{more}"
    raise ParameterError("the campaign", f"about the runs that {store.path} was started with", got, hint)


def _difference(row: dict[str, Any], now: list[dict[str, Any]]) -> str:
    """Return how a run differs from the one that is likeliest its successor."""
    alike = [other for other in now if other["do"] == row["do"]]
    nearest = min(alike, key=lambda other: len(list(_changes(row, other))), default=None)
    if nearest is None:
        return "no longer there"
    changes = list(_changes(row, nearest))
    return ", ".join(changes) if len(changes) <= 2 else "no longer there"


def _changes(old: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
    before, after = {**old["options"], "seed": old["seed"]}, {**new["options"], "seed": new["seed"]}
    seeded = old["options"] == new["options"]
    for key in sorted({*before, *after} - {"trials"}):
        if before.get(key) != after.get(key) and (key != "seed" or seeded):
            yield f"{key} was {canonical(before.get(key))}, is {canonical(after.get(key))}"
    for key in sorted({*old["contents"], *new["contents"]}):
        if old["contents"].get(key) != new["contents"].get(key):
            yield f"the file of {key} has changed"
