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
from .answers import BUSY, BUSY_STATUS, Answer, address_of, answered, asked_of, given_address
from .drawings import band_sentence, band_svg
from .guard import LOOPBACK, MOST_QUERY, Guard
from .screens import learn, start
from .screens.assess import ASSESS
from .screens.attack import ATTACK
from .screens.calibrate import CALIBRATE
from .screens.compare import COMPARE
from .screens.learn import LEARN
from .work.desk import Busy, Desk, Limits

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request
    from starlette.types import ASGIApp

    from .screens.asked import Asked, Screen

__all__ = ["SCREENS", "create_app"]

SCREENS = (ASSESS, CALIBRATE, COMPARE, ATTACK, LEARN)
_STATIC = {"app.css": "text/css", "app.js": "text/javascript"}
_REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; frame-ancestors 'none'"
_FORMS = {"report.html": "html", "report.md": "md", "result.json": "json"}
_TYPES = {"html": "text/html", "md": "text/markdown"}
_STOPPING = 8.0  # seconds to wait for a job that was asked to stop


@cache
def _templates() -> Environment:
    made = Environment(
        loader=PackageLoader("dpradar.web", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals |= {"screens": SCREENS, "version": __version__}
    # What is drawn here escapes every text itself.
    made.filters["band"] = lambda band: Markup(band_svg(band))  # noqa: S704
    made.filters["band_sentence"] = band_sentence
    # Answers are made by the templates of ``present``, which escape what they are given.
    made.filters["trusted"] = Markup
    return made


def _page(body: str, request: Request, part: str = "", status: int = 200, **given: Any) -> Response:
    """Return a page, or one part of it."""
    given |= {"root": "../" * request.scope["path"].count("/", 1), "body": body, "refresh": given.get("refresh", False)}
    template = {"screen": body, "answer": "answer.html"}.get(part, "base.html")
    text = visible(_templates().get_template(template).render(given))
    headers = {"vary": "x-part", **({"retry-after": "2"} if status == BUSY_STATUS else {})}
    return HTMLResponse(text, status_code=status, headers=headers)


class _Explorer:
    """The screens, and the desk that works for them."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    async def start(self, request: Request) -> Response:
        """Return the three doors and the examples."""
        return _page("start.html", request, doors=start.DOORS, examples=start.EXAMPLES, screen=None)

    async def screen(self, screen: Screen, request: Request) -> Response:
        """Return a screen, or the part of it that a script asks for."""
        asked, readable = asked_of(screen, dict(request.query_params))
        address, given = address_of(asked), given_address(request)
        if given and readable and given != address:
            return RedirectResponse(f"{screen.name}?{address}", status_code=303)
        return self._shown(screen, asked, request, await answered(self.desk, asked, request))

    def _shown(self, screen: Screen, asked: Asked, request: Request, answer: Answer) -> Response:
        if answer.state == "gone":
            return Response(status_code=204)
        address = address_of(asked)
        return _page(
            screen.layout,
            request,
            request.headers.get("x-part", ""),
            answer.status,
            screen=screen,
            asked=asked,
            form=asked.form,
            answer=answer,
            address=address,
            pairs=_pairs(address),
            refresh=answer.state == "running",
            learn=learn,
            lesson=learn.LESSONS.get(asked.form.texts.get("try", "rad")) if screen is LEARN else None,
        )

    async def sent(self, screen: Screen, request: Request) -> Response:
        """Return the address of a form that was sent as a body, and let it start what it asks for."""
        query = dict(_pairs((await request.body()).decode("utf-8", "replace")))
        try:
            asked, readable = asked_of(screen, query)
            if readable and len(address_of(asked)) > MOST_QUERY:
                asked, readable = asked_of(screen, screen.shorter(query))
        except ParameterError as error:
            return PlainTextResponse(f"{error}\n", status_code=400)
        address = address_of(asked)
        if not readable or len(address) > MOST_QUERY:
            told = asked.problem or "These are too many different pairs for this page. Save them: dpradar audit log.csv"
            answer = Answer(state="problem", status=400 if asked.problem else 413, problem=told)
            return self._shown(screen, asked, request, answer)
        self._allow(asked_of(screen, dict(_pairs(address)))[0])  # as the address will be read
        return RedirectResponse(f"{screen.name}?{address}", status_code=303)

    def _allow(self, asked: Asked) -> None:
        if asked.task is not None:
            self.desk.allow(asked.task, asked.data)

    async def result(self, screen: Screen, form: str, request: Request) -> Response:
        """Return what came out as a file: a report, or JSON."""
        asked, _ = asked_of(screen, dict(request.query_params))
        answer = await answered(self.desk, asked, request, patient=True)
        if answer.job is None or answer.job.state != "done":
            return _no_result(answer, form)
        if form == "json":
            return Response(answer.job.result["json"], media_type="application/json")
        try:
            job = self.desk.ask("render", {"json": answer.job.result["json"], "form": form})
        except Busy:
            return PlainTextResponse(BUSY, status_code=BUSY_STATUS)
        await self.desk.wait(job, self.desk.limits.quick_seconds * 2)
        if job.state != "done":
            return PlainTextResponse("The report could not be made.", status_code=500)
        headers = {"content-security-policy": _REPORT_POLICY}
        headers["content-disposition"] = f'inline; filename="dpradar-{screen.name}.{form}"'
        return Response(job.result, media_type=f"{_TYPES[form]}; charset=utf-8", headers=headers)

    async def control(self, screen: Screen, what: str, request: Request) -> Response:
        """Stop a job, or forget that it was stopped; then go back to the screen."""
        sent = dict(_pairs((await request.body()).decode("utf-8", "replace")))
        job, going = self.desk.find(sent.get("job", "")), True
        if job is not None and what == "stop":
            self.desk.stop(job, wanted=True)  # the page goes on asking how far it is
            await self.desk.wait(job, _STOPPING)
            going = job.state == "done"
        elif job is not None:
            self.desk.forget(job)
        asked, _ = asked_of(screen, dict(_pairs(sent.get("address", ""))))
        if what == "again":
            self._allow(asked)
        address = address_of(asked) if going else asked.form.query
        return RedirectResponse(f"../{screen.name}?{address}", status_code=303)

    async def static(self, request: Request) -> Response:
        """Return the style sheet or the script."""
        name = request.path_params["name"]
        if name not in _STATIC:
            return await _missing(request, None)
        return Response(_file(name), media_type=_STATIC[name])


def _pairs(query: str) -> list[tuple[str, str]]:
    return parse_qsl(query, keep_blank_values=True)


@cache
def _file(name: str) -> str:
    text = files("dpradar.web").joinpath("static", name).read_text(encoding="utf-8")
    return f"{stylesheet()}\n{text}" if name == "app.css" else text


def _no_result(answer: Answer, form: str) -> Response:
    told = answer.problem or "Nothing was run yet."
    status = answer.status if answer.problem else 409
    if answer.state == "running":
        told, status = "This is still being computed. Ask again in a moment.", 202
    if form == "json":
        text = json.dumps({"schema": "dpradar/error/1", "error": told, "exit": 2})
        return Response(text, status_code=status, media_type="application/json")
    return PlainTextResponse(f"{told}\n", status_code=status)


async def _missing(request: Request, _: Any) -> Response:
    return _page("missing.html", request, status=404, screen=None)


async def _broken(_: Request, error: Exception) -> Response:
    return PlainTextResponse(f"Internal error ({type(error).__name__}). Please report it.\n", status_code=500)


def _routes(explorer: _Explorer) -> list[Route]:
    routes = [Route("/", explorer.start), Route("/static/{name}", explorer.static)]
    for screen in SCREENS:
        routes.append(Route(f"/{screen.name}", partial(explorer.screen, screen), methods=["GET"]))
        routes.append(Route(f"/{screen.name}", partial(explorer.sent, screen), methods=["POST"]))
        routes += [
            Route(f"/{screen.name}/{file}", partial(explorer.result, screen, form)) for file, form in _FORMS.items()
        ]
        routes += [
            Route(f"/{screen.name}/{what}", partial(explorer.control, screen, what), methods=["POST"])
            for what in ("stop", "again")
        ]
    return routes


def create_app(token: str | None = None, *, hosts: tuple[str, ...] = LOOPBACK, limits: Limits | None = None) -> ASGIApp:
    """Return the explorer as an ASGI application.

    ``token``: the first part of every path must be this text. ``hosts``: the names under which it may be asked; with
    none every name will do, and then there must be a token. ``limits``: how much work it takes on.

    Examples
    --------
    >>> create_app(hosts=())
    Traceback (most recent call last):
        ...
    dpradar.errors.ParameterError: create_app.token must be given when every host name will do; got None...
    """
    if not hosts and not token:
        hint = "Whoever can reach the server could use it."
        raise ParameterError("create_app.token", "given when every host name will do", "None", hint)
    desk = Desk(limits or Limits())
    explorer = _Explorer(desk)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        desk.open()
        try:
            yield
        finally:
            await desk.close()

    app = Starlette(routes=_routes(explorer), lifespan=lifespan, exception_handlers={404: _missing, Exception: _broken})
    app.router.redirect_slashes = False
    return Guard(app, token, hosts)
