"""Convert the outputs of any program to arrays: categories, numbers, bits or vectors."""

from __future__ import annotations

import re
from collections.abc import Iterable, Set
from decimal import Decimal
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal

from ..errors import ParameterError
from ..numerics.lazy_numpy import Array, Bools, Int64s, Ints, np

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

__all__ = [
    "REAL",
    "WHOLE",
    "Kind",
    "Normalised",
    "RequestedKind",
    "check_size",
    "encode",
    "missing_value_error",
    "normalise",
    "plain_list",
    "sort_names",
]

Kind = Literal["categorical", "real", "bits", "vector"]
RequestedKind = Literal["auto", "categorical", "real", "bits", "subset", "vector"]
Normalised = tuple[Kind, "Array", tuple[Any, ...] | None]

_KINDS = ("auto", "categorical", "real", "bits", "subset", "vector")
# How numbers are written. "007" is a word, so that it stays another value than "7", and so do bits such as "0110".
WHOLE = re.compile(r"[+-]?(?:0|[1-9][0-9]{0,4000})")
REAL = re.compile(
    r"[+-]?(?:(?:(?:0|[1-9][0-9]{0,300})(?:\.[0-9]*)?|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf(?:inity)?)", re.IGNORECASE
)

_MOST_CELLS = 2_000_000_000
_BITS = re.compile(r"[01]+")


def normalise(outputs: object, kind: RequestedKind = "auto", known_names: Sequence[Any] = ()) -> Normalised:
    """Return the kind of the outputs, one array with an entry or a row for each, and names.

    ==========================================================  ===========  ==========================  ==============
    outputs                                                     kind         array                       names
    ==========================================================  ===========  ==========================  ==============
    whole numbers                                               categorical  the numbers themselves      None
    booleans, words, a mixture of words and numbers             categorical  codes 0 .. k-1              one per code
    numbers, not all of a type for whole numbers                real         floats                      None
    rows of equal length of booleans or of 0 and 1              bits         booleans, a row each        None
    sets; lists of words; lists of whole numbers >= 0 of        bits         booleans: is the value in   one per column
    which none stands twice in its list, unless as above                     the set?
    rows of equal length of numbers; a 2-d array of numbers     vector       floats, a row each          None
    ==========================================================  ===========  ==========================  ==============

    ``kind`` forces one: ``"subset"`` reads lists as sets (the result is ``"bits"`` over the values seen),
    ``"vector"`` keeps lists of whole numbers as they are, ``"bits"`` also reads words such as ``"01101"``, and
    ``"categorical"`` takes any of the above, also whole rows, as categories. A numpy array that has the right type is
    returned as it is, not copied. ``known_names`` are the names of an earlier batch: they keep their codes, or columns,
    and new names come after them.

    Examples
    --------
    >>> normalise(["no", "yes", "no"])
    ('categorical', array([0, 1, 0]), ('no', 'yes'))
    >>> normalise([0.5, 2, -1.25])
    ('real', array([ 0.5 ,  2.  , -1.25]), None)
    >>> kind, array, names = normalise([{1, 7}, {7}, set()])
    >>> kind, array.astype(int).tolist(), names
    ('bits', [[1, 1], [0, 1], [0, 0]], (1, 7))
    >>> normalise(["no", "maybe"], known_names=("no", "yes"))
    ('categorical', array([0, 2]), ('no', 'yes', 'maybe'))
    """
    if kind not in _KINDS:
        raise ParameterError("output_kind", " or ".join(_KINDS), repr(kind))
    if isinstance(outputs, np.ma.MaskedArray):
        if np.ma.is_masked(outputs):
            at = int(np.argmax(np.ma.getmaskarray(outputs).reshape(len(outputs), -1).any(axis=1)))
            raise missing_value_error("outputs", at)
        outputs = outputs.data
    if not isinstance(outputs, np.ndarray) and hasattr(outputs, "__array__"):
        outputs = np.asarray(outputs)
    if isinstance(outputs, np.ndarray) and outputs.dtype.kind not in "OUT":
        return _from_array(outputs, kind, known_names)
    return _from_list(plain_list("outputs", outputs), kind, known_names)


def missing_value_error(name: str, position: int) -> ParameterError:
    """Return the error for a missing value at this position, counted from 0."""
    return ParameterError(name, "complete", f"a missing value in row {position + 1}", "Leave such rows out.")


def check_size(n_rows: int, n_values: int) -> None:
    """Raise when a table with a bit for each row and value would not fit in memory."""
    if n_rows * n_values > _MOST_CELLS:
        hint = "Group the values, so that there are fewer."
        raise ParameterError("outputs", f"at most {_MOST_CELLS} bits in all", f"{n_rows} x {n_values}", hint)


def plain_list(name: str, values: object) -> list[Any]:
    """Return the values as a list of Python objects."""
    if isinstance(values, list):
        return values
    if isinstance(values, str | bytes | dict | Set) or not isinstance(values, Iterable):
        raise ParameterError(name, "a list or an array with one entry for each sample", type(values).__name__)
    if isinstance(values, np.ndarray) and values.ndim != 1:
        hint = "Give one entry for each sample."
        raise ParameterError(name, "a flat list", f"an array with {values.ndim} dimensions", hint)
    return list(values.tolist() if isinstance(values, np.ndarray) else values)


def sort_names(names: Iterable[Any]) -> list[Any]:
    """Return the names sorted: numbers before words, and words before the rest."""

    def key(name: Any) -> tuple[int, Any]:
        if isinstance(name, Real):
            return 0, name
        return (1, name) if isinstance(name, str) else (2, repr(name))

    return sorted(names, key=key)


def encode(
    values: Sequence[Hashable], names: Sequence[Any] = (), *, ordered: bool = True
) -> tuple[Ints, tuple[Any, ...]]:
    """Return a code for each value, and the names behind the codes; ``names`` come first, with the codes they have."""
    listed = dict.fromkeys(names)
    new = [value for value in dict.fromkeys(values) if value not in listed]
    every = (*names, *(sort_names(new) if ordered else new))
    codes = {name: code for code, name in enumerate(every)}
    return np.fromiter(map(codes.__getitem__, values), dtype=np.intp, count=len(values)), every


# ------------------------------------------------------------------------------------------------------------- arrays


def _from_array(array: Array, kind: RequestedKind, known_names: Sequence[Any]) -> Normalised:
    if array.dtype.kind not in "biuf" or array.ndim not in (1, 2):
        description = f"an array of {array.dtype} with {array.ndim} dimensions"
        hint = "Give numbers, booleans, words, or one row of numbers for each output."
        raise ParameterError("outputs", "a flat array, or one with a row for each output", description, hint)
    if array.dtype.kind == "f" and np.isnan(array).any():
        at = np.isnan(array) if array.ndim == 1 else np.isnan(array).any(axis=1)
        raise missing_value_error("outputs", int(np.argmax(at)))
    return _flat(array, kind, known_names) if array.ndim == 1 else _rows(array, kind, known_names)


def _flat(array: Array, kind: RequestedKind, known_names: Sequence[Any]) -> Normalised:
    floats = array.dtype.kind == "f"
    if kind == "real" or (kind == "auto" and floats):
        return "real", array if floats else array.astype(float), None
    if kind not in ("auto", "categorical"):
        raise _wrong_kind(kind, "one number for each output")
    if known_names or floats:
        return "categorical", *encode(array.tolist(), known_names)
    if array.dtype.kind == "b":
        return "categorical", array.view(np.int8), (False, True)
    return "categorical", array, None


def _rows(array: Array, kind: RequestedKind, known_names: Sequence[Any]) -> Normalised:
    if kind == "categorical":
        return "categorical", *encode(list(map(tuple, array.tolist())), known_names)
    if kind in ("real", "subset"):
        raise _wrong_kind(kind, "an array with two dimensions")
    if kind != "vector":
        if array.dtype.kind == "b":
            return "bits", array, None
        # Floats are a vector even when all are 0.0 and 1.0, unless bits are asked for.
        if kind == "bits" or array.dtype.kind in "iu":
            if not np.any((array != 0) & (array != 1)):
                return "bits", array.astype(bool), None
            if kind == "bits":
                raise _wrong_kind(kind, "numbers besides 0 and 1")
    return "vector", array if array.dtype.kind == "f" else array.astype(float), None


def _wrong_kind(kind: str, got: str) -> ParameterError:
    return ParameterError("outputs", f"what output_kind {kind!r} can hold", got, "Choose another output_kind.")


# -------------------------------------------------------------------------------------------------------------- lists


def _type_group(kind: type) -> str:
    """Return what sort of thing the objects of a class are."""
    order = (
        ("boolean", (bool, np.bool_)),
        ("whole", (Integral,)),
        ("number", (Real, Decimal)),
        ("word", (str,)),
        ("set", (Set,)),
        ("row", (list, tuple, np.ndarray)),
    )
    return next((name for name, classes in order if issubclass(kind, classes)), "other")


def _type_groups(values: list[Any]) -> set[str]:
    groups = {_type_group(cls) for cls in set(map(type, values))}
    if "other" in groups:
        at, value = next((i, v) for i, v in enumerate(values) if _type_group(type(v)) == "other")
        if value is None:
            raise missing_value_error("outputs", at)
        description = f"{type(value).__name__} in row {at + 1}"
        raise ParameterError("outputs", "numbers, booleans, words, lists or sets", description)
    if groups & {"row", "set"} and groups - {"row", "set"}:
        raise ParameterError("outputs", "all lists or no lists", "a mixture")
    return groups


def _from_list(values: list[Any], kind: RequestedKind, known_names: Sequence[Any]) -> Normalised:
    groups = _type_groups(values)
    if "set" in groups:
        return _from_rows(values, kind, known_names, sets=True)
    if "row" in groups:
        array = _matrix(values) if kind in ("auto", "bits", "vector") else None
        if array is None or (kind == "auto" and _look_like_sets(array)):
            return _from_rows(values, kind, known_names, sets=array is not None)
        return _from_array(array, kind, known_names)
    if kind == "bits" and groups == {"word"}:
        return "bits", _bits_of_words(values), None
    return _from_scalars(values, groups, kind, known_names)


def _from_scalars(values: list[Any], groups: set[str], kind: RequestedKind, known_names: Sequence[Any]) -> Normalised:
    exact = _exact_integers(values) if groups <= {"whole", "boolean"} else None
    if exact is not None:
        return _from_array(exact.astype(bool) if groups == {"boolean"} else exact, kind, known_names)
    # Without words and fractions these are whole numbers of more than 64 bits.
    if kind == "categorical" or (kind == "auto" and ("word" in groups or "number" not in groups)):
        return "categorical", *_codes(values, known_names)
    if "word" in groups:
        raise _wrong_kind(kind, "words")
    return _from_array(np.array(values, dtype=float), kind, known_names)


def _codes(values: list[Any], known_names: Sequence[Any]) -> tuple[Ints, tuple[Any, ...]]:
    plain = [value.item() if isinstance(value, np.generic) else value for value in values]
    for name in dict.fromkeys(plain):
        if name != name:  # noqa: PLR0124 (only nan differs from itself)
            raise missing_value_error("outputs", plain.index(name))
    return encode(plain, known_names)


def _exact_integers(values: list[Any]) -> Int64s | None:
    """Return the numbers exactly, or None; numpy alone would turn very large ones into floats and merge some."""
    try:
        return np.array(values, dtype=np.int64)
    except OverflowError:
        return None


def _bits_of_words(words: list[str]) -> Bools:
    width = len(words[0])
    for position, word in enumerate(words):
        if len(word) != width or not _BITS.fullmatch(word):
            hint = "Write each output with the same number of 0 and 1, as in 01101."
            raise ParameterError("outputs", f"{width} bits in each row", f"another text in row {position + 1}", hint)
    characters = np.frombuffer("".join(words).encode("ascii"), dtype=np.uint8)
    return np.asarray(characters == ord("1")).reshape(len(words), width)


def _matrix(rows: list[Any]) -> Array | None:
    """Return rows of equal length of numbers as one array, or None."""
    if any(issubclass(cls, np.ma.MaskedArray) for cls in set(map(type, rows))):
        return None  # numpy would drop the masks, and with them what is missing
    try:
        array = np.array(rows)
    except (ValueError, OverflowError):
        return None
    return array if array.ndim == 2 and array.dtype.kind in "biuf" else None


def _look_like_sets(array: Array) -> bool:
    """Say whether rows are lists of distinct whole numbers from 0; else order or repetition matters: a vector."""
    if array.dtype.kind not in "iu" or not np.any((array != 0) & (array != 1)) or array.min() < 0:
        return False
    ordered = np.sort(array, axis=1)
    return not np.any(ordered[:, 1:] == ordered[:, :-1])


def _from_rows(values: list[Any], kind: RequestedKind, known_names: Sequence[Any], *, sets: bool) -> Normalised:
    """Return what is not an array of numbers: sets, lists of unequal length, lists of words."""
    rows = [_checked_row(row, position) for position, row in enumerate(values)]
    if kind == "categorical":
        return "categorical", *encode(
            [tuple(sort_names(r)) if isinstance(r, Set) else tuple(r) for r in rows], known_names
        )
    if kind == "real" or (kind == "vector" and sets):
        raise _wrong_kind(kind, "a list or a set for each output")
    inside = {_type_group(cls) for row in rows for cls in set(map(type, row))}
    if not (kind == "subset" or sets):
        lengths = set(map(len, rows))
        ragged = len(lengths) > 1
        if ragged and (kind != "auto" or inside & {"number"} or inside == {"boolean"}):
            at = next(i for i, row in enumerate(rows) if len(row) != len(rows[0]))
            description = f"{len(rows[at])} entries in row {at + 1} and {len(rows[0])} in row 1"
            raise ParameterError("outputs", "rows of equal length", description)
        if kind != "auto" or (not ragged and "word" not in inside):
            raise _wrong_kind(kind, "lists of words or of numbers with more than 64 bits")
    return _subsets(rows, known_names)


def _checked_row(row: Any, position: int) -> Any:
    if isinstance(row, np.ma.MaskedArray) and np.ma.is_masked(row):
        raise missing_value_error("outputs", position)
    plain = list(np.atleast_1d(row).tolist()) if isinstance(row, np.ndarray) else row
    groups = {_type_group(cls) for cls in set(map(type, plain))}
    if type(None) in map(type, plain) or ("number" in groups and any(v != v for v in plain)):  # noqa: PLR0124 (nan)
        raise missing_value_error("outputs", position)
    if groups & {"row", "set", "other"}:
        hint = "Give flat lists of numbers, booleans or words."
        raise ParameterError("outputs", "flat lists", f"something else in row {position + 1}", hint)
    return plain


def _subsets(rows: list[Any], known_names: Sequence[Any]) -> Normalised:
    lengths = np.fromiter(map(len, rows), dtype=np.intp, count=len(rows))
    codes, names = encode([value for row in rows for value in row], known_names)
    check_size(len(rows), len(names))
    bits = np.zeros((len(rows), len(names)), dtype=bool)
    bits[np.repeat(np.arange(len(rows)), lengths), codes] = True
    return "bits", bits, names
