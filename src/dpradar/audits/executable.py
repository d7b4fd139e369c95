"""A program in any language as a sampler: one line in for each input, one line out for each output."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any, Literal

from ..errors import ParameterError, UnsupportedError
from ..numerics.lazy_numpy import ArrayLike, np
from ..numerics.platform_support import limits_memory
from ..params import Param, shown
from .output_arrays import REAL, WHOLE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Executable"]

_SECONDS = Param(name="seconds", low=0.0, low_open=True, what="the longest time one batch may take", typical=(1, 600))
_MEMORY = Param(
    name="memory",
    integer=True,
    low=1,
    what="the largest address space of the program in bytes; None sets no limit",
    typical=(1e8, 1e10),
)

_SEED = "DPRADAR_SEED"
_SEEDS = 2**63  # a seed fits a signed 64 bit integer, which every language has
_CHUNK = 65_536
_LINES_AT_ONCE = 10_000
_LONGEST_LINE = 1_000_000
_LONGEST_OUTPUT = 1_000_000_000
_STDERR_KEPT = 4_096
_STDERR_SHOWN = 200
_POLL_SECONDS = 0.05
_GRACE_SECONDS = 2.0

_NAN = re.compile(r"[+-]?nan", re.IGNORECASE)
_OUT_OF_MEMORY = re.compile(rb"MemoryError|bad_alloc|cannot allocate memory|out of memory", re.IGNORECASE)

# Sets the limits and then becomes the program. It runs in a process of its own because code between fork and exec
# (preexec_fn) may deadlock where other threads run. Python ignores two signals, which the program would inherit.
# A core dump would keep the inputs on disk.
_CANNOT_START = "dpradar cannot start the program: "
_LAUNCHER_FAILED = 126
_LAUNCHER = f"""
import os, resource, signal, sys
for name in ("SIGPIPE", "SIGXFSZ"):
    if hasattr(signal, name):
        signal.signal(getattr(signal, name), signal.SIG_DFL)
def limit(kind, most):
    hard = resource.getrlimit(kind)[1]
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(kind, (most, most))
try:
    limit(resource.RLIMIT_CORE, 0)
    limit(resource.RLIMIT_AS, int(sys.argv[1]))
    os.execv(sys.argv[2], sys.argv[3:])
except (OSError, ValueError, OverflowError) as error:
    sys.stderr.write({_CANNOT_START!r} + str(getattr(error, "strerror", None) or error))
    sys.exit({_LAUNCHER_FAILED})
"""


@dataclass(frozen=True, slots=True, eq=False)
class Executable:
    """A program that is a sampler: called with inputs, it runs once for the batch and returns one output each.

    The program reads one line for each input from stdin, writes one line for each output to stdout, in the same
    order, and ends with exit code 0 when stdin ends. Nothing else may be on stdout; stderr is free. No shell is used.

    Parameters
    ----------
    command
        The program and its arguments, as a sequence of words, or one string that is split as a shell would.
    inputs
        One record for each value of the domain: what is written for the value with this index. Without it the index
        itself is written.
    format
        ``"lines"``: the input is written as plain text. An output line is read as a whole number, else as a number,
        else as text; numbers with leading zeros, as in ``0110``, stay text. The environment variable ``DPRADAR_SEED``
        holds a number drawn for the run: a program that takes its randomness from it gives the same outputs again.
        ``"json"``: an input line is ``{"value": ..., "seed": ...}`` with a new seed on each line (below 2^63), and an
        output line is a number, a boolean, a text, or a flat list of these.
    seconds
        The longest time a batch may take. Then the program is stopped, with every process of its process group.
    memory
        The largest address space of the program in bytes. Only Linux is known to keep to it: on other systems a limit
        is refused when the program is to be started, instead of being ignored. ``memory=None`` sets no limit; Java and
        Node.js need that too, as they reserve far more than they use.

    Guarantee
    ---------
    A call returns exactly one output for each input or raises; it never hangs, and no process is left in the process
    group of the program. Messages hold no inputs, only the last line that the program itself wrote to stderr.

    Examples
    --------
    >>> import sys
    >>> import numpy as np
    >>> double = "import sys; [print(2 * int(line)) for line in sys.stdin]"
    >>> Executable([sys.executable, "-c", double])([1, 2, 3], np.random.default_rng(1))
    [2, 4, 6]
    >>> echo = "import sys, json; [print(json.dumps([json.loads(line)['value'], True])) for line in sys.stdin]"
    >>> run = Executable([sys.executable, "-c", echo], inputs=["low", "high"], format="json")
    >>> run(np.array([1, 0]), np.random.default_rng(1))
    [['high', True], ['low', True]]
    """

    command: Sequence[str] | str
    inputs: Sequence[Any] | None = field(default=None, kw_only=True, repr=False)
    format: Literal["lines", "json"] = field(default="lines", kw_only=True)
    seconds: float = field(default=60.0, kw_only=True)
    memory: int | None = field(default=2_000_000_000, kw_only=True)
    _command_words: tuple[str, ...] = field(init=False, repr=False)
    _input_lines: tuple[str, ...] | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.format not in ("lines", "json"):
            raise ParameterError("Executable.format", '"lines" or "json"', shown(self.format))
        object.__setattr__(self, "seconds", _SECONDS.check("Executable", self.seconds))
        if self.memory is not None:
            object.__setattr__(self, "memory", int(_MEMORY.check("Executable", self.memory)))
        object.__setattr__(self, "_command_words", _command_words(self.command))
        object.__setattr__(self, "_input_lines", _input_lines(self.inputs, self.format))

    def __call__(self, values: ArrayLike, rng: np.random.Generator) -> list[Any]:
        """Return one output for each of ``values``, which are indices of the domain."""
        indices = self._indices(values)
        if not indices:
            return []
        environment = None
        if self.format == "lines":
            environment = {**os.environ, _SEED: str(int(rng.integers(_SEEDS)))}
        output = _run(self, self._blocks(indices, rng), environment, len(indices))
        lines = _output_lines(output, len(indices))
        return _from_json(lines) if self.format == "json" else [_parse_line(line) for line in lines]

    def _indices(self, values: ArrayLike) -> list[int]:
        array = np.asarray(values)
        if array.size == 0:
            return []
        if array.ndim != 1 or array.dtype.kind not in "iu":
            description = f"an array of {array.dtype} with {array.ndim} dimensions"
            raise ParameterError("values", "a flat list of indices of the domain", description)
        most = len(self._input_lines) - 1 if self._input_lines is not None else None
        if array.min() < 0 or (most is not None and array.max() > most):
            allowed = "indices of at least 0" if most is None else f"indices from 0 to {most}, one for each of inputs"
            raise ParameterError("values", allowed, "an index outside")
        indices: list[int] = array.tolist()
        return indices

    def _blocks(self, indices: list[int], rng: np.random.Generator) -> Iterator[bytes]:
        """Yield the lines of all inputs, some thousand at a time; random numbers are drawn before the first."""
        seeds = rng.integers(_SEEDS, size=len(indices)).tolist() if self.format == "json" else None

        def blocks() -> Iterator[bytes]:
            for start in range(0, len(indices), _LINES_AT_ONCE):
                part = indices[start : start + _LINES_AT_ONCE]
                words = map(str, part) if self._input_lines is None else (self._input_lines[i] for i in part)
                if seeds is not None:
                    pairs = zip(words, seeds[start : start + _LINES_AT_ONCE], strict=True)
                    words = (f'{{"value": {word}, "seed": {seed}}}' for word, seed in pairs)
                yield "".join(f"{word}\n" for word in words).encode()

        return blocks()


def _command_words(command: Sequence[str] | str) -> tuple[str, ...]:
    name, allowed = "Executable.command", "a program and its arguments"
    try:
        words: tuple[Any, ...] = tuple(
            shlex.split(command) if isinstance(command, str) else (os.fspath(word) for word in command)
        )
    except ValueError as error:
        raise ParameterError(name, allowed, shown(command), f"It cannot be split into words: {error}.") from None
    except TypeError:
        raise ParameterError(name, allowed, shown(command), "Give a string or a list of strings.") from None
    if not words or not all(isinstance(word, str) and "\0" not in word for word in words):
        raise ParameterError(name, allowed, shown(command), "Give a string or a list of strings, not empty.")
    return words


def _input_lines(inputs: Sequence[Any] | None, format: str) -> tuple[str, ...] | None:
    """Return what is written for each value of the domain."""
    if inputs is None:
        return None
    if isinstance(inputs, str) or not hasattr(inputs, "__iter__"):
        raise ParameterError("Executable.inputs", "a list with one record for each value", type(inputs).__name__)
    texts = []
    for position, record in enumerate(inputs):
        try:
            text = json.dumps(record, default=_json_value) if format == "json" else str(record)
            text.encode()
        except (TypeError, ValueError, RecursionError):
            hint = "Use numbers, texts, lists and dictionaries."
            description = f"another thing at position {position}"
            raise ParameterError("Executable.inputs", f"made of what {format} can hold", description, hint) from None
        if "\n" in text or "\r" in text:
            hint = 'Each input is one line. Use format="json", where a text may have line breaks.'
            raise ParameterError("Executable.inputs", "records of one line", f"a break at position {position}", hint)
        texts.append(text)
    if not texts:
        raise ParameterError("Executable.inputs", "a list with one record for each value", "an empty list")
    return tuple(texts)


def _json_value(value: object) -> object:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError


def _start(executable: Executable, environment: dict[str, str] | None) -> subprocess.Popen[bytes]:
    """Start the program in a session of its own, so that it can be stopped with all it has started."""
    words = list(executable._command_words)
    program = shutil.which(words[0])
    if program is None:
        hint = "No such program was found, or it may not be executed. Give its full path."
        raise ParameterError("Executable.command", "a program that can be started", shown(words[0]), hint)
    if executable.memory is not None:
        if not limits_memory() or not sys.executable:
            message = (
                f"the memory of a program cannot be limited here ({sys.platform}). Give memory=None (command line: "
                "--memory 0), which sets no limit."
            )
            raise UnsupportedError(message)
        words = [sys.executable, "-I", "-S", "-c", _LAUNCHER, str(executable.memory), program, *words]
    pipe = subprocess.PIPE
    try:
        return subprocess.Popen(  # noqa: S603 (to start the program of the user is the purpose)
            words, stdin=pipe, stdout=pipe, stderr=pipe, env=environment, start_new_session=True
        )
    except (OSError, ValueError) as error:
        raise _start_error(getattr(error, "strerror", None) or type(error).__name__) from None


def _start_error(reason: str) -> ParameterError:
    hint = "Is it a program or a script that starts with #! and its interpreter?"
    return ParameterError("Executable.command", "a program that can be started", f"the error {reason!r}", hint)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Stop every process of the group, also when its first process has ended, and wait for the first one."""
    if os.name == "posix":
        # The group may be gone already; macOS answers "not permitted" when all of it has ended.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()


@dataclass(slots=True)
class _Pipes:
    """What passed through the pipes. Each thread owns one pipe and closes it, so that no close can block."""

    stdout: bytearray = field(default_factory=bytearray)
    stderr: bytes = b""
    problem: tuple[str, str, str] | None = None

    def write(self, stream: IO[bytes], blocks: Iterator[bytes]) -> None:
        # A program may end without reading all; that it then writes too few lines is noticed elsewhere.
        with contextlib.suppress(OSError), stream:
            for block in blocks:
                stream.write(block)

    def read(self, stream: IO[bytes], most_lines: int) -> None:
        """Collect stdout; stop at a line that is too long, one line too many or too much in all."""
        lines = unfinished = 0
        with stream:
            while chunk := stream.read1(_CHUNK):  # type: ignore[attr-defined]
                self.stdout += chunk
                lines += chunk.count(b"\n")
                first = chunk.find(b"\n")
                longest = unfinished + (len(chunk) if first < 0 else first)
                unfinished = longest if first < 0 else len(chunk) - chunk.rfind(b"\n") - 1
                got = lines + (unfinished > 0)
                if longest > _LONGEST_LINE:
                    self.problem = (f"at most {_LONGEST_LINE} bytes on a line", "a longer line", "It was stopped.")
                elif got > most_lines:
                    self.problem = _wrong_count(f"at least {got}", most_lines)
                elif len(self.stdout) > _LONGEST_OUTPUT:
                    hint = "It was stopped. Ask for fewer outputs at once."
                    self.problem = (f"at most {_LONGEST_OUTPUT} bytes in all", "more", hint)
                if self.problem:
                    return

    def read_errors(self, stream: IO[bytes]) -> None:
        with stream:
            while chunk := stream.read1(_CHUNK):  # type: ignore[attr-defined]
                self.stderr = (self.stderr + chunk)[-_STDERR_KEPT:]


def _wrong_count(got: str, expected: int) -> tuple[str, str, str]:
    hint = "It must write one line for each line it reads, and nothing else, to stdout."
    return f"{expected} lines for {expected} inputs", f"{got} lines", hint


def _output_error(allowed: str, got: str, hint: str) -> ParameterError:
    return ParameterError("the output of Executable.command", allowed, got, hint)


def _run(
    executable: Executable, blocks: Iterator[bytes], environment: dict[str, str] | None, n_inputs: int
) -> bytearray:
    """Return all that the program writes to stdout, or raise; the program has ended then."""
    pipes = _Pipes()
    process = _start(executable, environment)
    reader = threading.Thread(target=pipes.read, args=(process.stdout, n_inputs), daemon=True)
    others = [
        threading.Thread(target=pipes.write, args=(process.stdin, blocks), daemon=True),
        threading.Thread(target=pipes.read_errors, args=(process.stderr,), daemon=True),
    ]
    try:
        for thread in (reader, *others):
            thread.start()
        in_time = _wait_for_end(process, reader, pipes, executable.seconds)
    finally:
        # Also after KeyboardInterrupt. Without its processes the pipes end, and with them the threads.
        _kill(process)
    for thread in (reader, *others):
        thread.join(_GRACE_SECONDS)
    if pipes.problem:
        raise _output_error(*pipes.problem)
    if not in_time:
        hint = "The program was stopped. Give it more time or fewer inputs; it must end when its stdin ends."
        got = f"{executable.seconds:g}, after which the program still ran ({n_inputs} inputs)"
        raise ParameterError("Executable.seconds", "enough for a batch", got, hint)
    if process.returncode != 0:
        raise _failure(executable, process.returncode, pipes.stderr)
    if reader.is_alive():
        hint = "It must not leave background processes that hold its stdout."
        raise _output_error("complete when the program ends", "a stdout that another process keeps open", hint)
    return pipes.stdout


def _wait_for_end(process: subprocess.Popen[bytes], reader: threading.Thread, pipes: _Pipes, seconds: float) -> bool:
    """Wait for the program, or for output that must not be; return False when the time is over."""
    deadline = time.monotonic() + seconds
    while reader.is_alive() and process.poll() is None:
        seconds_left = deadline - time.monotonic()
        if seconds_left <= 0.0:
            return False
        # The end of stdout wakes this at once; the poll is for programs that end while a child holds stdout.
        reader.join(min(seconds_left, _POLL_SECONDS))
    if pipes.problem:
        return True
    try:
        process.wait(max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        return False
    return True


def _failure(executable: Executable, code: int, stderr: bytes) -> ParameterError:
    last = stderr.decode("utf-8", "replace").strip().rpartition("\n")[2].strip()
    if code == _LAUNCHER_FAILED and last.startswith(_CANNOT_START):
        return _start_error(last.removeprefix(_CANNOT_START))
    if executable.memory is not None and _OUT_OF_MEMORY.search(stderr):
        got = f"{executable.memory}, and the program ran out of it"
        return ParameterError("Executable.memory", "enough for the program", got, "Give more bytes, or None.")
    printable = "".join(c if c.isprintable() else "?" for c in last)
    hint = f"Its last line on stderr: {printable[:_STDERR_SHOWN]}" if printable else "It wrote nothing to stderr."
    ending = f"exit code {code}"
    if code < 0:
        ending = f"an end by signal {-code}"
        hint += " Too little memory can be the cause; see Executable.memory." if executable.memory else ""
    return ParameterError("Executable.command", "a program that ends with exit code 0", ending, hint)


def _output_lines(output: bytearray, expected: int) -> list[str]:
    try:
        lines = output.decode("utf-8").split("\n")
    except UnicodeDecodeError as error:
        number = output.count(b"\n", 0, error.start) + 1
        raise _output_error("text in UTF-8", f"other bytes on line {number}", "Write numbers, words or JSON.") from None
    if lines[-1] == "":
        lines.pop()
    if len(lines) != expected:
        raise _output_error(*_wrong_count(f"{len(lines)}", expected))
    return lines


def _parse_line(line: str) -> int | float | str:
    text = line.strip()
    if WHOLE.fullmatch(text):
        return int(text)
    return float(text) if REAL.fullmatch(text) or _NAN.fullmatch(text) else text


def _from_json(lines: list[str]) -> list[Any]:
    allowed = "a JSON number, boolean, text or flat list of these on each line"
    outputs = []
    for number, line in enumerate(lines, start=1):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            raise _output_error(allowed, f"no JSON on line {number}", "Nothing else may be on stdout.") from None
        parts = value if isinstance(value, list) else [value]
        if not all(isinstance(part, int | float | str) for part in parts):
            raise _output_error(allowed, f"null, an object or a nested list on line {number}", "")
        outputs.append(value)
    return outputs
