"""What a store is about: the campaign and its runs, compared with the campaign to be run."""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from annotated_types import Ge

from ..errors import ParameterError, Problem, SpecError
from ..params import shown
from ..results import Assessment, AttackRun, AuditResult, Calibration
from ..results.field_shapes import Later, Whole
from ..results.loading import result_of
from ..results.result_codec import Record, Result, kind_of_schema
from .campaign_model import canonical, digest_of, versions
from .campaign_reader import parse
from .store import UNSOUND_HINT, StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .campaign_model import Campaign, Question, Run
    from .store import Store

__all__ = ["campaign_to_resume", "load_answer", "question_key", "record_campaign", "stored_runs", "stored_versions"]

_MOST_NAMED = 5
# What a run leads to, by what it does.
RESULTS: dict[str, type[Result]] = {
    "attack": AttackRun,
    "audit": AuditResult,
    "assess": Assessment,
    "calibrate": Calibration,
    "learning": AttackRun,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _StoredRun(Record):
    number: Annotated[int, Ge(1)]
    title: str
    name: str
    note: str
    do: Literal["attack", "audit", "assess", "calibrate", "learning"]
    options: dict[str, Any]
    seed: Whole
    contents: dict[str, str]
    question: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Metadata(Record):
    """What a store says about its campaign, as far as it is not text."""

    runs: Annotated[tuple[_StoredRun, ...], Later()] = ()
    versions: Annotated[dict[str, str], Later()] = field(default_factory=dict)


def question_key(question: Question) -> str:
    """Return the name of a question: everything that its answer depends on."""
    return digest_of(question.do, question.parsed_options(), question.seed, question.file_digests(), versions())


def stored_runs(store: Store) -> list[dict[str, Any]]:
    """Return the runs of a store, as recorded when the campaign was last started."""
    runs: list[dict[str, Any]] = _metadata_value(store, "runs", "[]")
    return runs


def stored_versions(store: Store) -> dict[str, str]:
    """Return the versions that the numbers in a store were computed with."""
    stored: dict[str, str] = _metadata_value(store, "versions", "{}")
    return stored


def _metadata_value(store: Store, name: str, default: str) -> Any:
    """Return one entry of the metadata of a store, or raise StoreError if it is not sound."""
    try:
        data = json.loads(store.metadata().get(name, default))
        _Metadata.from_dict({name: data})
    except SpecError as error:
        problem = error.problems[0]
    except (ValueError, RecursionError):
        problem = Problem(name, "must be JSON")
    else:
        return data
    raise StoreError(str(store.path), f"it is not sound ({str(problem).rstrip('.')})", UNSOUND_HINT)


def load_answer(store: Store, row: dict[str, Any], answer: str) -> Any:
    """Return the result of a run, with the checks that a saved result gets."""
    place = f"{store.path}, run {row['number']},"
    try:
        data = json.loads(answer)
    except (ValueError, RecursionError):
        raise SpecError(place, [Problem("", "must be JSON")]) from None
    result = RESULTS[row["do"]]
    if kind_of_schema(data) != result.KIND:
        schema = data.get("schema") if isinstance(data, dict) else None
        raise SpecError(place, [Problem("schema", f"must be {result.schema()!r}; got {shown(schema)}")])
    return result_of(data, place)


def campaign_to_resume(store: Store, campaign: Campaign | None, *, trust_store: bool) -> Campaign:
    """Return the campaign to resume: the one that was read from a file, if it matches the store.

    The text in the store may name code and files of somebody else. It is trusted only if the caller says so;
    otherwise it is parsed as a text that may name none.
    """
    metadata = store.metadata()
    if not {"campaign", "folder", "file"} <= set(metadata):
        hint = "`dpradar campaign run FILE` starts one."
        raise ParameterError("the store", "a store in which a campaign was started", str(store.path), hint)
    if campaign is not None:
        _check_same(store, campaign)
        return campaign
    if trust_store:
        folder = Path(metadata["folder"]) if metadata["folder"] else None
        return parse(metadata["campaign"], folder=folder, file=metadata["file"])
    try:
        return parse(metadata["campaign"], file=metadata["file"])
    except SpecError:
        hint = (
            "Add the file after the store: campaign resume STORE CAMPAIGN. If you trust whoever made the store, "
            "--trust-store (in Python: trust_store=True) uses the text in it and runs the code that it names."
        )
        allowed = "given, because the text in the store names code or files and is not trusted"
        raise ParameterError("the campaign file", allowed, "none", hint) from None


def _check_same(store: Store, campaign: Campaign) -> None:
    """Refuse a campaign whose runs, or a file named by them, differ from those that the store was started with."""
    stored = stored_runs(store)
    current = [_row(run, run.question(campaign.folder)) for run in campaign.runs]
    if digest_of(sorted(map(_identity, stored))) == digest_of(sorted(map(_identity, current))):
        return
    _check_runs(store, stored, current)
    hint = f"`dpradar campaign run {campaign.file} --store {store.path}` continues with the changed campaign."
    raise ParameterError(
        "the campaign", f"the one that {store.path} was started with", "a campaign with other trials or runs", hint
    )


def _identity(row: dict[str, Any]) -> str:
    """Return what identifies a run, including the contents of the files that it names."""
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
        "contents": question.file_digests(),
        "question": question_key(question),
    }


def _trial_free_identity(row: dict[str, Any]) -> str:
    """Return what identifies a run apart from its number of trials."""
    options = {key: value for key, value in row["options"].items() if key != "trials"}
    return canonical([row["do"], options, row["seed"], row["contents"]])


def record_campaign(store: Store, campaign: Campaign, questions: list[Question], *, changed: bool) -> None:
    """Record the campaign in the store; refuse other versions, and missing runs unless ``changed`` is true."""
    rows = [_row(run, question) for run, question in zip(campaign.runs, questions, strict=True)]
    metadata = store.metadata()
    if "versions" in metadata:
        _check_versions(store, stored_versions(store))
    if not changed:
        _check_runs(store, stored_runs(store), rows)
    store.set_metadata(
        campaign=campaign.text,
        file=campaign.file,
        folder="" if campaign.folder is None else str(campaign.folder.resolve()),
        title=campaign.title,
        versions=canonical(versions()),
        runs=canonical(rows),
        made=metadata.get("made", dt.datetime.now(dt.UTC).isoformat(timespec="seconds")),
    )


def _check_versions(store: Store, stored: dict[str, str]) -> None:
    current = versions()
    different = [
        f"{name} {stored.get(name)} (now {current[name]})" for name in current if current[name] != stored.get(name)
    ]
    if different:
        hint = "Numbers of different versions are not mixed. Use those, or another store (command line: --store FILE)."
        raise ParameterError("the store", f"made by the versions in use ({store.path})", ", ".join(different), hint)


def _check_runs(store: Store, stored: list[dict[str, Any]], current: list[dict[str, Any]]) -> None:
    identities = {_trial_free_identity(row) for row in current}
    missing = [row for row in stored if _trial_free_identity(row) not in identities]
    if not missing:
        return
    descriptions = [f"{row['title']} ({_difference(row, current)})" for row in missing[:_MOST_NAMED]]
    more = f" and {len(missing) - _MOST_NAMED} more" if len(missing) > _MOST_NAMED else ""
    hint = (
        "Give changed=True (command line: --changed) to continue with the new runs; the old shards stay in the store. "
        "Or use another store (command line: --store FILE)."
    )
    got = f"without {'; '.join(descriptions)}{more}"
    raise ParameterError("the campaign", f"about the runs that {store.path} was started with", got, hint)


def _difference(row: dict[str, Any], current: list[dict[str, Any]]) -> str:
    """Return how a run differs from the most similar current run."""
    candidates = [other for other in current if other["do"] == row["do"]]
    nearest = min(candidates, key=lambda other: len(list(_changes(row, other))), default=None)
    if nearest is None:
        return "no longer there"
    changes = list(_changes(row, nearest))
    return ", ".join(changes) if len(changes) <= 2 else "no longer there"


def _changes(old: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
    before, after = {**old["options"], "seed": old["seed"]}, {**new["options"], "seed": new["seed"]}
    same_options = old["options"] == new["options"]
    for key in sorted({*before, *after} - {"trials"}):
        if before.get(key) != after.get(key) and (key != "seed" or same_options):
            yield f"{key} was {canonical(before.get(key))}, is {canonical(after.get(key))}"
    for key in sorted({*old["contents"], *new["contents"]}):
        if old["contents"].get(key) != new["contents"].get(key):
            yield f"the file of {key} has changed"
