"""Programs as samplers: real processes, right outputs, and an error instead of a hang for everything else."""

from __future__ import annotations

import os
import signal
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from dpradar.audits.executable import Executable
from dpradar.errors import ParameterError

posix = pytest.mark.skipif(os.name != "posix", reason="process groups and memory limits are those of POSIX")
ECHO = "import sys\nfor line in sys.stdin: print(line, end='')"


@pytest.fixture
def program(tmp_path):
    def written(code, *words):
        path = tmp_path / "program.py"
        path.write_text(textwrap.dedent(code), encoding="utf-8")
        return [sys.executable, str(path), *words]

    return written


def rng(seed=1):
    return np.random.default_rng(seed)


def error_of(executable, values=(0, 1, 2)):
    with pytest.raises(ParameterError) as caught:
        executable(list(values), rng())
    return str(caught.value)


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def is_gone(pid: int) -> bool:
    # A killed process is gone at once for us, but the system may take a moment to remove it.
    for _ in range(200):
        if not is_running(pid):
            return True
        time.sleep(0.01)
    return False


# ------------------------------------------------------------------------------------------------- what it returns


def test_one_output_for_each_input_in_order(program):
    run = Executable(program("import sys\nfor line in sys.stdin: print(int(line) * 10)"))
    assert run(np.array([3, 1, 2]), rng()) == [30, 10, 20]


def test_inputs_are_written_in_place_of_the_index(program):
    run = Executable(program("import sys\nfor line in sys.stdin: print(len(line.rstrip()))"), inputs=["a", "bcd ef", 7])
    assert run([1, 0, 2, 1], rng()) == [6, 1, 1, 6]


def test_a_string_is_split_into_words_without_a_shell(program, tmp_path):
    script = program("import sys\nfor line in sys.stdin: print('|'.join(sys.argv[1:]))")[1]
    run = Executable(f"{sys.executable} {script} 'two words' $HOME ; *")
    assert run([0], rng()) == ["two words|$HOME|;|*"]


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("7", 7),
        ("-7", -7),
        ("+7", 7),
        ("0", 0),
        ("0.5", 0.5),
        (".5", 0.5),
        ("-1.", -1.0),
        ("1e3", 1000.0),
        ("inf", np.inf),
        ("007", "007"),
        ("0110", "0110"),
        ("00.5", "00.5"),
        ("1_000", "1_000"),
        ("yes", "yes"),
        ("  3 \t", 3),
        ("two words", "two words"),
        ("", ""),
        ("é", "é"),
        ("9" * 5000, "9" * 5000),
    ],
)
def test_a_line_is_a_whole_number_a_number_or_text(program, line, value):
    got = Executable(program(f"print({line!r})"))([0], rng())
    assert got == [value]
    assert type(got[0]) is type(value)


def test_nan_is_a_number(program):
    assert np.isnan(Executable(program("print('nan')"))([0], rng())[0])


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_the_last_line_may_be_unfinished(program, end):
    run = Executable(program(f"import sys; sys.stdout.buffer.write(b'1\\r\\n2' + {end.encode()!r})"))
    assert run([0, 1], rng()) == [1, 2]


def test_json_holds_the_record_and_a_seed(program):
    code = """
        import json, sys
        for line in sys.stdin:
            got = json.loads(line)
            assert sorted(got) == ["seed", "value"] and 0 <= got["seed"] < 2**63
            print(json.dumps([got["value"]["age"], got["value"]["ill"], got["seed"]]))
    """
    inputs = [{"age": 30, "ill": True}, {"age": np.int64(40), "ill": "li\nne"}]
    got = Executable(program(code), inputs=inputs, format="json")([1, 0, 0], rng())
    assert [row[:2] for row in got] == [[40, "li\nne"], [30, True], [30, True]]
    assert len({row[2] for row in got}) == 3


def test_json_without_inputs_holds_the_index(program):
    code = "import json, sys\nfor line in sys.stdin: print(json.loads(line)['value'] / 2)"
    assert Executable(program(code), format="json")([4, 1], rng()) == [2.0, 0.5]


@pytest.mark.parametrize("value", [3, 2.5, True, "word", [True, False], [0.5, 1], [3, 1, 2], []])
def test_json_outputs(program, value):
    code = f"import json; print(json.dumps({value!r}))"
    assert Executable(program(code), format="json")([0], rng()) == [value]


@pytest.mark.parametrize("form", ["lines", "json"])
def test_a_seed_repeats_a_run(program, form):
    code = """
        import json, os, random, sys
        source = random.Random(os.environ.get("DPRADAR_SEED"))
        for line in sys.stdin:
            if line.startswith("{"):
                source = random.Random(json.loads(line)["seed"])
            print(source.random())
    """
    run = Executable(program(code), format=form)
    first, again, other = run([0] * 5, rng(1)), run([0] * 5, rng(1)), run([0] * 5, rng(2))
    assert first == again
    assert not set(first) & set(other)
    assert len(set(first)) == 5


def test_two_batches_of_one_generator_differ(program):
    run, source = Executable(program("import os; print(os.environ['DPRADAR_SEED'])")), rng()
    assert run([0], source) != run([0], source)


def test_no_input_starts_nothing():
    assert Executable(["no-such-program-here"])([], rng()) == []


def test_many_lines_do_not_block(program):
    # Echoing fills the pipes of both sides, and stderr is full of words meanwhile.
    code = """
        import sys
        for line in sys.stdin:
            print("x" * 20, line.strip(), file=sys.stderr)
            print(line, end="")
    """
    values = np.arange(100_000)
    assert Executable(program(code))(values, rng()) == values.tolist()


def test_a_program_that_reads_all_before_it_writes(program):
    code = "import sys\nlines = sys.stdin.readlines()\nprint(*lines, sep='', end='')"
    assert Executable(program(code))(range(50_000), rng()) == list(range(50_000))


def test_a_program_may_leave_inputs_unread(program):
    assert Executable(program("for i in range(50000): print(i)"))(range(50_000), rng())[-1] == 49_999


@posix
@pytest.mark.parametrize("memory", [None, 2_000_000_000])
def test_the_program_has_the_usual_signals(program, memory):
    if not Path("/proc/self/status").exists():
        pytest.skip("no /proc on this system")
    # A Python program would itself ignore SIGPIPE and SIGXFSZ when it starts. What whoever started the tests ignores
    # is none of our business.
    got = Executable(["grep", "SigIgn", "/proc/self/status"], memory=memory)([0], rng())
    ignored = int(got[0].split()[1], 16)
    assert not any(ignored >> (number - 1) & 1 for number in (signal.SIGPIPE, signal.SIGXFSZ))


# ------------------------------------------------------------------------------------------------- programs that fail


def test_a_program_that_is_not_there():
    message = error_of(Executable("no-such-program-here --x"))
    assert "'no-such-program-here'" in message
    assert "full path" in message


@posix
@pytest.mark.parametrize("memory", [None, 2_000_000_000])
@pytest.mark.parametrize("content", [b"print(1)", b"#!/no/such/interpreter\n", b"\x7fELF garbage"])
def test_a_file_that_is_no_program(tmp_path, content, memory):
    path = tmp_path / "script"
    path.write_bytes(content)
    assert "may not be executed" in error_of(Executable([str(path)], memory=memory))
    path.chmod(0o755)
    assert "a program that can be started" in error_of(Executable([str(path)], memory=memory))


def test_an_exit_code_with_the_last_line_of_stderr(program):
    code = "import sys; print('first', file=sys.stderr); print('the \\x1b[31mreason\\a', file=sys.stderr); sys.exit(3)"
    message = error_of(Executable(program(code)))
    assert "exit code 3" in message
    assert "the ?[31mreason?" in message
    assert "first" not in message


def test_a_long_stderr_is_cut_short(program):
    message = error_of(Executable(program("import sys; sys.stderr.write('x' * 10**6); sys.exit(1)")))
    assert "exit code 1" in message
    assert len(message) < 400


def test_all_lines_and_then_an_exit_code(program):
    assert "exit code 2" in error_of(Executable(program(ECHO + "\nsys.exit(2)")))


@posix
def test_an_end_by_a_signal(program):
    message = error_of(Executable(program("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")))
    assert f"signal {signal.SIGSEGV.value}" in message
    assert "memory" in message


@pytest.mark.parametrize(("written", "got"), [(0, "0 lines"), (2, "2 lines"), (4, "4 lines")])
def test_a_wrong_number_of_lines(program, written, got):
    message = error_of(Executable(program(f"for i in range({written}): print(i)")))
    assert "3 lines for 3 inputs" in message
    assert got in message


def test_a_program_that_never_stops_writing(program):
    message = error_of(Executable(program("while True: print('y')")))
    assert "3 lines for 3 inputs; got at least" in message


@pytest.mark.parametrize("code", ["print('x' * 2_000_000)", "import sys\nwhile True: sys.stdout.write('x' * 1000)"])
def test_a_huge_line(program, code):
    assert "at most 1000000 bytes on a line; got a longer line" in error_of(Executable(program(code)))


@pytest.mark.parametrize("form", ["lines", "json"])
def test_binary_garbage(program, form):
    code = "import sys; sys.stdout.buffer.write(b'1\\n\\xff\\xfe\\x00\\n3\\n')"
    message = error_of(Executable(program(code), format=form))
    assert "other bytes on line 2" in message


@pytest.mark.parametrize("line", ["word", "{", "", "[1, 2", "1 2", "[" * 200_000, "9" * 5000])
def test_a_line_that_is_no_json(program, line):
    message = error_of(Executable(program(f"print(1); print({line!r}); print(3)"), format="json"))
    assert "no JSON on line 2" in message
    assert "word" not in message


@pytest.mark.parametrize("line", ["null", '{"a": 1}', "[[1]]", "[null]"])
def test_json_of_another_shape(program, line):
    message = error_of(Executable(program(f"print(1); print({line!r}); print(3)"), format="json"))
    assert "on line 2" in message


def test_messages_hold_no_inputs(program):
    run = Executable(program("print('secret'); print(1); print(2); print(3)"), inputs=["secret"], format="json")
    assert "secret" not in error_of(run, [0, 0, 0])
    assert "secret" not in repr(run)


# ------------------------------------------------------------------------------------------------- limits


GRANDCHILD = """
    import pathlib, subprocess, sys, time
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    pathlib.Path(sys.argv[1]).write_text(str(child.pid))
    {rest}
"""


@posix
def test_when_the_time_is_over_the_whole_group_is_stopped(program, tmp_path):
    note = tmp_path / "pid"
    run = Executable(program(GRANDCHILD.format(rest="time.sleep(600)"), str(note)), seconds=3.0)
    message = error_of(run)
    assert "Executable.seconds" in message
    assert "3 inputs" in message
    assert is_gone(int(note.read_text()))


@posix
def test_a_child_that_is_left_behind_is_stopped(program, tmp_path):
    # It holds stdout, which therefore does not end with the program.
    note = tmp_path / "pid"
    run = Executable(program(GRANDCHILD.format(rest="print(1)"), str(note)))
    assert run([0], rng()) == [1]
    assert is_gone(int(note.read_text()))


@posix
def test_a_process_that_left_the_group_cannot_make_a_call_hang(program, tmp_path):
    note = tmp_path / "pid"
    code = GRANDCHILD.format(rest="print(1)").replace('(600)"]', '(600)"], start_new_session=True')
    try:
        message = error_of(Executable(program(code, str(note))), [0])
    finally:
        os.kill(int(note.read_text()), signal.SIGKILL)
    assert "keeps open" in message


def test_a_program_that_does_not_end(program):
    code = "import sys, time\nsys.stdin.read()\nprint(1, flush=True)\nsys.stdout.close()\ntime.sleep(600)"
    assert "enough for a batch; got 2, " in error_of(Executable(program(code), seconds=2.0), [0])


def test_a_program_that_does_not_read(program):
    run = Executable(program("import time; time.sleep(600)"), seconds=1.0)
    assert "Executable.seconds" in error_of(run, range(200_000))


@posix
def test_too_much_memory(program):
    message = error_of(Executable(program("x = bytearray(10**9); print(1)"), memory=400_000_000))
    assert "Executable.memory must be enough for the program; got 400000000" in message


@posix
def test_memory_is_limited_for_children_too(program):
    code = "import subprocess, sys; sys.exit(subprocess.call([sys.executable, '-c', 'bytearray(10**9)']))"
    assert "Executable.memory" in error_of(Executable(program(code), memory=400_000_000))


def test_memory_without_a_limit(program):
    assert Executable(program("x = bytearray(3 * 10**8); print(1)"), memory=None)([0], rng()) == [1]


@posix
def test_hardly_any_memory(program):
    assert "must be" in error_of(Executable(program(ECHO), memory=10_000))


@posix
def test_an_interrupt_stops_the_program(program, tmp_path):
    note = tmp_path / "pid"
    run = Executable(program("import os, pathlib, sys, time\npathlib.Path(sys.argv[1]).write_text(str(os.getpid()))\n"
                             "time.sleep(600)", str(note)))  # fmt: skip

    def interrupt():
        while not (note.exists() and note.read_text()):
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        run([0], rng())
    assert is_gone(int(note.read_text()))


def test_no_thread_and_no_file_is_left(program):
    run = Executable(program("print(1)"))
    run([0], rng())
    threads, files = threading.active_count(), len(list(Path("/proc/self/fd").glob("*")))
    for _ in range(5):
        run([0], rng())
        error_of(run)
    assert threading.active_count() <= threads
    assert len(list(Path("/proc/self/fd").glob("*"))) <= files


# ------------------------------------------------------------------------------------------------- bad arguments


@pytest.mark.parametrize(
    ("arguments", "options", "name"),
    [
        (("",), {}, "command"),
        (([],), {}, "command"),
        ((["a", 3],), {}, "command"),
        ((7,), {}, "command"),
        (("a 'b",), {}, "command"),
        ((["a\0b"],), {}, "command"),
        ((["a"],), {"format": "xml"}, "format"),
        ((["a"],), {"seconds": 0}, "seconds"),
        ((["a"],), {"seconds": np.inf}, "seconds"),
        ((["a"],), {"memory": -1}, "memory"),
        ((["a"],), {"memory": 1.5}, "memory"),
        ((["a"],), {"inputs": []}, "inputs"),
        ((["a"],), {"inputs": "word"}, "inputs"),
        ((["a"],), {"inputs": 3}, "inputs"),
        ((["a"],), {"inputs": ["fine", "secret\nword"]}, "inputs"),
        ((["a"],), {"inputs": ["fine", "secret\udc80"]}, "inputs"),
        ((["a"],), {"inputs": [{"secret"}], "format": "json"}, "inputs"),
    ],
)
def test_bad_arguments(arguments, options, name):
    with pytest.raises(ParameterError, match=f"Executable.{name} must be") as caught:
        Executable(*arguments, **options)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("values", [[0.5], [[0, 1]], ["a"], [-1], [2], 1])
def test_bad_values(values):
    with pytest.raises(ParameterError, match="values must be"):
        Executable(["a"], inputs=["x", "y"])(values, rng())


def test_arrays_are_records_too(program):
    run = Executable(program(ECHO), inputs=np.array([5, 6]))
    assert run([1, 0], rng()) == [6, 5]
