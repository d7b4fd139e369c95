"""``dpradar serve``: the explorer on this machine."""

from __future__ import annotations

import logging
import secrets
import socket
from contextlib import suppress

import click

from ..errors import MissingExtra, ParameterError
from ..numerics.platform_support import limits_memory, untested_platform_notes
from ..params import Param

__all__ = ["serve_command"]

_PORT = Param(name="--port", integer=True, low=0, high=65_535, what="the port to listen on; 0 takes a free one")
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_BACKLOG = 256
_CONNECTIONS = 512
_TOKEN_BYTES = 24


@click.command("serve")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=int, default=8765, show_default=True, help="Port to listen on; 0 takes a free one.")
def serve_command(host: str, port: int) -> None:
    """Explore in the browser: assess, calibrate, compare, attack, audit.

    Only this machine can reach it unless --host says otherwise, and only with the random token in the address that is
    printed. It contacts no other machine and reads and writes no file. Ctrl-C ends it.
    """
    try:
        import uvicorn

        from .app import create_app
        from .header_deadline import PunctualProtocol
    except ImportError as error:
        raise MissingExtra(error.name or "starlette", "web") from None
    local = host in _LOOPBACK
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    listening = _listen(host, port)
    app = create_app(token, hosts=_LOOPBACK if local else ())
    _print_address(listening, host, token, local=local)
    logging.getLogger("dpradar.web").setLevel(logging.WARNING)
    config = uvicorn.Config(
        app,
        http=PunctualProtocol,
        log_level="warning",
        access_log=False,
        server_header=False,
        limit_concurrency=_CONNECTIONS,
        timeout_keep_alive=10,
        timeout_graceful_shutdown=2,
        ws="none",
    )
    with suppress(KeyboardInterrupt):  # Ctrl-C is how it ends
        uvicorn.Server(config).run(sockets=[listening])


def _listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens, or say why there is none."""
    number = int(_PORT.check("serve", port))
    try:
        kind = socket.getaddrinfo(host, number, type=socket.SOCK_STREAM)[0]
        server_socket = socket.create_server(kind[4][:2], family=kind[0], backlog=_BACKLOG)
    except OSError as error:
        hint = "Choose another with --port, or --port 0 for a free one." if number else "Such as --host 127.0.0.1."
        got = f"{host}:{number} ({error.strerror or error})"
        raise ParameterError("--host and --port", "an address that is free", got, hint) from None
    return server_socket


def _print_address(listening: socket.socket, host: str, token: str, *, local: bool) -> None:
    port = listening.getsockname()[1]
    shown = f"[{host}]" if ":" in host else host
    click.echo(f"dpradar explorer: http://{shown}:{port}/{token}/")
    if not local:
        click.echo("Whoever has this address can use it. It is not encrypted: use it in networks you trust.", err=True)
    if not limits_memory():
        click.echo(f"Warning: {untested_platform_notes()}", err=True)
    click.echo("Ctrl-C ends it.", err=True)
