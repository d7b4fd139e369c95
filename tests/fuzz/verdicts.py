"""What a case can come to, and how a number is judged beside its true value."""

from __future__ import annotations

import functools
import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Mapping

    from .written import Body

Kind = Literal["fine", "refused", "loose", "too loose", "unsafe", "internal"]
Question = dict[str, Any]
Truth = dict[str, tuple[float, float]]  # quantity -> the interval that holds its true value

REFERENCE = 1e-9  # relative error granted to the reference and to sums of floats
ROUNDING = 1e-14  # the same, absolute
MARGIN = 1e-12  # what an engine may add on the safe side and still call a number exact
EXACT = 1e-6  # "exact" promises a certified interval narrower than this share of the value
LOOSE, LOOSE_ABSOLUTE = 0.02, 1e-3


class OutOfTime(BaseException):
    """A case took too long. No exception of a usual kind, because dpradar reports those itself."""


@dataclass(frozen=True)
class Verdict:
    """The outcome of one case; ``check`` is the failing statement for a test, in terms of the question's code."""

    kind: Kind
    message: str = ""
    check: str = ""

    @property
    def is_finding(self) -> bool:
        """Whether a person has to look at it."""
        return self.kind in ("too loose", "unsafe", "internal")


FINE = Verdict("fine")


class Family(Protocol):
    """One kind of question."""

    name: str

    def prepare(self) -> None:
        """Make what all questions share, such as files to damage; outside the time of a case."""

    def draw(self, rng: random.Random) -> Question:
        """Return a question; everything random comes from the generator."""

    def judge(self, question: Question) -> Verdict:
        """Ask dpradar and compare."""

    def smaller(self, question: Question) -> Iterator[Question]:
        """Simpler questions to try instead, the boldest first."""

    def body(self, question: Question, verdict: Verdict) -> Body:
        """Return a test that fails while the finding is there."""


def judged_bound(
    name: str, bound: Any, truth: tuple[float, float], *, of: str = "a", most_above: float = math.inf
) -> Verdict:
    """Compare one bound with the interval that holds the truth; where it is to be narrow, ``most_above`` says how."""
    low, high = truth
    margin = REFERENCE * (abs(high) if math.isfinite(high) else abs(low)) + ROUNDING
    value, side = bound.value, bound.side
    shown = f"{name} {value!r} {side} ({bound.rule}), true value in [{low!r}, {high!r}]"
    checks = [
        (math.isnan(value), f"{of}.{name}.value == {of}.{name}.value"),
        (side == "upper" and value < low - margin, f"{of}.{name}.value >= {low - margin!r}"),
        (
            side == "exact" and value < low * (1 - EXACT) - margin,
            f"{of}.{name}.value >= {low * (1 - EXACT) - margin!r}",
        ),
        (side == "lower" and value > high + margin, f"{of}.{name}.value <= {high + margin!r}"),
        (
            side == "exact" and value > high * (1 + EXACT) + MARGIN,
            f"{of}.{name}.side != 'exact' or {of}.{name}.value <= {high * (1 + EXACT) + MARGIN!r}",
        ),
        (
            bound.low is not None and bound.low > high + margin,
            f"{of}.{name}.low is None or {of}.{name}.low <= {high + margin!r}",
        ),
        (
            bound.high is not None and bound.high < low - margin,
            f"{of}.{name}.high is None or {of}.{name}.high >= {low - margin!r}",
        ),
    ]
    for wrong, check in checks:
        if wrong:
            return Verdict("unsafe", shown, f"assert {check}")
    if side != "lower" and value > high + most_above:
        return Verdict("too loose", shown, f"assert {of}.{name}.value <= {high + most_above!r}")
    if side != "exact" and value > high * (1 + LOOSE) + LOOSE_ABSOLUTE:
        return Verdict("loose", shown)
    return FINE


def judged(
    result: Any, truth: Mapping[str, tuple[float, float]], *, of: str = "a", most_above: float = math.inf
) -> Verdict:
    """Compare every bound and number of an assessment that there is with the truth: the worst verdict."""
    verdicts = [_read_back(result, of)]
    for name, interval in truth.items():
        value = functools.reduce(lambda part, key: getattr(part, key, None), name.split("."), result)
        if isinstance(value, float):
            verdicts.append(_judged_number(name, value, interval, of))
        elif value is not None:
            verdicts.append(judged_bound(name, value, interval, of=of, most_above=most_above))
    return worst(verdicts)


def _read_back(result: Any, of: str) -> Verdict:
    """Whether a saved result can be read, and is the same then."""
    import dpradar as dr

    if not isinstance(result, dr.Assessment):
        return FINE
    saved = json.loads(json.dumps(result.to_dict()))
    check = f"assert dr.Assessment.from_dict({of}.to_dict()).to_dict() == {of}.to_dict()"
    try:
        again = dr.Assessment.from_dict(saved).to_dict()
    except dr.DpradarError as error:
        return Verdict("internal", f"what was saved is not read: {error}", check)
    return (
        FINE if json.loads(json.dumps(again)) == saved else Verdict("unsafe", "what was saved is read otherwise", check)
    )


def _judged_number(name: str, value: float, truth: tuple[float, float], of: str) -> Verdict:
    low, high = truth
    margin = REFERENCE * (high if math.isfinite(high) else low) + ROUNDING
    if low - margin <= value <= high + margin:
        return FINE
    message = f"{name} {value!r}, true value in [{low!r}, {high!r}]"
    upper = f" <= {high + margin!r}" if math.isfinite(high) else ""
    return Verdict("unsafe", message, f"assert {low - margin!r} <= {of}.{name}{upper}")


def worst(verdicts: list[Verdict]) -> Verdict:
    """The verdict that matters most."""
    order: list[Kind] = ["fine", "refused", "loose", "too loose", "internal", "unsafe"]
    return max(verdicts, key=lambda v: order.index(v.kind), default=FINE)
