"""1-rad.md section 3: every closed form, through `assess`, against enumeration in exact fractions (m <= 6).

e^epsilon is rational, so the twin's numbers are exact and dpradar's own rounding is all that may differ: sums of at
most 64 outputs x 6 values, each good to about 1e-16, hence 1e-12 with room to spare.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import dpradar as dr
from tests.every import every
from tests.twin import brute, channels, lines
from tests.worlds import assert_agrees, epsilon_of, exact_world, window_world

F = Fraction
TOLERANCE = 1e-12
SIZES = (2, 3, 4, 5, 6)
RATIOS = (F(1), F(3, 2), F(3), F(20))
PRIORS = {
    "uniform": lambda m: [F(1, m)] * m,
    "linear": lambda m: [F(2 * (i + 1), m * (m + 1)) for i in range(m)],
    "skewed": lambda m: [F(1, 2**i) for i in range(1, m)] + [F(1, 2 ** (m - 1))],
    "empty value": lambda m: [F(0)] + [F(1, m - 1)] * (m - 1),
    "point mass": lambda m: [F(0)] * (m - 1) + [F(1)],
}
KNOWN = {
    "nothing": brute.nothing,
    "everything": brute.everything,
    "pairs": lambda m: [i // 2 for i in range(m)],
    "one apart": lambda m: [0] * (m - 1) + [1],
}


def mechanism_and_channel(name: str, m: int, ratio: Fraction):
    """SUE needs a rational e^(eps/2), so its epsilon is twice the logarithm of the ratio."""
    if name == "sue":
        return dr.SUE(m, 2 * epsilon_of(ratio)), channels.sue(m, ratio)
    if name == "grr":
        return dr.GRR(m, epsilon_of(ratio)), channels.grr(m, ratio)
    if name == "oue":
        return dr.OUE(m, epsilon_of(ratio)), channels.oue(m, ratio)
    return dr.SubsetSelection(m, epsilon_of(ratio)), channels.subset_selection(m, ratio)


@every("known", KNOWN)
@every("prior", PRIORS)
@every("m", SIZES)
@pytest.mark.parametrize("name", ["grr", "oue", "sue", "ss"])
def test_local_protocols(name, m, prior, known):
    world = exact_world(PRIORS[prior](m)).knowing(KNOWN[known](m))
    for ratio in RATIOS:
        mechanism, P = mechanism_and_channel(name, m, ratio)
        assert_agrees(dr.assess(mechanism, world.threat), world.exact_risk(P), TOLERANCE)


@every("known", KNOWN)
@every("prior", PRIORS)
@every("eta", range(6))
def test_grr_within_eta(eta, prior, known):
    m, values = 5, [F(0), F(1), F(3), F(4), F(5)]
    world = window_world(PRIORS[prior](m), values, F(eta)).knowing(KNOWN[known](m))
    for ratio in RATIOS:
        answer = dr.assess(dr.GRR(m, epsilon_of(ratio)), world.threat)
        assert_agrees(answer, world.exact_risk(channels.grr(m, ratio)), TOLERANCE)


@pytest.mark.parametrize("m", SIZES)
def test_subset_size_is_the_one_of_the_table(m):
    for ratio in RATIOS:
        assert dr.SubsetSelection(m, epsilon_of(ratio)).omega == channels.default_omega(m, ratio)


@every("m", SIZES)
@every("spacing", ["equal", "unequal"])
@every("epsilon", [0.3, 2.0, 15.0])
def test_noise_on_the_line_uniform(epsilon, spacing, m):
    values = np.linspace(0.0, 1.0, m) if spacing == "equal" else np.linspace(0.0, 1.0, m) ** 2
    threat = dr.Threat(dr.Prior.uniform(m, values.tolist()))
    # The interval holds the value, and is as narrow as the engine promises (1e-9).
    for mechanism, expected, largest in (
        (dr.Laplace(1 / epsilon), lines.laplace_uniform(values, 1 / epsilon), lines.laplace_uniform),
        (dr.Gaussian(1 / epsilon), lines.gaussian_uniform(values, 1 / epsilon), lines.gaussian_uniform),
    ):
        rad = dr.assess(mechanism, threat).rad
        assert rad.side == "exact"
        assert rad.low - TOLERANCE <= expected <= rad.high + TOLERANCE
        assert rad.high - rad.low <= 1e-9
        # Equal gaps leak most.
        assert rad.low <= largest(np.linspace(0.0, 1.0, m), 1 / epsilon) + TOLERANCE
