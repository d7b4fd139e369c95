"""Who the people of an attack on a model are: not the known records, with labels, and in columns of one kind."""

from __future__ import annotations

import traceback
from itertools import permutations
from math import exp

import numpy as np
import pytest
from scipy.stats import binom

from dpradar.errors import ParameterError
from dpradar.learning.models import AttributeAttacker, NetworkClassifier, attack_model, model_risk, overlap
from dpradar.learning.models.columns import columns_of
from tests.learning.classifiers import logistic, nearest


def people(n, rng, digits=6):
    return {
        "age": rng.normal(size=n).round(digits),
        "job": rng.choice(["a", "b", "c"], n),
        "ill": rng.integers(0, 2, n),
        "paid": rng.integers(0, 2, n),
    }


def rows(table, which):
    return {name: column[which] for name, column in table.items()}


def put(table, where, other):
    """Return the table with other people in some places."""
    changed = {name: column.copy() for name, column in table.items()}
    for name, column in other.items():
        changed[name][where] = column
    return changed


def never(_):
    raise AssertionError("nothing is trained before the people are checked")


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(1)
    return tuple(people(n, rng) for n in (60, 50, 50))


@pytest.fixture(scope="module")
def attacker(tables):
    return AttributeAttacker.of(tables[0], sensitive="ill", label="paid", imputer=None)


# Targets and others among the known records


@pytest.mark.parametrize("design", ["same-model", "same-target"])
@pytest.mark.parametrize("who", ["targets", "others"])
def test_known_people_are_refused_before_training(tables, attacker, who, design):
    known, targets, others = tables
    options = {"targets": targets, "others": others, who: rows(known, slice(50))}
    allowed = f"{who} must be people who are not among the known records; got 50 of 50 that equal one of them"
    with pytest.raises(ParameterError, match=allowed):
        model_risk("csmia", attacker, never, known, design=design, seed=1, **options)
    with pytest.raises(ParameterError, match=f"{who} must be people who are not among the attacker's records; got 50"):
        attack_model("csmia", attacker, map(never, range(50)), **options)


def test_the_attackers_records_are_checked_where_models_know_others(tables, attacker):
    known, targets, others = tables
    mixed = AttributeAttacker.of(put(known, slice(50), targets), sensitive="ill", label="paid", imputer=None)
    with pytest.raises(ParameterError, match="targets must be people who are not among the attacker's records"):
        model_risk("csmia", mixed, never, known, targets, others, seed=1)


def test_targets_and_others_that_are_both_known_are_refused(tables, attacker):
    known = people(120, np.random.default_rng(2))
    both = rows(known, slice(0, 50)), rows(known, slice(50, 100))
    with pytest.raises(ParameterError, match=r"targets and others must be .* among the known records; got 100 of 100"):
        model_risk("csmia", attacker, never, known, *both, seed=1)
    turned = rows(both[0], np.roll(np.arange(50), 1))
    with pytest.raises(ParameterError, match="among the known records; got 50 of 50"):
        model_risk("csmia", attacker, never, known, both[0], turned, seed=1)


def test_some_known_people_among_many_are_refused():
    rng = np.random.default_rng(3)
    known, targets, others = (people(n, rng) for n in (1_000, 100, 100))
    attacker = AttributeAttacker.of(known, sensitive="ill", label="paid", imputer=None)
    targets = put(targets, slice(12), rows(known, slice(12)))
    with pytest.raises(ParameterError, match="got 12 of 100 that equal one of them, while 0 of 1000 of those"):
        model_risk("csmia", attacker, never, known, targets, others, seed=1)


def test_a_record_differs_where_only_its_label_or_value_does(tables, attacker):
    known, _, others = tables
    for column in ("paid", "ill"):
        same = rows(known, slice(50))
        same[column] = 1 - same[column]
        run = model_risk("csmia", attacker, lambda _: nearest(), known, same, others, seed=1)["csmia"]
        assert not any("targets equal" in note for note in run.notes)


@pytest.mark.parametrize("count", [50, 49, 30])
def test_others_who_are_their_targets_are_refused(tables, attacker, count):
    known, targets, others = tables
    same = put(others, slice(count), rows(targets, slice(count)))
    got = "the targets" if count == 50 else f"{count} of 50 equal to their target"
    with pytest.raises(ParameterError, match=f"others must be other people than the targets; got {got}"):
        model_risk("csmia", attacker, never, known, targets, same, seed=1)


def test_the_same_people_in_another_order_are_others(tables, attacker):
    known, targets, _ = tables
    turned = rows(targets, np.roll(np.arange(50), 1))
    run = model_risk("csmia", attacker, lambda _: nearest(), known, targets, turned, seed=1)["csmia"]
    assert run.rad.estimate > 0.1
    assert not any("equal" in note for note in run.notes)


def test_single_coincidences_are_only_noted(tables, attacker):
    known, targets, others = tables
    targets = put(targets, slice(2), rows(known, slice(2)))
    others = put(others, slice(4, 5), rows(targets, slice(4, 5)))
    run = model_risk("csmia", attacker, lambda _: nearest(), known, targets, others, seed=1)["csmia"]
    text = "\n".join(run.notes)
    assert "2 of 50 targets equal one of the known records in all columns, and 0 of 60 of those equal another" in text
    assert "1 of 50 others equal their target in all columns" in text
    assert "others equal one of" not in text
    assert len(set(run.notes)) == len(run.notes)


def test_small_tables_in_which_everyone_has_a_double_are_accepted():
    rng = np.random.default_rng(4)

    def coins(n):
        return {name: rng.integers(0, 2, n) for name in ("x", "ill", "paid")}

    known, targets, others = coins(200), coins(100), coins(100)
    attacker = AttributeAttacker.of(known, sensitive="ill", label="paid", imputer=None)
    run = model_risk("yeom", attacker, lambda _: logistic(), known, targets, others, seed=1)["yeom"]
    assert any("100 of 100 targets equal one of the known records" in note for note in run.notes)
    # The known records without their doubles, as a user may have them.
    unique = {name: np.unique(np.array(list(known.values())), axis=1)[i] for i, name in enumerate(known)}
    model_risk("yeom", attacker, lambda _: logistic(), unique, targets, others, seed=1)


def draws(rng):
    """Populations with few, some and many coincidences, and one with a few common and many rare values."""
    yield lambda n: rng.integers(0, 20, n)
    yield lambda n: rng.integers(0, 300, n)
    yield lambda n: rng.integers(0, 20_000, n)
    yield lambda n: np.minimum(rng.zipf(1.6, n), 10**6)


@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize(("known", "count"), [(40, 20), (400, 60)])
def test_chances_hold_over_many_honest_draws(number, known, count):
    """Both limits are p-values: below .1 in no more than a tenth of the draws."""
    rng, repeats, low = np.random.default_rng(5), 300, {"rows": 0, "pairs": 0}
    draw = list(draws(rng))[number]
    for _ in range(repeats):
        _, codes = np.unique(draw(known + 2 * count), return_inverse=True)
        mine, theirs, shared = codes[:count], codes[count : 2 * count], codes[2 * count :]
        low["rows"] += bool(np.isin(mine, shared).any()) and overlap._log_chance_of_rows(mine, theirs, shared) < np.log(
            0.1
        )
        low["pairs"] += bool(np.any(mine == theirs)) and overlap._log_chance_of_pairs(mine, theirs) < np.log(0.1)
    assert max(low.values()) <= binom.ppf(1 - 1e-6, repeats, 0.1)


def test_chances_are_not_below_those_of_all_orders():
    """Brute force: all 40,320 ways to deal eight rows out."""
    whole = np.array([0, 0, 1, 1, 2, 2, 3, 4])
    orders = np.array(list(permutations(whole)))
    mine, theirs, shared = orders[:, :3], orders[:, 3:5], orders[:, 5:]
    once = np.array([[np.sum(row == v) == 1 for v in row] for row in mine])
    inside = (mine[:, :, None] == shared[:, None, :]).any(axis=2)
    counted = (once & inside).sum(axis=1)
    for i in np.unique(counted, return_index=True)[1]:
        limit = overlap._log_chance_of_rows(mine[i], theirs[i], shared[i])
        assert np.mean(counted >= counted[i]) <= exp(limit) + 1e-12
    left = np.array([0, 0, 1, 2, 3, 4, 5])
    right = np.array(list(permutations(left)))
    agree = (left == right).sum(axis=1)
    for i in np.unique(agree, return_index=True)[1]:
        if agree[i]:
            assert np.mean(agree >= agree[i]) <= exp(overlap._log_chance_of_pairs(left, right[i])) + 1e-12


def test_many_rows_are_compared():
    rng = np.random.default_rng(6)
    known, targets, others = (people(n, rng, digits=4) for n in (50_000, 2_000, 2_000))
    attacker = AttributeAttacker.of(known, sensitive="ill", label="paid", imputer=None)
    columns = [attacker.targets(table) for table in (targets, others, known)]
    notes = overlap.coincidences(*columns, "the known records")
    assert all(" of 2000 " in note for note in notes)


def test_data_frames_and_mixed_columns_are_compared(tables):
    pandas = pytest.importorskip("pandas")
    known, _, others = (pandas.DataFrame(table).astype({"job": "category"}) for table in tables)
    known["paid"] = others["paid"] = np.array("yes", dtype=object)
    known.loc[::2, "paid"] = others.loc[::2, "paid"] = "no"
    attacker = AttributeAttacker.of(known, sensitive="ill", label="paid", imputer=None)
    with pytest.raises(ParameterError, match="got 50 of 50 that equal one of them"):
        model_risk("csmia", attacker, never, known, known[:50], others, seed=1)


# Labels that a model does not know


@pytest.mark.parametrize("design", ["same-model", "same-target"])
@pytest.mark.parametrize("make", [lambda _: nearest(), NetworkClassifier(hidden=(4,), steps=3)])
def test_a_label_missing_from_the_known_records(design, make):
    rng = np.random.default_rng(7)
    known, targets, others = (people(n, rng) for n in (60, 20, 20))
    for table in (known, targets, others):
        table["paid"] = np.where(table["paid"] == 1, "yes", "no").astype("<U5")
    targets["paid"][7] = "never"
    attacker = AttributeAttacker.of(known, sensitive="ill", label="paid")
    run = model_risk("csmia", attacker, make, known, targets, others, design=design, seed=1)["csmia"]
    assert run.trials == 20


def test_one_person_with_a_label_that_the_model_does_not_know(tables, attacker):
    known = tables[0]
    model = logistic().fit(attacker.features(known), known["paid"])
    one = {**rows(tables[1], slice(1)), "paid": np.array([7])}
    assert attacker.view(model, attacker.targets(one), frozenset({"the model's scores"})).labels.tolist() == [-1]
    words = {**one, "paid": np.array(["1"])}
    with pytest.raises(ParameterError, match="'1' is never equal to 1"):
        attacker.view(model, attacker.targets(words), frozenset({"the model's scores"}))


def test_labels_of_another_kind_are_refused_before_training(tables, attacker):
    known, targets, others = tables
    words = {**others, "paid": others["paid"].astype(str)}
    with pytest.raises(ParameterError, match="labels of the targets must be of the kind of the known ones"):
        model_risk("csmia", attacker, never, known, targets, words, seed=1)


def test_labels_of_which_the_model_knows_none_are_refused(tables, attacker):
    known, targets, others = tables
    model = logistic().fit(attacker.features(known), known["paid"] + 10)
    with pytest.raises(ParameterError, match="among the 2 classes of the model; got none of them"):
        attack_model("csmia", attacker, [model] * 50, targets, others, models_without=[model] * 50)


# Columns


def changed(**columns):
    return {**people(80, np.random.default_rng(8)), **columns}


def objects(*entries):
    column = np.empty(80, dtype=object)
    column[:] = [entries[i % len(entries)] for i in range(80)]
    return column


@pytest.mark.parametrize(
    ("columns", "more", "message"),
    [
        ({"job": np.array(["secretname"] * 80)}, {"numeric": ["job"]}, r"auxiliary\['job'\] must be numbers"),
        ({"age": objects(1.5, None)}, {"numeric": ["age"]}, r"auxiliary\['age'\] must be finite numbers, as a numeric"),
        ({"ill": objects("secretname", None)}, {}, r"auxiliary\['ill'\] must be a value for each record; got 40 of 80"),
        ({"ill": objects("secretname", np.nan)}, {}, r"auxiliary\['ill'\] must be a value for each record; got 40 of"),
        ({"paid": objects("secretname", None)}, {}, r"auxiliary\['paid'\] must be a value for each record"),
        ({"paid": ["secretname", np.nan] * 40}, {}, r"auxiliary\['paid'\] must be a value for each record"),
        ({"job": objects("secretname", 1)}, {}, r"auxiliary\['job'\] must be entries of one kind; got int and str"),
        ({"job": ["secretname", 1] * 40}, {}, r"auxiliary\['job'\] must be entries of one kind; got int and str"),
        ({"ill": objects("secretname", 1)}, {}, r"auxiliary\['ill'\] must be entries of one kind"),
        ({"job": objects({"secretname": 1})}, {}, r"auxiliary\['job'\] must be words, numbers or dates; got dict"),
        ({"age": [1.0, np.nan] * 40}, {}, r"auxiliary\['age'\] must be finite numbers; got nan"),
        ({"paid": np.array(["2020-01-01", "NaT"] * 40, dtype="datetime64[D]")}, {}, "a value for each record; got 40"),
        (
            {},
            {"imputer": "forest"},
            "AttributeAttacker.imputer must be 'logistic', None, or a classifier .* got 'forest'",
        ),
        ({}, {"imputer": 5}, "AttributeAttacker.imputer must be 'logistic', None, or a classifier .* got int"),
    ],
)
def test_bad_columns_and_imputers(columns, more, message):
    with pytest.raises(ParameterError, match=message) as caught:
        AttributeAttacker.of(changed(**columns), **{"sensitive": "ill", "label": "paid", **more})
    assert "secretname" not in "".join(traceback.format_exception(caught.value, chain=True)).replace(__file__, "")


def test_the_class_of_a_classifier_is_no_imputer():
    with pytest.raises(ParameterError, match=r"AttributeAttacker\.imputer must be 'logistic', None, or a classifier"):
        AttributeAttacker.of(changed(), sensitive="ill", label="paid", imputer=type(logistic()))


def test_bad_columns_of_targets():
    attacker = AttributeAttacker.of(changed(), sensitive="ill", label="paid")
    for columns, message in (
        ({"age": np.array(["secretname"] * 80)}, r"targets\['age'\] must be numbers, as a numeric column"),
        ({"ill": objects(0, None)}, r"targets\['ill'\] must be a value for each record; got 40 of 80 missing"),
        ({"paid": objects(0, None)}, r"targets\['paid'\] must be a value for each record"),
        ({"job": objects("secretname", 1)}, r"targets\['job'\] must be entries of one kind"),
    ):
        with pytest.raises(ParameterError, match=message) as caught:
            attacker.targets(changed(**columns))
        assert "secretname" not in str(caught.value)
        assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_a_missing_word_is_a_category_of_its_own():
    """None and nan are the same one, and what is left encodes as before."""
    with_gaps = changed(job=objects("a", "b", None, np.nan))
    attacker = AttributeAttacker.of(with_gaps, sensitive="ill", label="paid", imputer=None)
    features = attacker.features(with_gaps)
    assert features.shape == (80, 3 + 1 + 2)
    assert features[:4, :3].tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1]]
    yes_no = changed(job=objects(True, False, None))
    assert AttributeAttacker.of(yes_no, sensitive="ill", label="paid").features(yes_no).shape == (80, 6)


def test_missing_words_of_data_frames():
    pandas = pytest.importorskip("pandas")
    for kind in ("category", "string", object):
        frame = pandas.DataFrame(changed())
        frame["job"] = frame["job"].astype(kind)
        frame.loc[3, "job"] = None
        attacker = AttributeAttacker.of(frame, sensitive="ill", label="paid")
        assert attacker.features(frame).shape == (80, 1 + 4 + 2)
        for name in ("ill", "paid"):
            broken = frame.copy()
            broken[name] = broken[name].map({0: "no", 1: "yes"}).astype(kind)
            broken.loc[5, name] = None
            with pytest.raises(ParameterError, match="a value for each record; got 1 of 80 missing"):
                AttributeAttacker.of(broken, sensitive="ill", label="paid")


def test_an_attacker_is_shown_without_records():
    attacker = AttributeAttacker.of(changed(job=np.array(["secretname", "other"] * 40)), sensitive="ill", label="paid")
    assert "auxiliary=Targets(80 records)" in repr(attacker)
    assert "secretname" not in repr(attacker)


def test_numbers_in_lists_and_objects_are_numbers():
    assert columns_of("table", {"x": [1, 2.5]})["x"].dtype.kind == "f"
    assert columns_of("table", {"x": np.array([1, 2], dtype=object)})["x"].dtype.kind == "i"
    assert columns_of("table", {"x": ["a", None]})["x"].tolist() == ["a", None]


# The network


def test_network_probabilities_of_nobody_and_of_another_table():
    model = NetworkClassifier(steps=2, hidden=(3,)).fit(np.eye(3), ["a", "b", "a"])
    assert model.predict_proba(np.zeros((0, 3))).shape == (0, 2)
    assert model.predict_proba([]).shape == (0, 2)
    assert model.predict([]).shape == (0,)
    for wrong in (np.eye(4), np.zeros((0, 4)), np.zeros(3), 5.0, np.zeros((2, 3, 1))):
        with pytest.raises(ParameterError, match="finite numbers with 3 columns, as in fit; got shape"):
            model.predict_proba(wrong)
    with pytest.raises(ParameterError, match="with 3 columns, as in fit; got nan or infinite"):
        model.predict_proba(np.full((1, 3), np.nan))
    for call in (model.predict_proba, lambda x: model.fit(x, [0])):
        with pytest.raises(ParameterError, match="a table of finite numbers") as caught:
            call([["secretname"] * 3])
        assert "secretname" not in str(caught.value)


def test_network_probabilities_of_many_rows_equal_those_of_each():
    rng = np.random.default_rng(9)
    x = rng.normal(size=(4_100, 2))
    model = NetworkClassifier(steps=2, hidden=(3,)).fit(x[:50], rng.integers(0, 3, 50))
    assert np.allclose(model.predict_proba(x)[[0, 4_095, 4_096, -1]], model.predict_proba(x[[0, 4_095, 4_096, -1]]))
