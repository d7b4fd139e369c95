"""Tables: a hundred million rows in several files to an assessment, and a million occupied cells."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import dpradar as dr

from .measure import Case

if TYPE_CHECKING:
    from .measure import Work

__all__ = ["CASES", "LARGE_CASES"]

ROWS, FILES = 100_000_000, 8
_FOLDER = Path(__file__).resolve().parent.parent / "build" / "tables"
# Every value is made from the number of its row, so the files are the same each time; one in a thousand is missing.
_MAKE = """
import sys, duckdb
folder, rows, files = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
con = duckdb.connect(config={"memory_limit": "1GB", "temp_directory": folder, "preserve_insertion_order": False})
for k in range(files):
    low, high = rows * k // files, rows * (k + 1) // files
    con.execute(f'''COPY (
        SELECT (18 + hash(i) % 72)::TINYINT AS age, CASE WHEN hash(i, 1) % 2 = 0 THEN 'f' ELSE 'm' END AS sex,
               (hash(i, 2) % 51)::TINYINT AS region,
               CASE WHEN hash(i, 3) % 1000 > 0 THEN 'group ' || (hash(i, 4) % 9 * (hash(i, 5) % 2)) END AS race,
               exp(10 + (hash(i, 6) % 4000) / 1000.0 - 2) AS income, 1 + (hash(i, 7) % 997) / 100.0 AS weight
        FROM range({low}, {high}) AS t(i)) TO '{folder}/part-{k}.parquet' (FORMAT parquet)''')
"""


def _files(rows: int) -> str:
    """Make the files where they are not there yet, in a process of its own, and return the pattern that names them."""
    folder = _FOLDER / str(rows)
    if not folder.exists():
        _FOLDER.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=_FOLDER) as half:
            subprocess.run([sys.executable, "-c", _MAKE, half, str(rows), str(FILES)], check=True, capture_output=True)  # noqa: S603
            complete = Path(half) / "made"
            complete.mkdir()
            for file in Path(half).glob("*.parquet"):
                file.rename(complete / file.name)
            complete.rename(folder)
    return str(folder / "part-*.parquet")


def _assessed(rows: int, weight: str | None) -> Work:
    from dpradar.data import prior

    pattern = _files(rows)

    def work() -> dr.Assessment:
        census = prior(pattern, ["age", "sex", "region", "race", "income"], weight, bins={"income": "width:50000"})
        threat = dr.Threat(census, dr.Knowledge.columns("age", "sex", "region", "income"), dr.Goal.columns("race"))
        return dr.assess(dr.GRR(m=census.size, epsilon=8.0), threat)

    return work


def _occupied(cells: int) -> Work:
    rng = np.random.default_rng(1)
    known = rng.integers(0, cells // 4, cells)
    columns = {"known": known.tolist(), "sensitive": (np.arange(cells) % 6).tolist(), "other": list(range(cells))}
    weights = rng.random(cells)

    def work() -> dr.Assessment:
        prior = dr.Prior.records(columns, weights)
        threat = dr.Threat(prior, dr.Knowledge.columns("known"), dr.Goal.columns("sensitive"))
        return dr.assess(dr.GRR(m=cells, epsilon=8.0), threat)

    return work


def _told(answer: dr.Assessment) -> str:
    return f"{answer.prior['size']:,} cells"


CASES = (
    Case(
        name="table-1e6",
        what="1,000,000 rows (Parquet, 8 files) to a threat and an assessment",
        prepare=lambda: _assessed(1_000_000, None),
        seconds=5.0,
        fresh=True,
        remark=_told,
    ),
    Case(
        name="cells-1e6",
        what="1,000,000 occupied cells, 220,000 sparse groups: prior, threat, assessment",
        prepare=lambda: _occupied(1_000_000),
        seconds=30.0,
        megabytes=2048.0,
        fresh=True,
        remark=_told,
        level=1,
    ),
)
LARGE_CASES = tuple(
    Case(
        name=f"table-1e8{'-weighted' if weight else ''}",
        what=f"100,000,000 rows (Parquet, 8 files){', weighted,' if weight else ''} to a threat and an assessment",
        prepare=lambda weight=weight: _assessed(ROWS, weight),
        seconds=120.0,
        megabytes=4096.0,
        fresh=True,
        remark=_told,
        level=2,
    )
    for weight in (None, "weight")
)
