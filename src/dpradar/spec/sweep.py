"""Vary one parameter of a release: ``epsilon=0.1:10:50``."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import ParameterError
from ..numerics.lazy_numpy import np
from ..options import parameters
from ..options.reading import PLAIN, number, numbers, whole
from .release_kinds import KINDS

if TYPE_CHECKING:
    from .model import Spec

__all__ = ["Sweep", "sweep_of"]

MOST_POINTS = 1000
_SHAPE = "NAME=LOW:HIGH:COUNT or NAME=a,b,c"


@dataclass(frozen=True, slots=True)
class Sweep:
    """A parameter, its values, and the releases in which it is varied (by their number in the spec)."""

    parameter: str
    values: tuple[float, ...]
    releases: tuple[int, ...]


def sweep_of(text: str, spec: Spec) -> Sweep:
    """Return what to vary: COUNT values from LOW to HIGH, evenly by ratio (by difference, where LOW is 0 or less).

    With several releases ``RELEASE.NAME=...`` chooses one by its name.

    Examples
    --------
    >>> from dpradar.spec import parse
    >>> spec = parse('release = {kind = "grr", m = 2, epsilon = 1}')
    >>> sweep_of("epsilon=0.1:10:3", spec).values
    (0.1, 1.0, 10.0)
    """
    name, equals, rest = text.partition("=")
    target, _, parameter = name.strip().rpartition(".")
    parameter = parameter.strip().replace("-", "_")
    if not equals or not parameter or not rest:
        raise ParameterError("--sweep", _SHAPE, repr(text), "Such as epsilon=0.1:10:50.")
    releases = _releases(target, parameter, spec)
    param = next(p for p in _varied(spec, releases[0]) if p.name == parameter)
    values = [param.check("--sweep", value) for value in _values(rest, integer=param.integer)]
    return Sweep(parameter, tuple(dict.fromkeys(values)), releases)


def _varied(spec: Spec, index: int) -> tuple[Any, ...]:
    """Return the parameters of a release that can be varied, among them how often it is repeated."""
    from ..mechanisms import Repeated

    return (*KINDS[spec.releases[index].kind].params, *parameters(Repeated))


def _releases(target: str, parameter: str, spec: Spec) -> tuple[int, ...]:
    named = [i for i, release in enumerate(spec.releases) if target in ("", release.name)]
    if not named:
        release_names = ", ".join(release.name for release in spec.releases if release.name) or "none has a name"
        raise ParameterError("--sweep", f"about a release of the spec ({release_names})", repr(target))
    releases = tuple(i for i in named if parameter in [param.name for param in _varied(spec, i)])
    if not releases:
        names = sorted({param.name for i in named for param in _varied(spec, i)})
        near = difflib.get_close_matches(parameter, names, n=1)
        hint = f"Did you mean {near[0]!r}?" if near else ""
        raise ParameterError("--sweep", f"about one of {', '.join(names)}", repr(parameter), hint)
    if len(releases) > 1 and spec.together == "compose":
        hint = f"Name the release: RELEASE.{parameter}=..."
        got = f"{len(releases)} of them"
        raise ParameterError("--sweep", "about one release where several are composed", got, hint)
    return releases


def _values(text: str, *, integer: bool) -> list[float]:
    parts = text.split(":")
    if len(parts) == 1:
        return numbers(text, "--sweep", PLAIN)
    if len(parts) != 3:
        raise ParameterError("--sweep", _SHAPE, repr(text))
    low, high = number(parts[0], "--sweep"), number(parts[1], "--sweep")
    count = whole(parts[2], "--sweep COUNT")
    if not (2 <= count <= MOST_POINTS and low < high):
        allowed = f"LOW:HIGH:COUNT with LOW below HIGH and COUNT from 2 to {MOST_POINTS}"
        raise ParameterError("--sweep", allowed, repr(text))
    grid = np.geomspace(low, high, int(count)) if low > 0.0 else np.linspace(low, high, int(count))
    return [float(round(x)) for x in grid.tolist()] if integer else [float(x) for x in grid.tolist()]
