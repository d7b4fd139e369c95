"""[GuerraThesis] Figure 2.1: the curves against their formulas and the numbers of our notes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from dpradar_reproduction import figures, thesis_fig2


def test_curves_by_their_formulas():
    table = thesis_fig2.compute()
    x = table.numbers("fpr")
    for delta, name in ((0.0, "pure"), (0.1, "approx")):
        expected = np.maximum(0.0, np.maximum(1 - delta - np.e * x, (1 - delta - x) / np.e))
        assert table.numbers(name) == pytest.approx(expected, abs=1e-12)
    for mu, name in ((0.5, "g_0_5"), (1.0, "g_1"), (3.0, "g_3")):
        assert table.numbers(name) == pytest.approx(norm.cdf(norm.ppf(1 - x) - mu), abs=1e-12)


@pytest.mark.parametrize(
    ("name", "tv"),
    [("pure", 0.462117), ("approx", 0.515905), ("laplace", 0.393469), ("g_0_5", 0.197413), ("g_1", 0.382925)],
)
def test_total_variation_of_each(name, tv):
    """The largest distance from the diagonal; a grid of 200,000 points misses it by less than its step."""
    table = thesis_fig2.compute(np.linspace(0.0, 1.0, 200_001))
    assert float((1.0 - table.numbers("fpr") - table.numbers(name)).max()) == pytest.approx(tv, abs=6e-6)


def test_picture(tmp_path):
    files = figures.reproduce("thesis:fig2_1", tmp_path)
    assert [file.name for file in files] == ["thesis-fig2.1.csv", "thesis-fig2.1.svg"]
    assert "nearer to the axes" in files[1].read_text(encoding="utf-8")
