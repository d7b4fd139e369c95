"""[RAD] Figure 6: what a tolerance eta does to RAD and to ReRo."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import numpy as np
import pytest

from dpradar.errors import ParameterError
from dpradar_reproduction import rad_fig6
from tests.twin import brute, formulas, lines, oracles

HOURS = list(range(101))
EPSILONS = [1.0, 5.0, 10.0, 20.0]  # of the tests on real data
FOUR = [0.0, 40.0, 80.0, 100.0]
SHARED = Path(os.environ.get("DPRADAR_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Uniform and two-point prior, every eta; an empty data folder, so that nothing depends on the machine."""
    return rad_fig6.compute(tmp_path_factory.mktemp("nothing"), fine_etas=HOURS)


@pytest.fixture(scope="module")
def empirical():
    file = rad_fig6.data_file(SHARED)
    if file is None:
        pytest.skip("adult/adult.data.gz is not in the data folder (DPRADAR_DATA, or ../shared/data)")
    full = rad_fig6.compute(SHARED, epsilons=EPSILONS, fine_epsilons=[10.0], fine_etas=[*range(8, 15), 30])
    return full.where(prior="empirical"), full.where(prior="uniform"), full.where(prior="two-point")


def test_values_of_the_notes(table):
    for epsilon, row in oracles.ADULT_UNIFORM_RAD.items():
        for eta, printed in zip(oracles.ADULT_ETAS, row, strict=True):
            (value,) = table.numbers("rad", prior="uniform", epsilon=float(epsilon), eta=float(eta))
            assert oracles.off(value, printed) <= 0.5
    for eta, printed in zip(oracles.ADULT_ETAS, oracles.ADULT_UNIFORM_SUCCESS[1], strict=True):
        (value,) = table.numbers("rero", prior="uniform", epsilon=1.0, eta=float(eta))
        assert oracles.off(value, printed) <= 0.5


@pytest.mark.parametrize(("prior", "epsilon", "eta"), [("uniform", 10, 40), ("uniform", 1, 16), ("two-point", 10, 60)])
def test_rad_and_success_against_the_twin(table, prior, epsilon, eta):
    pi = [1 / 101] * 101 if prior == "uniform" else [0.5] + [0.0] * 99 + [0.5]
    rad, success, baseline = lines.risks(
        lines.laplace(100 / epsilon), HOURS, pi, brute.nothing(101), brute.within(HOURS, eta), clamp=(0, 100)
    )
    (row,) = table.where(prior=prior, epsilon=float(epsilon), eta=float(eta)).rows
    assert row["rad"] == pytest.approx(rad, abs=1e-10)
    assert row["rero"] == pytest.approx(success, abs=1e-10)
    assert row["blind_guess"] == pytest.approx(baseline, abs=1e-12)


@pytest.mark.parametrize("epsilon", rad_fig6.EPSILONS)
def test_of_the_four_eta_rad_is_largest_at_40_for_the_uniform_prior(table, epsilon):
    rad = [table.numbers("rad", prior="uniform", epsilon=epsilon, eta=eta)[0] for eta in FOUR]
    assert rad[1] > max(rad[0], rad[2], rad[3])


def test_with_hardly_any_noise_eta_0_overtakes_40():
    """The statement is about the figure's epsilon: without noise RAD tends to 1 - 1/101 at eta 0, to 0.58 at 40."""
    for epsilon, best in ((150.0, 40.0), (200.0, 0.0)):
        own = rad_fig6.compute(epsilons=[epsilon], fine_epsilons=[]).where(prior="uniform")
        assert own.numbers("eta")[own.numbers("rad").argmax()] == best


@pytest.mark.parametrize(("epsilon", "peak"), list(oracles.ADULT_PEAK_ETA.items()))
def test_true_peaks(table, epsilon, peak):
    own = table.where(prior="uniform", epsilon=float(epsilon))
    rad = own.numbers("rad")
    assert own.numbers("eta").tolist() == HOURS
    assert rad.argmax() == peak
    assert np.sort(rad)[-2] < rad.max() - 1e-6  # a peak, not a tie


@pytest.mark.parametrize("prior", ["uniform", "two-point"])
def test_no_advantage_when_every_guess_is_right(table, prior):
    own = table.where(prior=prior, eta=100.0)
    assert np.all(own.numbers("rad") < 1e-12)
    assert np.all(own.numbers("rad_low") == 0.0)
    assert np.all(own.numbers("rero") == 1.0)


@pytest.mark.parametrize("epsilon", rad_fig6.FINE_EPSILONS)
def test_the_two_point_prior_is_flat_until_100(table, epsilon):
    own = table.where(prior="two-point", epsilon=epsilon)
    assert own.numbers("rad")[:100] == pytest.approx(-np.expm1(-epsilon / 2) / 2, abs=1e-12)
    assert own.numbers("rad")[100] < 1e-12


def test_two_point_values_of_the_notes(table):
    for epsilon, printed in oracles.ADULT_TWO_POINT_RAD.items():
        (value,) = table.numbers("rad", prior="two-point", epsilon=float(epsilon), eta=40.0)
        assert oracles.off(value, printed) <= 0.5


@pytest.mark.parametrize("prior", ["uniform", "two-point"])
@pytest.mark.parametrize("epsilon", rad_fig6.FINE_EPSILONS)
def test_rero_goes_to_1(table, prior, epsilon):
    rero = table.numbers("rero", prior=prior, epsilon=epsilon)
    assert np.all(np.diff(rero) >= -1e-12)
    assert np.all(rero[50:] == 1.0)  # from 50 on the guess 50 is never wrong, while RAD is still large
    assert np.all(rero[:50] < 1.0)


def test_two_point_is_not_the_worst_prior(table):
    """The paper calls it the worst case; at eta = 20, epsilon = 20 the uniform prior is worse (0.641 against 0.500)."""
    uniform = table.numbers("rad", prior="uniform", epsilon=20.0, eta=20.0)[0]
    two_point = table.numbers("rad", prior="two-point", epsilon=20.0, eta=20.0)[0]
    assert oracles.off(uniform, oracles.ADULT_WORST_PRIOR["uniform"]) <= 0.5
    assert oracles.off(two_point, oracles.ADULT_WORST_PRIOR["two_point"]) <= 0.5
    assert uniform > two_point


def test_rero_bounds_hold_and_overestimate(table):
    rero, ours, printed = (table.numbers(c) for c in ("rero_low", "rero_bound_ours", "rero_bound"))
    assert np.all(rero <= ours + 1e-12)
    assert np.all(ours <= printed + 1e-12)
    # Compared with the output for 50 hours the bound is exact for the two-point prior below eta 50.
    half = [row for row in table.where(prior="two-point").rows if row["eta"] < 50]
    assert [row["rero"] for row in half] == pytest.approx([row["rero_bound_ours"] for row in half], abs=1e-11)


def test_printed_rero_bound(table):
    for row in table.where(epsilon=10.0).rows:
        base = row["blind_guess"]
        assert row["rero_bound"] == pytest.approx(
            1.0 if base >= 1 - 1e-12 else 1 - formulas.laplace_curve(10.0)(base), abs=1e-12
        )


def test_missing_data_is_said(tmp_path, monkeypatch):
    monkeypatch.delenv("DPRADAR_DATA", raising=False)
    for folder in (None, tmp_path):
        lines: list[str] = []
        table = rad_fig6.compute(folder, lines.append, epsilons=[1.0], fine_epsilons=[])
        assert "the empirical prior is left out" in lines[0]
        assert table.distinct("prior") == ["uniform", "two-point"]


def written(folder: Path, lines_of_file: list[str]) -> Path:
    (folder / "adult").mkdir(parents=True)
    file = folder / "adult" / "adult.data.gz"
    with gzip.open(file, "wt", encoding="utf-8") as out:
        out.write("\n".join(lines_of_file) + "\n")
    return file


def record(hours: object) -> str:
    return ", ".join(["39", *["x"] * 11, str(hours), "Nowhere", "<=50K"])


def test_data_folder_from_the_environment(tmp_path, monkeypatch):
    written(tmp_path, [record(40), record(40), record(20), record(120), ""])
    monkeypatch.setenv("DPRADAR_DATA", str(tmp_path))
    lines: list[str] = []
    table = rad_fig6.compute(None, lines.append, epsilons=[1.0], fine_epsilons=[])
    assert table.distinct("prior") == ["uniform", "two-point", "empirical"]
    assert not any("left out" in text for text in lines)
    assert table.numbers("blind_guess", prior="empirical", eta=0.0)[0] == 0.5
    hours = rad_fig6.adult_hours(tmp_path / "adult" / "adult.data.gz")
    assert {h: p for h, p in enumerate(hours.tolist()) if p} == {20: 0.25, 40: 0.5, 100: 0.25}


@pytest.mark.parametrize("bad", ["1, 2, 3", record("many secrets")])
def test_a_broken_file_is_named_without_its_content(tmp_path, bad):
    file = written(tmp_path, [record(40), bad])
    with pytest.raises(ParameterError, match=r"line 2 of adult\.data\.gz") as caught:
        rad_fig6.adult_hours(file)
    assert "secret" not in str(caught.value)


def test_an_empty_file_is_refused(tmp_path):
    with pytest.raises(ParameterError, match="at least one record"):
        rad_fig6.adult_hours(written(tmp_path, [""]))


@pytest.mark.data
def test_adult_is_the_expected_file(empirical):
    hours = rad_fig6.adult_hours(rad_fig6.data_file(SHARED))
    assert hours[40] == pytest.approx(15217 / 32561, abs=1e-15)
    assert empirical[0].numbers("blind_guess", epsilon=1.0, eta=0.0)[0] == pytest.approx(15217 / 32561, abs=1e-12)


@pytest.mark.data
def test_empirical_prior_has_the_same_shape(empirical):
    own = empirical[0]
    for epsilon in EPSILONS:
        rad = [own.numbers("rad", epsilon=epsilon, eta=eta)[0] for eta in FOUR]
        assert rad[1] > max(rad[0], rad[2])
        assert rad[3] < 1e-12
        rero = [own.numbers("rero", epsilon=epsilon, eta=eta)[0] for eta in FOUR]
        assert rero == sorted(rero)
        assert rero[2] == rero[3] == 1.0
    fine = own.where(epsilon=10.0)
    assert fine.numbers("eta")[fine.numbers("rad").argmax()] == 11.0


@pytest.mark.data
def test_empirical_prior_is_the_best_case_except_at_eta_0(empirical):
    """The paper calls it the best case: true at 40 and 80, false for exact guesses; there the uniform prior is."""
    own, uniform, two_point = empirical
    for epsilon in EPSILONS:
        for eta in (40.0, 80.0):
            mine = own.numbers("rad", epsilon=epsilon, eta=eta)[0]
            assert mine < uniform.numbers("rad", epsilon=epsilon, eta=eta)[0]
            assert mine < two_point.numbers("rad", epsilon=epsilon, eta=eta)[0]
        assert own.numbers("rad", epsilon=epsilon, eta=0.0)[0] > uniform.numbers("rad", epsilon=epsilon, eta=0.0)[0]


@pytest.mark.data
def test_empirical_prior_against_the_twin(empirical):
    pi = rad_fig6.adult_hours(rad_fig6.data_file(SHARED)).tolist()
    rad, success, _ = lines.risks(
        lines.laplace(10.0), HOURS, pi, brute.nothing(101), brute.within(HOURS, 11), clamp=(0, 100)
    )
    (row,) = empirical[0].where(epsilon=10.0, eta=11.0).rows
    assert row["rad"] == pytest.approx(rad, abs=1e-10)
    assert row["rero"] == pytest.approx(success, abs=1e-10)
