"""Writing figures: which files, the same bytes each time, no addresses, and the message when something is missing."""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest

from dpradar.errors import MissingExtra, ParameterError
from dpradar_reproduction import (
    figures,
    rad_fig1,
    rad_fig2,
    rad_fig3,
    rad_fig6,
    rad_fig10,
    unify_fig1,
    unify_fig2,
    unify_fig3,
    unify_fig4,
    unify_fig5,
    unify_fig6,
)
from dpradar_reproduction.baselines import GIVEN
from dpradar_reproduction.rule_values import bound_of, interval_of
from dpradar_reproduction.table import Table

QUICK = replace(unify_fig1.GPT2, sample_rate=1.0, usual_steps=1, steps={})  # one full step: no grid of losses
SMALL = {
    "rad:fig1": lambda _, __: rad_fig1.compute(epsilons=[1.0, 4.0, 8.0, 14.0]),
    "rad:fig2": lambda _, tell: rad_fig2.compute(limits=[0.05, 0.5], progress=tell),
    "rad:fig3": lambda _, __: rad_fig3.compute(epsilons=[0.5, 1.0, 3.0]),
    "rad:fig6": lambda data, tell: rad_fig6.compute(
        data, tell, epsilons=[1.0, 10.0], fine_epsilons=[1.0, 10.0], fine_etas=[0, 10, 20, 50]
    ),
    "rad:fig10": lambda _, tell: rad_fig10.compute(
        1.0, tell, epsilons=[1.0], etas=[0.1], draws=[10, 20], runs=3, grid_runs=3
    ),
    "rad:fig11": lambda _, tell: rad_fig10.compute(
        0.1, tell, epsilons=[1.0], etas=[0.1], draws=[10, 20], runs=3, grid_runs=3
    ),
    "unify:fig1": lambda _, tell: unify_fig1.compute(QUICK, tell, noises=[1.0, 1.5], baselines=[0.1, 0.5]),
    "unify:fig2": lambda _, __: unify_fig2.compute({"Gaussian": [0.5, 1.0, 2.0]}),
    "unify:fig3": lambda _, __: unify_fig3.compute(sigmas=[0.5, 1.0, 2.0]),
    "unify:fig4": lambda _, __: unify_fig4.compute(places=unify_fig4.levels()[:2]),
    "unify:fig5": lambda _, __: unify_fig5.compute(sigmas=[2.0, 3.0], baselines=[0.5, 0.7, 0.9]),
    "unify:fig6": lambda _, __: unify_fig6.compute(queries=[1, 5, 15]),
    "unify:fig7": lambda _, tell: unify_fig1.compute(replace(QUICK, level=None), tell, noises=[1.0, 1.5]),
    "unify:fig8": lambda _, __: unify_fig2.compute({"Laplace": [0.2, 0.5, 1.0]}),
    "unify:fig9": lambda _, __: unify_fig4.compute(GIVEN, places=unify_fig4.levels()[:2]),
    "unify:fig10": lambda _, __: unify_fig2.compute({"Gaussian": [0.5, 1.0], "Laplace": [0.2, 0.5]}),
}
NAMESPACES = {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
WORDS = {
    "rad:fig1": ["Gaussian", "OUE", "Theorem 4.2", "reconstruction advantage"],
    "rad:fig2": ["ReRo ≤ limit", "error that 5 of 100 answers exceed"],
    "rad:fig3": ["Proposition 5.3", "Theorem 5.5", "largest of any mechanism"],
    "rad:fig6": ["uniform prior", "two-point prior", "hours a guess may be off", "ReRo bound"],
    "rad:fig10": ["U(0, 1) prior", "quadrature", "draws N"],
    "rad:fig11": ["Beta(0.1, 0.1) prior", "candidates by calculus"],
    "unify:fig1": ["noise multiplier", "less noise", "Census, state level"],
    "unify:fig2": ["Gaussian noise, n = 5000", "SPSO, Theorem 3.3"],
    "unify:fig3": ["baseline 0.01", "worst baseline of each bound", "zCDP"],
    "unify:fig4": ["State", "worst baseline of each bound", "discrete Gaussian"],
    "unify:fig5": ["Theorem D.1", "σ = 2 (text)", "σ = 3 (code)", "Fano"],
    "unify:fig6": ["15 queries", "one (ε, δ"],
    "unify:fig7": ["noise multiplier", "less noise"],
    "unify:fig8": ["Laplace noise, n = 500"],
    "unify:fig9": ["baseline 0.01", "baseline 0.1", "State"],
    "unify:fig10": ["Gaussian noise, n = 500", "Laplace noise, n = 500"],
}


@pytest.fixture
def small(monkeypatch):
    """The same figures with fewer numbers."""
    monkeypatch.delenv("DPRADAR_DATA", raising=False)
    for name, compute in SMALL.items():
        old = figures.FIGURES[name]
        monkeypatch.setitem(figures.FIGURES, name, figures.PaperFigure(old.what, compute, old.draw))


def test_names():
    rad = [*(f"rad:fig{n}" for n in range(1, 12)), "rad:table2"]
    thesis = [name for name in figures.names() if name.startswith(("measurement:", "thesis:"))]
    assert figures.names() == (*rad, *(f"unify:fig{n}" for n in range(1, 11)), *thesis)
    # Attacks that are run have their own tests, in test_rad_fig4.py, test_rad_fig7.py, test_model_tables.py and
    # test_measurement_figs.py; correlated records in test_thesis_figs.py.
    run = {*(f"rad:fig{n}" for n in (4, 5, 7, 8, 9)), "rad:table2"}
    assert set(SMALL) == set(figures.names()) - run - set(thesis)


@pytest.mark.parametrize("name", list(SMALL))
@pytest.mark.usefixtures("small")
def test_numbers_and_picture(name, tmp_path):
    lines: list[str] = []
    out = tmp_path / "new" / "folder"
    files = figures.reproduce(name, out, progress=lines.append)
    stem = name.replace(":", "-")
    assert files == [out / f"{stem}.csv", out / f"{stem}.svg"]
    assert sorted(out.iterdir()) == sorted(files)
    assert lines[0].startswith(name)
    with files[0].open(encoding="utf-8", newline="") as file:
        header, *rows = list(csv.reader(file))
    table = SMALL[name](None, lambda _: None)
    assert tuple(header) == table.columns
    assert len(rows) == len(table.rows)
    for row, expected in zip(rows, table.rows, strict=True):
        for text, cell in zip(row, expected.values(), strict=True):
            # Full precision: reading a number back gives the very same one.
            assert (float(text) if isinstance(cell, float) else text) == ("" if cell is None else cell_text(cell))
    assert all(word in files[1].read_text(encoding="utf-8") for word in WORDS[name])


def cell_text(cell):
    return cell if isinstance(cell, float) else str(cell)


@pytest.mark.parametrize("name", list(SMALL))
@pytest.mark.usefixtures("small")
def test_the_same_bytes_each_time_and_no_address(name, tmp_path):
    first, second = (figures.reproduce(name, tmp_path / folder) for folder in ("a", "b"))
    for one, two in zip(first, second, strict=True):
        assert one.read_bytes() == two.read_bytes()
    text = first[1].read_text(encoding="utf-8")
    assert set(re.findall(r"https?://[^\s\"'<>]+", text)) <= NAMESPACES
    assert "DOCTYPE" not in text
    assert not re.search(r"\b20\d\d-\d\d-\d\d", text)  # no date
    assert str(tmp_path) not in text
    root = ET.fromstring(text)  # noqa: S314 - written a line above
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert len(list(root.iter("{http://www.w3.org/2000/svg}text"))) > 10  # letters, not outlines of letters


@pytest.mark.parametrize(
    "name", ["rad:fig1", "rad:fig3", "rad:fig6", "rad:fig2", "unify:fig2", "unify:fig3", "unify:fig5"]
)
@pytest.mark.usefixtures("small")
def test_lines_differ_by_more_than_colour(name, tmp_path):
    svg = figures.reproduce(name, tmp_path)[1].read_text(encoding="utf-8")
    assert len(set(re.findall(r"stroke-dasharray: ([\d. ,]+)", svg))) >= 2


def test_the_same_bytes_in_another_process(tmp_path):
    """Orders of sets and ids of objects change between processes; the files must not."""
    code = (
        "import sys, pathlib; from dpradar_reproduction import figures; from dpradar_reproduction import rad_fig3;"
        "t = rad_fig3.compute(epsilons=[1.0, 2.0]); f = pathlib.Path(sys.argv[1]); t.write_csv(f);"
        "figures.canvas.write_svg(rad_fig3.draw(t), f.with_suffix('.svg'))"
    )
    for seed in ("1", "2"):
        file = tmp_path / f"{seed}.csv"
        subprocess.run([sys.executable, "-c", code, str(file)], check=True, env={**os.environ, "PYTHONHASHSEED": seed})
    for suffix in (".csv", ".svg"):
        assert (tmp_path / f"1{suffix}").read_bytes() == (tmp_path / f"2{suffix}").read_bytes()


@pytest.mark.parametrize(("name", "near"), [("rad:fig0", "rad:fig"), ("fig11", "rad:fig11"), ("RAD:FIG3", "rad:fig3")])
def test_an_unknown_name_lists_the_known_ones(name, near, tmp_path):
    with pytest.raises(ParameterError) as caught:
        figures.reproduce(name, tmp_path / "never")
    text = str(caught.value)
    assert all(name in text for name in figures.names())
    assert repr(name) in text
    assert f"Did you mean {near}" in text
    assert not (tmp_path / "never").exists()


def test_a_name_like_no_other_gets_no_guess(tmp_path):
    with pytest.raises(ParameterError) as caught:
        figures.reproduce("zzzz", tmp_path)
    assert "Did you mean" not in str(caught.value)


def test_without_matplotlib_the_numbers_still_work(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r"dpradar\[report\]"):
        figures.reproduce("rad:fig3", tmp_path / "never")
    assert not (tmp_path / "never").exists()
    table = rad_fig3.compute(epsilons=[1.0])
    with pytest.raises(MissingExtra):
        rad_fig3.draw(table)


def test_importing_the_figures_does_not_import_matplotlib():
    code = "import sys, dpradar_reproduction.figures; sys.exit('matplotlib' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_drawing_leaves_the_callers_style_alone():
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    rad_fig3.draw(rad_fig3.compute(epsilons=[1.0, 2.0]))
    assert dict(mpl.rcParams) == before


def test_table():
    rows = ({"a": "x", "b": 0.1, "c": None}, {"a": "y", "b": np.float64(1 / 3), "c": 2})
    table = Table(("a", "b", "c"), rows)
    assert table.distinct("a") == ["x", "y"]
    assert table.numbers("b", a="y").tolist() == [1 / 3]
    assert table.where(a="z").rows == ()


def test_table_as_csv(tmp_path):
    rows = ({"a": 'x, "y"', "b": 0.1, "c": None}, {"a": "y", "b": np.float64(1 / 3), "c": 2})
    file = tmp_path / "t.csv"
    Table(("a", "b", "c"), rows).write_csv(file)
    assert file.read_bytes() == b'a,b,c\n"x, ""y""",0.1,\ny,0.3333333333333333,2\n'


def test_reading_a_rule_that_gave_no_number():
    import dpradar as dr

    assessment = dr.assess(dr.GRR(m=3, epsilon=1.0), dr.Threat(dr.Prior.uniform(3)))
    with pytest.raises(dr.NumericsError, match="black-box-program gave no rad"):
        bound_of(assessment, "rad", "black-box-program")
    with pytest.raises(dr.NumericsError, match="no rule thm-9"):
        bound_of(assessment, "rad", "thm-9")
    with pytest.raises(dr.NumericsError, match="needs the exact value"):
        interval_of(dr.assess(dr.PureDP(epsilon=1.0, neighbours="replace-one")).rad)
