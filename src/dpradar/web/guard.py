"""The checks of every request before a screen handles it, and the headers of every response.

Host names are checked, so that a page elsewhere cannot reach a server on this machine by pointing its own name at it.
A token, where there is one, is the first part of every path: links stay relative, and no cookie is needed. Queries and
bodies are short, other sites can only link here, which starts no work, and nothing is loaded from anywhere else.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse, RedirectResponse

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["LOOPBACK", "MOST_BODY", "MOST_QUERY", "POLICY", "Guard"]

LOOPBACK = ("127.0.0.1", "localhost", "::1")
MOST_QUERY = 8_192
MOST_BODY = 65_536
BODY_SECONDS = 20.0  # until a body has arrived
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
    (b"cache-control", b"no-store"),
)
_BODY_TOO_LONG = f"A request may have at most {MOST_BODY:,} bytes."
_METHODS = ("GET", "HEAD", "POST")
LOG = logging.getLogger("dpradar.web")


@dataclass(frozen=True, slots=True)
class Guard:
    """The outermost layer of the application.

    ``hosts`` are the host names that the server accepts, any if empty (then ``token`` is required: requests without it
    are refused, whatever the host name).
    """

    app: ASGIApp
    token: str | None = None
    hosts: tuple[str, ...] = LOOPBACK
    logger: logging.Logger = field(default=LOG, repr=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check, pass on, and add headers."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                present = {name.lower() for name, _ in message["headers"]}
                added = [(name, value) for name, value in _HEADERS if name not in present]
                message = {**message, "headers": [*message["headers"], *added]}
            await send(message)

        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, with_headers)
            return
        try:
            await self.app(self._inner(scope), _with_body_limits(receive), with_headers)
        except Exception as error:  # already answered; values stay out of the log
            self.logger.error("%s while answering %s", type(error).__name__, scope["method"])  # noqa: TRY400

    def _refusal(self, scope: Scope) -> ASGIApp | None:
        headers = Headers(scope=scope)
        for check in (self._host, self._sizes, self._site, self._secret):
            refusal = check(scope, headers)
            if refusal is not None:
                return refusal
        return None

    def _host(self, scope: Scope, headers: Headers) -> ASGIApp | None:
        host = headers.get("host", "")
        try:
            name = urlsplit(f"//{host}").hostname
        except ValueError:
            name = None
        if name is None or len(headers.getlist("host")) != 1 or (self.hosts and name not in self.hosts):
            return _text_response(421, "This server does not accept that host name. Open the address that it printed.")
        if scope["method"] not in _METHODS:
            return _text_response(405, "Only GET, HEAD and POST are supported.")
        return None

    def _sizes(self, scope: Scope, headers: Headers) -> ASGIApp | None:
        if len(scope["query_string"]) > MOST_QUERY:
            message = f"An address may have at most {MOST_QUERY:,} characters after the question mark."
            return _text_response(414, f"{message} Put longer lists into a spec file: dpradar run spec.toml.")
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > MOST_BODY:
            return _text_response(413, _BODY_TOO_LONG)
        return None

    def _site(self, scope: Scope, headers: Headers) -> ASGIApp | None:
        """Other sites may link here; they may not load from here, nor send forms."""
        post, site = scope["method"] == "POST", headers.get("sec-fetch-site")
        if site is None:  # an old browser, or none; the origin of a page without referrer would be "null"
            origin = headers.get("origin")
            foreign, linked = origin is not None and _host_of_origin(origin) != headers.get("host"), not post
        else:
            foreign = site not in ("same-origin", "none")
            mode, kind = headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")
            linked = not post and (mode, kind) == ("navigate", "document")
        return _text_response(403, "Requests from other sites are refused.") if foreign and not linked else None

    def _secret(self, scope: Scope, _: Headers) -> ASGIApp | None:
        if self.token is None:
            return None
        first, slash, _ = scope["path"].removeprefix("/").partition("/")
        if not secrets.compare_digest(first.encode(), self.token.encode()):
            return _text_response(
                403, "This server requires a token. Open the address that it printed when it started."
            )
        return None if slash else RedirectResponse(f"/{self.token}/", status_code=307)

    def _inner(self, scope: Scope) -> Scope:
        if self.token is None:
            return scope
        path = "/" + scope["path"].removeprefix("/").partition("/")[2]
        return {**scope, "path": path, "raw_path": path.encode()}


def _host_of_origin(origin: str) -> str | None:
    """Return host and port of an origin; None where it has none that can be read."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return None


def _text_response(status: int, text: str) -> PlainTextResponse:
    return PlainTextResponse(f"{text}\n", status_code=status)


def _with_body_limits(receive: Receive) -> Receive:
    received, complete, end = 0, False, time.monotonic() + BODY_SECONDS

    async def receive_within_limits() -> Message:
        nonlocal received, complete
        if complete:  # the next message reports a disconnection, for which there is no time limit
            return await receive()
        try:
            message = await asyncio.wait_for(receive(), max(end - time.monotonic(), 0.0))
        except TimeoutError:
            raise HTTPException(408, "The request did not arrive in time.") from None
        complete = not message.get("more_body", False)
        received += len(message.get("body", b""))
        if received > MOST_BODY:
            raise HTTPException(413, _BODY_TOO_LONG)
        return message

    return receive_within_limits
