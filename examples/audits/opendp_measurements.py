"""Audit measurements of OpenDP at input distance 1; the epsilon promised is what their own privacy map says.

OpenDP draws its noise from the operating system, which has no seed: every run prints slightly other numbers.
Run: make audits, or PYTHONPATH=.venv/audited python examples/audits/opendp_measurements.py
"""

from __future__ import annotations

import math

import numpy as np
import opendp.prelude as dp
from verdicts import Case, main

import dpradar as dr

EPSILON, DELTA = 1.0, 0.05
SCALE = 1.0 / EPSILON
M = 8  # values of a local report, one bit each


def repeated(measurement):
    """Return what an audit starts with: the measurement, repeated on one data set."""
    return lambda _: lambda data, count, _: [measurement(data) for _ in range(count)]


def reported(measurement):
    """Return the same for reports of many people about their values."""
    return lambda _: lambda values, _: np.array([measurement(int(value)) for value in values])


def flipped(measurement):
    """Return the same for one bit per value, packed into a byte."""

    def reports(values, _):
        packed = b"".join(measurement(bytes([1 << int(value)])) for value in values)
        return np.unpackbits(np.frombuffer(packed, dtype=np.uint8)[:, None], axis=1, bitorder="little")

    return lambda _: reports


def central():
    """Return noise on a number and the choice of a candidate, each with two neighbours."""
    whole = dp.atom_domain(T=int), dp.absolute_distance(T=int)
    real = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
    scores = dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int)
    listed = [
        ("laplace, int", dp.m.make_laplace(*whole, SCALE), (0, 1)),
        ("laplace, float", dp.m.make_laplace(*real, SCALE), (0.0, 1.0)),
        ("geometric, bounds (0, 10)", dp.m.make_geometric(*whole, SCALE, bounds=(0, 10)), (0, 1)),
        # One candidate's score goes down by 1, those of 3 others go up by 1.
        ("noisy_max", dp.m.make_noisy_max(*scores, dp.max_divergence(), 2 * SCALE), ([1, 0, 0, 0], [0, 1, 1, 1])),
    ]
    cases = []
    for name, measurement, pair in listed:
        near = 1.0 if isinstance(pair[0], float) else 1
        share = 2.0 if name == "noisy_max" else 1.0  # what reveals most happens rarely there
        cases.append(
            Case(
                name=name,
                start=repeated(measurement),
                epsilon=measurement.map(near),
                how={"pairs": [pair]},
                share=share,
            )
        )
    # Sold as zCDP and then turned into (epsilon, delta), which promises less than the noise keeps.
    noise = dp.m.make_gaussian(*real, 2.0)
    promised = dp.c.make_zCDP_to_approxDP(noise).map(1.0).epsilon(DELTA)
    how = {"pairs": [(0.0, 1.0)]}
    cases.append(Case(name="gaussian", start=repeated(noise), epsilon=promised, delta=DELTA, how=how, tight=False))
    return cases


def local():
    """Return randomised response in three forms: one answer of several, a coin, a row of bits."""
    grr = dr.GRR(m=M, epsilon=EPSILON)
    answers = dp.m.make_randomized_response(categories=list(range(M)), prob=grr.keep)
    coin = dp.m.make_randomized_response_bool(prob=1.0 / (1.0 + math.exp(-EPSILON)))
    # f is twice the probability that a bit is wrong; two values differ in two bits.
    bits = dp.m.make_randomized_response_bitvec(
        dp.bitvector_domain(max_weight=1), dp.discrete_distance(), f=2.0 / (1.0 + math.exp(EPSILON / 2.0))
    )
    rows = {"protocol": dr.SUE(m=M, epsilon=EPSILON)}
    return [
        Case(name="randomized_response", start=reported(answers), epsilon=answers.map(1), how={"protocol": grr}),
        Case(
            name="randomized_response_bool", start=repeated(coin), epsilon=coin.map(1), how={"pairs": [(False, True)]}
        ),
        Case(name="randomized_response_bitvec", start=flipped(bits), epsilon=bits.map(1), how=rows),
    ]


SKIPPED = {
    "make_laplace_threshold, make_private_lazyframe and others": "they release tables; a pair of tables is needed",
}

if __name__ == "__main__":
    dp.enable_features("contrib", "honest-but-curious")
    main("opendp", [*central(), *local()], SKIPPED, trials=20_000)
