"""The documentation as built: complete, readable without a network, and with its maths drawn."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import zlib

import pytest

import dpradar as dr
from tests.console import ROOT

BUILT = ROOT / "docs" / "_build" / "html"
CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("sphinx") is None, reason="needs sphinx, and pages that were built: make docs"
)
_LOADS = re.compile(r"<(?:script|link|img|iframe|source|video|audio|embed|object|use)\b[^>]*>")
_ADDRESS = re.compile(r"""(?:src|href|srcset|data|poster)\s*=\s*["']?\s*((?:https?:)?//[^"'\s>]*)""")
_STYLE = re.compile(r"""(?:@import\s+|url\()\s*["']?\s*((?:https?:)?//[^"')\s]*)""")


def _pages():
    return sorted(BUILT.rglob("*.html"))


def _outside(text):
    """Return the addresses that a browser would load from elsewhere to show this page."""
    inside_tags = [address for tag in _LOADS.findall(text) for address in _ADDRESS.findall(tag)]
    return inside_tags + _STYLE.findall(text)


def test_an_outside_address_is_noticed():
    assert _outside('<script async src="https://cdn.example/x.js"></script>') == ["https://cdn.example/x.js"]
    assert _outside("<link rel=stylesheet href=//fonts.example/a.css>") == ["//fonts.example/a.css"]
    assert _outside("<style>@import 'https://fonts.example/a.css'</style>") == ["https://fonts.example/a.css"]
    assert _outside('<style>a { background: url("https://example/a.png") }</style>') == ["https://example/a.png"]
    assert _outside('<a href="https://example.org">read</a><img src="../_images/report.png">') == []


def test_nothing_is_loaded_from_outside():
    read = {page: page.read_text(encoding="utf-8") for page in _pages() + sorted(BUILT.rglob("*.css"))}
    assert len(read) > 40
    assert {page.name: addresses for page, text in read.items() if (addresses := _outside(text))} == {}


def test_pages_with_maths_load_it_from_the_build():
    pages = [(page, text) for page in _pages() if 'class="math' in (text := page.read_text(encoding="utf-8"))]
    assert len(pages) > 20
    for page, text in pages:
        sources = re.findall(r'<script[^>]* src="([^"]*mathjax[^"?]*)', text)
        assert sources, page
        assert all((page.parent / source).exists() for source in sources), page


def test_no_page_shows_an_error_of_the_builder():
    assert [page for page in _pages() if "system-message" in page.read_text(encoding="utf-8")] == []


def test_every_public_name_can_be_linked_to():
    head, packed = (BUILT / "objects.inv").read_bytes().split(b"zlib.\n", 1)
    assert head.startswith(b"# Sphinx inventory version 2")
    names = {line.split(" ")[0] for line in zlib.decompress(packed).decode().splitlines()}
    assert {f"dpradar.{name}" for name in dr.__all__} <= names


def _shown(page, profile):
    """Return the page as a browser without a network has made it, after its scripts ran."""
    command = [
        CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}",
        "--host-resolver-rules=MAP * ~NOTFOUND", "--virtual-time-budget=60000", "--dump-dom", page.as_uri(),
    ]  # fmt: skip
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout


@pytest.mark.skipif(CHROMIUM is None, reason="needs chromium")
def test_a_page_draws_its_maths_without_a_network(tmp_path):
    page = BUILT / "derivations" / "grr.html"
    seen = _shown(page, tmp_path)
    assert seen.count("<mjx-container") == page.read_text(encoding="utf-8").count('class="math ')
    assert _outside(seen) == []


@pytest.mark.skipif(CHROMIUM is None, reason="needs chromium")
def test_every_formula_can_be_drawn(tmp_path):
    texts = [page.read_text(encoding="utf-8") for page in _pages()]
    formulas = [
        formula[0] for text in texts for formula in re.findall(r'(<(span|div) class="math .*?</\2>)', text, re.S)
    ]
    assert len(formulas) > 1000
    scripts = f'<script src="{(BUILT / "_static" / "mathjax" / "tex-chtml.js").as_uri()}"></script>'
    together = tmp_path / "formulas.html"
    broken = (
        r'<span class="math">\(\left(\)</span><span class="math">\(\nosuch\)</span>'  # to see that mistakes are noticed
    )
    together.write_text(f"<meta charset=utf-8>{scripts}{broken}{''.join(formulas)}", encoding="utf-8")
    seen = _shown(together, tmp_path / "profile")
    assert seen.count("<mjx-container") == len(formulas) + 2
    assert re.findall(r'<merror data-mjx-error="([^"]*)"', seen) == [r"Extra \left or missing \right"]
    assert re.findall(r'<mtext mathcolor="red">([^<]*)', seen) == [r"\nosuch"]
