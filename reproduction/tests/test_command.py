"""The command that the library finds by an entry point: listed, completed, and with the errors of the library."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from importlib.metadata import entry_points

import pytest
from click.testing import CliRunner

import dpradar
from dpradar_reproduction import figures
from dpradar_reproduction.command import reproduce_command
from tests.cli.test_assess import run
from tests.console import ROOT


def project(folder):
    return tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_library_and_reproduction_have_the_same_version():
    library, reproduction = project(ROOT), project(ROOT / "reproduction")
    assert library["version"] == reproduction["version"] == dpradar.__version__
    pins = [one for one in reproduction["dependencies"] if one.startswith("dpradar")]
    assert [one.partition("==")[2] for one in pins] == [library["version"]]


def test_both_have_the_same_licence():
    assert (ROOT / "reproduction" / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_entry_points_are_those_that_the_library_looks_up():
    assert [one.load() for one in entry_points(group="dpradar.commands", name="reproduce")] == [reproduce_command]
    assert [one.load() for one in entry_points(group="dpradar.figures", name="names")] == [figures.names]


def test_list_names_every_figure():
    listed = json.loads(run("list", "--json").stdout)["figures"]
    assert "rad:fig1" in listed
    assert listed == list(figures.names()) == list(figures.FIGURES)
    assert run("list").stdout.rpartition("Figures (dpradar reproduce NAME --out FOLDER):\n")[2].split() == listed


def test_reproduce_unknown_figure(tmp_path):
    done = run("reproduce", "rad:fig99", "--out", str(tmp_path))
    assert done.returncode == 2
    assert "rad:fig1" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "file"),
    [
        (["thesis:table6.1"], "figures/thesis-table6.1.csv"),
        (["thesis:table6.1", "--quick"], "figures-quick/thesis-table6.1.csv"),
        (["all", "--only", "thesis:table6.1"], "figures/index.html"),
        (["--quick", "--only", "thesis:table6.1"], "figures-quick/index.html"),
    ],
)
def test_without_out_files_go_to_figures(tmp_path, monkeypatch, arguments, file):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(reproduce_command, arguments)
    assert done.exit_code == 0, done.output
    assert (tmp_path / file).is_file()
    assert [one.name for one in tmp_path.iterdir()] == [file.split("/")[0]]


def test_help_does_not_wait_for_numpy():
    code = (
        "import sys\nfrom dpradar.cli import main\n"
        "try:\n    main(['reproduce', '--help'])\n"
        "except SystemExit as end:\n    sys.exit(end.code or 'numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "--network" in done.stdout
