"""On paper: one sheet of A4 for one to three threats. Needs Chromium; `make test-browser` installs it."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace

import pytest

from dpradar.present import html
from tests.present import samples

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")


def sheets(result, folder) -> int:
    """Return on how many sheets a report is printed."""
    page, paper = html.report(result, folder / "risk.html"), folder / "risk.pdf"
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer", f"--user-data-dir={folder}"]
    subprocess.run(
        [CHROMIUM, *options, f"--print-to-pdf={paper}", page.as_uri()], check=True, capture_output=True, timeout=120
    )
    return len(re.findall(rb"/Type\s*/Page\b", paper.read_bytes()))


@pytest.mark.parametrize("name", ["one threat", "kept"])
def test_a_report_is_printed_on_one_sheet(name, tmp_path):
    assert sheets(samples.everything()[name], tmp_path) == 1


def test_long_names_of_three_threats_still_fit(tmp_path):
    result = samples.run()
    release = result.releases[0]
    threats = tuple(replace(one, name=f"{one.name}, asked by someone who has a reason") for one in release.assessments)
    many = replace(release, assessments=threats, evidence=(samples.attack(),) * 3)
    assert sheets(replace(result, releases=(many,)), tmp_path) == 1


def test_sheets_are_counted(tmp_path):
    release = samples.run().releases[0]
    many = replace(samples.run(), releases=(replace(release, assessments=release.assessments * 8),))
    assert sheets(many, tmp_path) > 1
