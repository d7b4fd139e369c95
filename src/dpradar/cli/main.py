"""Entry point: one group of commands, errors in three parts, exit codes as documented.

0 fine, 1 our bug, 2 bad input, 3 target not met, 4 only a vacuous bound, 5 audit refuted the claim, 130 interrupted,
141 nobody reads the output any more.
"""

from __future__ import annotations

import difflib
import errno
import io
import json
import os
import signal
import sys
import threading
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import FrameType, TracebackType

__all__ = ["COMMANDS", "SuggestingGroup", "json_option", "main", "new_json_option"]

EXIT_BUG, EXIT_INPUT, EXIT_UNMET, EXIT_VACUOUS, EXIT_REFUTED = 1, 2, 3, 4, 5
JSON = "--json"
_COMPLETION = "_DPRADAR_COMPLETE"  # as click names it
_UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)  # a full disk, one that is lost
EXIT_INTERRUPTED, EXIT_CLOSED = 130, 141  # as a shell says that SIGINT or SIGPIPE ended a program


_JSON: dict[str, Any] = {"is_flag": True, "help": "Print one JSON object."}
json_option = click.option(JSON, "as_json", **_JSON)


def new_json_option() -> click.Option:
    """Return the option --json, for a command that is built from a list of options."""
    return click.Option([JSON, "as_json"], **_JSON)


class SuggestingGroup(click.Group):
    """A group of commands that suggests a name for a mistyped one; ``noun`` is what its names are."""

    def __init__(self, *args: Any, noun: str = "command", **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.noun = noun

    def why_not(self, name: str) -> str:
        """Return why a name that is known elsewhere is none here, or nothing."""
        return ""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command, or raise an error with a suggestion."""
        name, *further = args
        command = self.get_command(ctx, name)
        if command is not None:
            return name, command, further
        names = self.list_commands(ctx)
        reason = self.why_not(name)
        if reason:
            raise click.UsageError(f"cannot {self.name} '{name}': {reason}. Known: {', '.join(names)}.", ctx)
        near = difflib.get_close_matches(name.lower(), names, n=1, cutoff=0.5)
        hint = f" Did you mean '{near[0]}'?" if near else ""
        raise click.UsageError(f"unknown {self.noun} '{name}'.{hint} Known: {', '.join(names)}.", ctx)


class _Commands(SuggestingGroup):
    """The commands of dpradar, each imported when it is used."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without loading them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, _, text) in COMMANDS.items()])

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the list."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load one command."""
        if cmd_name not in COMMANDS:
            return None
        module, name, _ = COMMANDS[cmd_name]
        command = getattr(import_module(module, __package__), name)
        return command if isinstance(command, click.Command) else command()


# Where each command lives and what the list says of it; a command is imported when it is used.
COMMANDS: dict[str, tuple[str, str, str]] = {
    "assess": (".assess", "group", "What could someone learn about one person?"),
    "calibrate": (".calibrate", "group", "How much noise keeps the risk within a limit?"),
    "attack": (
        ".attack",
        "group",
        "Simulate a mechanism, run the optimal attack on it, and count how often it is right.",
    ),
    "audit": (".audit", "audit_command", "Test whether the outputs of an implementation contradict its privacy claim."),
    "measure": (
        ".measure",
        "measure_command",
        "Report what an attack gained: success on members, success on non-members, and the difference.",
    ),
    "run": (".run", "run_command", "Assess what a spec file describes; with --check, fail where a limit is not met."),
    "new": (".new", "new_command", "Write a spec file to start from."),
    "report": (".report", "report_command", "Turn a saved result into an HTML or Markdown report."),
    "serve": ("..web.serve", "serve_command", "Explore in the browser: assess, calibrate, compare, attack, audit."),
    "explain": (".explain", "explain_command", "Explain a word, a rule or a saved result."),
    "correlate": (
        ".correlate",
        "correlate_command",
        "Report what a release gives away when records depend on each other.",
    ),
    "account": (
        ".account",
        "account_command",
        "Report the total privacy loss of a pipeline for each unit of privacy: event, user, and others.",
    ),
    "lint": (".lint", "lint_command", "Check a claim of differential privacy for errors."),
    "campaign": (
        ".campaign",
        "campaign_command",
        "Run many attacks, audits, assessments and training runs from one file.",
    ),
    "reproduce": (
        ".reproduction",
        "reproduce_command",
        "Recompute a figure of the four papers behind dpradar, such as rad:fig1, or compare all of them.",
    ),
    "list": (".list_command", "list_command", "List mechanisms, guarantees, rules and figures."),
    "schema": (
        ".schema",
        "schema_command",
        "Print the JSON Schema of spec files, pipelines or campaigns, for editors.",
    ),
    "doctor": (".doctor", "doctor_command", "Show versions, what is installed and what works."),
}


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="dpradar", prog_name="dpradar")
def app() -> None:
    """Report how much an attacker could learn about one person from a differentially private release."""


def _report_error(message: str, code: int, *, as_json: bool = False, problems: Sequence[Any] = ()) -> int:
    """Say what is wrong and return the exit code."""
    from ..params import visible

    message = visible(message)
    if as_json:
        answer: dict[str, Any] = {"schema": "dpradar/error/1", "error": message, "exit": code}
        if code == EXIT_INTERRUPTED:
            answer["complete"] = False
        if problems:
            answer["problems"] = [{"path": p.path, "message": p.message, "hint": p.hint} for p in problems]
        click.echo(json.dumps(answer))
    try:
        click.echo(f"error: {message}", err=True)
    except OSError:  # then nothing can be said
        _discard_output(sys.stderr)
    return code


def _error_message(error: click.ClickException) -> str:
    """Return what is wrong and what to do: what a missing option is, where to read on."""
    message = error.format_message()
    if isinstance(error, click.MissingParameter) and isinstance(error.param, click.Option) and error.param.help:
        message = (
            f"{message.split(' Choose from')[0].rstrip('.')}: {error.param.help[:1].lower()}{error.param.help[1:]}"
        )
        if isinstance(error.param.type, click.Choice):
            message += f" Choose from: {', '.join(map(str, error.param.type.choices))}."
    context = getattr(error, "ctx", None)
    if isinstance(error, click.NoSuchOption) and context is not None:
        from .release_options import instead_of

        instead = instead_of(error.option_name, context.command_path)
        if instead:
            return f"{error.message} {instead}"
    if context is None or any(word in message for word in ("Did you mean", "Known: ", "decimal comma")):
        return message
    return f"{message.rstrip('.')}. See: {context.command_path} --help."


def _hide_traceback(kind: type[BaseException], error: BaseException, _: TracebackType | None) -> None:
    """Report an uncaught exception without its values: they may be private data. Python then exits with 1."""
    click.echo(f"error: internal error ({kind.__name__}). Set DPRADAR_DEBUG=1 to see where, and report it.", err=True)


@contextmanager
def _terminated_like_interrupted() -> Iterator[None]:
    """Let SIGTERM do what Ctrl-C does: what was seen so far is shown, and temporary files are removed."""

    def interrupt(_: int, __: FrameType | None) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():  # signals belong to the main thread
        yield
        return
    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _discard_output(stream: TextIO) -> None:
    """Send what is still to be written nowhere: else Python tries again at its end, and fails."""
    with suppress(OSError, ValueError):  # of a stream without a file below it
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def _run(words: list[str]) -> int:
    """Run a command and return its exit code.

    In the steps of ``app.main``, which would turn a closed pipe into exit code 1.
    """
    if _COMPLETION in os.environ:  # the shell asks what could be typed next
        app.main(prog_name="dpradar")
    try:
        with (
            _terminated_like_interrupted(),
            app.make_context("dpradar", list(words), obj={"arguments": words}) as context,
        ):
            code = app.invoke(context)
    except click.exceptions.Exit as done:  # of --help and --version
        code = done.exit_code
    if sys.stdout is not None:
        sys.stdout.flush()
    return code if isinstance(code, int) else 0


def _run_and_report_errors(words: list[str]) -> int:
    """Run a command and return its exit code; errors are told as it was asked for."""
    from ..errors import DpradarError, InconsistentEvidence, NumericsError

    as_json = JSON in words
    try:
        return _run(words)
    except click.exceptions.NoArgsIsHelpError as help_asked:
        click.echo(help_asked.format_message())
        return EXIT_INPUT
    except click.ClickException as error:
        return _report_error(_error_message(error), EXIT_INPUT, as_json=as_json)
    except (click.Abort, KeyboardInterrupt):
        return _report_error("interrupted before there was a result", EXIT_INTERRUPTED, as_json=as_json)
    except (InconsistentEvidence, NumericsError) as error:
        return _report_error(str(error), EXIT_BUG, as_json=as_json)
    except DpradarError as error:
        return _report_error(str(error), EXIT_INPUT, as_json=as_json, problems=getattr(error, "problems", ()))


def _file_error_message(error: OSError) -> str:
    """Return which file or folder cannot be used and why; it is the folder of the process that has no name here."""
    reason = error.strerror or str(error) or type(error).__name__
    if error.filename is not None:
        return f"{os.fsdecode(error.filename)!r} cannot be used: {reason}. Choose another file or folder."
    try:
        Path.cwd()
    except OSError:
        return "the working folder does not exist any more. Change to another one."
    return f"a file or a connection cannot be used: {reason}."


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; shows no traceback unless DPRADAR_DEBUG is set."""
    if not os.environ.get("DPRADAR_DEBUG"):
        sys.excepthook = _hide_traceback
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # names of files need not be text, nor a terminal know every sign
            stream.reconfigure(errors="backslashreplace")
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = _run_and_report_errors(words)
    except BrokenPipeError:  # `| head` has read enough
        _discard_output(sys.stdout)
        code = EXIT_CLOSED
    except MemoryError:
        message = "this needs more memory than there is, or than is allowed. Ask for less at once."
        code = _report_error(message, EXIT_INPUT, as_json=JSON in words)
    except OSError as error:
        if error.errno not in _UNWRITABLE:
            sys.exit(_report_error(_file_error_message(error), EXIT_INPUT, as_json=JSON in words))
        _discard_output(sys.stdout)
        message = f"the output cannot be written: {error.strerror}. Make room, or send it elsewhere."
        code = _report_error(message, EXIT_INPUT)
    sys.exit(code)
