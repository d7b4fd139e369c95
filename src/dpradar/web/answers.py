"""From a request to an answer: parse it, have the job computed, and describe the result or the problem."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import parse_qsl, urlencode

from ..errors import ParameterError
from .work.job_queue import QueueFull

if TYPE_CHECKING:
    from starlette.requests import Request

    from .copy_as import Copy
    from .screens.screen_request import Screen, ScreenRequest
    from .work.job_queue import JobQueue, QueuedJob

__all__ = ["BUSY", "BUSY_STATUS", "Answer", "answer_request", "normalised_query", "parse_request", "query_of"]

_LONG_WAIT_SECONDS = 1.5  # seconds before a long job shows its progress
_QUICK_WAIT_SECONDS = 40.0  # seconds that a quick question may wait
_CHECK_SECONDS = 0.2
BUSY_STATUS = 503
BUSY = "The server is busy with other questions. Try again in a moment."


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What is shown beside a form: nothing yet, a problem, a button to start, progress, or the result."""

    state: Literal["none", "problem", "offered", "running", "done", "gone"] = "none"
    status: int = 200
    problem: str = ""
    option: str = ""
    hint: str = ""
    job: QueuedJob | None = None
    html: str = ""
    band: dict[str, Any] | None = None
    copies: tuple[Copy, ...] = field(default=())


def normalised_query(request: Request) -> str:
    """Return the query of a request in the form that this application writes."""
    return urlencode(parse_qsl(request.url.query, keep_blank_values=True))


def query_of(screen_request: ScreenRequest) -> str:
    """Return the query that represents the whole state of a screen."""
    return urlencode([*screen_request.form.pairs, *screen_request.extra_query])


def parse_request(screen: Screen, query: dict[str, str]) -> tuple[ScreenRequest, bool]:
    """Return the request of a query, and whether its form could be read; if not, an empty form with the problem."""
    try:
        return screen.read(query), True
    except ParameterError as error:
        return replace(screen.read({}), task=None, extra_query=(), problem=str(error), option=error.name), False


async def answer_request(
    queue: JobQueue, screen_request: ScreenRequest, request: Request, *, patient: bool = False
) -> Answer:
    """Return the answer; ``patient`` waits for a long job as for a quick one."""
    if screen_request.problem:
        return Answer(
            state="problem",
            status=400,
            problem=screen_request.problem,
            option=_option(screen_request, screen_request.option),
        )
    if screen_request.task is None:
        return Answer()
    from_other_site = request.headers.get("sec-fetch-site", "") in ("cross-site", "same-site")
    try:
        job = queue.job_for_page(
            screen_request.task, screen_request.data, long=screen_request.long, linked=from_other_site
        )
    except QueueFull:
        return Answer(state="problem", status=BUSY_STATUS, problem=BUSY)
    if job is None:
        return Answer(state="offered")
    if not await _wait_while_connected(
        queue, job, request, _QUICK_WAIT_SECONDS if patient or not screen_request.long else _LONG_WAIT_SECONDS
    ):
        return Answer(state="gone", status=204)
    return _answer_of_job(job, screen_request, queue)


async def _wait_while_connected(queue: JobQueue, job: QueuedJob, request: Request, seconds: float) -> bool:
    """Wait for a job; False if the client disconnected, in which case a job that nobody else waits for is stopped."""
    job.watchers += 1
    try:
        waited = 0.0
        while not job.finished_event.is_set() and waited < seconds:
            await queue.wait(job, min(_CHECK_SECONDS, seconds - waited))
            waited += _CHECK_SECONDS
            if not job.finished_event.is_set() and await request.is_disconnected():
                if job.watchers == 1 and "x-part" in request.headers:
                    queue.stop(job)
                return False
        return True
    finally:
        job.watchers -= 1
        if job.watchers == 0 and not job.finished_event.is_set() and seconds > _LONG_WAIT_SECONDS:
            queue.stop(job)  # no client waits for it any more


def _answer_of_job(job: QueuedJob, screen_request: ScreenRequest, queue: JobQueue) -> Answer:
    if job.state == "done":
        result = json.loads(job.result["json"])
        copies = tuple(screen_request.copies(result))
        html, band = job.result["html"], job.result.get("band")
        return Answer(state="done", job=job, html=html, band=band, copies=copies)
    if job.state == "bad":
        option = _option(screen_request, job.option)
        return Answer(state="problem", status=400, problem=job.problem, option=option, job=job)
    if not job.finished:
        if screen_request.long:
            return Answer(state="running", job=job)
        return Answer(state="problem", status=BUSY_STATUS, problem=BUSY)
    if job.state == "late" and not screen_request.long and job.seconds < queue.limits.quick_seconds:
        return Answer(state="offered")
    status, problem = _failure(job, queue)
    commands = [copy.text for copy in screen_request.copies(None) if copy.title == "Command line"]
    hint = commands[0] if commands and job.state in ("late", "large") else ""
    return Answer(state="problem", status=status, problem=problem, hint=hint, job=job)


def _failure(job: QueuedJob, queue: JobQueue) -> tuple[int, str]:
    if job.state == "stopped":
        return 200, "Stopped before there was a result."
    if job.state == "late":
        seconds = queue.limits.quick_seconds if job.seconds == queue.limits.quick_seconds else job.seconds
        message = f"This takes longer than {seconds:g} seconds, the limit for one question on this page."
        return 422, f"{message} Reduce the number of values, or use the command line, which has no such limit."
    if job.state == "large":
        message = job.problem or "This needs more memory than the limit for one question on this page."
        return 422, f"{message} Reduce the number of values."
    return 500, f"Internal error ({job.problem}). Please report it."


def _option(screen_request: ScreenRequest, name: str) -> str:
    """Return the name of the field that an error is about: that of the option, without its owner or its place."""
    names = {field.name for field in screen_request.form.fields}
    if name in names:
        return name
    owner, _, last = name.rpartition(".")
    if owner.startswith("release["):
        return f"{owner.removeprefix('release[').rstrip(']')}.{last}"
    options = {field.option: field.name for field in reversed(screen_request.form.fields)}
    return options.get(last) or options.get(owner.lower(), "")
