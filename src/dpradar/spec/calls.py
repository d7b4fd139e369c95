"""What a question means, as a call that can be made and written down: one source for objects and for Python code."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..options.reading import Steps

__all__ = ["Call"]


@dataclass(frozen=True, slots=True)
class Call:
    """A function of dpradar by its public name, and its arguments: numbers, texts, lists, or further calls.

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
        """Make the call."""
        made = {name: _build(value) for name, value in self.kwargs.items()}
        return _found(self.name)(*map(_build, self.args), **made)

    def source(self) -> str:
        """Return Python code for the call, with dpradar imported as dr."""
        parts = [_source(value) for value in self.args]
        parts += [f"{name}={_source(value)}" for name, value in self.kwargs.items()]
        prefix = "" if self.name.startswith("stats.") else "dr."
        return f"{prefix}{self.name}({', '.join(parts)})"

    def names(self) -> set[str]:
        """Return the names of this call and of those inside it."""
        inner = [value for value in (*self.args, *self.kwargs.values()) if isinstance(value, Call)]
        return {self.name}.union(*(call.names() for call in inner))


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


def _found(name: str) -> Any:
    """Return the object behind a public name; ``stats`` is that of scipy, which is slow to import."""
    from .. import guarantees, mechanisms, threats

    first, _, rest = name.partition(".")
    if first == "stats":
        from scipy import stats

        return getattr(stats, rest)
    if name == "spec.register":
        from .register import register

        return register
    if name == "data.prior":
        from .tables import counted

        return counted
    found = next(getattr(module, first) for module in (mechanisms, guarantees, threats) if hasattr(module, first))
    return getattr(found, rest) if rest else found
