"""Every number that rests on a neighbour relation says which, in every view."""

from __future__ import annotations

import html
import json
import re

import pytest

import dpradar as dr
from dpradar.present import calibration, sentences
from dpradar.present.html import document
from dpradar.present.markdown import markdown
from dpradar.present.text import explain
from dpradar.results import Achieved, Bound
from dpradar.results.description import text_only
from dpradar.results.limit_result import LimitResult

RUN = dr.DPSGD(noise_multiplier=1.0, sample_rate=0.01, steps=100)


@pytest.fixture(scope="module")
def training():
    pytest.importorskip("dp_accounting")
    return dr.assess(RUN, dr.Threat.baseline(0.1))


def test_two_relations_in_one_answer(training):
    """Gain under the tighter relation, worst_gain under the worse one: bounds of the stated relation alone."""
    assert (training.gain.neighbours, training.worst_gain.neighbours) == ("add-remove", "replace-one")
    for name in ("replace-one", "add-remove"):
        own = dr.assess(RUN, dr.Threat.baseline(0.1), neighbours=name).worst_gain
        assert own.neighbours == name
        assert (own.value == training.worst_gain.value) == (name == "replace-one")
    assert training.rad.neighbours == "add-remove"  # by the information that it allows
    assert training.tpr(0.01).neighbours == "replace-one"


@pytest.mark.parametrize("view", [explain, markdown, document, lambda result: result._repr_html_()])
def test_views(training, view):
    lines = [" ".join(re.sub(r"<[^>]*>", " ", html.unescape(line)).split()) for line in view(training).splitlines()]
    text = " ".join(lines).replace("\\", "")
    for quantity, relation in (("gain", "add-remove"), ("worst_gain", "replace-one"), ("rad", "add-remove")):
        assert re.search(rf"(^|[ (|]){quantity}\)?( at most [\d.]+ [\w.-]+)?, {relation}", text), quantity


def test_files(training):
    saved = json.loads(json.dumps(training.to_dict()))
    assert (saved["gain"]["neighbours"], saved["worst_gain"]["neighbours"]) == ("add-remove", "replace-one")
    assert dr.Assessment.from_dict(saved) == training
    del saved["digest"]
    for name in ("rad", "success", "gain", "worst_gain"):  # as older versions wrote it
        del saved[name]["neighbours"]
    assert dr.Assessment.from_dict(saved).gain.value == training.gain.value


def test_an_exact_risk_rests_on_no_relation():
    assessment = dr.assess(dr.GRR(m=3, epsilon=1.0), dr.Threat(dr.Prior.uniform(3)))
    assert (assessment.rad.neighbours, assessment.success.neighbours) == (None, None)
    assert assessment.worst_gain.neighbours == "replace-one"


def test_sentences():
    bound = Bound(value=0.462118, side="upper", rule="total-variation", neighbours="add-remove")
    assert sentences.worst_sentence(bound).startswith("For any attacker (add-remove): right for up to 47 more people")
    assert sentences.rate_sentence(0.01, bound).endswith("(tpr at most 0.462118 at fpr 0.01, add-remove).")
    limit = LimitResult(quantity="worst_gain", limit=0.5, value=0.4, met=True, neighbours="add-remove")
    assert sentences.limit_sentence(limit).startswith("Kept: gain of any attacker (worst_gain), add-remove is at most")
    reached = Achieved(
        quantity="epsilon at delta 1e-05", value=0.9, limit=1.0, threat=text_only(""), neighbours="replace-one"
    )
    assert "epsilon at delta 1e-05, replace-one is" in calibration.limit_sentence(reached)


def test_calibrated_limits_name_their_relation():
    calibration = dr.calibrate(dr.GDP, dr.Limit(worst_gain=0.1), neighbours="add-remove")
    assert calibration.achieved[0].neighbours == "add-remove"
    assert "worst_gain, add-remove is" in explain(calibration)
    assert dr.Calibration.from_dict(json.loads(json.dumps(calibration.to_dict()))) == calibration
