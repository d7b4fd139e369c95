"""One saved result of every kind, as plain data."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np

import dpradar as dr
from dpradar import correlated, granularity
from tests.present import samples

NAMES = (
    *samples.NAMES,
    *("rad audit", "measured", "unmet", "accounting", "advice", "lint", "groups", "correlation"),
)


def _pipeline() -> granularity.Pipeline:
    steps = [
        granularity.Step(name="counts", epsilon=0.5, granularity="unbounded", times=2),
        granularity.Step(name="sums", mu=1.0, granularity="unbounded"),
    ]
    return granularity.Pipeline(steps=steps, claim=granularity.Claim(granularity="unbounded", epsilon=2.0))


def _wrong_pipeline() -> granularity.Pipeline:
    practice = granularity.Practice(noise_on="present")
    step = granularity.Step(name="counts", epsilon=1.0, granularity="unbounded", practice=practice)
    return granularity.Pipeline(steps=[step], claim=granularity.Claim(granularity="unbounded", epsilon=1.0))


def _advice() -> Any:
    stream = {"ann": {1: "home", 2: "work", 3: "home"}, "bob": {1: "home", 2: "home"}}
    return granularity.advise(stream, granularity="event", epsilon=0.5, hidden="values")


def _correlation() -> Any:
    chain = correlated.Chain([[0.9, 0.1], [0.2, 0.8]], length=20)
    return correlated.leakage(chain, epsilon=1.0)


def _rad_audit() -> Any:
    grr = dr.GRR(m=4, epsilon=1.0)
    claim = dr.PureDP(1.0, neighbours="replace-one")
    threat = dr.Threat(dr.Prior.uniform(4))
    return dr.audit(grr.sample, claim=claim, protocol=grr, threat=threat, domain=4, trials=5_000, seed=1)


@cache
def results() -> dict[str, Any]:
    """Return results of every kind that can be saved."""
    results = {
        **samples.everything(),
        "rad audit": _rad_audit(),
        "measured": dr.measure(np.arange(50) % 2 == 0, np.arange(60) % 5 == 0),
        "unmet": dr.calibrate(dr.GRR, dr.Limit(dr.Threat(dr.Prior.uniform(4)), rad=0.0), m=4),
        "accounting": granularity.account(_pipeline()),
        "advice": _advice(),
        "lint": granularity.lint(_wrong_pipeline()),
        "groups": correlated.leakage(correlated.Groups(size=3), epsilon=1.0),
        "correlation": _correlation(),
    }
    return results


def without_names(data: Any) -> Any:
    """Return the data of a result without the places of threats in a run, and without the digest, which covers them."""
    if isinstance(data, dict):
        return {key: without_names(value) for key, value in data.items() if key not in ("id", "digest")}
    return [without_names(value) for value in data] if isinstance(data, list) else data


@cache
def texts() -> dict[str, str]:
    """Return what save() writes of each."""
    return {name: json.dumps(result.to_dict()) for name, result in results().items()}
