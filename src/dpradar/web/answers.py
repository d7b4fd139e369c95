"""From a request to an answer: read what is asked, have it computed, and say in words what came of it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import parse_qsl, urlencode

from ..errors import ParameterError
from .work.desk import Busy

if TYPE_CHECKING:
    from starlette.requests import Request

    from .copies import Copy
    from .screens.asked import Asked, Screen
    from .work.desk import Desk, Job

__all__ = ["BUSY", "BUSY_STATUS", "Answer", "address_of", "answered", "asked_of", "given_address"]

_PATIENCE = 1.5  # seconds before a long job shows how far it is
_QUEUE = 40.0  # seconds that a quick question may wait for its turn
_STEP = 0.2
BUSY_STATUS = 503
BUSY = "The server is busy with other questions. Try again in a moment."


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What is shown beside a form: nothing yet, a problem, a button to start, how far a job is, or what came out."""

    state: Literal["none", "problem", "offered", "running", "done", "gone"] = "none"
    status: int = 200
    problem: str = ""
    option: str = ""
    hint: str = ""
    job: Job | None = None
    html: str = ""
    band: dict[str, Any] | None = None
    copies: tuple[Copy, ...] = field(default=())


def given_address(request: Request) -> str:
    """Return the query as it would be written here."""
    return urlencode(parse_qsl(request.url.query, keep_blank_values=True))


def address_of(asked: Asked) -> str:
    """Return the query that holds the whole state."""
    return urlencode([*asked.form.pairs, *asked.further])


def asked_of(screen: Screen, query: dict[str, str]) -> tuple[Asked, bool]:
    """Return what a query asks, and whether its form could be read; if not, the form starts anew, with the problem."""
    try:
        return screen.read(query), True
    except ParameterError as error:
        return replace(screen.read({}), task=None, further=(), problem=str(error), option=error.name), False


async def answered(desk: Desk, asked: Asked, request: Request, *, patient: bool = False) -> Answer:
    """Return the answer; ``patient`` waits for a long job as for a quick one."""
    if asked.problem:
        return Answer(state="problem", status=400, problem=asked.problem, option=_option(asked, asked.option))
    if asked.task is None:
        return Answer()
    linked = request.headers.get("sec-fetch-site", "") in ("cross-site", "same-site")
    try:
        job = desk.asked(asked.task, asked.data, long=asked.long, linked=linked)
    except Busy:
        return Answer(state="problem", status=BUSY_STATUS, problem=BUSY)
    if job is None:
        return Answer(state="offered")
    if not await _watched(desk, job, request, _QUEUE if patient or not asked.long else _PATIENCE):
        return Answer(state="gone", status=204)
    return _told(job, asked, desk)


async def _watched(desk: Desk, job: Job, request: Request, seconds: float) -> bool:
    """Wait for a job; False when whoever asked went away, and then the job ends if nobody else waits for it."""
    job.watchers += 1
    try:
        waited = 0.0
        while not job.over.is_set() and waited < seconds:
            await desk.wait(job, min(_STEP, seconds - waited))
            waited += _STEP
            if not job.over.is_set() and await request.is_disconnected():
                if job.watchers == 1 and "x-part" in request.headers:
                    desk.stop(job)
                return False
        return True
    finally:
        job.watchers -= 1
        if job.watchers == 0 and not job.over.is_set() and seconds > _PATIENCE:
            desk.stop(job)  # nobody waits for it any more


def _told(job: Job, asked: Asked, desk: Desk) -> Answer:
    if job.state == "done":
        result = json.loads(job.result["json"])
        copies = tuple(asked.copies(result))
        html, band = job.result["html"], job.result.get("band")
        return Answer(state="done", job=job, html=html, band=band, copies=copies)
    if job.state == "bad":
        option = _option(asked, job.option)
        return Answer(state="problem", status=400, problem=job.problem, option=option, job=job)
    if not job.finished:
        if asked.long:
            return Answer(state="running", job=job)
        return Answer(state="problem", status=BUSY_STATUS, problem=BUSY)
    if job.state == "late" and not asked.long and job.seconds < desk.limits.quick_seconds:
        return Answer(state="offered")
    status, problem = _failure(job, desk)
    commands = [copy.text for copy in asked.copies(None) if copy.title == "Command line"]
    hint = commands[0] if commands and job.state in ("late", "large") else ""
    return Answer(state="problem", status=status, problem=problem, hint=hint, job=job)


def _failure(job: Job, desk: Desk) -> tuple[int, str]:
    if job.state == "stopped":
        return 200, "It was stopped before there was anything to show."
    if job.state == "late":
        seconds = desk.limits.quick_seconds if job.seconds == desk.limits.quick_seconds else job.seconds
        told = f"This takes longer than {seconds:g} seconds, which is more than this page gives one question."
        return 422, f"{told} Ask about fewer values, or ask on the command line, which has no such limit."
    if job.state == "large":
        told = job.problem or "This needs more memory than this page gives one question."
        return 422, f"{told} Ask about fewer values."
    return 500, f"Internal error ({job.problem}). Please report it."


def _option(asked: Asked, name: str) -> str:
    """Return the name of the field that an error is about: that of the option, without its owner or its place."""
    names = {field.name for field in asked.form.fields}
    if name in names:
        return name
    owner, _, last = name.rpartition(".")
    if owner.startswith("release["):
        return f"{owner.removeprefix('release[').rstrip(']')}.{last}"
    options = {field.option: field.name for field in reversed(asked.form.fields)}
    return options.get(last) or options.get(owner.lower(), "")
