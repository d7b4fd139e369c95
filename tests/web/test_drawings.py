"""The range of noise that limits leave, in words and as a drawing."""

from __future__ import annotations

import re

import pytest

from dpradar.web.noise_range import band_sentence, band_svg


def _end(value, status="met"):
    return None if value == "none" else {"value": value, "status": status}


def _band(name, least, most, status="met"):
    up = name == "scale"
    return {"parameter": name, "up": up, "range": [0.05, 12.0], "least": _end(least, status), "most": _end(most)}


@pytest.mark.parametrize(
    ("band", "sentence"),
    [
        (
            _band("epsilon", 2.50439, 1.2),
            "The risk allows epsilon up to 2.504; the accuracy needs at least 1.200. "
            "Every epsilon between them keeps both.",
        ),
        (
            _band("epsilon", 1.2, 2.50431),
            "The risk allows epsilon up to 1.200; the accuracy needs at least 2.505. No epsilon keeps both.",
        ),
        (
            _band("scale", 11.85731, 26.70299),
            "The risk needs scale at least 11.86; the accuracy allows up to 26.70. "
            "Every scale between them keeps both.",
        ),
        (
            _band("scale", 26.7, 11.86),
            "The risk needs scale at least 26.70; the accuracy allows up to 11.86. No scale keeps both.",
        ),
        (_band("epsilon", 2.0, "none"), "The risk allows epsilon up to 2."),
        (_band("scale", "none", 3.0), "The accuracy allows scale up to 3."),
        (_band("epsilon", None, 3.0), "No epsilon keeps the limit on the risk."),
        (_band("epsilon", 1.0, None), "No epsilon keeps the limit on the accuracy."),
        (_band("epsilon", 1e7, "none", "free"), "The risk allows epsilon of any size."),
    ],
)
def test_the_range_in_words(band, sentence):
    assert band_sentence(band) == sentence
    assert f'aria-label="{sentence}"' in band_svg(band)


def _allowed(svg):
    match = re.search(r'<rect class="ok" x="([\d.]+)" y="[\d.]+" width="([\d.]+)"', svg)
    return None if match is None else tuple(map(float, match.groups()))


def test_less_than_nothing_is_not_drawn():
    assert _allowed(band_svg(_band("epsilon", 1.2, 2.5))) is None
    assert _allowed(band_svg(_band("epsilon", None, 2.5))) is None


def test_the_range_lies_on_the_side_with_enough_noise():
    left, width = _allowed(band_svg(_band("epsilon", 1.0, "none")))
    start, wide = _allowed(band_svg(_band("scale", 1.0, "none")))
    assert left == pytest.approx(10.0)
    assert start == pytest.approx(left + width, abs=0.2)
    assert start + wide == pytest.approx(410.0, abs=0.2)


def test_marks_outside_of_the_usual_range_widen_the_axis():
    svg = band_svg(_band("epsilon", 500.0, "none"))
    places = [float(x) for x in re.findall(r'<path class="b" d="M([\d.]+) ', svg)]
    assert len(places) == 1
    assert places[0] < 410.0
