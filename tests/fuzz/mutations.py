"""Damage to files: values out of range, types, keys, lines, bytes; every one a pure function of the generator."""

from __future__ import annotations

import copy
import json
import math
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import random

NUMBERS: tuple[Any, ...] = (
    -5, 7, -0.0, 0, 1, 0.5, -1e-9, 1 + 1e-6, 1e308, -1e308, 5e-324, math.nan, math.inf, -math.inf, 10**400, 2**63, -1,
    1_000_000_000,
)  # fmt: skip
OTHERS: tuple[Any, ...] = (
    None,
    True,
    False,
    "",
    "x",
    "1e999",
    "NaN",
    "\u202e",
    "a" * 300,
    [],
    {},
    [[]],
    {"a": 1},
    [1, "x"],
)


def places(data: Any, before: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths to all values in plain data."""
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    paths = []
    for key, value in items:
        paths += [(*before, key), *places(value, (*before, key))]
    return paths


def at(data: Any, path: tuple[Any, ...]) -> Any:
    """The value at a path."""
    for key in path:
        data = data[key]
    return data


def changed_data(rng: random.Random, data: Any) -> Any:
    """The data with one to three changes; numbers are changed most often."""
    changed = copy.deepcopy(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        paths = places(changed)
        if not paths:
            return changed
        numeric = [p for p in paths if isinstance(at(changed, p), (int, float, bool))]
        path = rng.choice(numeric if numeric and rng.random() < 0.6 else paths)
        _change(rng, changed, path)
    return changed


def _change(rng: random.Random, data: Any, path: tuple[Any, ...]) -> None:
    holder, key, value = at(data, path[:-1]), path[-1], at(data, path)
    choice = rng.randrange(8)
    if isinstance(value, bool) and choice < 5:
        holder[key] = not value
    elif isinstance(value, (int, float)) and choice < 5:
        holder[key] = rng.choice((*NUMBERS, value * 0.2, value * 3, -value, value + 1))
    elif choice == 5:
        del holder[key]
    elif choice == 6 and isinstance(holder, dict):
        holder[f"{key}2" if rng.random() < 0.5 else str(key).upper()] = holder.pop(key)
    else:
        holder[key] = copy.deepcopy(rng.choice((*OTHERS, *NUMBERS)))


def changed_json(rng: random.Random, data: Any) -> bytes:
    """A JSON file of changed data, or a changed file."""
    if rng.random() < 0.8:
        return json.dumps(changed_data(rng, data)).encode()
    return changed_bytes(rng, json.dumps(data, indent=1).encode())


def changed_bytes(rng: random.Random, content: bytes) -> bytes:
    """A file with some bytes changed, cut off or put in."""
    raw, choice = bytearray(content), rng.randrange(9)
    place = rng.randrange(len(raw)) if raw else 0
    if choice <= 2 and raw:
        raw[place] ^= 1 << rng.randrange(8)
    elif choice == 3:
        del raw[place:]
    elif choice == 4:
        raw[place:place] = rng.choice((b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", "é".encode("latin-1"), b"\r", b'"', b"{"))
    elif choice == 5:
        return rng.choice(
            (b"", b"null", b"[]", b"{}", b"[" * 100_000, b"1" * 5001, b"\x1f\x8b\x08\x00", b"PAR1", b"\x00" * 64)
        )
    elif choice == 6 and raw:
        end = rng.randrange(place, len(raw) + 1)
        del raw[place:end]
    elif choice == 7:
        raw = raw.replace(b"\n", b"\r\n")
    else:
        raw += raw[place:]
    return bytes(raw)


_NUMBER = re.compile(r"(?<![\w.\"'])-?\d[\d_]*(?:\.\d+)?(?:e-?\d+)?(?![\w.\"'])")


def toml_number(value: Any) -> str:
    """A number as TOML writes it."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return "9" * 400 if isinstance(value, int) and abs(value) > 10**300 else repr(value)


def changed_toml(rng: random.Random, text: str) -> bytes:
    """A TOML file with a number, a word, a key or a line changed."""
    choice = rng.randrange(7)
    numbers = list(_NUMBER.finditer(text))
    if choice <= 2 and numbers:
        hit = rng.choice(numbers)
        small = [v for v in NUMBERS if not isinstance(v, int) or abs(v) < 10**8 or v > 10**300]
        text = text[: hit.start()] + toml_number(rng.choice(small)) + text[hit.end() :]
        return text.encode()
    if choice == 6:
        return changed_bytes(rng, text.encode())
    lines = text.splitlines()
    place = rng.randrange(len(lines))
    if choice == 3:
        del lines[place]
    elif choice == 4:
        lines.insert(place, rng.choice(lines))
    elif "=" in lines[place]:
        key, value = lines[place].split("=", 1)
        words = ('"x"', "[]", "{}", "true", "nan", "[1, 2]", '["a"]', "1979-05-27", '""', '"\\u202e"', f'"{"a" * 300}"')
        lines[place] = f"{key}= {rng.choice(words)}" if rng.random() < 0.6 else f"{key.strip()}x ={value}"
    return "\n".join(lines).encode()
