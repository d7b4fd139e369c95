"""Rows that do not fit in memory: what is written to a folder is gone when the process is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import pytest

from dpradar.data.scratch_folder import private_folder

# Counts many different words with little memory.
COUNT = """
import sys
from dpradar.data import prior
prior(sys.argv[1], ["word"], memory="120MB", most_cells=10**9)
"""


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Return a file whose groups do not fit into the memory that is allowed."""
    file = tmp_path_factory.mktemp("large") / "words.parquet"
    words = "SELECT 'Rumpelstiltskin-' || (range * 7919 % 3000000) AS word FROM range(3000000)"
    duckdb.sql(f"COPY ({words}) TO '{file}' (FORMAT parquet)")
    return file


def _started(file, folder):
    work = subprocess.Popen(
        [sys.executable, "-c", COUNT, str(file)],
        env={**os.environ, "TMPDIR": str(folder)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    end = time.monotonic() + 60.0
    while time.monotonic() < end and work.poll() is None:
        if any(path.suffix == ".tmp" for path in folder.rglob("*")):
            return work
        time.sleep(0.005)
    work.kill()
    work.wait()
    pytest.fail("no temporary files were written")


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_sigterm_ends_the_work_as_an_exception(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    def work():
        with private_folder() as folder:
            (Path(folder) / "rows.tmp").write_text("Rumpelstiltskin")
            try:
                os.kill(os.getpid(), signal.SIGTERM)
                time.sleep(5.0)
            except SystemExit:
                raise RuntimeError("the words of a driver") from None

    with pytest.raises(SystemExit) as ended:
        work()
    assert ended.value.code == 128 + signal.SIGTERM
    assert list(tmp_path.iterdir()) == []
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_sigterm_leaves_no_rows_behind(large, tmp_path):
    work = _started(large, tmp_path)
    work.send_signal(signal.SIGTERM)
    assert work.wait(timeout=60) in (143, -signal.SIGTERM)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_what_a_killed_process_left_is_removed_at_the_next_start(large, tmp_path, monkeypatch):
    work = _started(large, tmp_path)
    work.kill()
    work.wait(timeout=60)
    assert any(path.suffix == ".tmp" for path in tmp_path.rglob("*"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with private_folder() as first, private_folder() as second:
        assert first != second  # a folder in use stays
        assert {str(path) for path in tmp_path.iterdir()} == {first, second}
    assert list(tmp_path.iterdir()) == []
