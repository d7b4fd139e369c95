"""Questions that a certain rule answers; the rest of the rules win elsewhere (tests/numbers/test_coverage.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import beta, uniform

import dpradar as dr
from tests.numbers.asking import assess
from tests.numbers.questions.parts import everything, stranger, within

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["QUESTIONS"]

_RO: Any = "replace-one"
_PAIR = (0.3, 0.7)


def _two(knowledge: dr.Knowledge | None = None, p: tuple[float, ...] = _PAIR) -> dr.Threat:
    return dr.Threat(dr.Prior.of(p), knowledge or dr.Knowledge.nothing())


QUESTIONS: dict[str, Callable[[], Any]] = {
    "rule/exact-two-values/laplace-3": lambda: assess(dr.Repeated(dr.Laplace(2.0), 3), _two(dr.Knowledge.everything())),
    "rule/exact-two-values/laplace-5": lambda: assess(dr.Repeated(dr.Laplace(5.0), 5), _two(dr.Knowledge.everything())),
    "rule/exact-two-values/nothing-known": lambda: assess(dr.Repeated(dr.Laplace(2.0), 3), _two()),
    "rule/thm-5.1-interval/gdp": lambda: assess(dr.GDP(1.0, _RO), within(uniform(), 0.0, 1.0, 0.05)),
    "rule/thm-5.1-interval/pure": lambda: assess(dr.PureDP(0.5, _RO), within(beta(2, 5), 0.0, 1.0, 0.05)),
    "rule/thm-5.1-interval/profile": lambda: assess(dr.Profile((0.0, 1.0), (0.35, 0.1), _RO), within(uniform(), 0.0, 1.0, 0.01)),
    "rule/cor-5.6/m-5": lambda: assess(dr.ApproxDP(1.0, 1e-3, _RO), stranger(5)),
    "rule/cor-5.6/m-10": lambda: assess(dr.ApproxDP(0.1, 0.1, _RO), stranger(10)),
    "rule/cor-5.6/m-1000": lambda: assess(dr.ApproxDP(5.0, 1e-5, _RO), stranger(1000)),
    "rule/two-values/repeated-pure": lambda: assess(dr.Repeated(dr.PureDP(1.0, _RO), 3), _two(p=(0.15, 0.85))),
    "rule/two-values/composed": lambda: assess(dr.Composed([dr.GRR(m=2, epsilon=1.0), dr.Laplace(2.0)]), _two(p=(0.15, 0.85))),
    "rule/two-values/approx": lambda: assess(dr.Composed([dr.ApproxDP(1.0, 1e-3, _RO), dr.PureDP(0.1, _RO)]), _two(p=(0.15, 0.85))),
    "rule/rdp/tiny-baseline": lambda: assess(dr.RDP((2, 4, 8), (0.2, 0.4, 0.9), _RO), dr.Threat.baseline(1e-18)),
    "rule/rdp/zcdp": lambda: assess(dr.ZCDP(2.0, _RO), dr.Threat.baseline(1e-20)),
    "rule/rdp/one-order": lambda: assess(dr.RDP((16,), (1.0,), _RO), dr.Threat.baseline(1e-17)),
    "rule/exact-counts/grr-uniform-1000": lambda: assess(dr.Repeated(dr.GRR(m=1000, epsilon=3.0), 3), stranger(1000)),
    "rule/exact-counts/sue": lambda: assess(dr.Repeated(dr.SUE(m=20, epsilon=1.0), 3), stranger(20)),
    "rule/exact-counts/subsets": lambda: assess(dr.Repeated(dr.SubsetSelection(m=20, epsilon=1.0), 2), stranger(20)),
    "rule/exact-counts/olh": lambda: assess(dr.Repeated(dr.OLH(m=20, epsilon=1.0), 2), stranger(20)),
    "rule/black-box-program/m-4": lambda: assess(dr.ApproxDP(0.5, 0.01, _RO), _two(p=(0.5, 0.3, 0.1, 0.1))),
    "rule/black-box-pure/m-300": lambda: assess(dr.PureDP(2.0, _RO), dr.Threat(dr.Prior.of(np.arange(1, 301) / 45150))),
    "rule/root-bound/gdp-m-1000": lambda: assess(dr.GDP(3.0, _RO), stranger(1000)),
    "rule/knapsack-root/gdp": lambda: assess(dr.GDP(1.0, _RO), dr.Threat(dr.Prior.of(np.arange(1, 41) / 820))),
    "rule/fano/rdp": lambda: assess(dr.RDP((2,), (0.01,), _RO), stranger(1000)),
    "rule/trivial/membership": lambda: assess(dr.PureDP(1.0, _RO), dr.Threat.membership(0.3)),
    "rule/pairwise-tv/plane": lambda: assess(dr.Laplace(1.0, query=[[0, 0], [1, 1], [5, 5]]), everything(3)),
}  # fmt: skip
