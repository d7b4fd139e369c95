"""What was assessed and who attacks, as data: a kind and its options."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, field, is_dataclass
from typing import TYPE_CHECKING, Annotated, Any, Self

from ..params import shown
from .field_shapes import Later, NumbersBetween, Reader
from .result_codec import Record
from .schema_1 import parsed_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["Description", "describe_release", "text_only"]


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


def _number(value: Any) -> str:
    return "" if _is_number(value) else "a number"


def _distance(value: Any) -> str:
    return "" if _is_number(value) and value >= 0 else "a number at least 0"


def _share(value: Any) -> str:
    return "" if _is_number(value) and 0 <= value <= 1 else "a number from 0 to 1"


def _count(value: Any) -> str:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return "" if whole and 1 <= value <= sys.float_info.max else "a whole number at least 1"


def _text(value: Any) -> str:
    return "" if isinstance(value, str) else "a text"


def _table(value: Any) -> str:
    return "" if isinstance(value, dict) else "a table"


def _names(value: Any) -> str:
    texts = isinstance(value, list) and value and all(isinstance(name, (str, int, float)) for name in value)
    return "" if texts else "a list of names"


_MOST_ENTRIES = 100  # of a longer list only the length is kept
# What pages need of the options of a kind: the check of each, or the kinds it may be of with the checks of those.
_OPTIONS: dict[str, dict[str, Any]] = {
    "record": {
        "prior": {
            "continuous": {"low": _number, "high": _number},
            "counted": {"size": _count},
            "uniform": {"size": _count},
            "probabilities": {"size": _count},
        },
        "knowledge": {"nothing": {}, "everything": {}, "labels": {"groups": _count}, "columns": {"columns": _names}},
        "goal": {
            "exact": {},
            "within": {"eta": _distance, "loss": _text},
            "labels": {"classes": _count},
            "columns": {"columns": _names},
        },
    },
    "membership": {"level": _share},
    "baseline": {"level": _share},
    "repeated": {"mechanism": _table, "times": _count},
}


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
    ('laplace', 2.0, {'lengths': [2], 'spread': 1.0})
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
            if callable(allowed):
                yield from _problem(f"options.{name}", option, allowed)
                continue
            kind = option.get("kind") if isinstance(option, dict) else None
            needed = allowed.get(kind) if isinstance(kind, str) else None
            if needed is None or option is None:
                yield f"options.{name}", f"must have a kind: {', '.join(allowed)}; got {shown(option)}"
                continue
            for key, check in needed.items():
                yield from _problem(f"options.{name}.{key}", option.get(key), check)

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
            kind, options = parsed_text(data)
            description = cls(kind=kind, options=options, text=data)
            return cls(kind="", text=data) if any(description.problems()) else description
        return super(Description, cls).read_data(data, path, reader, numbers, required)

    def describes_same(self, other: Description) -> bool:
        """Whether both are about the same threat of one run."""
        return bool(self.id) and self == other and self.id == other.id


def _problem(place: str, value: Any, check: Callable[[Any], str]) -> Iterator[tuple[str, str]]:
    allowed = check(value)
    if allowed:
        yield place, f"must be {allowed}; got {shown(value)}"


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

    parts = getattr(release, "mechanisms", None) if is_dataclass(release) else None
    if isinstance(parts, (list, tuple)):
        return {"kind": "composed", "options": {"mechanisms": [_release_data(part) for part in parts]}}
    if not _is_described(release):
        return {"kind": _kind_of(type(release), type(release).__name__), "options": {}}
    options: dict[str, Any] = {}
    for option in describe(type(release)):  # type: ignore[arg-type]
        value = getattr(release, option.name)
        if value is not None:
            options[option.name] = _extent(value) if option.about.private else _plain(value)
    group = {"group": "local"} if release.GROUP == "local" else {}
    return {"kind": _kind_of(type(release), release.KIND), **group, "options": options}


def _kind_of(cls: type, name: str) -> str:
    """Return the name of a kind; a class of others that is named as one of ours is told from it by its module."""
    from ..options.entry_points import is_own_class

    return name if name not in _OPTIONS or is_own_class(cls) else f"{cls.__module__}:{name}"


def _is_described(release: Any) -> bool:
    return is_dataclass(release) and isinstance(getattr(release, "KIND", None), str) and hasattr(release, "GROUP")


def _plain(value: Any) -> Any:
    """Return an option as JSON can hold it."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else repr(value)
    if _is_described(value) or (is_dataclass(value) and hasattr(value, "mechanisms")):
        return _release_data(value)
    if isinstance(value, (list, tuple)) and len(value) <= _MOST_ENTRIES:
        return [_plain(entry) for entry in value]
    return _extent(value)


def _extent(value: Any) -> Any:
    """Return how large an option is that may hold values of the prior: its lengths, and how far its numbers spread.

    The spread of contributions is their sensitivity, which a release states anyway. A digest would let the numbers be
    found by trying.
    """
    if callable(value):
        return {"python": getattr(value, "__qualname__", type(value).__qualname__)}
    lengths, inside = [], value.tolist() if hasattr(value, "tolist") else value
    numbers = inside
    while isinstance(inside, (list, tuple)) and inside:
        lengths.append(len(inside))
        inside = inside[0]
    if len(lengths) == 1 and all(_is_number(number) for number in numbers):
        return {"lengths": lengths, "spread": float(max(numbers) - min(numbers))}
    return {"lengths": lengths}
