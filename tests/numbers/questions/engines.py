"""Every engine of bounds/exact, and the nested Monte Carlo of [RAD]: the second word is the module with the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import uniform

import dpradar as dr
from dpradar_reproduction.nested_monte_carlo import nested_monte_carlo, nested_monte_carlo_failure
from tests.numbers.asking import assess
from tests.numbers.questions.parts import SKEWED, everything, line, skewed, stranger, table, within

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["QUESTIONS"]

_WIDE = np.arange(1, 51) / 1275  # 50 values, each more likely than the one before
_X, _Y = dr.Knowledge.columns("x"), dr.Goal.columns("y")
_PLANE = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]


def _many(threat_goal: dr.Goal | None = None) -> dr.Threat:
    return dr.Threat(dr.Prior.of(_WIDE), goal=threat_goal or dr.Goal.exact())


def _nested(draws: int) -> float:
    prior = dr.Prior.continuous(uniform(), 0.0, 1.0)
    model = dr.Exponential(epsilon=5.0, interval=(0.0, 1.0)).at(prior).continuous
    return nested_monte_carlo(model, prior.interval, 0.2, draws, np.random.default_rng(1))  # type: ignore[arg-type]


QUESTIONS: dict[str, Callable[[], Any]] = {
    "engine/diagonal/m-1000": lambda: assess(dr.GRR(m=1000, epsilon=4.0), stranger(1000)),
    "engine/diagonal/m-1000000": lambda: assess(dr.GRR(m=10**6, epsilon=12.0), stranger(10**6)),
    "engine/diagonal/skewed": lambda: assess(dr.GRR(m=50, epsilon=2.0), _many()),
    "engine/diagonal/within": lambda: assess(dr.GRR(m=50, epsilon=2.0), _many(dr.Goal.within(3.0))),
    "engine/diagonal/epsilon-0": lambda: assess(dr.GRR(m=6, epsilon=0.0), skewed()),
    "engine/diagonal/epsilon-700": lambda: assess(dr.GRR(m=6, epsilon=700.0), skewed()),
    "engine/inclusion/sue": lambda: assess(dr.SUE(m=50, epsilon=2.0), _many()),
    "engine/inclusion/oue": lambda: assess(dr.OUE(m=50, epsilon=2.0), _many()),
    "engine/inclusion/oue-m-3052": lambda: assess(dr.OUE(m=3052, epsilon=6.0), stranger(3052)),
    "engine/inclusion/subsets": lambda: assess(dr.SubsetSelection(m=50, epsilon=2.0), _many()),
    "engine/inclusion/olh": lambda: assess(dr.OLH(m=50, epsilon=2.0), everything(50)),
    "engine/inclusion/the": lambda: assess(dr.THE(m=50, epsilon=2.0), _many()),
    "engine/inclusion/column-known": lambda: assess(dr.OUE(m=60, epsilon=2.0), dr.Threat(table(6, 10), _X, _Y)),
    "engine/inclusion/column-known-subsets": lambda: assess(dr.SubsetSelection(m=60, epsilon=2.0), dr.Threat(table(20, 3), _X, _Y)),
    "engine/inclusion/one-value-has-all": lambda: assess(dr.OUE(m=3, epsilon=2.0), dr.Threat(dr.Prior.of([1.0 - 1e-12, 6e-13, 4e-13]))),
    "engine/partition/oue": lambda: assess(dr.OUE(m=1000, epsilon=2.0), dr.Threat(table(50, 20), goal=_Y)),
    "engine/partition/subsets": lambda: assess(dr.SubsetSelection(m=1000, epsilon=2.0), dr.Threat(table(50, 20), goal=_Y)),
    "engine/partition/skewed": lambda: assess(dr.SUE(m=50, epsilon=2.0), _many(dr.Goal.labels([i % 7 for i in range(50)]))),
    "engine/partition/fibres": lambda: assess(dr.OLH(m=60, epsilon=2.0), dr.Threat(dr.Prior.uniform(60), dr.Knowledge.labels([i // 30 for i in range(60)]), dr.Goal.labels([i // 5 for i in range(60)]))),
    "engine/partition/fibres-subsets": lambda: assess(dr.SubsetSelection(m=60, epsilon=2.0), dr.Threat(dr.Prior.uniform(60), dr.Knowledge.labels([i // 30 for i in range(60)]), dr.Goal.labels([i // 5 % 3 for i in range(60)]))),
    "engine/set-windows/oue": lambda: assess(dr.OUE(m=101, epsilon=2.0), line(101, 2.0)),
    "engine/set-windows/subsets": lambda: assess(dr.SubsetSelection(m=101, epsilon=1.0), line(101, 3.0)),
    "engine/set-windows/blh-large-epsilon": lambda: assess(dr.BLH(m=40, epsilon=15.0), line(40, 1.0)),
    "engine/set-windows/too-wide": lambda: assess(dr.OUE(m=101, epsilon=2.0), line(101, 20.0)),
    "engine/set-windows/skewed": lambda: assess(dr.OUE(m=50, epsilon=2.0), _many(dr.Goal.within(2.0))),
    "engine/finite/channel": lambda: assess(dr.Channel([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]]), stranger(3)),
    "engine/finite/geometric": lambda: assess(dr.Geometric(scale=3.0), _many()),
    "engine/finite/geometric-within": lambda: assess(dr.Geometric(scale=3.0), _many(dr.Goal.within(4.0))),
    "engine/finite/discrete-gaussian": lambda: assess(dr.DiscreteGaussian(sigma=3.0), _many()),
    "engine/finite/hadamard": lambda: assess(dr.HadamardResponse(m=50, epsilon=2.0), _many(dr.Goal.within(4.0))),
    "engine/finite/exponential": lambda: assess(dr.Exponential(epsilon=1.0, utility=-np.abs(np.subtract.outer(range(9), range(9)))), stranger(9)),
    "engine/finite/loss-matrix": lambda: assess(dr.OUE(m=4, epsilon=2.0), dr.Threat(dr.Prior.uniform(4), goal=dr.Goal.within(1.0, loss=[[0, 1, 2, 2], [1, 0, 2, 2], [2, 2, 0, 1], [2, 2, 1, 0]]))),
    "engine/line/laplace": lambda: assess(dr.Laplace(scale=5.0), _many()),
    "engine/line/laplace-within": lambda: assess(dr.Laplace(scale=5.0), _many(dr.Goal.within(2.5))),
    "engine/line/laplace-known": lambda: assess(dr.Laplace(scale=5.0), dr.Threat(dr.Prior.of(_WIDE), dr.Knowledge.everything())),
    "engine/line/gaussian": lambda: assess(dr.Gaussian(sigma=5.0), _many()),
    "engine/line/gaussian-within": lambda: assess(dr.Gaussian(sigma=5.0), line(20, 2.0)),
    "engine/line/gaussian-known": lambda: assess(dr.Gaussian(sigma=5.0), dr.Threat(dr.Prior.of(_WIDE), dr.Knowledge.everything())),
    "engine/line/clamped": lambda: assess(dr.Laplace(scale=100.0, truncate=(0.0, 100.0)), dr.Threat(dr.Prior.uniform(21, values=range(0, 101, 5)), goal=dr.Goal.within(40.0))),
    "engine/line/gaussian-clamped": lambda: assess(dr.Gaussian(sigma=3.0, truncate=(2.0, 6.0)), _many()),
    "engine/line/small-noise": lambda: assess(dr.Gaussian(sigma=1e-3), skewed()),
    "engine/line/large-noise": lambda: assess(dr.Laplace(scale=1e4), skewed()),
    "engine/likeliest/laplace-uniform": lambda: assess(dr.Laplace(scale=5.0), stranger(5000)),
    "engine/likeliest/gaussian-uniform": lambda: assess(dr.Gaussian(sigma=5.0), stranger(5000)),
    "engine/likeliest/gaussian-many": lambda: assess(dr.Gaussian(sigma=5.0), dr.Threat(dr.Prior.of(np.arange(1, 3102) / 4809651))),
    "engine/counts/grr": lambda: assess(dr.Repeated(dr.GRR(m=100, epsilon=2.0), 2), stranger(100)),
    "engine/counts/grr-8": lambda: assess(dr.Repeated(dr.GRR(m=4, epsilon=0.5), 8), stranger(4)),
    "engine/counts/oue": lambda: assess(dr.Repeated(dr.OUE(m=16, epsilon=1.0), 3), stranger(16)),
    "engine/counts/known": lambda: assess(dr.Repeated(dr.GRR(m=6, epsilon=1.0), 3), everything(6)),
    "engine/small_noise/nothing": lambda: assess(dr.Gaussian(sigma=1e-7), within(uniform(), 0.0, 1.0, 0.1)),
    "engine/small_noise/everything": lambda: assess(dr.Laplace(scale=1e-8), within(uniform(), 0.0, 1.0, 0.1, "everything")),
    "engine/continuous/laplace": lambda: assess(dr.Laplace(scale=0.3), within(uniform(), 0.0, 1.0, 0.1)),
    "engine/continuous/laplace-known": lambda: assess(dr.Laplace(scale=0.3), within(uniform(), 0.0, 1.0, 0.1, "everything")),
    "engine/continuous/gaussian": lambda: assess(dr.Gaussian(sigma=0.3), within(uniform(), 0.0, 1.0, 0.1)),
    "engine/continuous/exponential": lambda: assess(dr.Exponential(epsilon=5.0, interval=(0.0, 1.0)), within(uniform(), 0.0, 1.0, 0.2)),
    "engine/continuous/clamped": lambda: assess(dr.Laplace(scale=0.3, truncate=(0.0, 1.0)), within(uniform(), 0.0, 1.0, 0.1)),
    "engine/vectors/collinear": lambda: assess(dr.Gaussian(sigma=2.0, query=[[k, -k] for k in range(6)]), skewed()),
    "engine/vectors/equidistant": lambda: assess(dr.Gaussian(sigma=1.0, query=[[2, 0, 0], [0, 2, 0], [0, 0, 2]]), stranger(3)),
    "engine/vectors/one-hot-laplace": lambda: assess(dr.Laplace(scale=2.0, query=np.eye(20).tolist()), stranger(20)),
    "engine/vectors/one-hot-skewed": lambda: assess(dr.Gaussian(sigma=1.0, query=np.eye(6).tolist()), dr.Threat(dr.Prior.of(SKEWED))),
    "engine/known/laplace": lambda: assess(dr.Laplace(scale=2.0, query=np.eye(4).tolist()), everything(4)),
    "engine/known/gaussian": lambda: assess(dr.Gaussian(sigma=1.0, query=np.eye(4).tolist()), everything(4)),
    "engine/simulation/plane": lambda: assess(dr.Gaussian(sigma=0.5, query=_PLANE), stranger(4)),
    "engine/simulation/plane-within": lambda: assess(dr.Laplace(scale=0.5, query=_PLANE), line(4, 1.0)),
    "engine/two/laplace": lambda: assess(dr.Repeated(dr.Laplace(3.0), 4), everything(2)),
    "engine/two/tolerance": lambda: assess(dr.Repeated(dr.Laplace(3.0), 4), everything(2), tolerance=1e-3),
    "engine/nested/draws-200": lambda: _nested(200),
    "engine/nested/failure": lambda: nested_monte_carlo_failure(3.0, 100_000, 1.0, 0.5, candidates=4),
}  # fmt: skip
