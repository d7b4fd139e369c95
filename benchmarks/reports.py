"""A million reports over 3,052 values: drawn, attacked, and audited by what the attack gains."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import dpradar as dr

from .measure import Case, Peer

if TYPE_CHECKING:
    from collections.abc import Callable

    from .measure import Work

__all__ = ["CASES"]

_M = 3_052
_MILLION = 1_000_000
_MEGABYTES = 1_000.0
_FEW = {
    "grr": 1_000_000,
    "ss": 4_000,
    "oue": 20_000,
}  # reports of the peers: some microseconds each, or hundreds
_PROTOCOLS = {"grr": dr.GRR, "ss": dr.SubsetSelection, "oue": dr.OUE, "olh": dr.OLH}
_GOALS = {"grr": 1.0, "ss": 10.0, "oue": 30.0, "olh": 30.0}


def _audit(name: str, epsilon: float, trials: int) -> Work:
    protocol = _PROTOCOLS[name](m=_M, epsilon=epsilon)
    sample, threat = protocol.at(None).sample, dr.Threat(dr.Prior.uniform(_M))
    claim = dr.PureDP(epsilon, neighbours="replace-one")
    seeds = iter(range(10**6))

    def work() -> Any:
        return dr.audit(
            sample, claim=claim, protocol=protocol, threat=threat, trials=trials, seed=next(seeds), workers=2
        )

    return work


def _remark(name: str, epsilon: float, result: Any) -> str:
    exact = dr.assess(_PROTOCOLS[name](m=_M, epsilon=epsilon), dr.Threat(dr.Prior.uniform(_M))).rad.value
    return f"rad {result.rad.estimate:.6f}, exact {exact:.6f}; epsilon at least {result.epsilon_lower:.3f}"


def _client(name: str, epsilon: float) -> Callable[[int], Any]:
    try:
        from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client
        from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Client
        from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Client
    except ImportError:
        message = "needs multi-freq-ldpy: make bench"
        raise ImportError(message) from None
    client = {
        "grr": lambda value: GRR_Client(value, _M, epsilon),
        "ss": lambda value: SS_Client(value, _M, epsilon),
        "oue": lambda value: UE_Client(value, _M, epsilon, True),  # noqa: FBT003 (its own order of arguments)
    }[name]
    client(0)  # compiled at the first call
    return client


def _looped(name: str, epsilon: float) -> Work:
    """Return the clients of multi-freq-ldpy called once per report: reports only, no attack."""
    client = _client(name, epsilon)
    values = np.random.default_rng(1).integers(0, _M, size=_FEW[name]).tolist()

    def work() -> int:
        for value in values:
            client(value)
        return len(values)

    return work


def _guess(name: str, report: Any, rng: np.random.Generator) -> int:
    if name == "grr":
        return int(report)
    members = np.asarray(report) if name == "ss" else np.flatnonzero(report)
    return int(rng.choice(members)) if members.size else int(rng.integers(_M))


def _auditor(name: str, epsilon: float) -> Work:
    """Return the procedure of LDP-Auditor: a trial is one report and one guess, for v1 and for v2."""
    client, half = _client(name, epsilon), _FEW[name] // 2

    def work() -> int:
        rng = np.random.default_rng(1)
        for value in (0, _M - 1):
            hits = sum(_guess(name, client(value), rng) == 0 for _ in range(half))
        return hits

    return work


def _million(name: str, epsilon: float) -> Case:
    return Case(
        name=f"reports.{name}.{epsilon:g}",
        what=f"10^6 {name.upper()} reports, m={_M:,}, epsilon {epsilon:g}: drawn, attacked, audited",
        prepare=partial(_audit, name, epsilon, _MILLION),
        seconds=_GOALS[name],
        megabytes=_MEGABYTES,
        remark=partial(_remark, name, epsilon),
        fresh=True,
    )


def _beside(name: str, faster: float) -> Case:
    few = _FEW[name]
    return Case(
        name=f"reports.{name}.beside",
        what=f"{few:,} {name.upper()} reports, m={_M:,}, epsilon 1: drawn, attacked, audited",
        prepare=partial(_audit, name, 1.0, few),
        peers=(
            Peer(name="multi-freq-ldpy, reports only", prepare=partial(_looped, name, 1.0), faster=faster),
            Peer(name="LDP-Auditor's procedure", prepare=partial(_auditor, name, 1.0), faster=faster),
        ),
        level=1,
    )


CASES = (
    _million("grr", 1.0),
    _million("ss", 1.0),
    _million("ss", 4.0),
    _million("oue", 1.0),
    _million("oue", 6.0),
    _million("olh", 1.0),
    _million("olh", 6.0),
    _beside("grr", 20.0),
    _beside("ss", 1.0),
    _beside("oue", 1.0),
)
