"""The application: routes, screens and parts of them. Addresses hold the state: no session, no cookie."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from functools import cache, partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.applications import Starlette
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from .._version import __version__
from ..errors import ParameterError
from ..params import visible
from ..present.html import stylesheet
from .answers import BUSY, BUSY_STATUS, Answer, answer_request, normalised_query, parse_request, query_of
from .guard import LOOPBACK, MOST_QUERY, Guard
from .noise_range import band_sentence, band_svg
from .screens import learn_screen, start_page
from .screens.assess_screen import ASSESS
from .screens.attack_screen import ATTACK
from .screens.calibrate_screen import CALIBRATE
from .screens.compare_screen import COMPARE
from .screens.learn_screen import LEARN
from .work.job_queue import JobQueue, QueueFull, QueueLimits

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request
    from starlette.types import ASGIApp

    from .screens.screen_request import Screen, ScreenRequest

__all__ = ["SCREENS", "create_app"]

SCREENS = (ASSESS, CALIBRATE, COMPARE, ATTACK, LEARN)
_STATIC = {"app.css": "text/css", "app.js": "text/javascript"}
_REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; frame-ancestors 'none'"
_RESULT_FILES = {"report.html": "html", "report.md": "md", "result.json": "json"}
_MEDIA_TYPES = {"html": "text/html", "md": "text/markdown"}
_STOP_SECONDS = 8.0  # seconds to wait for a job that was asked to stop


@cache
def _templates() -> Environment:
    environment = Environment(
        loader=PackageLoader("dpradar.web", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"screens": SCREENS, "version": __version__}
    # ``band_svg`` escapes every text itself.
    environment.filters["band"] = lambda band: Markup(band_svg(band))  # noqa: S704
    environment.filters["band_sentence"] = band_sentence
    # Answers are made by the templates of ``present``, which escape what they are given.
    environment.filters["trusted"] = Markup
    return environment


def _page(body: str, request: Request, part: str = "", status: int = 200, **context: Any) -> Response:
    """Return a page, or one part of it."""
    context |= {
        "root": "../" * request.scope["path"].count("/", 1),
        "body": body,
        "refresh": context.get("refresh", False),
    }
    template = {"screen": body, "answer": "answer.html"}.get(part, "base.html")
    text = visible(_templates().get_template(template).render(context))
    headers = {"vary": "x-part", **({"retry-after": "2"} if status == BUSY_STATUS else {})}
    return HTMLResponse(text, status_code=status, headers=headers)


class _Explorer:
    """The request handlers of the screens."""

    def __init__(self, queue: JobQueue) -> None:
        self.queue = queue

    async def start(self, request: Request) -> Response:
        """Return the start page."""
        return _page(
            "start_page.html", request, start_links=start_page.START_LINKS, examples=start_page.EXAMPLES, screen=None
        )

    async def screen(self, screen: Screen, request: Request) -> Response:
        """Return a screen, or the part of it that a script asks for."""
        screen_request, readable = parse_request(screen, dict(request.query_params))
        address, requested = query_of(screen_request), normalised_query(request)
        if requested and readable and requested != address:
            return RedirectResponse(f"{screen.name}?{address}", status_code=303)
        return self._render(screen, screen_request, request, await answer_request(self.queue, screen_request, request))

    def _render(self, screen: Screen, screen_request: ScreenRequest, request: Request, answer: Answer) -> Response:
        if answer.state == "gone":
            return Response(status_code=204)
        address = query_of(screen_request)
        return _page(
            screen.layout,
            request,
            request.headers.get("x-part", ""),
            answer.status,
            screen=screen,
            screen_request=screen_request,
            form=screen_request.form,
            answer=answer,
            address=address,
            pairs=_query_pairs(address),
            refresh=answer.state == "running",
            learn=learn_screen,
            lesson=learn_screen.LESSONS.get(screen_request.form.texts.get("try", "rad")) if screen is LEARN else None,
        )

    async def submit_form(self, screen: Screen, request: Request) -> Response:
        """Redirect a submitted form to its address, and allow that address to start the work."""
        query = dict(_query_pairs((await request.body()).decode("utf-8", "replace")))
        try:
            screen_request, readable = parse_request(screen, query)
            if readable and len(query_of(screen_request)) > MOST_QUERY:
                screen_request, readable = parse_request(screen, screen.shorten(query))
        except ParameterError as error:
            return PlainTextResponse(f"{error}\n", status_code=400)
        address = query_of(screen_request)
        if not readable or len(address) > MOST_QUERY:
            message = (
                screen_request.problem
                or "There are too many different pairs for this page. Save them and run: dpradar audit log.csv"
            )
            answer = Answer(state="problem", status=400 if screen_request.problem else 413, problem=message)
            return self._render(screen, screen_request, request, answer)
        self._allow(parse_request(screen, dict(_query_pairs(address)))[0])  # parsed as the address will be
        return RedirectResponse(f"{screen.name}?{address}", status_code=303)

    def _allow(self, screen_request: ScreenRequest) -> None:
        if screen_request.task is not None:
            self.queue.allow(screen_request.task, screen_request.data)

    async def result(self, screen: Screen, form: str, request: Request) -> Response:
        """Return the result as a file: a report, or JSON."""
        screen_request, _ = parse_request(screen, dict(request.query_params))
        answer = await answer_request(self.queue, screen_request, request, patient=True)
        if answer.job is None or answer.job.state != "done":
            return _no_result(answer, form)
        if form == "json":
            return Response(answer.job.result["json"], media_type="application/json")
        try:
            job = self.queue.submit("render", {"json": answer.job.result["json"], "form": form})
        except QueueFull:
            return PlainTextResponse(BUSY, status_code=BUSY_STATUS)
        await self.queue.wait(job, self.queue.limits.quick_seconds * 2)
        if job.state != "done":
            return PlainTextResponse("The report could not be created.", status_code=500)
        headers = {"content-security-policy": _REPORT_POLICY}
        headers["content-disposition"] = f'inline; filename="dpradar-{screen.name}.{form}"'
        return Response(job.result, media_type=f"{_MEDIA_TYPES[form]}; charset=utf-8", headers=headers)

    async def control(self, screen: Screen, action: str, request: Request) -> Response:
        """Stop a job, or discard a stopped one; then redirect to the screen."""
        pairs = dict(_query_pairs((await request.body()).decode("utf-8", "replace")))
        job, show_result = self.queue.find(pairs.get("job", "")), True
        if job is not None and action == "stop":
            self.queue.stop(job, keep_partial=True)  # the page keeps polling its progress
            await self.queue.wait(job, _STOP_SECONDS)
            show_result = job.state == "done"
        elif job is not None:
            self.queue.forget(job)
        screen_request, _ = parse_request(screen, dict(_query_pairs(pairs.get("address", ""))))
        if action == "again":
            self._allow(screen_request)
        address = query_of(screen_request) if show_result else screen_request.form.query
        return RedirectResponse(f"../{screen.name}?{address}", status_code=303)

    async def static(self, request: Request) -> Response:
        """Return the style sheet or the script."""
        name = request.path_params["name"]
        if name not in _STATIC:
            return await _not_found(request, None)
        return Response(_static_file(name), media_type=_STATIC[name])


def _query_pairs(query: str) -> list[tuple[str, str]]:
    return parse_qsl(query, keep_blank_values=True)


@cache
def _static_file(name: str) -> str:
    text = files("dpradar.web").joinpath("static", name).read_text(encoding="utf-8")
    return f"{stylesheet()}\n{text}" if name == "app.css" else text


def _no_result(answer: Answer, form: str) -> Response:
    message = answer.problem or "Nothing has been run yet."
    status = answer.status if answer.problem else 409
    if answer.state == "running":
        message, status = "This is still being computed. Ask again in a moment.", 202
    if form == "json":
        text = json.dumps({"schema": "dpradar/error/1", "error": message, "exit": 2})
        return Response(text, status_code=status, media_type="application/json")
    return PlainTextResponse(f"{message}\n", status_code=status)


async def _not_found(request: Request, _: Any) -> Response:
    return _page("not_found.html", request, status=404, screen=None)


async def _internal_error(_: Request, error: Exception) -> Response:
    return PlainTextResponse(f"Internal error ({type(error).__name__}). Please report it.\n", status_code=500)


def _routes(explorer: _Explorer) -> list[Route]:
    routes = [Route("/", explorer.start), Route("/static/{name}", explorer.static)]
    for screen in SCREENS:
        routes.append(Route(f"/{screen.name}", partial(explorer.screen, screen), methods=["GET"]))
        routes.append(Route(f"/{screen.name}", partial(explorer.submit_form, screen), methods=["POST"]))
        routes += [
            Route(f"/{screen.name}/{file}", partial(explorer.result, screen, form))
            for file, form in _RESULT_FILES.items()
        ]
        routes += [
            Route(f"/{screen.name}/{action}", partial(explorer.control, screen, action), methods=["POST"])
            for action in ("stop", "again")
        ]
    return routes


def create_app(
    token: str | None = None, *, hosts: tuple[str, ...] = LOOPBACK, limits: QueueLimits | None = None
) -> ASGIApp:
    """Return the explorer as an ASGI application.

    ``token``: the first part of every path must be this text. ``hosts``: the host names that it accepts; if empty,
    every name is accepted, and a token is required. ``limits``: of the job queue.

    Examples
    --------
    >>> create_app(hosts=())
    Traceback (most recent call last):
        ...
    dpradar.errors.ParameterError: create_app.token must be given when every host name is accepted; got None...
    """
    if not hosts and not token:
        hint = "Whoever can reach the server could use it."
        raise ParameterError("create_app.token", "given when every host name is accepted", "None", hint)
    queue = JobQueue(limits or QueueLimits())
    explorer = _Explorer(queue)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        queue.open()
        try:
            yield
        finally:
            await queue.close()

    app = Starlette(
        routes=_routes(explorer), lifespan=lifespan, exception_handlers={404: _not_found, Exception: _internal_error}
    )
    app.router.redirect_slashes = False
    return Guard(app, token, hosts)
