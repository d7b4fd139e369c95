"""Every screen in a real browser: with and without scripts, light and dark, wide and narrow, and for everyone."""

from __future__ import annotations

import json

import pytest

from .conftest import AXE

SCREENS = {
    "start": "",
    "assess": "assess",
    "calibrate": "calibrate?kind=laplace&values=0:10&risk=rad&limit=0.1&measure=error&most=80",
    "compare": "compare",
    "attack": "attack?mode=attack&kind=grr&trials=20000&seed=1&run=1",
    "audit": "attack?mode=audit&kind=grr&defect=half&trials=20000&seed=1&run=1",
    "rows": "attack?mode=rows&seed=1&run=1",
    "learn": "learn",
    "mistake": "assess?kind=grr&epsilon=-1",
    "missing": "nothing",
}
LOOKS = [(scheme, width) for scheme in ("light", "dark") for width in (1280, 400)]
ANSWERED = [name for name in SCREENS if name not in ("start", "mistake", "missing")]


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
def test_screens_fit_and_look_as_they_should(visit, shots, scheme, width):
    window = visit(color_scheme=scheme, viewport={"width": width, "height": 900})
    for name, path in SCREENS.items():
        if name == "missing":
            continue  # its 404 is an error of the console
        page = window.open(path)
        assert page.locator("h1").count() == 1
        assert page.evaluate("document.documentElement.scrollWidth") <= width, f"{name} is wider than the window"
        page.screenshot(path=shots / f"{name}-{width}-{scheme}.png", full_page=True)
        if name in ANSWERED:
            assert page.locator("#answer .lead").is_visible()


def test_dark_is_dark(visit):
    back = "getComputedStyle(document.body).backgroundColor"
    light = visit(color_scheme="light").open("assess").evaluate(back)
    dark = visit(color_scheme="dark").open("assess").evaluate(back)
    assert _brightness(light) > 200
    assert _brightness(dark) < 60


def _brightness(colour):
    return sum(map(int, colour.removeprefix("rgb(").rstrip(")").split(","))) / 3


@pytest.mark.parametrize("name", ANSWERED)
def test_screens_work_without_scripts(visit, name):
    window = visit(java_script_enabled=False)
    window.page.goto(f"{window.address}/{SCREENS[name]}")
    window.start()
    window.page.locator("#answer .lead").wait_for()  # a job refreshes its page by itself
    assert window.page.locator("input[type=range]").first.is_hidden() or name == "rows"


def test_a_form_without_scripts_is_answered_under_its_address(visit):
    window = visit(java_script_enabled=False)
    page = window.page
    page.goto(f"{window.address}/assess")
    page.get_by_label("epsilon", exact=True).fill("0.75")
    page.get_by_label("Mechanism or guarantee").select_option("oue")
    page.get_by_role("button", name="Show").click()
    assert "kind=oue" in page.url
    assert "epsilon=0.75" in page.url
    assert "was=" not in page.url
    assert page.get_by_label("epsilon", exact=True).input_value() == "0.75"
    assert "OUE(m=100, epsilon=0.75)" in page.locator("#answer").inner_text()


def test_a_job_without_scripts_can_be_stopped(visit):
    window = visit(java_script_enabled=False)
    page = window.page
    page.goto(f"{window.address}/attack?mode=attack&kind=oue&m=1000&epsilon=1&trials=10000000&seed=3&run=1")
    page.get_by_role("button", name="Show the answer").click()
    page.locator("progress[value]").wait_for()  # the page refreshes itself
    page.get_by_role("button", name="Stop").click()
    page.get_by_text("Another attacker may do better").first.wait_for()
    assert page.get_by_role("button", name="Run to the end").is_visible()


@pytest.mark.skipif(not AXE.exists(), reason="needs axe-core: make test-browser")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", [name for name in SCREENS if name != "missing"])
def test_axe_finds_nothing_serious(visit, name, scheme):
    page = visit(color_scheme=scheme).open(SCREENS[name])
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    page.evaluate(AXE.read_text(encoding="utf-8"))
    violations = page.evaluate("axe.run().then((results) => results.violations)")
    problems = [
        {"rule": one["id"], "impact": one["impact"], "where": [node["html"][:200] for node in one["nodes"]][:3]}
        for one in violations
        if one["impact"] in ("serious", "critical")
    ]
    assert problems == [], json.dumps(problems, indent=1)


@pytest.mark.skipif(not AXE.exists(), reason="needs axe-core: make test-browser")
def test_axe_would_find_something(visit):
    page = visit().open("assess")
    page.evaluate("document.querySelector('label').remove()")
    page.evaluate(AXE.read_text(encoding="utf-8"))
    rules = page.evaluate("axe.run().then((results) => results.violations.map((one) => one.id))")
    assert {"label", "select-name"} & set(rules)


@pytest.mark.parametrize("name", ["assess", "calibrate", "attack", "audit"])
def test_a_report_prints_on_one_page(visit, shots, name):
    from pypdf import PdfReader

    window = visit()
    page = window.open(SCREENS[name])
    with page.expect_popup() as opened:
        page.get_by_role("link", name="Report").click()
    report = opened.value
    report.wait_for_load_state()
    assert report.locator("h1").count() == 1
    path = shots / f"report-{name}.pdf"
    report.pdf(path=path, format="A4", prefer_css_page_size=True)
    assert len(PdfReader(path).pages) == 1
