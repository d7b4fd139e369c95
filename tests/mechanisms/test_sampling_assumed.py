"""Numbers that rest on Poisson sampling say so, wherever they are shown."""

from __future__ import annotations

import dp_accounting as dp
import pytest

import dpradar as dr
from dpradar.cli.main import main
from dpradar.mechanisms.adapters import from_dp_accounting
from dpradar.notions import singling_out
from dpradar.present.html import document

RUN = dr.DPSGD(noise_multiplier=1.0, sample_rate=0.05, steps=20)
SAMPLED = dp.PoissonSampledDpEvent(0.05, dp.GaussianDpEvent(1.0))
FOUR = dr.Threat(dr.Prior.uniform(4))


def says(bound):
    return any("Poisson sampling" in note for note in bound.assumes)


@pytest.mark.parametrize(
    "threat", [FOUR, dr.Threat.membership(0.5), dr.Threat.baseline(0.1), dr.Threat.worst()], ids=repr
)
@pytest.mark.parametrize(
    "what",
    [
        RUN,
        dr.Repeated(RUN, 2),
        dr.Composed([RUN, dr.GDP(0.1, "add-remove")]),
        from_dp_accounting(dp.SelfComposedDpEvent(SAMPLED, 20), "add-remove"),
        from_dp_accounting(dp.SelfComposedDpEvent(SAMPLED, 20), "replace-one"),
        from_dp_accounting(dp.PoissonSampledDpEvent(0.05, dp.LaplaceDpEvent(2.0)), "add-remove"),
        from_dp_accounting(dp.ComposedDpEvent([SAMPLED, dp.GaussianDpEvent(9.0)]), "add-remove"),
    ],
    ids=["run", "repeated", "composed", "events", "replaced", "laplace", "together"],
)
def test_every_bound_says_so(what, threat):
    a = dr.assess(what, threat)
    assert all(says(bound) for bound in (*a.bounds.values(), a.tpr(0.01)) if bound is not None)
    assert says(dr.Assessment.from_dict(a.to_dict()).tpr(0.01))


def test_truncated_batches_are_poisson_sampled_too():
    event = dp.dp_event.TruncatedSubsampledGaussianDpEvent(1000, 0.05, 80, 2.0)
    assert says(dr.assess(from_dp_accounting(event, "add-remove"), FOUR).rad)


def test_without_sampling_nothing_is_said():
    for what in (dr.DPSGD(5.0, 1.0, 10), from_dp_accounting(dp.GaussianDpEvent(2.0), "add-remove")):
        assert not says(dr.assess(what, FOUR).rad)


def test_gaussian_events_say_their_norm_and_relation():
    rad = dr.assess(from_dp_accounting(dp.GaussianDpEvent(2.0), "add-remove"), FOUR).rad
    assert any("L2 norm" in note and "(add-remove)" in note and "twice" in note for note in rad.assumes)
    rad = dr.assess(from_dp_accounting(dp.LaplaceDpEvent(2.0), "add-remove"), FOUR).rad
    assert any("(L1 norm, add-remove)" in note for note in rad.assumes)


def test_notions_and_calibration_say_so():
    assert says(singling_out(RUN, 0.01))
    calibration = dr.calibrate(dr.DPSGD, dr.Limit(FOUR, rad=0.2), sample_rate=0.05, steps=20, precision=0.05)
    assert any("Poisson sampling" in note for note in calibration.assumes)
    assert "Poisson sampling" in calibration.explain()
    assert "Poisson sampling" in document(calibration)


def test_reports_and_command_line_say_so(tmp_path, capsys):
    file = tmp_path / "spec.toml"
    file.write_text(
        '[release]\nkind = "dpsgd"\nnoise_multiplier = 1.0\nsample_rate = 0.05\nsteps = 20\n[threat]\nm = 4\n'
    )
    assert "Poisson sampling" in document(dr.assess(RUN, FOUR))
    page = tmp_path / "risk.html"
    for words in (
        ["run", str(file), "--report", str(page)],
        ["assess", "dpsgd", "--noise-multiplier", "1", "--sample-rate", "0.05", "--steps", "20", "--m", "4"],
    ):
        with pytest.raises(SystemExit) as left:
            main(words)
        assert left.value.code == 0
        assert "Poisson sampling" in " ".join(capsys.readouterr().out.split())
    label = page.read_text().split("Not covered")[0]
    assert "Poisson sampling: in each step" in label
