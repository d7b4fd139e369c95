"""What was assessed and who attacks, as data: a kind and its options."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Self

from ..params import shown
from .field_shapes import Later, NumbersBetween, Reader
from .record import Record

__all__ = ["Description", "describe_release", "text_only"]

# What pages need of the options of a kind: the type of each, or the kinds it may be of with the types of their options.
_OPTIONS: dict[str, dict[str, Any]] = {
    "record": {
        "prior": {
            "continuous": {"low": float, "high": float},
            "counted": {"size": int},
            "uniform": {"size": int},
            "probabilities": {"size": int},
        },
        "knowledge": {"nothing": {}, "everything": {}, "labels": {"groups": int}, "columns": {"columns": list}},
        "goal": {
            "exact": {},
            "within": {"eta": float, "loss": str},
            "labels": {"classes": int},
            "columns": {"columns": list},
        },
    },
    "membership": {"level": float},
    "baseline": {"level": float},
    "repeated": {"mechanism": dict, "times": int},
}
_NOUNS = {float: "a number", int: "a whole number", str: "a text", list: "a list", dict: "a table"}
_MOST_NUMBERS = 100  # a longer list is described by its length and its digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Description(Record):
    """A release or a threat as data: its kind and its options, and the text that pages show.

    ``id`` ties what one run computed about a threat together: threats may differ in labels, which are not kept, and
    read the same. It is the place of the threat in the run, no function of the prior, and empty elsewhere. Files of
    schema 1 have only the text.

    Examples
    --------
    >>> import dpradar as dr
    >>> release = dr.assess(dr.Laplace(scale=2.0, query=[0.0, 1.0])).release
    >>> release.kind, release.options["scale"], release.options["query"]
    ('laplace', 2.0, [0.0, 1.0])
    """

    kind: str
    options: dict[str, Any] = field(default_factory=dict, hash=False)
    text: str = ""
    id: Annotated[str, Later()] = field(default="", compare=False)

    def __str__(self) -> str:
        return self.text

    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield options that pages need and that are not as this kind has them."""
        for name, allowed in _OPTIONS.get(self.kind, {}).items():
            option = self.options.get(name)
            if isinstance(allowed, type):
                yield from _wrong_type(f"options.{name}", option, allowed)
                continue
            kind = option.get("kind") if isinstance(option, dict) else None
            needed = allowed.get(kind) if isinstance(kind, str) else None
            if needed is None or option is None:
                yield f"options.{name}", f"must have a kind: {', '.join(allowed)}; got {shown(option)}"
                continue
            for key, type_needed in needed.items():
                yield from _wrong_type(f"options.{name}.{key}", option.get(key), type_needed)

    @classmethod
    def read_data(
        cls,
        data: Any,
        path: str,
        reader: Reader,
        numbers: NumbersBetween | None,
        required: tuple[str, ...] | None,
    ) -> Self | None:
        """Return the description; a text is one of schema 1."""
        if isinstance(data, str):
            return cls(kind="", text=data)
        return super(Description, cls).read_data(data, path, reader, numbers, required)

    def describes_same(self, other: Description) -> bool:
        """Whether both are about the same threat of one run."""
        return bool(self.id) and self == other and self.id == other.id


def _wrong_type(place: str, value: Any, needed: type) -> Iterator[tuple[str, str]]:
    if not isinstance(value, needed) or isinstance(value, bool):
        yield place, f"must be {_NOUNS[needed]}; got {shown(value)}"


def text_only(text: str) -> Description:
    """Return the description of something that has no kind, by a text.

    Examples
    --------
    >>> text_only("the sum of all records").to_dict()
    {'kind': '', 'options': {}, 'text': 'the sum of all records', 'id': ''}
    """
    return Description(kind="", text=text)


def describe_release(release: Any) -> Description:
    """Return the description of a mechanism, a guarantee or several of them.

    Examples
    --------
    >>> import dpradar as dr
    >>> describe_release(dr.Repeated(dr.GRR(m=3, epsilon=1.0), 2)).options
    {'mechanism': {'kind': 'grr', 'group': 'local', 'options': {'m': 3, 'epsilon': 1.0}}, 'times': 2}
    """
    data = _release_data(release)
    return Description(kind=data["kind"], options=data["options"], text=repr(release))


def _release_data(release: Any) -> dict[str, Any]:
    """Return kind and options; of an object that declares no options, the name of its class."""
    from ..options import describe  # it is not needed to read a saved result

    parts = getattr(release, "mechanisms", None)
    if parts is not None:
        return {"kind": "composed", "options": {"mechanisms": [_release_data(part) for part in parts]}}
    kind = getattr(release, "KIND", None)
    if kind is None:
        return {"kind": type(release).__name__, "options": {}}
    options = {option.name: _plain(getattr(release, option.name)) for option in describe(type(release))}  # type: ignore[arg-type]
    group = {"group": "local"} if release.GROUP == "local" else {}
    return {"kind": kind, **group, "options": {name: value for name, value in options.items() if value is not None}}


def _plain(value: Any) -> Any:  # noqa: PLR0911 - one line a type
    """Return an option as JSON can hold it."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else repr(value)
    if hasattr(value, "KIND") or hasattr(value, "mechanisms"):
        return _release_data(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if hasattr(value, "tolist"):
        return _array(value)
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value] if len(value) <= _MOST_NUMBERS else _long(repr(value), len(value))
    return {"python": getattr(value, "__qualname__", type(value).__qualname__)}


def _array(array: Any) -> Any:
    if array.size <= _MOST_NUMBERS:
        return _plain(array.tolist())
    return _long(array.tobytes(), *array.shape)


def _long(contents: str | bytes, *lengths: int) -> dict[str, Any]:
    """Return how long a list is, and a digest by which it can be compared."""
    raw = contents.encode() if isinstance(contents, str) else contents
    return {"lengths": list(lengths), "digest": hashlib.sha256(raw).hexdigest()[:16]}
