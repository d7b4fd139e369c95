"""Every guarantee under both relations and several threats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dpradar as dr
from tests.numbers.asking import assess
from tests.numbers.questions.parts import SKEWED, everything, skewed, stranger

if TYPE_CHECKING:
    from collections.abc import Callable

    from dpradar.guarantees import Neighbours

__all__ = ["GUARANTEES", "QUESTIONS"]

GUARANTEES: dict[str, Callable[[Neighbours], Any]] = {
    "pure": lambda n: dr.PureDP(1.0, neighbours=n),
    "pure-0.01": lambda n: dr.PureDP(0.01, neighbours=n),
    "pure-8": lambda n: dr.PureDP(8.0, neighbours=n),
    "approx": lambda n: dr.ApproxDP(1.0, 1e-3, neighbours=n),
    "approx-0": lambda n: dr.ApproxDP(0.0, 0.05, neighbours=n),
    "gdp": lambda n: dr.GDP(1.0, neighbours=n),
    "gdp-5": lambda n: dr.GDP(5.0, neighbours=n),
    "zcdp": lambda n: dr.ZCDP(0.1, neighbours=n),
    "zcdp-2": lambda n: dr.ZCDP(2.0, neighbours=n),
    "rdp": lambda n: dr.RDP(orders=(2, 4, 8), epsilons=(0.2, 0.4, 0.9), neighbours=n),
    "rdp-one": lambda n: dr.RDP(orders=(16,), epsilons=(1.0,), neighbours=n),
    "tv": lambda n: dr.TotalVariation(0.2, neighbours=n),
    "tradeoff": lambda n: dr.Tradeoff(fpr=[0.0, 0.1, 0.4, 1.0], fnr=[0.9, 0.6, 0.2, 0.0], neighbours=n),
    "profile": lambda n: dr.Profile(epsilons=(0.0, 1.0, 3.0), deltas=(0.35, 0.1, 1e-6), neighbours=n),
}

THREATS: dict[str, Callable[[], dr.Threat | None]] = {
    "stranger-2": lambda: stranger(2),
    "stranger-50": lambda: stranger(50),
    "skewed": skewed,
    "everything": lambda: everything(10),
    "within": lambda: dr.Threat(dr.Prior.of(SKEWED), goal=dr.Goal.within(1.0)),
    "membership": lambda: dr.Threat.membership(0.2),
    "baseline": lambda: dr.Threat.baseline(0.05),
    "worst": lambda: None,
}


def _question(guarantee: str, relation: Any, threat: str) -> Callable[[], Any]:
    return lambda: assess(GUARANTEES[guarantee](relation), THREATS[threat]())


QUESTIONS: dict[str, Callable[[], Any]] = {
    f"guarantee/{guarantee}/{relation}/{threat}": _question(guarantee, relation, threat)
    for guarantee in GUARANTEES
    for relation in ("replace-one", "add-remove")
    for threat in THREATS
}
