"""A PostgreSQL server and a Spark session of their own, in a temporary folder, reached by this machine only.

`make test-engines` installs what is needed; elsewhere these tests skip themselves.
"""

from __future__ import annotations

import csv
import gzip
import importlib.util
import os
import shutil
import subprocess
import tempfile
import warnings
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("DPRADAR_DATA", ROOT / ".." / "shared" / "data"))
SERVERS = sorted(Path("/usr/lib/postgresql").glob("*/bin")) if Path("/usr/lib/postgresql").is_dir() else []
ADULT = ["age", "workclass", "fnlwgt", "education", "education_num", "marital", "occupation", "relationship"]
ADULT += ["race", "sex", "gain", "loss", "hours", "country", "income"]


def pytest_collection_modifyitems(items):
    """Mark every test of this folder, and let drivers warn among themselves."""
    folder = f"{Path(__file__).parent}{os.sep}"
    for item in items:
        if str(item.path).startswith(folder):
            item.add_marker(pytest.mark.engines)
            item.add_marker(pytest.mark.filterwarnings("ignore"))


def _binary(name: str) -> str | None:
    return shutil.which(name) or next(
        (str(folder / name) for folder in reversed(SERVERS) if (folder / name).exists()), None
    )


def _as_server(folder: Path, *words: str) -> None:
    """Run a program of the server; it refuses to be run by root, who lends it to the user postgres."""
    prefix = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    subprocess.run([*prefix, *words], check=True, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@pytest.fixture(scope="session")
def postgres():
    """A connection to a new server, on a socket in a folder of its own."""
    if importlib.util.find_spec("psycopg") is None or _binary("initdb") is None:
        pytest.skip("needs psycopg and a PostgreSQL server: make test-engines")
    import ibis

    # Not pytest's folder: its path is too long for a socket, and another user may not enter it.
    with tempfile.TemporaryDirectory(prefix="dpradar-") as name:
        folder = Path(name)
        if os.geteuid() == 0:
            shutil.chown(folder, "postgres")
        _as_server(folder, _binary("initdb"), "-D", str(folder / "db"), "-A", "trust", "-U", "tester", "--no-sync")
        settings = f"-c listen_addresses='' -c unix_socket_directories='{folder}' -c fsync=off"
        server = [_binary("pg_ctl"), "-D", str(folder / "db"), "-w", "-l", str(folder / "log")]
        _as_server(folder, *server, "-o", settings, "start")
        try:
            connection = ibis.postgres.connect(host=str(folder), user="tester", database="postgres")
            yield connection
            connection.disconnect()
        finally:
            _as_server(folder, *server, "-m", "immediate", "stop")


@pytest.fixture(scope="session")
def spark():
    """A Spark that runs in this process and one of Java."""
    if importlib.util.find_spec("pyspark") is None or shutil.which("java") is None:
        pytest.skip("needs pyspark and Java: make test-engines")
    import ibis

    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    with warnings.catch_warnings(), tempfile.TemporaryDirectory(prefix="dpradar-") as folder:
        warnings.simplefilter("ignore")
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
        settings = {"spark.sql.shuffle.partitions": "4", "spark.driver.memory": "1g", "spark.local.dir": folder}
        settings |= {"spark.sql.warehouse.dir": f"{folder}/warehouse", "spark.log.level": "ERROR"}
        for name, value in settings.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        yield ibis.pyspark.connect(session)
        session.stop()


class Everywhere:
    """One table in three engines."""

    def __init__(self, folder: Path, postgres, spark) -> None:
        self.folder, self.postgres, self.spark, self.tables = folder, postgres, spark, {}

    def __call__(self, name: str, table: pa.Table) -> dict[str, object]:
        """Put a table into every engine, once."""
        if name not in self.tables:
            file = self.folder / f"{name}.parquet"
            pa.parquet.write_table(table, file)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tables = {"PostgreSQL": self._copied(name, table), "Spark": self.spark.read_parquet(str(file))}
            self.tables[name] = {"DuckDB": str(file), **tables}
        return self.tables[name]

    def _copied(self, name: str, table: pa.Table):
        import ibis

        file = self.folder / f"{name}.csv"
        pa.csv.write_csv(table, file)
        target = self.postgres.create_table(name, schema=ibis.memtable(table).schema())
        with (
            self.postgres.con.cursor() as cursor,
            cursor.copy(f"COPY {name} FROM STDIN WITH (FORMAT csv, HEADER)") as copy,
        ):
            copy.write(file.read_bytes())
        self.postgres.con.commit()
        return target


@pytest.fixture(scope="session")
def everywhere(postgres, spark, tmp_path_factory):
    """Return what puts a table into every engine."""
    return Everywhere(tmp_path_factory.mktemp("engines"), postgres, spark)


def _needed(*parts: str) -> Path:
    file = DATA.joinpath(*parts)
    if not file.exists():
        pytest.skip(f"needs {'/'.join(parts)} below DPRADAR_DATA")
    return file


@pytest.fixture(scope="session")
def adult():
    """UCI Adult; '?' is missing."""
    with gzip.open(_needed("adult", "adult.data.gz"), "rt") as file:
        rows = [row for row in csv.reader(file, skipinitialspace=True) if row]
    columns = {
        name: [None if x == "?" else x for x in column]
        for name, column in zip(ADULT, zip(*rows, strict=True), strict=True)
    }
    whole = {"age", "fnlwgt", "education_num", "gain", "loss", "hours"}
    return pa.table({name: [int(x) for x in c] if name in whole else c for name, c in columns.items()})


@pytest.fixture(scope="session")
def acs():
    """A table in the style of the American Community Survey."""
    with gzip.open(_needed("census", "acs.csv.gz"), "rb") as file:
        return pa.csv.read_csv(pa.BufferReader(file.read()))
