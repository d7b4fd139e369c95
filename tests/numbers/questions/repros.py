"""Answers of 0.1.0 that were wrong, unsafe or misleading, so that their corrections show; the word is the subject."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import beta, lognorm, norm, uniform

import dpradar as dr
from tests.numbers.asking import assess, calibrate
from tests.numbers.questions.parts import everything, within

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["QUESTIONS"]

_STAMPS = [1.7e9 + k * 1e-6 for k in range(8)]
_POINTS = (5.0, 7.0, 15.0, 16.0, 36.0)
_AR: Any = "add-remove"
_KNOWN = dr.Knowledge.everything()


def _near(values: Any, eta: float, knowledge: dr.Knowledge | None = None) -> dr.Threat:
    prior = dr.Prior.uniform(len(values), values=list(values))
    return dr.Threat(prior, knowledge or dr.Knowledge.nothing(), dr.Goal.within(eta))


def _far(shift: float, knowledge: dr.Knowledge = _KNOWN) -> dr.Threat:
    return dr.Threat(dr.Prior.uniform(5, values=[x + shift for x in _POINTS]), knowledge)


def _table(goal: dr.Goal, counts: dict[Any, int], **options: Any) -> dr.Threat:
    import pyarrow as pa

    column = [value for value, n in counts.items() for _ in range(n)]
    return dr.Threat(dr.data.prior(pa.table({"x": column}), ["x"], **options), goal=goal)


def _case() -> dr.Threat:
    import pandas as pd

    table = pd.DataFrame({"ill": ["a"] * 99 + ["b"], "Ill": ["a", "b"] * 50})
    return dr.Threat(dr.data.prior(table, ["Ill"]))


def _weighted() -> dr.Threat:
    import pyarrow as pa

    weights = [0.1 if k % 2 else 900.0 for k in range(500)]
    table = pa.table({"x": ["a" if k % 2 else "b" for k in range(500)], "w": weights})
    return dr.Threat(dr.data.prior(table, ["x"], weight="w", confidence=0.95))


def _binned() -> dr.Threat:
    import pyarrow as pa

    table = pa.table({"x": [0.1, 0.2, 0.3, 0.3, 0.3, 0.6, 0.7, 0.7]})
    return dr.Threat(dr.data.prior(table, ["x"], bins={"x": "width:0.1"}))


_FEW = {0: 500, 1: 2, 2: 500}
_GAPS = {0: 100, 2: 100, 4: 100, 6: 100, 1: 1, 5: 1}

QUESTIONS: dict[str, Callable[[], Any]] = {
    # Goal.within with large numbers
    "repro/within/stamps-grr": lambda: assess(dr.GRR(m=6, epsilon=2.0), _near(_STAMPS[:6], 0.0)),
    "repro/within/stamps-known": lambda: assess(dr.GRR(m=6, epsilon=2.0), _near(_STAMPS[:6], 0.0, _KNOWN)),
    "repro/within/halves-at-1e15": lambda: assess(dr.GRR(m=6, epsilon=2.0), _near([1e15 + 0.5 * k for k in range(6)], 0.25)),
    "repro/within/stamps-laplace": lambda: assess(dr.Laplace(1e-6), _near(_STAMPS, 0.0)),
    "repro/within/one-large": lambda: assess(dr.GRR(m=8, epsilon=3.0), _near([0.01 * k for k in range(1, 8)] + [1e13], 0.005)),
    "repro/within/tenths": lambda: assess(dr.GRR(m=11, epsilon=2.0), _near([k / 10 for k in range(11)], 0.1)),
    "repro/within/thirds": lambda: assess(dr.GRR(m=10, epsilon=2.0), _near([k / 3 for k in range(10)], 1 / 3)),
    "repro/within/tenths-laplace": lambda: assess(dr.Laplace(0.2), _near([k / 10 for k in range(11)], 0.2)),
    # noise on values far from 0
    "repro/far/gaussian-at-0": lambda: assess(dr.Gaussian(0.1387), _far(0.0)),
    "repro/far/gaussian-at-2^52": lambda: assess(dr.Gaussian(0.1387), _far(2.0**52)),
    "repro/far/gaussian-stranger-at-2^52": lambda: assess(dr.Gaussian(0.1387), _far(2.0**52, dr.Knowledge.nothing())),
    "repro/far/gaussian-shares-at-2^52": lambda: assess(dr.Gaussian(0.1387), dr.Threat(dr.Prior.of([0.3, 0.25, 0.2, 0.15, 0.1], values=[x + 2.0**52 for x in _POINTS]), _KNOWN)),
    "repro/far/gaussian-sigma-1-at-2^52": lambda: assess(dr.Gaussian(1.0), _far(2.0**52)),
    "repro/far/gaussian-sigma-1-at-0": lambda: assess(dr.Gaussian(1.0), _far(0.0)),
    "repro/far/gaussian-at-1e14": lambda: assess(dr.Gaussian(0.1387), _far(1e14)),
    "repro/far/gaussian-at-1e15": lambda: assess(dr.Gaussian(0.1387), _far(1e15)),
    "repro/far/gaussian-at-1e6": lambda: assess(dr.Gaussian(2.0), _far(1e6)),
    "repro/far/laplace-at-2^52": lambda: assess(dr.Laplace(0.5), _far(2.0**52)),
    "repro/far/laplace-stranger-at-2^52": lambda: assess(dr.Laplace(0.5), _far(2.0**52, dr.Knowledge.nothing())),
    "repro/far/discrete-gaussian-at-2^52": lambda: assess(dr.DiscreteGaussian(2.0), _far(2.0**52)),
    "repro/far/geometric-at-2^52": lambda: assess(dr.Geometric(2.0), _far(2.0**52)),
    "repro/far/collinear-at-2^50": lambda: assess(dr.Gaussian(1.0, query=[[x + 2.0**50, 0.0] for x in _POINTS]), everything(5)),
    # numbers so small that a width of 1e-6 is no precision
    "repro/tiny/gaussian-1e6": lambda: assess(dr.Gaussian(1e6), _far(0.0)),
    "repro/tiny/gaussian-1e9": lambda: assess(dr.Gaussian(1e9), _far(0.0)),
    "repro/tiny/laplace-1e9": lambda: assess(dr.Laplace(1e9), _far(0.0)),
    "repro/tiny/laplace-rare": lambda: assess(dr.Laplace(1.0), dr.Threat(dr.Prior.of([1 - 2e-9, 1e-9, 1e-9]))),
    "repro/tiny/gaussian-rare": lambda: assess(dr.Gaussian(1.0), dr.Threat(dr.Prior.of([1 - 2e-9, 1e-9, 1e-9]), _KNOWN)),
    "repro/tiny/cells": lambda: assess(dr.Laplace(1e8, query=np.eye(3).tolist()), everything(3)),
    "repro/tiny/continuous": lambda: assess(dr.Laplace(1e8), within(uniform(), 0.0, 1.0, 0.1)),
    "repro/tiny/repeated-laplace": lambda: assess(dr.Repeated(dr.Laplace(1e8), 3), everything(2)),
    "repro/tiny/dp": lambda: assess(dr.PureDP(5.9e-8, neighbours="replace-one"), dr.Threat(dr.Prior.uniform(10**6))),
    # continuous priors
    "repro/continuous/narrow-normal": lambda: assess(dr.Laplace(1e-3), within(norm(0.5, 1e-3), 0.0, 1.0, 1e-3)),
    "repro/continuous/small-gaussian": lambda: assess(dr.Gaussian(0.00066), within(uniform(), 0.0, 1.0, 0.0005)),
    "repro/continuous/lognormal": lambda: assess(dr.Laplace(1000.0), within(lognorm(s=1, scale=3e4), 0.0, 1e6, 500.0)),
    "repro/continuous/beta-0.1": lambda: assess(dr.Laplace(0.1), within(beta(0.1, 0.1), 0.0, 1.0, 0.05)),
    "repro/continuous/beta-0.05-20": lambda: assess(dr.Gaussian(0.1), within(beta(0.05, 20), 0.0, 1.0, 0.05)),
    "repro/continuous/known-large-eta": lambda: assess(dr.Laplace(0.1), within(uniform(), 0.0, 1.0, 0.6, "everything")),
    "repro/continuous/clamped-inside": lambda: assess(dr.Laplace(0.1, truncate=(0.3, 0.7)), within(uniform(), 0.0, 1.0, 0.1)),
    # tables
    "repro/table/case-of-names": lambda: assess(dr.GRR(m=2, epsilon=2.0), _case()),
    "repro/table/suppressed-within": lambda: assess(dr.Laplace(10.0), _table(dr.Goal.within(1.0), _FEW, suppress=5)),
    "repro/table/whole-within": lambda: assess(dr.Laplace(10.0), _table(dr.Goal.within(1.0), _FEW)),
    "repro/table/gaps-within": lambda: assess(dr.Laplace(1.0), _table(dr.Goal.within(1.0), _GAPS, suppress=5)),
    "repro/table/gaps-exact": lambda: assess(dr.Laplace(1.0), _table(dr.Goal.exact(), _GAPS, suppress=5)),
    "repro/table/weights-confidence": lambda: assess(dr.GRR(m=2, epsilon=1.0), _weighted()),
    "repro/table/width": lambda: assess(dr.PureDP(1.0, neighbours="replace-one"), _binned()),
    # priors
    "repro/prior/list": lambda: assess(dr.GRR(m=2, epsilon=1.0), dr.Threat(dr.Prior([0.9, 0.1]))),  # type: ignore[arg-type]
    "repro/prior/huge-weights": lambda: assess(dr.GRR(m=2, epsilon=1.0), dr.Threat(dr.Prior.records({"x": ["a", "b"]}, weights=[1e308, 1e308]))),
    "repro/prior/known-success": lambda: assess(dr.Laplace(1.0, query=[[0, 0], [1, 1], [5, 5]]), everything(3)),
    # a sensitivity without its relation
    "repro/sensitivity/laplace": lambda: assess(dr.Laplace(1.0, sensitivity=1.0), everything(2)),
    "repro/sensitivity/laplace-add-remove": lambda: assess(dr.Laplace(1.0, sensitivity=1.0), everything(2), neighbours=_AR),
    "repro/sensitivity/laplace-values": lambda: assess(dr.Laplace(1.0), dr.Threat(dr.Prior.uniform(2, values=[-1, 1]), _KNOWN)),
    "repro/sensitivity/gaussian-histogram": lambda: assess(dr.Gaussian(1.0, sensitivity=1.0), everything(3)),
    "repro/sensitivity/gaussian-cells": lambda: assess(dr.Gaussian(1.0, query=np.eye(3).tolist()), everything(3)),
    "repro/sensitivity/geometric": lambda: assess(dr.Geometric(1.0, sensitivity=1), dr.Threat.membership(0.5)),
    "repro/sensitivity/discrete-gaussian": lambda: assess(dr.DiscreteGaussian(1.0, sensitivity=1), dr.Threat.baseline(0.1)),
    "repro/sensitivity/calibrated": lambda: calibrate(lambda sigma: dr.Gaussian(sigma, sensitivity=1.0), dr.Limit(everything(3), rad=0.1)),
    # hardly any noise on a rare value
    "repro/ceiling/hiv": lambda: assess(dr.Laplace(0.01), dr.Threat(dr.Prior.of([0.99, 0.01], values=[0, 1]))),
    "repro/ceiling/hiv-known": lambda: assess(dr.Laplace(0.01), dr.Threat(dr.Prior.of([0.99, 0.01], values=[0, 1]), _KNOWN)),
    "repro/ceiling/hiv-calibrated": lambda: calibrate(dr.Laplace, dr.Limit(dr.Threat(dr.Prior.of([0.99, 0.01], values=[0, 1])), rad=0.1)),
    "repro/ceiling/continuous": lambda: assess(dr.Laplace(0.001), within(uniform(), 0.0, 1.0, 0.45)),
    # DP-SGD
    "repro/dpsgd/unresolved-delta": lambda: calibrate(dr.DPSGD, dr.Limit(epsilon=1.0, delta=1e-12, neighbours=_AR), sample_rate=1e-3, steps=10**5),
    "repro/dpsgd/two-relations": lambda: assess(dr.DPSGD(noise_multiplier=1.1, sample_rate=0.01, steps=1000), dr.Threat.baseline(0.1)),
    # bounds that rule out almost nothing
    "repro/vacuous/epsilon-14": lambda: assess(dr.PureDP(14.0, neighbours="add-remove"), dr.Threat.baseline(0.1)),
    "repro/vacuous/epsilon-30": lambda: assess(dr.PureDP(30.0, neighbours="replace-one"), dr.Threat(dr.Prior.uniform(10))),
    "repro/vacuous/gdp-20": lambda: assess(dr.GDP(20.0, neighbours="replace-one"), dr.Threat(dr.Prior.uniform(10))),
    # reports made again about the same value
    "repro/repeated/grr-60": lambda: assess(dr.Repeated(dr.GRR(m=4, epsilon=0.2), 60), dr.Threat(dr.Prior.uniform(4))),
}  # fmt: skip
