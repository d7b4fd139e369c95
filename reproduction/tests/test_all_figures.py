"""All figures into one folder and one page: what is finished is kept, what fails is reported, nothing is half there."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures.process import BrokenProcessPool
from functools import partial

import pytest

from dpradar.errors import ParameterError
from dpradar_reproduction import all_figures as module
from dpradar_reproduction import figures, manifest
from dpradar_reproduction.all_figures import reproduce_all, selected
from dpradar_reproduction.manifest import FILE, Manifest, Outcome, digest
from dpradar_reproduction.page import PAGE, counts, write_page
from dpradar_reproduction.page_document import inline_svg
from dpradar_reproduction.paper_figure import Effort, PaperFigure
from dpradar_reproduction.table import Table
from tests.cli.test_assess import run as command
from tests.present.page_reader import Reader

QUICK = Effort(quick=True)
TINY = ["measurement:table6.2", "thesis:fig2.1", "thesis:table3.2"]


class Fakes:
    """Figures under real names that count how often they are computed."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.broken: set[str] = set()

    def figure(self, name):
        def compute(data, tell):
            self.calls.append(name)
            tell(f"{name}: stand-in: made up")
            if name in self.broken:
                raise ZeroDivisionError("<script>alert(1)</script>")
            if name == "rad:fig4" and data is None:
                raise ParameterError("reproduce.data", "a folder with pictures", "None", "Give --data FOLDER.")
            return Table(("x", "stand_in", "place"), ({"x": 1.0, "stand_in": "a made-up town", "place": "Porto"},))

        return PaperFigure(f"figure {name}", compute, None)


@pytest.fixture
def fakes(monkeypatch):
    monkeypatch.delenv("DPRADAR_DATA", raising=False)
    monkeypatch.setattr(manifest, "_code", lambda: "the same")  # whatever is edited while the test runs
    fake_figures = Fakes()
    names = ("rad:fig1", "rad:fig4", "unify:fig1", "thesis:table6.2")
    monkeypatch.setattr(figures, "FIGURES", {name: fake_figures.figure(name) for name in names})
    return fake_figures


def test_finished_figures_are_kept(fakes, tmp_path):
    lines: list[str] = []
    run = reproduce_all(tmp_path, tell=lines.append, effort=QUICK)
    assert run.state("done") == ["rad:fig1", "unify:fig1", "thesis:table6.2"]
    assert run.state("left out") == ["rad:fig4"]
    assert "needs a folder with pictures. Give --data FOLDER." in run.outcomes["rad:fig4"].error
    assert any("[4/4]" in line for line in lines)
    assert any("left" in line for line in lines)
    fakes.calls.clear()
    again = reproduce_all(tmp_path, tell=lines.append, effort=QUICK)
    assert fakes.calls == ["rad:fig4"]  # what was left out is tried again: the data may be there now
    assert again.outcomes["rad:fig1"] == run.outcomes["rad:fig1"]
    assert "3 of 4 are there already" in lines


def test_a_failing_figure_does_not_stop_the_others_and_is_tried_again(fakes, tmp_path):
    fakes.broken = {"rad:fig1"}
    run = reproduce_all(tmp_path, effort=QUICK)
    assert run.state("failed") == ["rad:fig1"]
    assert run.state("done") == ["unify:fig1", "thesis:table6.2"]
    text = write_page(run, tmp_path).read_text(encoding="utf-8")
    assert "ZeroDivisionError: &lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "<script" not in text
    assert "1 failed" in text
    fakes.broken, fakes.calls = set(), []
    assert reproduce_all(tmp_path, effort=QUICK).state("failed") == []
    assert "rad:fig1" in fakes.calls
    assert "unify:fig1" not in fakes.calls


@pytest.mark.parametrize("harm", ["changed", "missing"])
def test_files_that_changed_are_made_again(fakes, tmp_path, harm):
    reproduce_all(tmp_path, effort=QUICK)
    fakes.calls.clear()
    file = tmp_path / "rad-fig1.csv"
    right = file.read_bytes()
    if harm == "changed":
        file.write_text("x\n2.0\n")
    else:
        file.unlink()
    reproduce_all(tmp_path, effort=QUICK)
    assert "rad:fig1" in fakes.calls
    assert "unify:fig1" not in fakes.calls
    assert file.read_bytes() == right


def test_other_code_or_data_count_as_other_numbers(fakes, tmp_path, monkeypatch):
    data = tmp_path / "data"
    (data / "adult").mkdir(parents=True)
    (data / "adult" / "adult.data").write_text("1")
    first = digest(QUICK, data)
    (data / "adult" / "adult.data").write_text("2")
    assert digest(QUICK, data) != first
    (data / "others").mkdir()
    (data / "others" / "x").write_text("1")  # no figure reads it
    assert digest(QUICK, data) == digest(QUICK, data)
    reproduce_all(tmp_path / "out", effort=QUICK)
    fakes.calls.clear()
    monkeypatch.setattr(manifest, "_code", lambda: "another version")
    reproduce_all(tmp_path / "out", effort=QUICK)
    assert sorted(fakes.calls) == sorted(figures.FIGURES)


def test_quick_and_full_do_not_share_a_folder(fakes, tmp_path):
    reproduce_all(tmp_path, effort=QUICK)
    before = (tmp_path / FILE).read_bytes()
    with pytest.raises(ParameterError, match="a folder for the full version; got one with the quick version"):
        reproduce_all(tmp_path, effort=Effort())
    assert (tmp_path / FILE).read_bytes() == before


def test_a_manifest_that_cannot_be_read_is_made_again(fakes, tmp_path):
    (tmp_path / FILE).write_text('{"schema": "dpradar/reprod')
    assert len(reproduce_all(tmp_path, effort=QUICK).state("done")) == 3
    assert json.loads((tmp_path / FILE).read_text())["quick"] is True


def test_outcomes_of_another_process_are_not_lost(tmp_path):
    one, two = (Manifest.open(tmp_path, quick=True) for _ in range(2))
    one.add("rad:fig1", Outcome("done", 1.0, ("a.csv",)))
    two.add("rad:fig2", Outcome("done", 2.0, ("b.csv",)))
    assert set(Manifest.open(tmp_path, quick=True).outcomes) == {"rad:fig1", "rad:fig2"}
    assert [file.name for file in tmp_path.iterdir()] == [FILE]


def test_only_some():
    names = ["rad:fig1", "rad:fig10", "unify:fig1"]
    assert selected(names, ["unify"]) == ["unify:fig1"]
    assert selected(names) == names
    with pytest.raises(ParameterError, match=r"sources \(rad, unify\) or names of figures; got 'rud'"):
        selected(names, ["rud"])


KILLED = """
import sys, time, pathlib
from dpradar_reproduction import figures
from dpradar_reproduction import manifest
from dpradar_reproduction.all_figures import reproduce_all
from dpradar_reproduction.paper_figure import Effort, PaperFigure
from dpradar_reproduction.table import Table

manifest._code = lambda: "the same"  # whatever is edited while the test runs
log = pathlib.Path(sys.argv[2])

def figure(name):
    def compute(data, tell):
        with log.open("a") as file:
            file.write(name + "\\n")
        time.sleep(0.2)
        return Table(("x",), ({"x": float(len(name))},))
    return PaperFigure(name, compute, None)

figures.FIGURES = {name: figure(name) for name in ("rad:fig1", "rad:fig2", "rad:fig3", "rad:fig6")}
reproduce_all(pathlib.Path(sys.argv[1]), effort=Effort(quick=True))
"""


def test_killed_at_any_moment_at_most_one_figure_is_lost(tmp_path):
    out, log = tmp_path / "out", tmp_path / "log"
    killed = 0
    for pause in (0.05, 0.3, None):
        process = subprocess.Popen([sys.executable, "-c", KILLED, str(out), str(log)])
        if pause is None:
            assert process.wait(60) == 0
            continue
        begun = len(log.read_text().splitlines()) if log.exists() else 0
        while process.poll() is None and (len(log.read_text().splitlines()) if log.exists() else 0) == begun:
            time.sleep(0.01)
        time.sleep(pause)
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            killed += 1
        process.wait(60)
    assert killed == 2
    assert len(log.read_text().splitlines()) <= 4 + killed  # each kill repeats the figure in progress, no other
    outcomes = json.loads((out / FILE).read_text())["outcomes"]
    assert [one["state"] for one in outcomes.values()] == ["done"] * 4
    assert not list(out.glob("*.tmp"))


def test_two_at_a_time_give_the_same_files_and_say_that_they_go_on(tmp_path, monkeypatch):
    monkeypatch.delenv("DPRADAR_DATA", raising=False)
    monkeypatch.setattr(module, "_BEAT", 0.2)
    lines: list[str] = []
    one, two = (
        reproduce_all(tmp_path / str(workers), tell=lines.append, effort=Effort(quick=True, workers=workers), only=TINY)
        for workers in (1, 2)
    )
    assert one.state("done") == two.state("done") == sorted(TINY, key=list(figures.FIGURES).index)
    for name in TINY:
        for file in one.outcomes[name].files:
            assert (tmp_path / "1" / file).read_bytes() == (tmp_path / "2" / file).read_bytes()
    assert any(line.startswith("computing ") and line.endswith("left") for line in lines)


def test_a_process_that_dies_takes_only_its_own_figure_along(tmp_path, monkeypatch):
    class Dying:
        """An executor whose process dies in one figure."""

        def __init__(self, workers):
            pass

        def submit(self, work, name):
            from concurrent.futures import Future

            future = Future()
            if name == "rad:fig2":
                future.set_exception(BrokenProcessPool("gone"))
            else:
                future.set_result(Outcome("done", 0.1, (f"{name}.csv",)))
            return future

        def stop(self):
            pass

    monkeypatch.setattr(module, "Workers", Dying)
    outcomes: dict[str, Outcome] = {}
    names = ["rad:fig1", "rad:fig2", "rad:fig3"]
    work = partial(module.compute, folder=tmp_path, data=None, effort=QUICK)
    module._several(names, 2, work, lambda name, outcome: outcomes.update({name: outcome}))
    assert [outcomes[name].state for name in names] == ["done", "failed", "done"]
    assert "not enough memory" in outcomes["rad:fig2"].error


def test_the_page(tmp_path, monkeypatch):
    monkeypatch.delenv("DPRADAR_DATA", raising=False)
    run = reproduce_all(tmp_path, effort=QUICK, only=[*TINY, "unify:fig4", "rad:fig4"])
    text = write_page(run, tmp_path).read_text(encoding="utf-8")
    page = Reader(text)
    assert page.wrong == []
    assert page.open == []
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))  # pictures keep their ids to themselves
    links = [attributes["href"] for _, attributes in page.elements if "href" in attributes]
    assert {link[1:] for link in links if link.startswith("#")} <= set(ids)
    assert all((tmp_path / link).is_file() for link in links if not link.startswith("#"))
    assert set(re.findall(r"https?://[^\s\"'<>)]+", text)) == set()
    assert re.findall(r"url\((?!#)", text) == []
    page_text = page.text()
    for word in ("Quick version.", "0.7304", "Publication is wrong", "left out", "Not computed", "unify-fig4.csv"):
        assert word.lower() in page_text.lower()
    number = counts(run, tmp_path)
    assert f"{number['agrees']} of {sum(number.values())} published statements agree" in page_text
    assert number["unexplained"] == 0
    assert number["not computed"] > 0
    assert [attributes["scope"] for attributes in page.all("th") if "scope" in attributes]
    assert all(attributes.get("aria-label") for attributes in page.all("svg"))


def test_what_takes_long_says_that_it_goes_on(fakes, tmp_path, monkeypatch):
    def slow(data, tell, keep, bar, effort):
        for done in range(3):
            bar(done, 3)
        return Table(("x",), ({"x": 1.0},))

    monkeypatch.setitem(figures.FIGURES, "rad:fig1", PaperFigure("slow", None, None, "", slow))
    monkeypatch.setattr(module, "_BEAT", 0.0)
    lines: list[str] = []
    reproduce_all(tmp_path, tell=lines.append, effort=QUICK, only=["rad:fig1"])
    assert "computing rad:fig1: 2 of 3" in lines


@pytest.mark.skipif(os.name == "nt", reason="folders there cannot be in the way like this")
def test_a_folder_that_cannot_be_written_is_told(fakes, tmp_path):
    (tmp_path / "file").write_text("")
    done = command("reproduce", "--quick", "--out", str(tmp_path / "file" / "below"), "--workers", "1")
    assert done.returncode == 2
    assert "--out must be a folder that can be written to" in done.stderr
    assert "What is finished is kept" in done.stderr


def test_stand_ins_are_named(fakes, tmp_path):
    run = reproduce_all(tmp_path, effort=QUICK)
    text = write_page(run, tmp_path).read_text(encoding="utf-8")
    assert "Data that stand in for others" in text
    assert "a made-up town" in text


def test_the_command(fakes, tmp_path):
    done = command("reproduce", "--quick", "--out", str(tmp_path / "a"), "--workers", "1", "--json")
    assert done.returncode == 0
    answer = json.loads(done.stdout)
    assert answer["schema"] == "dpradar/reproduce-all/1"
    assert answer["quick"] is True
    assert answer["figures"]["left out"] == ["rad:fig4"]
    assert answer["page"].endswith(PAGE)
    assert (tmp_path / "a" / PAGE).is_file()
    fakes.broken = {"rad:fig1"}
    failed = command("reproduce", "all", "--quick", "--out", str(tmp_path / "b"), "--workers", "1")
    assert failed.returncode == 1
    assert "2 done, 1 left out, 1 failed" in failed.stdout


def test_an_unexplained_difference_is_not_a_success(fakes, tmp_path, monkeypatch):
    monkeypatch.setitem(
        figures.FIGURES,
        "thesis:table6.2",
        PaperFigure("wrong", lambda _, __: Table(("data", "recomputed"), ({"data": "E80", "recomputed": 9.0},)), None),
    )
    done = command("reproduce", "all", "--quick", "--only", "thesis", "--out", str(tmp_path), "--workers", "1")
    assert done.returncode == 3
    assert "1 unexplained" in done.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("reproduce",), "Missing argument 'FIGURE': a name such as rad:fig1, or all"),
        (("reproduce", "rad:fig1", "--only", "rad"), "--only goes with all"),
        (("reproduce", "all", "--models", "3"), "--models and --network go with the name of one figure"),
        (("reproduce", "all", "--only", "rud"), "only must be sources"),
    ],
)
def test_mistakes(words, message, tmp_path):
    done = command(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert os.listdir(tmp_path) == []  # noqa: PTH208


def test_a_picture_in_the_page_says_what_it_says_in_its_file():
    text = (
        '<?xml version="1.0"?><svg width="4pt" viewBox="0 0 4.123456 2"><defs><style>*{stroke-linecap:butt}</style>'
        '<path id="a" d="M 1.23556 -0.004999"/></defs><g clip-path="url(#b)"><use xlink:href="#a" x="1.2"/></g>'
        "<!-- 0.015 --><text>0.015</text><text>13.86282 &lt; 14</text></svg>"
    )
    drawn = inline_svg(text, "x", 'a "quoted" < name')
    assert "<text>0.015</text><text>13.86282 &lt; 14</text>" in drawn
    assert '<path id="x-a" d="M 1.24 -0.00"/>' in drawn
    assert 'clip-path="url(#x-b)"' in drawn
    assert '<use href="#x-a" x="1.2"/>' in drawn
    assert "style>" not in drawn
    assert 'aria-label="a &#34;quoted&#34; &lt; name"' in drawn
    with pytest.raises(ParameterError, match="viewBox"):
        inline_svg("<svg><g/></svg>", "x", "")
