"""[RAD] Figures 7 to 9: attacks that are run, and audits, against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dpradar as dr
from dpradar.audits.epsilon_inversion import epsilon_from_own_curve
from dpradar_reproduction import attack_counts, figures, ldp_audits, rad_fig7
from tests.twin import formulas, oracles

SUCCESS = {
    "GRR": formulas.grr_success,
    "SS": formulas.ss_success,
    "SUE": formulas.sue_success,
    "OUE": formulas.oue_success,
    "SHE": formulas.she_success,
    "THE": formulas.the_success,
    "BLH": lambda m, epsilon: formulas.hashing_success(m, 2, epsilon),
    "OLH": lambda m, epsilon: formulas.hashing_success(m, formulas.olh_size(epsilon), epsilon),
}
EPSILONS = [1.0, 4.0, 8.0, 12.0]


@pytest.fixture(scope="module")
def figure_7():
    return rad_fig7.compute(epsilons=[2.0, 6.0, 10.0], trials={"GRR": 100_000, "OUE": 4_000, "SS": 4_000})


@pytest.fixture(scope="module")
def audits():
    return ldp_audits.compute(["GRR", "SS", "OUE"], sizes={"Porto": 3052}, epsilons=EPSILONS, reports=1_000)


def test_the_attack_reaches_the_exact_value(figure_7):
    assert set(figure_7.distinct("m")) == {3052, 5356}
    for row in figure_7.rows:
        expected = SUCCESS[row["protocol"]](row["m"], row["epsilon"])
        assert row["thm_4_3"] == pytest.approx(expected - 1 / row["m"], rel=1e-9)
        spread = math.sqrt(expected * (1 - expected) / row["trials"])
        assert abs(row["rad"] + 1 / row["m"] - expected) < 4.5 * spread
        assert row["off_sd"] == pytest.approx((row["rad"] - row["thm_4_3"]) / spread, rel=1e-6)
        assert row["low"] <= row["rad"] <= row["high"]


def test_oue_protects_best_and_grr_least(figure_7):
    for place in figure_7.distinct("place"):
        for epsilon in figure_7.distinct("epsilon"):
            own = figure_7.where(place=place, epsilon=epsilon)
            rad = {row["protocol"]: row["thm_4_3"] for row in own.rows}
            # From epsilon 7.33 (Porto) on a report of SS is one value, and SS is GRR.
            assert rad["OUE"] < rad["SS"] <= rad["GRR"] * (1 + 1e-12)


@pytest.mark.parametrize("name", list(SUCCESS))
@pytest.mark.parametrize("m", [7, 400])
def test_counts_have_the_law_of_whole_reports(name, m):
    """What the guess depends on, drawn alone, gives the closed form: also for the guess of one given other value."""
    trials = 400_000
    for number, epsilon in enumerate((0.5, 3.0, 9.0)):
        seen = attack_counts.held_of(attack_counts.PROTOCOLS[name](m=m, epsilon=epsilon))
        rng = np.random.default_rng([m, number])
        success = SUCCESS[name](m, epsilon)
        for count, chance in (
            (seen.hits(trials, rng), success),
            (seen.false_hits(trials, rng), (1 - success) / (m - 1)),
        ):
            assert abs(count - trials * chance) < 4.7 * math.sqrt(trials * chance * (1 - chance)) + 1


@pytest.mark.parametrize("name", ["OUE", "SS", "OLH"])
def test_false_hits_of_whole_reports(name):
    """LDP-Auditor's second count from the samplers themselves: inputs m-1, guesses that say 0."""
    m, trials = 12, 60_000
    protocol = attack_counts.PROTOCOLS[name](m=m, epsilon=2.0)
    from dpradar.attacks import optimal_attack
    from dpradar.attacks.set_report_attack import some_member
    from dpradar.threats import Prior, Threat

    rng = np.random.default_rng(5)
    release = optimal_attack(protocol, Threat(Prior.uniform(m))).release
    guess = some_member(release.sets, release.sample(np.full(trials, m - 1), rng), rng)
    guess = np.where(guess < 0, rng.integers(0, m, size=trials), guess)
    chance = (1 - SUCCESS[name](m, 2.0)) / (m - 1)
    assert abs(np.count_nonzero(guess == 0) - trials * chance) < 4.5 * math.sqrt(trials * chance)
    lumped = attack_counts.held_of(protocol).false_hits(trials, rng)
    assert abs(lumped - trials * chance) < 4.5 * math.sqrt(trials * chance)


def test_audits_against_the_notes(audits):
    for row in audits.rows:
        m, success = row["m"], SUCCESS[row["protocol"]](row["m"], row["epsilon"])
        assert row["success_expected"] == pytest.approx(success, rel=1e-8)
        assert row["cor_1_expected"] == pytest.approx(formulas.audit_epsilon(m, success), abs=1e-6)
        assert abs(row["off_sd"]) < 4.5
        assert abs(row["reports_off_sd"]) < 5.0
        assert (row["trials"], row["repeats"], row["reports"]) == (10**6, 5, 1_000)
        sd = 1 / math.sqrt(1e6 * success * (1 - success))
        assert abs(row["cor_1"] - row["cor_1_expected"]) < 4.5 * sd / math.sqrt(5) + 1e-3
        assert abs(row["ldp_auditor"] - row["ldp_auditor_expected"]) < 0.5
    for expected in oracles.LDP_AUDITOR:
        own = audits.where(protocol=expected["protocol"].upper(), epsilon=float(expected["epsilon"]))
        for row in own.rows:
            assert oracles.off(row["ldp_auditor_expected"], expected["auditor"]) <= 1.0
            assert abs(row["cor_1_lower"] - expected["lower"].value) < 0.1


def test_the_valid_bound_beats_ldp_auditor_and_the_own_value_finds_epsilon(audits):
    for row in audits.rows:
        assert row["cor_1_lower"] > row["ldp_auditor"]
        assert row["cor_1_lower"] <= row["cor_1"]
        assert abs(row["own"] - row["epsilon"]) < 0.2
    grr = audits.where(protocol="GRR")
    assert grr.numbers("own") == pytest.approx(grr.numbers("cor_1"), abs=1e-6)
    assert audits.where(protocol="OUE", epsilon=12.0).numbers("cor_1")[0] < 8.024  # its limit


def test_the_own_curve_of_she_is_read_off_a_grid():
    protocol = attack_counts.PROTOCOLS["SHE"](m=60, epsilon=3.3)
    epsilons = ldp_audits.own_epsilons([SUCCESS["SHE"](60, 3.3), 1e-9, 1.0], protocol, "SHE")
    assert epsilons[0] == pytest.approx(3.3, abs=2e-3)
    assert epsilons[1] == pytest.approx(0.05)
    assert epsilons[2] is None


@pytest.mark.parametrize("name", [name for name in SUCCESS if name != "SHE"])
def test_own_values_are_inverted_as_by_the_library(name):
    m = 300
    protocol = attack_counts.PROTOCOLS[name](m=m, epsilon=1.0)
    success = [SUCCESS[name](m, 2.6), 0.004]
    epsilons = ldp_audits.own_epsilons([*success, 0.0], protocol, name)
    threat = dr.Threat(dr.Prior.uniform(m))
    for epsilon, value in zip(epsilons, success, strict=False):
        assert epsilon == pytest.approx(epsilon_from_own_curve(value - 1 / m, protocol, threat), abs=1e-6)
    assert epsilons[0] == pytest.approx(2.6, abs=0.05)  # SS and OLH jump
    assert epsilons[2] == 0.0


def test_an_attack_that_never_fails_is_beyond_the_range():
    audit = ldp_audits.audited([1.0, 1.0], 3052, 10**6)
    assert audit["cor_1"] is None
    assert audit["cor_1_undefined"] == 2
    (ceiling,) = [row for row in oracles.AUDIT_CEILING if row["m"] == 3052]
    assert oracles.off(audit["cor_1_lower"], ceiling["lower"]) <= 1.0


def test_figures_are_written(tmp_path, monkeypatch, figure_7, audits):
    for name, table in (("rad:fig7", figure_7), ("rad:fig8", audits)):
        old = figures.FIGURES[name]
        figure = figures.PaperFigure(old.what, lambda _, __, table=table: table, old.draw, old.note)
        monkeypatch.setitem(figures.FIGURES, name, figure)
        lines: list[str] = []
        files = figures.reproduce(name, tmp_path, progress=lines.append)
        assert [file.suffix for file in files] == [".csv", ".svg"]
        assert files[0].read_text(encoding="utf-8").splitlines()[0] == ",".join(table.columns)
        assert lines[0].startswith(name)
        assert (lines[-1] == f"{name}: {old.note}") == bool(old.note)
    assert "LDP-Auditor" in (tmp_path / "rad-fig8.svg").read_text(encoding="utf-8")
    assert "Theorem 4.3" in (tmp_path / "rad-fig7.svg").read_text(encoding="utf-8")
