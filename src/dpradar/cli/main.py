"""Entry point: one group of commands, errors in three parts, exit codes as documented.

0 fine, 1 our bug, 2 bad input, 3 target not met, 4 only a vacuous bound, 5 audit refuted the claim.
"""

from __future__ import annotations

import difflib
import json
import os
import sys
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType

__all__ = ["Suggesting", "main"]

EXIT_BUG, EXIT_INPUT, EXIT_UNMET, EXIT_VACUOUS, EXIT_REFUTED = 1, 2, 3, 4, 5


class Suggesting(click.Group):
    """A group that loads its commands when asked for, and suggests a name for a mistyped one."""

    def __init__(self, *args: Any, loaders: dict[str, Callable[[], click.Command]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.loaders = loaders

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order they were given."""
        return list(self.loaders)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load one command."""
        loader = self.loaders.get(cmd_name)
        return None if loader is None else loader()

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command or raise an error with a suggestion."""
        if args and args[0] not in self.loaders:
            near = difflib.get_close_matches(args[0], self.loaders, n=1, cutoff=0.5)
            hint = f" Did you mean '{near[0]}'?" if near else ""
            kinds = {"assess": "mechanism or guarantee", "calibrate": "mechanism or guarantee", "attack": "mechanism"}
            kind = kinds.get(str(self.name), "command")
            message = f"unknown {kind} '{args[0]}'.{hint} Known: {', '.join(self.loaders)}."
            raise click.UsageError(message, ctx)
        return super().resolve_command(ctx, args)


def _assess() -> click.Command:
    from .assess import group

    return group()


def _calibrate() -> click.Command:
    from .calibrate import group

    return group()


def _attack() -> click.Command:
    from .attack import group

    return group()


def _audit() -> click.Command:
    from .audit import audit_command

    return audit_command


def _measure() -> click.Command:
    from .measure import measure_command

    return measure_command


def _reproduce() -> click.Command:
    from .reproduce import reproduce_command

    return reproduce_command


def _list() -> click.Command:
    from .listing import list_command

    return list_command


@click.group(
    cls=Suggesting,
    loaders={
        "assess": _assess,
        "calibrate": _calibrate,
        "attack": _attack,
        "audit": _audit,
        "measure": _measure,
        "reproduce": _reproduce,
        "list": _list,
    },
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="dpradar", prog_name="dpradar")
def app() -> None:
    """Tell what someone could learn about one person from a differentially private release."""


def _fail(message: str, code: int, *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps({"schema": "dpradar/error/1", "error": message, "exit": code}))
    click.echo(f"error: {message}", err=True)
    sys.exit(code)


def _hide_traceback(kind: type[BaseException], error: BaseException, _: TracebackType | None) -> None:
    """Report an uncaught exception without its values: they may be private data. Python then exits with 1."""
    click.echo(f"error: internal error ({kind.__name__}). Set DPRADAR_DEBUG=1 to see where, and report it.", err=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; shows no traceback unless DPRADAR_DEBUG is set."""
    from ..errors import DpradarError, InconsistentEvidence, NumericsError

    given = list(sys.argv[1:] if arguments is None else arguments)
    as_json = "--json" in given
    if not os.environ.get("DPRADAR_DEBUG"):
        sys.excepthook = _hide_traceback
    try:
        code = app.main(args=given, prog_name="dpradar", standalone_mode=False, obj={"given": given})
        sys.exit(code if isinstance(code, int) else 0)
    except click.exceptions.NoArgsIsHelpError as help_asked:
        click.echo(help_asked.format_message())
        sys.exit(EXIT_INPUT)
    except click.ClickException as error:
        _fail(error.format_message(), EXIT_INPUT, as_json=as_json)
    except click.Abort:
        _fail("interrupted", EXIT_BUG, as_json=as_json)
    except (InconsistentEvidence, NumericsError) as error:
        _fail(str(error), EXIT_BUG, as_json=as_json)
    except DpradarError as error:
        _fail(str(error), EXIT_INPUT, as_json=as_json)
