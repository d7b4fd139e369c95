"""Little distributions that offer mechanisms, as pip would install them."""

from __future__ import annotations

import re
import sys

import pytest

from dpradar.options import entry_points
from dpradar.spec import release_kinds as kinds
from tests.console import ROOT

PAGE = ROOT / "docs" / "how-to" / "add-a-mechanism-from-outside.md"


def distribution(folder, name, version, files, offered):
    """Write the files of a distribution and its metadata into a folder."""
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    lines = [f"{kind} = {target}" for kind, target in offered.items()]
    (info / "entry_points.txt").write_text("\n".join(["[dpradar.mechanisms]", *lines, ""]))
    for file, text in files.items():
        (folder / file).write_text(text)
    return folder


@pytest.fixture(scope="session")
def staircase_folder(tmp_path_factory):
    """The plug-in of the how-to page, installed."""
    page = PAGE.read_text(encoding="utf-8")
    code = re.search(r"^```python\n(# dpradar_staircase\.py\n.*?)^```", page, flags=re.M | re.S)
    entry = re.search(r'^\[project\.entry-points\."dpradar\.mechanisms"\]\nstaircase = "(.*)"$', page, flags=re.M)
    files = {"dpradar_staircase.py": code[1]}
    folder = tmp_path_factory.mktemp("installed")
    return distribution(folder, "dpradar-staircase", "1.0", files, {"staircase": entry[1]})


@pytest.fixture
def install(monkeypatch):
    """Put folders with distributions on the path of this process; what was loaded is forgotten afterwards."""

    def forget():
        kinds._plugin_kind.cache_clear()
        entry_points._note.cache_clear()

    before = set(sys.modules)

    def put(folder):
        monkeypatch.syspath_prepend(folder)
        forget()

    yield put
    forget()
    for name in set(sys.modules) - before:
        if getattr(sys.modules[name], "__file__", None) and "/installed" in str(sys.modules[name].__file__):
            del sys.modules[name]
