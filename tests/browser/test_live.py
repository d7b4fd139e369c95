"""What the script adds: answers that follow, addresses that keep up, and the back button."""

from __future__ import annotations

import json
import re
import shlex
from urllib.parse import parse_qsl, urlsplit

from click.testing import CliRunner

from dpradar.cli.main import app
from tests.saved import without_names


def _state(page):
    return dict(parse_qsl(urlsplit(page.url).query, keep_blank_values=True))


def _epsilon(page):
    return page.get_by_label("epsilon", exact=True)


def _slider(page):
    return page.get_by_label("epsilon, slider")


def _lead(page):
    return page.locator("#answer .lead").inner_text()


def _typed(window, text):
    """Type into the number box and wait for the answer."""
    _epsilon(window.page).fill(text)
    window.page.wait_for_url(re.compile(rf"epsilon={re.escape(text)}(&|$)"))
    _epsilon(window.page).blur()
    window.settled()


def test_slider_and_number_box_move_together(visit):
    window = visit()
    page = window.open("assess?kind=grr&m=10&epsilon=3")
    before = _lead(page)
    place = int(_slider(page).input_value())
    _slider(page).focus()
    for _ in range(40):
        page.keyboard.press("ArrowRight")
    page.wait_for_function("before => document.querySelector('#answer .lead').textContent !== before", arg=before)
    window.settled()
    shown = _epsilon(page).input_value()
    assert float(shown) > 3.0
    assert int(_slider(page).input_value()) == place + 40
    assert _slider(page).get_attribute("aria-valuetext") == shown
    page.wait_for_url(re.compile(rf"epsilon={re.escape(shown)}(&|$)"))


def test_a_typed_number_is_kept_exactly_and_moves_the_slider(visit):
    window = visit()
    page = window.open("assess?kind=grr&m=10&epsilon=1")
    place = int(_slider(page).input_value())
    _typed(window, "2.718281828459045")
    assert _epsilon(page).input_value() == "2.718281828459045"
    assert _state(page)["epsilon"] == "2.718281828459045"
    assert int(_slider(page).input_value()) > place
    assert "epsilon=2.718281828459045" in page.locator("#answer").inner_text()
    _typed(window, "1e3")  # beyond the slider
    assert _slider(page).input_value() == "1000"
    assert _epsilon(page).input_value() == "1e3"


def test_the_back_button_goes_through_the_answers(visit):
    window = visit()
    page = window.open("assess?kind=grr&m=10&epsilon=1")
    page.wait_for_url(re.compile("who=record"))
    leads = [_lead(page)]
    for text in ("2", "4"):
        _typed(window, text)
        leads.append(_lead(page))
    assert len(set(leads)) == 3
    page.get_by_label("Mechanism or guarantee").select_option("laplace")
    page.wait_for_url(re.compile("kind=laplace"))
    window.settled()
    for text, lead in (("4", leads[2]), ("2", leads[1]), ("1", leads[0])):
        page.go_back()
        page.wait_for_function("text => document.getElementById('f-epsilon')?.value === text", arg=text)
        window.settled()
        assert _lead(page) == lead
        assert _state(page)["epsilon"] == text
    page.go_forward()
    page.wait_for_function("() => document.getElementById('f-epsilon')?.value === '2'")


def test_another_kind_redraws_the_form_and_keeps_the_focus(visit):
    window = visit()
    page = window.open("assess")
    page.get_by_label("Mechanism or guarantee").focus()
    page.get_by_label("Mechanism or guarantee").select_option("laplace")
    page.wait_for_url(re.compile("kind=laplace"))
    window.settled()
    assert page.get_by_label("scale", exact=True).is_visible()
    assert page.evaluate("document.activeElement.id") == "f-kind"
    assert "Laplace(scale=10" in page.locator("#answer").inner_text()


def test_mistakes_show_at_once_and_go_again(visit):
    window = visit()
    page = window.open("assess?kind=grr&m=10&epsilon=1")
    _epsilon(page).fill("-1")
    page.get_by_text("epsilon must be a number at least 0").first.wait_for()
    _epsilon(page).fill("1")
    page.locator("#answer .lead").wait_for()


def test_what_is_copied_and_pasted_gives_the_same_json(visit):
    window = visit(permissions=["clipboard-read", "clipboard-write"])
    page = window.open("assess?kind=laplace&scale=3&values=0:10&goal=within&within=1")
    page.get_by_text("Command line").click()
    page.get_by_role("button", name="Copy").first.click()
    page.get_by_role("button", name="Copied").wait_for()
    line = page.evaluate("navigator.clipboard.readText()")
    words = shlex.split(line)
    assert words[:3] == ["dpradar", "assess", "laplace"]
    typed = CliRunner().invoke(app, [*words[1:], "--json"])
    address = page.get_by_role("link", name="JSON").evaluate("one => one.href")
    shown = page.evaluate("address => fetch(address).then((got) => got.text())", address)
    one, other = json.loads(typed.stdout), json.loads(shown)
    assert without_names(one) == without_names(other)


def test_open_drawers_stay_open(visit):
    window = visit()
    page = window.open("assess?kind=grr&m=10&epsilon=1")
    page.get_by_text("Python", exact=True).click()
    _typed(window, "3")
    assert "epsilon=3.0" in page.locator("#copy-2").inner_text()
    assert page.locator("#copy-2").is_visible()


def test_calibrate_follows_the_limit(visit):
    window = visit()
    page = window.open("calibrate?kind=grr&m=10&limit=0.1")
    before = _lead(page)
    page.get_by_label("risk at most, slider").focus()
    page.keyboard.press("Home")
    page.wait_for_url(re.compile(r"limit=0\.001(&|$)"))
    window.settled()
    page.wait_for_function("before => document.querySelector('#answer .lead').textContent !== before", arg=before)
    assert page.locator("svg.band").is_visible()


def test_a_job_shows_progress_and_stops(visit):
    window = visit()
    page = window.page
    page.goto(f"{window.address}/attack?mode=attack&kind=she&m=1000&epsilon=1&trials=10000000&seed=5")
    page.get_by_role("button", name="Run").click()
    page.locator("progress[value]").wait_for()
    first = float(page.locator("progress").get_attribute("value"))
    page.wait_for_function(
        "first => Number(document.querySelector('progress')?.value) > first", arg=first, timeout=90_000
    )
    page.get_by_role("button", name="Stop").click()
    page.get_by_role("button", name="Run to the end").wait_for()


def test_attacks_wait_for_the_button(visit):
    window = visit()
    page = window.open("attack?mode=attack&kind=grr&trials=2000&seed=1")
    page.get_by_label("trials", exact=True).fill("3000")
    page.get_by_label("trials", exact=True).blur()
    page.wait_for_timeout(500)
    assert page.locator("#answer .lead").count() == 0
    page.get_by_label("What to do").select_option("audit")
    page.get_by_label("Defect").wait_for()
    assert page.locator("#answer .lead").count() == 0


def test_a_server_that_is_gone_is_noticed(visit):
    window = visit()
    page = window.open("assess?kind=grr&m=10&epsilon=1")
    page.route("**/assess**", lambda route: route.abort())
    _epsilon(page).fill("2")
    page.get_by_text("The server does not answer").wait_for()
    assert any("ERR_FAILED" in problem for problem in window.problems)
    window.problems.clear()


def test_everything_can_be_reached_with_the_keyboard(visit):
    window = visit()
    page = window.open("assess?kind=grr&m=10&epsilon=1")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "screen"
    reached = []
    for _ in range(80):
        page.keyboard.press("Tab")
        one = page.evaluate(
            "() => { const e = document.activeElement; return [e.id, (e.textContent || '').trim().slice(0, 40), "
            "getComputedStyle(e).outlineStyle, e.tagName]; }"
        )
        reached.append(one)
        if one[3] == "BODY":
            break
    ids = [one[0] for one in reached]
    texts = [one[1] for one in reached]
    for name in ("f-kind", "f-m", "f-epsilon", "f-epsilon-slider", "f-who", "f-knowledge", "f-goal"):
        assert name in ids
    for name in ("More options", "Report", "JSON", "Command line"):
        assert name in texts
    assert all(style != "none" for _, _, style, tag in reached if tag != "BODY"), "focus must show"


def test_a_question_is_asked_with_the_keyboard_alone(visit):
    window = visit()
    page = window.open("assess?kind=grr&m=10&epsilon=1")
    _epsilon(page).focus()
    page.keyboard.press("Control+A")
    page.keyboard.type("3")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"epsilon=3(&|$)"))
    window.settled()
    page.get_by_text("Spec (TOML)").focus()
    page.keyboard.press("Enter")
    assert "epsilon = 3.0" in page.locator("#copy-3").inner_text()


def test_on_a_narrow_window_the_answer_stays_in_sight(visit):
    window = visit(viewport={"width": 400, "height": 700})
    page = window.open("assess?kind=grr&m=10&epsilon=1")
    assert page.locator("#live-status").is_visible()
    assert page.locator("#live-status").inner_text() == _lead(page)
    box = page.locator("#live-status").bounding_box()
    assert 0 <= box["y"] <= 700
