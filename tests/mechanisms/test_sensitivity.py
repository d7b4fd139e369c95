"""A sensitivity states its neighbour relation; what follows from it for the other one."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest
from mpmath import mp, mpf, quad
from scipy.special import ndtr

import dpradar as dr
from dpradar.cli.main import main
from dpradar.notions import posterior_odds, singling_out
from dpradar.spec.starter_file import starting_spec

ADD, REPLACE = "add-remove", "replace-one"
NOISE = (dr.Laplace, dr.Gaussian, dr.Geometric, dr.DiscreteGaussian)
TWO = dr.Threat(dr.Prior.uniform(2))


# --------------------------------------------------------------------------------------------- stated or refused


@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize("neighbours", [None, "both", "", "ADD-REMOVE"])
def test_a_sensitivity_without_its_relation_is_refused(noise, neighbours):
    with pytest.raises(dr.ParameterError) as caught:
        noise(1.0, sensitivity=1.0, neighbours=neighbours)
    assert caught.value.name == f"{noise.__name__}.neighbours"
    for part in ("'add-remove'", "'replace-one'", "added or removed", "replaced"):
        assert part in str(caught.value)


@pytest.mark.parametrize("noise", NOISE)
def test_a_relation_without_a_sensitivity_is_refused(noise):
    for options in ({}, {"query": [0, 1]}):
        with pytest.raises(dr.ParameterError, match="left out without a sensitivity"):
            noise(1.0, neighbours=ADD, **options)


@pytest.mark.parametrize("relation", [None, ADD, REPLACE])
def test_a_sensitivity_alone_is_refused_and_not_guessed(relation):
    """Read as replace-one the first gave 0.1967 and the second 0.2447, and the noise kept 0.1007 instead of 0.1."""
    knowledge = dr.Knowledge.everything()
    two = dr.Threat(dr.Prior.uniform(2, values=[-1, 1]), knowledge)
    with pytest.raises(dr.ParameterError, match="neighbours"):
        dr.assess(dr.Laplace(1.0, sensitivity=1.0), two, neighbours=relation)
    with pytest.raises(dr.ParameterError, match="neighbours"):
        dr.assess(dr.Gaussian(1.0, sensitivity=1.0), dr.Threat(dr.Prior.uniform(3), knowledge), neighbours=relation)
    limit = dr.Limit(dr.Threat(dr.Prior.uniform(3), knowledge), rad=0.1, neighbours=relation)
    with pytest.raises(dr.ParameterError, match="neighbours"):
        dr.calibrate(dr.Gaussian, limit, sensitivity=1.0)


@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize("threat", [dr.Threat.worst(), dr.Threat.baseline(0.1), dr.Threat.membership(0.5)], ids=repr)
def test_nothing_is_assumed_where_nobody_says_what_a_person_changes(noise, threat):
    for what in (noise(1.0), dr.Repeated(noise(1.0), 3), dr.Composed([noise(1.0), dr.GDP(1.0, ADD)])):
        with pytest.raises(dr.ParameterError, match="State sensitivity and neighbours"):
            dr.assess(what, threat)
    limit = dr.Limit(threat, gain=0.1)
    with pytest.raises(dr.ParameterError, match="State sensitivity and neighbours"):
        dr.calibrate(noise, limit)


@pytest.mark.parametrize("value", ["yes", 1, None])
def test_nonnegative_is_true_or_false(value):
    with pytest.raises(dr.ParameterError, match=r"Gaussian\.nonnegative"):
        dr.Gaussian(1.0, sensitivity=1.0, neighbours=ADD, nonnegative=value)


def test_nonnegative_needs_an_add_remove_sensitivity():
    for options in ({}, {"sensitivity": 1.0, "neighbours": REPLACE}, {"query": [0, 1]}):
        with pytest.raises(dr.ParameterError, match=r"Gaussian\.nonnegative"):
            dr.Gaussian(1.0, nonnegative=True, **options)


def test_a_description_shows_what_was_stated():
    what = dr.Gaussian(2.0, sensitivity=3.0, neighbours=ADD, nonnegative=True)
    assert repr(what) == "Gaussian(sigma=2, sensitivity=3.0, neighbours='add-remove', nonnegative=True)"
    assert repr(dr.Geometric(2.0, sensitivity=3.0, neighbours=REPLACE)).endswith(
        "sensitivity=3.0, neighbours='replace-one')"
    )


# ------------------------------------------------------------------------------------------------------- factors


def norm_of(vectors, order):
    return np.linalg.norm(vectors, ord=order, axis=1)


@pytest.mark.parametrize(
    ("order", "nonnegative", "factor"), [(1, False, 2.0), (2, False, 2.0), (1, True, 2.0), (2, True, math.sqrt(2.0))]
)
def test_factors_by_brute_force(order, nonnegative, factor):
    """No two contributions of norm at most 1 are further apart, and some are as far."""
    rng = np.random.default_rng(7)
    worst = 0.0
    for size in (1, 2, 3, 8):
        points = rng.normal(size=(400, size)) * (rng.random((400, size)) < 0.5)
        points = np.abs(points) if nonnegative else points
        ends = np.vstack([np.eye(size), np.zeros((1, size))] if nonnegative else [np.eye(size), -np.eye(size)])
        points = np.vstack([points / np.maximum(norm_of(points, order), 1e-300)[:, None], ends])
        far = max(float(norm_of(points - one, order).max()) for one in points)
        assert far <= factor * (1 + 1e-12)
        if size > 1:
            assert far == pytest.approx(factor, rel=1e-12)
        worst = max(worst, far)
    kind, options = (dr.Laplace, {}) if order == 1 else (dr.Gaussian, {"nonnegative": nonnegative})
    noise = kind(1.0, sensitivity=1.0, neighbours=ADD, **options).at(None)
    distance = (
        noise.privacy(REPLACE).epsilon if order == 1 else 2.0 * mp.erfinv(mpf(noise.privacy(REPLACE).tv)) * mp.sqrt(2)
    )
    assert float(distance) == pytest.approx(worst, rel=1e-9)


def geometric_pair(scale, distance):
    """Return both laws of one whole number with the tails in one cell each, which say the same."""
    r, k = math.exp(-1.0 / scale), np.arange(0, distance + 1)
    p = r**k * (1 - r) / (1 + r)
    p[0], p[-1] = 1 / (1 + r), r**distance / (1 + r)
    return p, p[::-1]


@pytest.mark.parametrize("shifts", [(1, 1), (2, 1), (1, 1, 1, 1), (5, 1, 2)], ids=str)
@pytest.mark.parametrize("scale", [0.3, 1.0, 5.0])
def test_one_number_stands_for_a_vector_of_the_same_l1_norm(shifts, scale):
    """By enumeration of all outputs of the vector; Laplace noise is the limit of large numbers."""
    p = q = np.ones(1)
    for shift in shifts:
        here, there = geometric_pair(scale, shift)
        p, q = np.outer(p, here).ravel(), np.outer(q, there).ravel()
    total = sum(shifts)
    promise = dr.Geometric(scale, sensitivity=total, neighbours=REPLACE).at(None).privacy(REPLACE)
    for epsilon in np.linspace(-total / scale, total / scale, 25):
        truth = float(np.maximum(p - math.exp(epsilon) * q, 0.0).sum())
        claimed = float(promise.pairs[0][0].delta(np.array([epsilon]))[0])
        assert truth <= claimed + 1e-12
    assert promise.tv >= np.maximum(p - q, 0.0).sum() - 1e-12


# ------------------------------------------------------------------------------------------------ known true risks


def test_two_values_at_minus_one_and_one():
    """Each is one away from no contribution at all, so 1 is the add-remove sensitivity; rad is half the TV."""
    truth = (1 - math.exp(-1.0)) / 2  # Laplace noise of scale 1, centres 2 apart
    mp.dps = 30
    integral = quad(lambda x: abs(mp.exp(-abs(x + 1)) - mp.exp(-abs(x - 1))) / 4, [-40, -1, 0, 1, 40])
    assert float(integral) / 2 == pytest.approx(truth, rel=1e-12)
    described = dr.assess(dr.Laplace(1.0, query=[-1.0, 1.0]), TWO).rad
    assert described.value == pytest.approx(truth, abs=1e-9)
    stated = dr.assess(dr.Laplace(1.0, sensitivity=1.0, neighbours=ADD), TWO).rad
    assert stated.side == "upper"
    assert truth - 1e-12 <= stated.value <= truth + 1e-6


def test_a_histogram_of_three_cells():
    """The best guess is the largest cell: rad = Pr[own cell is the largest] - 1/3."""
    mp.dps = 20
    hit = quad(lambda x: mp.npdf(x - 1) * mp.ncdf(x) ** 2, [-12, -4, 0, 4, 14])
    truth = float(hit) - 1 / 3
    assert truth == pytest.approx(0.3004, abs=5e-5)
    three = dr.Threat(dr.Prior.uniform(3))
    for options in ({"nonnegative": True}, {}):
        rad = dr.assess(dr.Gaussian(1.0, sensitivity=1.0, neighbours=ADD, **options), three).rad
        assert rad.value >= truth
    assert dr.assess(dr.Gaussian(1.0, query=np.eye(3)), three).rad.value == pytest.approx(truth, abs=1e-8)


def test_calibrated_noise_keeps_the_limit_for_the_worst_query():
    three, limit = dr.Threat(dr.Prior.uniform(3)), dr.Limit(dr.Threat(dr.Prior.uniform(3)), rad=0.1)
    gaussian = dr.calibrate(dr.Gaussian, limit, sensitivity=1.0, neighbours=ADD, nonnegative=True)
    assert dr.assess(dr.Gaussian(gaussian.value, query=np.eye(3)), three).rad.value <= 0.1
    laplace = dr.calibrate(dr.Laplace, dr.Limit(TWO, rad=0.1), sensitivity=1.0, neighbours=ADD)
    assert dr.assess(dr.Laplace(laplace.value, query=[-1.0, 1.0]), TWO).rad.value <= 0.1
    assert (1 - math.exp(-1.0 / laplace.value)) / 2 <= 0.1


@pytest.mark.parametrize("noise", [dr.Laplace, dr.Gaussian])
def test_no_query_of_that_sensitivity_is_riskier(noise):
    """Random queries whose contributions have norm at most 1, assessed by the exact engines."""
    rng = np.random.default_rng(11)
    stated = {
        REPLACE: noise(0.8, sensitivity=1.0, neighbours=REPLACE),
        ADD: noise(0.8, sensitivity=1.0, neighbours=ADD),
    }
    for size in (2, 3, 5):
        threat = dr.Threat(dr.Prior.of(rng.dirichlet(np.ones(size))))
        for _ in range(4):
            points = rng.uniform(-1, 1, size)
            points[rng.integers(size)] = rng.choice([-1.0, 1.0])
            exact = dr.assess(noise(0.8, query=points), threat)
            bound = dr.assess(stated[ADD], threat)
            assert exact.rad.value <= bound.rad.value + 1e-9
            assert exact.success.value <= bound.success.value + 1e-9
            near = dr.assess(noise(0.8, query=points / np.ptp(points) + 5.0), threat)
            assert near.rad.value <= dr.assess(stated[REPLACE], threat).rad.value + 1e-9


# ------------------------------------------------------------------------------------------------------ relations


@pytest.mark.parametrize("noise", NOISE)
def test_taking_part_uses_an_add_remove_sensitivity_as_it_is(noise):
    here = noise(1.5, sensitivity=2.0, neighbours=ADD).at(None).privacy(ADD)
    assert here.tv == pytest.approx(noise(1.5, query=[0, 2]).at(None).privacy(ADD).tv, rel=1e-12)
    a = dr.assess(noise(1.5, sensitivity=2.0, neighbours=ADD), dr.Threat.membership(0.5))
    assert a.success.value == pytest.approx(0.5 + here.tv / 2, rel=1e-9)
    assert a.neighbours == ADD


@pytest.mark.parametrize("noise", NOISE)
def test_a_replace_one_sensitivity_says_nothing_about_taking_part(noise):
    """A query with contributions 1000 and 1001 has replace-one sensitivity 1 and gives away who took part."""
    what = noise(1.5, sensitivity=1.0, neighbours=REPLACE)
    a = dr.assess(what, dr.Threat.membership(0.5))
    assert (a.success.value, a.success.rule) == (1.0, "trivial")
    assert any("nothing is promised about taking part" in note for note in a.success.assumes)
    assert what.at(None).privacy(ADD) is None
    assert dr.assess(what, neighbours=ADD).tpr(0.01).value == 1.0


def test_gaussian_noise_stated_either_way():
    added = dr.assess(dr.Gaussian(1.0, sensitivity=1.0, neighbours=ADD))
    assert added.worst_gain.value == pytest.approx(2 * ndtr(0.5) - 1, rel=1e-9)
    assessment = dr.assess(dr.Gaussian(1.0, sensitivity=1.0, neighbours=ADD), neighbours=REPLACE)
    assert assessment.worst_gain.value == pytest.approx(2 * ndtr(1.0) - 1, rel=1e-9)
    fewer = dr.assess(dr.Gaussian(1.0, sensitivity=1.0, neighbours=ADD, nonnegative=True), neighbours=REPLACE)
    assert fewer.worst_gain.value == pytest.approx(2 * ndtr(math.sqrt(0.5)) - 1, rel=1e-9)


# -------------------------------------------------------------------------------------------------------- assumes


@pytest.mark.parametrize(("noise", "norm"), list(zip(NOISE, ("L1", "L2", "L1", "L2"), strict=True)))
def test_every_number_says_which_norm_relation_and_factor(noise, norm):
    what = noise(1.0, sensitivity=1.0, neighbours=ADD)
    start = f"stated sensitivity 1 ({norm} norm, add-remove)"
    a = dr.assess(what, TWO)
    bounds = [*a.bounds.values(), a.tpr(0.1), singling_out(what, 0.01), posterior_odds(what, 0.1).ratio]
    for bound in filter(None, bounds):
        notes = [note for note in bound.assumes if start in note]
        assert notes, bound
        assert "2 times that when one person's data are replaced" in notes[0]
    saved = dr.Assessment.from_dict(a.to_dict())
    assert any(start in note for note in saved.tpr(0.1).assumes)
    assert start in a.explain()
    assert any(start in note for note in dr.assess(dr.Composed([what, dr.GDP(0.1, ADD)]), TWO).rad.assumes)
    assert any(start in note for note in dr.assess(dr.Repeated(what, 3), TWO).rad.assumes)


def test_what_is_said_of_non_negative_entries_and_of_replace_one():
    histogram = dr.assess(dr.Gaussian(1.0, sensitivity=1.0, neighbours=ADD, nonnegative=True), TWO).rad
    assert any("sqrt(2) times" in note and "negative entry" in note for note in histogram.assumes)
    replaced = dr.assess(dr.Laplace(1.0, sensitivity=1.0, neighbours=REPLACE), TWO).rad
    assert any("(L1 norm, replace-one)" in note and "nothing is known of adding" in note for note in replaced.assumes)


# ---------------------------------------------------------------------------------------- files and command line


def exit_code(words):
    with pytest.raises(SystemExit) as left:
        main(words)
    return left.value.code


SPEC = """
neighbours = "{relation}"
[release]
kind = "laplace"
scale = 1.0
sensitivity = 1.0
[threat]
m = 2
limits = {{ rad = 0.2 }}
"""


def test_a_spec_does_not_pass_a_limit_that_it_breaks(tmp_path, capsys):
    file = tmp_path / "spec.toml"
    codes = {}
    for relation in (ADD, REPLACE):
        file.write_text(SPEC.format(relation=relation))
        codes[relation] = exit_code(["run", str(file), "--check"])
    assert codes[ADD] == 3
    assert dr.spec.run(dr.spec.parse(SPEC.format(relation=REPLACE))).met is True
    assert "Stated sensitivity 1 (L1 norm, replace-one)" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("place", ["release", "top"])
def test_the_relation_stands_in_the_release_or_above_it(place):
    text = SPEC.format(relation=ADD)
    if place == "release":
        text = text.replace('neighbours = "add-remove"\n', "").replace(
            "sensitivity", 'neighbours = "add-remove"\nsensitivity'
        )
    assessment = dr.spec.run(dr.spec.parse(text)).releases[0].assessments[0].assessment
    assert assessment.rad.value == pytest.approx((1 - math.exp(-1)) / 2, abs=1e-6)


def test_a_spec_without_the_relation_names_the_place():
    text = SPEC.format(relation=ADD).replace('neighbours = "add-remove"\n', "")
    for threat in ("", 'neighbours = "add-remove"\n'):  # a threat asks under a relation, it does not state one
        with pytest.raises(dr.SpecError, match=r"release\.neighbours"):
            dr.spec.parse(text + threat)


def test_a_register_without_the_relation_is_refused(tmp_path):
    file = tmp_path / "register.toml"
    file.write_text('[[release]]\nkind = "laplace"\nscale = 1.0\nsensitivity = 1.0\n')
    with pytest.raises(dr.SpecError, match="neighbours"):
        dr.spec.register(file)
    file.write_text('neighbours = "add-remove"\n' + file.read_text())
    assert dr.assess(dr.spec.register(file), TWO).rad.value == pytest.approx((1 - math.exp(-1)) / 2, abs=1e-6)


def test_the_command_line_states_the_relation(capsys):
    command = ["assess", "laplace", "--scale", "1", "--sensitivity", "1", "--m", "2"]
    assert exit_code(command) == 2
    message = " ".join(capsys.readouterr().err.split())
    assert "--neighbours" in message
    assert "one person is added or removed" in message
    assert exit_code([*command, "--neighbours", ADD, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rad"]["value"] == pytest.approx((1 - math.exp(-1)) / 2, abs=1e-6)
    assert exit_code(["assess", "gaussian", "--sigma", "1", "--baseline", "0.1"]) == 2
    assert "sensitivity" in capsys.readouterr().err
    assert exit_code(["assess", "gaussian", "--sigma", "1", "--nonnegative", "--m", "3"]) == 2
    assert "--nonnegative" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["laplace", "gaussian", "geometric", "discrete-gaussian"])
def test_starting_specs_explain_the_relation(kind):
    text = starting_spec(kind)
    lines = text.splitlines()
    (row,) = (i for i, line in enumerate(lines) if line.startswith("# sensitivity"))
    assert lines[row + 1].startswith("# neighbours")
    used = "\n".join(line[2:] if line.startswith(("# sensitivity", "# neighbours")) else line for line in lines)
    assert dr.spec.run(dr.spec.parse(used)).releases[0].assessments[0].assessment.neighbours == ADD


@pytest.mark.parametrize(("first", "second"), list(itertools.permutations([ADD, REPLACE], 2)))
def test_a_threat_cannot_contradict_the_stated_relation(first, second):
    text = SPEC.format(relation=first) + f'neighbours = "{second}"\n'
    with pytest.raises(dr.SpecError, match="left out"):
        dr.spec.parse(text)
