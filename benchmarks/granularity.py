"""The accountant on a thousand steps, and its parts: conversions, distances, the linter."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dpradar.granularity import Claim, Facts, Granularity, Partition, Pipeline, Practice, Step, account, lint

from .measure import Case

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .measure import Work

__all__ = ["CASES"]

_STEPS = 1_000
_TARGETS = ("event", "w-event:24", "l-trajectory:10", "user:replace-one", "user:add-remove")


def _pipeline(count: int) -> Pipeline:
    """Return a stream with counts at every time, by region and by user, pure and Gaussian."""
    rng = np.random.default_rng(7)
    budgets = rng.uniform(0.001, 0.1, count).tolist()
    kinds = ("time", "value", "user", None)
    cells: dict[str, list[str]] = {kind: [] for kind in kinds if kind}
    steps = []
    for number, budget in enumerate(budgets):
        kind = kinds[number % 4]
        settings: dict[str, Any] = {"mu" if number % 7 == 0 else "epsilon": budget, "granularity": "event"}
        if kind is not None:
            cells[kind].append(str(number))
            settings |= {"partition": kind, "cell": str(number), "domain": "common" if number % 3 else "own"}
        steps.append(Step(name=f"step {number}", practice=Practice(noise="geometric"), **settings))
    return Pipeline(
        steps=steps,
        partitions=[Partition(name=kind, kind=kind, cells=some) for kind, some in cells.items()],  # type: ignore[arg-type]
        facts=Facts(points_per_user=40, times=1_000, users=10_000, hidden="people"),
        claim=Claim(granularity="event", epsilon=100.0, delta=1e-6),
        targets=_TARGETS,
    )


def _account(count: int) -> Work:
    pipeline = _pipeline(count)
    return lambda: account(pipeline)


def _lint(count: int) -> Work:
    pipeline = _pipeline(count)
    return lambda: lint(pipeline)


def _error(answers: Sequence[Any], count: int) -> float:
    """Return how far the total under event-level DP is from adding up by hand, relatively."""
    pipeline = _pipeline(count)
    pure: dict[str | None, list[float]] = {}
    for step in pipeline.steps:
        if step.notion == "pure":
            pure.setdefault(step.partition, []).append(step.losses[0][1])
    two = sorted(pure["value"])[-2:]  # a point can leave one region and enter another
    expected = math.fsum([max(pure["time"]), *two, max(pure["user"]), *pure[None]])
    return abs(answers[-1].total("event").epsilon / expected - 1.0)


def _windows(length: int) -> Work:
    """Return the distance of two long streams under w-event DP."""
    rng = np.random.default_rng(3)
    first = {user: dict(enumerate(rng.integers(0, 9, length).tolist())) for user in range(20)}
    other = {user: dict(enumerate(rng.integers(0, 9, length).tolist())) for user in range(20)}
    granularity = Granularity.w_event(24)
    return lambda: granularity.distance(first, other)


CASES = (
    Case(
        name="granularity.account",
        what=f"account for {_STEPS:,} steps in 3 partitions under {len(_TARGETS)} granularities",
        prepare=partial(_account, _STEPS),
        seconds=1.0,
        accuracy=partial(_error, count=_STEPS),
        error=1e-12,
        remark=lambda answer: f"epsilon {answer.total('event').epsilon:.4f} under event-level DP",
    ),
    Case(
        name="granularity.lint",
        what=f"lint {_STEPS:,} steps",
        prepare=partial(_lint, _STEPS),
        seconds=2.0,
        remark=lambda report: f"{len(report.findings)} findings",
        level=1,
    ),
    Case(
        name="granularity.windows",
        what="distance of two streams of 20 users and 5,000 times under 24-event DP",
        prepare=partial(_windows, 5_000),
        seconds=1.0,
        remark="{:g} steps".format,
        level=1,
    ),
)
