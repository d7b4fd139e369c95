"""A call that can be carried out and written as Python: one source for the objects of a question and its code."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from ..options.reading import Steps

__all__ = ["Call"]


@dataclass(frozen=True, slots=True)
class Call:
    """A function of dpradar by its public name, and its arguments: numbers, texts, lists, or further calls.

    A class of a plug-in is named ``module:Class``.

    Examples
    --------
    >>> call = Call("Repeated", (Call("GRR", (), {"m": 3, "epsilon": 1.0}), 2))
    >>> call.source()
    'dr.Repeated(dr.GRR(m=3, epsilon=1.0), 2)'
    >>> call.build()
    Repeated(GRR(m=3, epsilon=1.0), 2)
    """

    name: str
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)

    def build(self) -> Any:
        """Carry out the call and return the object."""
        kwargs = {name: _build(value) for name, value in self.kwargs.items()}
        return _object_named(self.name)(*map(_build, self.args), **kwargs)

    @property
    def function(self) -> str:
        """The name of the function in Python code."""
        module, _, name = self.name.rpartition(":")
        return name if module or self.name.startswith("stats.") else f"dr.{name}"

    def source(self) -> str:
        """Return Python code for the call, with dpradar imported as dr and what ``imports`` says."""
        parts = [_source(value) for value in self.args]
        parts += [f"{name}={_source(value)}" for name, value in self.kwargs.items()]
        return f"{self.function}({', '.join(parts)})"

    def imports(self) -> list[str]:
        """Return the lines of Python code that import what this call, and those inside it, use besides dpradar."""
        module, _, name = self.name.rpartition(":")
        own = [f"from {module} import {name}"] if module else []
        own += ["from scipy import stats"] if self.name.startswith("stats.") else []
        inner = [value for value in (*self.args, *self.kwargs.values()) if isinstance(value, Call)]
        return list(dict.fromkeys([*own, *(line for call in inner for line in call.imports())]))


def _build(value: Any) -> Any:
    if isinstance(value, (Call, Steps)):
        return value.build()
    return [_build(one) for one in value] if isinstance(value, list) else value


def _source(value: Any) -> str:
    if isinstance(value, (Call, Steps)):
        return value.source()
    if isinstance(value, list):
        return f"[{', '.join(map(_source, value))}]"
    return repr(value)


def _object_named(name: str) -> Any:
    """Return the object behind a public name; ``stats`` is that of scipy, which is slow to import."""
    from .. import guarantees, mechanisms, threats

    module, _, plugin = name.rpartition(":")
    if module:
        return getattr(import_module(module), plugin)
    first, _, rest = name.partition(".")
    if first == "stats":
        from scipy import stats

        return getattr(stats, rest)
    if name == "spec.register":
        from .release_register import register

        return register
    if name == "data.prior":
        from .table_prior import cached_prior_of_files

        return cached_prior_of_files
    cls = next(getattr(module, first) for module in (mechanisms, guarantees, threats) if hasattr(module, first))
    return getattr(cls, rest) if rest else cls
