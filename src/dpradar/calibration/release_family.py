"""Families of releases that depend on one parameter, and the direction in which they become more private."""

from __future__ import annotations

import inspect
import math
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal

from ..errors import ParameterError
from ..mechanisms import Repeated
from ..options import parameters
from ..params import Param, shown
from .risk_order import no_riskier

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Family", "family_of", "family_of_param", "family_of_template"]

_WIDE = 1e6  # how far beyond its typical values a parameter is tried
Direction = Literal["up", "down"]


@dataclass(frozen=True, slots=True)
class Family:
    """``build(x)`` for x in [low, high]; the noise coordinate u grows with the noise: log x, or -log x."""

    parameter: str
    build: Callable[[float], Any]
    low: float
    high: float
    start: float
    direction: Direction | None
    integer: bool = False
    one_parameter: bool = False  # whether its releases differ in this parameter alone

    def x(self, u: float) -> float:
        """Return the parameter at a noise coordinate, whole numbers on the safe side."""
        value = math.exp(u if self.direction == "up" else -u)
        if self.integer:
            value = math.ceil(value - 1e-9) if self.direction == "up" else math.floor(value + 1e-9)
        return min(max(value, self.low), self.high)

    def u(self, x: float) -> float:
        """Return the noise coordinate of a parameter."""
        return math.log(x) if self.direction == "up" else -math.log(x)

    @property
    def span(self) -> tuple[float, float]:
        """The least and the most noise, as coordinates."""
        ends = self.u(max(self.low, 1e-300)), self.u(self.high)
        return min(ends), max(ends)


def _of_class(kind: Any, fixed: dict[str, Any], times: int) -> Family:
    owner = kind.__name__
    params = parameters(kind)
    free = [param for param in params if param.more_private is not None and param.name not in fixed]
    missing = [param.name for param in params if param.more_private is None and param.name not in fixed]
    if missing:
        raise ParameterError(owner, "given every other parameter", "no " + ", ".join(missing), f"Add {missing[0]}=...")
    if len(free) != 1:
        names = ", ".join(param.name for param in free) or "none"
        hint = "Fix all but one: calibrate(DPSGD, limit, sample_rate=0.01, steps=1000)."
        raise ParameterError(owner, "left with exactly one parameter to choose", names, hint)
    param = free[0]

    def build(x: float) -> Any:
        release = kind(**{param.name: x, **fixed})
        return release if times == 1 else Repeated(release, times)

    family = family_of_param(param, build)
    try:
        family.build(family.start)
    except TypeError as error:
        hint = "calibrate passes them on by name."
        raise ParameterError(owner, "given the arguments it takes", str(error), hint) from None
    return family


def family_of_template(param: Param, template: Callable[[float], Any]) -> Family:
    """Return the releases that differ in one parameter: ``template`` makes one of them, the others by replacement.

    Examples
    --------
    >>> import dpradar as dr
    >>> scale = parameters(dr.Laplace)[0]
    >>> family_of_template(scale, lambda x: dr.Repeated(dr.Laplace(scale=x, query=[0, 1]), 3)).build(2.5)
    Repeated(Laplace(scale=2.5), 3)
    """
    first: list[Any] = []

    def build(value: float) -> Any:
        if not first:
            first.append(template(value))
        return _with_parameter(first[0], param.name, value)

    return replace(family_of_param(param, build), one_parameter=True)


def _with_parameter(release: Any, name: str, value: float) -> Any:
    """Return a release with another value of one parameter; of a repeated one, that of what is repeated."""
    if name not in {one.name for one in fields(release)}:
        return replace(release, mechanism=_with_parameter(release.mechanism, name, value))
    return replace(release, **{name: value})


def family_of_param(param: Param, build: Callable[[float], Any]) -> Family:
    """Return the releases that ``build`` makes from values of a parameter."""
    low, high = param.typical
    least = max(param.low, 1.0) if param.integer else max(param.low, (low or high) / _WIDE)
    start = math.sqrt(max(low, least) * high)
    return Family(
        parameter=param.name,
        build=lambda x: build(_cast(param, x)),
        low=least,
        high=min(param.high, high * _WIDE),
        start=float(round(start)) if param.integer else start,
        direction=param.more_private,
        integer=param.integer,
    )


def _cast(param: Param, x: float) -> float:
    return round(x) if param.integer else x


def _of_function(function: Callable[[float], Any]) -> Family:
    names = list(inspect.signature(function).parameters)
    if len(names) != 1:
        hint = "Such as lambda sigma: Repeated(Gaussian(sigma), 40)."
        raise ParameterError("calibrate.family", "a class or a function of one number", shown(function), hint)
    by_name = inspect.signature(function).parameters[names[0]].kind is inspect.Parameter.KEYWORD_ONLY
    build = (lambda x: function(**{names[0]: x})) if by_name else function  # type: ignore[call-arg]
    family = Family(names[0], build, 1.0 / _WIDE, 1e3 * _WIDE, 1.0, None)
    return replace(family, direction=_direction(family))


def _direction(family: Family) -> Direction | None:
    """Return the direction in which the releases are provably more private, if it shows."""
    for x in (1.0, 0.3, 10.0):
        try:
            less, more = family.build(x), family.build(1.5 * x)
        except ParameterError:
            continue
        up, down = no_riskier(less, more), no_riskier(more, less)
        if up != down:  # both: the two are the same, and say nothing
            return "up" if up else "down"
    return None


def family_of(family: Any, fixed: dict[str, Any], times: int = 1) -> Family:
    """Return the family that a class with its other parameters, or a function of one number, describes."""
    if isinstance(family, type) and parameters(family):
        return _of_class(family, fixed, times)
    if callable(family) and not isinstance(family, type):
        if fixed or times != 1:
            hint = "A function of one number fixes everything else itself."
            got = ", ".join(fixed) or "times"
            raise ParameterError("calibrate", "given no further parameters beside a function", got, hint)
        return _of_function(family)
    hint = "Such as GRR with m=100, or lambda sigma: Repeated(Gaussian(sigma), 40)."
    raise ParameterError("calibrate.family", "a mechanism or guarantee class, or a function", shown(family), hint)
