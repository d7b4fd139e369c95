"""What a result gives away of its prior: no label, no frequency, no live object, and nothing that trying finds."""

from __future__ import annotations

import gc
import json
import pickle
import types
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import dpradar as dr
from dpradar.results.disclosure import coarse
from dpradar.threats import Measured
from dpradar.threats.frequency_cells import cells_of
from tests.saved import without_names

VALUES, SHARES = (1234.5678, 2345.6789, 3456.789), (0.6173, 0.2519, 0.1308)
STATED = dr.Prior.of(SHARES, VALUES)


def _counted(shares, values=None, *, rows=1000, distance=0.0):
    """Return a prior as if it had been counted in a table."""
    confidence = 0.95 if distance else None
    measured = Measured(rows=rows, cells=len(shares), distance=distance, confidence=confidence)
    return replace(dr.Prior.of(shares, values), measured=measured)


def _copied(result):
    return pickle.loads(pickle.dumps(result))  # noqa: S301 (our own bytes)


def _reachable(root):
    """Return all objects that hang on one, without what modules and classes hold."""
    seen, todo = {}, [root]
    while todo:
        one = todo.pop()
        if id(one) in seen or isinstance(one, (types.ModuleType, type, types.CodeType, types.BuiltinFunctionType)):
            continue
        seen[id(one)] = one
        if isinstance(one, types.FunctionType):
            todo += [cell.cell_contents for cell in one.__closure__ or ()]
            todo += [*(one.__defaults__ or ()), *(one.__kwdefaults__ or {}).values()]
        else:
            todo += gc.get_referents(one)
    return list(seen.values())


def _secrets(root, numbers):
    """Return what of a prior can be reached."""
    secrets = []
    for one in _reachable(root):
        if isinstance(one, (dr.Prior, dr.Threat)):
            secrets.append(type(one))
        elif isinstance(one, float | np.floating):
            secrets += [x for x in numbers if abs(float(one) - x) < 1e-12]
        elif isinstance(one, np.ndarray) and one.dtype.kind == "f":
            secrets += [x for x in numbers if np.any(np.abs(one - x) < 1e-12)]
        elif isinstance(one, str):
            secrets += [x for x in numbers if f"{x:.4g}" in one]
    return secrets


RELEASES = [
    dr.GRR(m=3, epsilon=2.0),
    dr.OLH(m=3, epsilon=1.0),
    dr.SHE(m=3, epsilon=1.0),
    dr.Laplace(500.0),
    dr.Gaussian(500.0),
    dr.Channel([[0.5, 0.5], [0.2, 0.8], [0.9, 0.1]]),
    dr.Repeated(dr.Laplace(500.0), 3),
    dr.PureDP(1.0, neighbours="replace-one"),
    dr.RDP([2, 4], [0.1, 0.2], neighbours="replace-one"),
    dr.DPSGD(noise_multiplier=1.0, sample_rate=0.1, steps=10),
]


@pytest.mark.parametrize("release", RELEASES, ids=lambda release: type(release).__name__)
@pytest.mark.parametrize("known", ["nothing", "everything"])
def test_no_label_and_no_frequency_hangs_on_an_assessment(release, known):
    # The blind guess of a stated prior is a risk like the others; of a counted one it has two digits.
    a = dr.assess(release, dr.Threat(STATED, getattr(dr.Knowledge, known)(), dr.Goal.exact()))
    assert not _secrets(replace(a, baseline=None, success=None, gain=None, others=()), (*VALUES, *SHARES))
    for distance in (0.0, 0.1):
        prior = _counted(SHARES, VALUES, distance=distance)
        a = dr.assess(release, dr.Threat(prior, getattr(dr.Knowledge, known)(), dr.Goal.exact()))
        copy = _copied(a)
        for one in (a, copy, dr.Assessment.from_dict(json.loads(json.dumps(a.to_dict())))):
            if isinstance(release, dr.Channel) and not distance:
                continue  # its exact success is the blind guess: an exact risk
            assert not _secrets(one, (*VALUES, *SHARES))


@pytest.mark.parametrize("release", RELEASES, ids=lambda release: type(release).__name__)
def test_a_copy_by_pickle_says_the_same(release):
    a = dr.assess(release, dr.Threat(STATED))
    copy = _copied(a)
    assert copy == a
    assert copy.to_dict() == a.to_dict()
    for fpr in (0.0, 1e-4, 0.01, 0.1, 1.0):
        assert copy.tpr(fpr).value == pytest.approx(a.tpr(fpr).value, abs=1e-12)
    assert copy.tpr(0.0123).value >= a.tpr(0.0123).value - 1e-12
    assert _copied(copy) == copy


def test_a_threat_without_a_curve_is_copied_too():
    a = dr.assess(dr.TotalVariation(0.2, neighbours="replace-one"), dr.Threat(STATED))
    assert _copied(a).tpr(0.01).value == a.tpr(0.01).value


def test_other_results_pickle_and_hold_no_prior():
    prior = _counted(SHARES)
    threat = dr.Threat(prior)
    results = [
        dr.attack(dr.GRR(m=3, epsilon=1.0), threat, trials=200, seed=1),
        dr.calibrate(dr.GRR, dr.Limit(threat, rad=0.05), m=3),
    ]
    for result in results:
        assert not _secrets(result, SHARES)
        assert _copied(result) == result
    assert results[0].baseline == 0.61


def test_the_same_question_gives_the_same_file_and_no_digest_of_the_prior():
    threats = [dr.Threat(dr.Prior.of([0.9, 0.1])) for _ in range(2)]
    one, other = (json.dumps(dr.assess(dr.GRR(m=2, epsilon=1.0), threat).to_dict()) for threat in threats)
    assert one == other
    assert threats[0].prior.digest not in one


def test_an_attack_of_a_run_is_tied_to_its_threat():
    """Labels are not kept, so that two threats may read the same: their places tell which is meant."""
    from dpradar.spec import parse, run

    threat = "[[threat]]\nprior = [0.5, 0.3, 0.2]\ngoal = {{ labels = {} }}\n"
    text = '[release]\nkind = "grr"\nm = 3\nepsilon = 1.0\n' + threat.format(["a", "a", "b"])
    text += threat.format(["a", "b", "b"]) + "[evidence]\nattack = { trials = 2000, seed = 1 }\n"
    release = run(parse(text)).releases[0]
    first, second = (one.assessment.threat for one in release.assessments)
    assert first == second
    assert not first.describes_same(second)
    assert [run.threat.describes_same(first) for run in release.evidence] == [True, False]
    assert [run.threat.describes_same(second) for run in release.evidence] == [False, True]


def test_kappa_has_two_digits_unless_the_prior_is_included():
    threat = dr.Threat(dr.Prior.of([0.873, 0.127]))  # kappa = 0.778258
    assert dr.assess(dr.GRR(m=2, epsilon=1.0), threat).prior["kappa"] == 0.78
    whole = dr.assess(dr.GRR(m=2, epsilon=1.0), threat, include_prior=True)
    assert whole.prior["kappa"] == pytest.approx(0.778258, abs=1e-12)
    counted = dr.Threat(_counted([0.873, 0.127]))
    guarantee = dr.PureDP(1.0, neighbours="replace-one")
    assert dr.assess(guarantee, counted).baseline == 0.87
    assert dr.assess(guarantee, counted, include_prior=True).baseline == pytest.approx(0.873, abs=1e-12)


# Releases whose results hold no exact risk, and the distance of the region.
NO_EXACT_RISK = {
    "a guarantee": (dr.PureDP(1.0, neighbours="replace-one"), 0.0),
    "a sample": (dr.GRR(m=2, epsilon=1.0), 0.05),
    "a guarantee and a sample": (dr.ApproxDP(0.5, 1e-6, neighbours="replace-one"), 0.05),
}


def _file(release, distance, counts, rows=None):
    """Return the saved result of a table with these counts without the random name."""
    rows = sum(counts) if rows is None else rows
    prior = _counted([count / sum(counts) for count in counts], rows=rows, distance=distance)
    data = json.loads(json.dumps(dr.assess(release, dr.Threat(prior)).to_dict()))
    assert all(data[q] is None or data[q]["side"] == "upper" for q in ("rad", "success"))
    assert dr.Assessment.from_dict(data).to_dict() == data  # what is written is accepted
    return json.dumps(without_names(data), sort_keys=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", NO_EXACT_RISK)
def test_trying_all_counts_finds_none(name):
    files = Counter(_file(*NO_EXACT_RISK[name], (1000 - count, count)) for count in range(1, 501))
    assert files.total() == 500
    assert min(files.values()) >= 3


@pytest.mark.parametrize("name", NO_EXACT_RISK)
@pytest.mark.parametrize("first", [1, 122, 488])
def test_trying_the_counts_around_finds_none(name, first):
    files = [_file(*NO_EXACT_RISK[name], (1000 - count, count)) for count in range(first, first + 13)]
    inside = files if first == 1 else files[4:]  # of the others the group may begin before
    assert min(files.count(file) for file in inside[:-4]) >= 3


THREE = {
    "a guarantee": (dr.PureDP(1.0, neighbours="replace-one"), 0.0),
    "a sample": (dr.GRR(m=3, epsilon=1.0), 0.05),
    "another release": (dr.SHE(m=3, epsilon=1.0), 0.05),
}


@pytest.mark.parametrize("name", THREE)
@pytest.mark.parametrize("counts", [(600, 273, 127), (333, 334, 333), (990, 6, 4), (1, 2, 997), (3, 500, 497)])
def test_tables_of_three_values_have_others_with_the_same_file(name, counts):
    ours = cells_of(np.array(counts) / 1000, 1000)
    near = [(x, y) for x in range(counts[0] - 4, counts[0] + 5) for y in range(counts[1] - 4, counts[1] + 5)]
    tables = [(x, y, 1000 - x - y) for x, y in near if min(x, y, 1000 - x - y) >= 1]
    like = [t for t in tables if cells_of(np.array(t) / 1000, 1000).middle.tolist() == ours.middle.tolist()]
    assert len(like) >= 3
    assert min(len({table[i] for table in like}) for i in range(3)) >= 3  # of no value the count is found
    assert {_file(*THREE[name], table) for table in [*like[:2], *like[-2:]]} == {_file(*THREE[name], counts)}


@pytest.mark.parametrize("rows", [600, 1000, 1001, 1003])
def test_no_table_of_three_values_is_alone_in_its_cells(rows):
    def cells(first, second):
        return cells_of(np.array([first, second, rows - first - second]) / rows, rows).middle.tolist()

    rng = np.random.default_rng(rows)
    for share in (0.004, 0.03, 0.6) * 6:
        first, second = (1 + rng.binomial(rows // 2 - 2, [share, share / 2.0])).tolist()
        for x, y in ((first, second), (rows - first - second, first), (second, rows - first - second)):
            near = [(x + i, y + j) for i in range(-4, 5) for j in range(-4, 5)]
            alike = [z for z in near if min(*z, rows - sum(z)) >= 1 and cells(*z) == cells(x, y)]
            assert len(alike) >= 3, (x, y)


def test_frequencies_with_weights_lie_in_their_cells():
    rng = np.random.default_rng(5)
    for _ in range(2000):
        law = rng.dirichlet(np.full(rng.integers(2, 9), rng.choice([0.05, 0.3, 1.0]))) + 1e-9
        law[rng.integers(law.size)] *= rng.integers(2)  # a value that is possible and was not counted
        law /= law.sum()
        cells = cells_of(law, int(rng.integers(10, 5000)))
        if cells is not None:
            assert np.all(cells.low <= law + 1e-12)
            assert np.all(law <= cells.high + 1e-12)
            assert np.all((cells.middle > 0.0) == (law > 0.0))
            assert cells.middle.sum() == pytest.approx(1.0, abs=1e-12)
            assert 0.5 * np.abs(law - cells.middle).sum() <= cells.distance + 1e-12


def _promise(epsilon):
    return dr.PureDP(epsilon, neighbours="replace-one")


@pytest.mark.parametrize(("quantity", "limit"), [("rad", 0.05), ("success", 0.9), ("gain", 0.02)])
def test_a_calibration_has_many_digits_and_tells_no_count(quantity, limit):
    def saved(count):
        threat = dr.Threat(_counted([1.0 - count / 1000, count / 1000]))
        calibration = dr.calibrate(_promise, dr.Limit(threat, **{quantity: limit}))
        return json.dumps(without_names(calibration.to_dict()), sort_keys=True)

    files = [saved(count) for count in (126, 127, 128)]
    assert len(set(files)) == 1


def test_runs_about_tables_tell_no_count(tmp_path):
    from dpradar.spec import parse, run

    text = (
        "[release]\nkind = 'dp'\nepsilon = 1.0\nneighbours = 'replace-one'\n"
        "[threat]\ndata = '{}'\nsensitive = 'ill'\nlimits = {{ rad = 0.2, success = 0.95, gain = 0.1 }}\n"
    )

    def saved(count, more=""):
        (tmp_path / "people.csv").write_text("ill\n" + "no\n" * (1000 - count) + "yes\n" * count)
        data = run(parse(text.format("people.csv") + more, folder=tmp_path), made="").to_dict()
        assert all(limit["raw"] is not None for limit in data["releases"][0]["assessments"][0]["limits"])
        return json.dumps(without_names(data), sort_keys=True)

    for more in ("", "prior_confidence = 0.95\n"):
        assert saved(126, more) == saved(127, more) == saved(128, more)


@pytest.mark.parametrize("release", [dr.GRR(m=3, epsilon=1.0), dr.PureDP(1.0, neighbours="replace-one")])
@pytest.mark.parametrize("distance", [0.0, 0.05])
def test_rounding_errs_on_the_safe_side(release, distance):
    rng = np.random.default_rng(4)
    for _ in range(20):
        prior = _counted(rng.dirichlet(np.ones(3)), distance=distance)
        exact, rounded = (dr.assess(release, dr.Threat(prior), include_prior=flag) for flag in (True, False))
        for quantity in ("rad", "success", "gain"):
            one, other = exact.bounds[quantity], rounded.bounds[quantity]
            assert one.value <= other.value <= 1.11 * one.value + 0.02
            assert other.low is None or (other.side == "exact" and other.low == one.low)
        assert exact.baseline - 0.02 <= rounded.baseline <= exact.baseline + 1e-12
        assert rounded.gain.value <= rounded.rad.value + 1e-12
        # Success and gain do not give the blind guess away again: it is not their difference.
        assert abs(rounded.success.value - rounded.gain.value - exact.baseline) > 1e-9
        assert coarse(rounded) == rounded


SKEWED = [(0.999, 0.001), (0.99, 0.007, 0.003), (0.5, 0.5), (0.62, 0.26, 0.12), (0.25, 0.25, 0.25, 0.25)]


@pytest.mark.parametrize("shares", SKEWED)
@pytest.mark.parametrize("knowledge", [dr.Knowledge.nothing(), dr.Knowledge.everything()])
@pytest.mark.parametrize("goal", [dr.Goal.exact(), dr.Goal.within(1.0)], ids=["exact", "within"])
def test_rounded_bounds_are_not_below_those_of_the_table(shares, knowledge, goal):
    for release, distance in (
        (dr.PureDP(1.0, neighbours="replace-one"), 0.0),
        (dr.ApproxDP(0.5, 1e-3, neighbours="replace-one"), 0.03),
        (dr.Laplace(2.0), 0.03),
        (dr.DPSGD(noise_multiplier=1.0, sample_rate=0.1, steps=10), 0.0),
    ):
        threat = dr.Threat(_counted(shares, distance=distance), knowledge, goal)
        whole, shown = (dr.assess(release, threat, include_prior=flag) for flag in (True, False))
        for quantity in ("rad", "success", "gain"):
            one, other = whole.bounds[quantity], shown.bounds[quantity]
            assert one.value <= other.value <= max(1.11 * one.value, one.value + 0.011) + 0.02
        assert whole.baseline - 0.02 <= shown.baseline <= whole.baseline
        assert shown.ceiling.low <= whole.ceiling.low + 1e-12
        assert whole.ceiling.value <= shown.ceiling.value
        assert whole.prior["kappa"] <= shown.prior["kappa"] <= whole.prior["kappa"] + 0.025
        if "region" in whole.prior:
            (low, high), (lower, higher) = (a.prior["region"]["baseline"] for a in (whole, shown))
            assert lower <= low <= high <= higher


def test_a_spec_is_named_by_what_is_shown_of_it():
    from dpradar.spec import parse, run

    text = "[release]\nkind = 'grr'\nm = 2\nepsilon = 1.0\n[threat]\nprior = [{}, {}]\n"
    hidden = [run(parse(text.format(1 - p, p)), made="").spec_hash for p in (0.1, 0.2)]
    assert hidden[0] == hidden[1]
    shown = [run(parse(text.format(1 - p, p) + "[report]\ninclude_prior = true\n"), made="") for p in (0.1, 0.2)]
    assert shown[0].spec_hash != shown[1].spec_hash
    assert shown[0].releases[0].assessments[0].assessment.prior["kappa"] == pytest.approx(0.82, abs=1e-12)


def test_every_view_of_an_estimated_prior_says_that_risks_tell_about_it(tmp_path):
    a = dr.assess(dr.GRR(m=3, epsilon=1.0), dr.Threat(_counted(SHARES)))
    views = [a.explain(), a._repr_html_()]
    views += [a.report(tmp_path / f"a.{kind}").read_text(encoding="utf-8") for kind in ("html", "md")]
    for text in views:
        assert "tell something about" in text


def test_files_of_earlier_versions_are_still_read():
    data = without_names(dr.assess(dr.GRR(m=2, epsilon=1.0), dr.Threat(dr.Prior.of([0.9, 0.1]))).to_dict())
    data["prior"] = {"hash": "0123456789abcdef", "size": 2, "kappa": 0.82}
    old = dr.Assessment.from_dict(json.loads(json.dumps(data)))
    assert old.prior["hash"] == "0123456789abcdef"
    assert "2 values" in "".join(entry for entry in (old.explain(), old._repr_html_() or "")) or old.explain()


def test_a_supplied_attack_that_exceeds_the_bound_is_called_a_violation(tmp_path):
    from dpradar.spec import parse, run

    threat = dr.Threat(dr.Prior.uniform(4))
    dr.attack(dr.GRR(m=4, epsilon=4.0), threat, trials=20_000, seed=1).save(tmp_path / "attack.json")
    text = (
        '[release]\nkind = "grr"\nm = 4\nepsilon = 1.0\n[threat]\nprior = "uniform"\n'
        '[evidence]\nresults = ["attack.json"]\n'
    )
    assert "Violation found" in run(parse(text, folder=tmp_path)).explain()
    data = json.loads((tmp_path / "attack.json").read_text())
    del data["digest"]
    (tmp_path / "attack.json").write_text(json.dumps(data))
    result = run(parse(text, folder=tmp_path))
    assert "unverified" in result.report(tmp_path / "r.md").read_text()
