"""Write a spec as TOML, and a question as a command line or as Python code: three ways to the same numbers."""

from __future__ import annotations

import datetime as dt
import json
import re
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ..errors import ParameterError
from ..options import Rows, Span, by_name
from ..options.alternatives import Alternatives
from ..options.reading import FLAGS, PLAIN
from ..options.tables import options_of
from ..threats.attackers import can_be_simulated
from .model import RELATION, REPORT_KEYS, TOP_KEYS
from .question import TIMES, release_call, threat_call
from .release_kinds import KINDS, kind_of
from .threat_options import OPTIONS, VALUES, ThreatOptions

if TYPE_CHECKING:
    from ..options import Option
    from ..options.reading import Options, Where
    from .model import Spec

__all__ = ["command", "python", "toml", "value_text"]

_BARE = re.compile(r"[A-Za-z0-9_-]+")


# ------------------------------------------------------------------------------------------------------------- TOML


def toml(spec: Spec, *, hide: bool = False) -> str:
    r"""Return a spec as TOML; reading it gives the same spec.

    With ``hide``, lists of probabilities, values, labels, records and contributions become comments that say how long
    they are.

    Examples
    --------
    >>> from dpradar.spec import parse
    >>> spec = parse('release = {kind = "grr", m = 2, epsilon = 1}\nthreat = {prior = [0.9, 0.1]}')
    >>> print(toml(spec, hide=True))
    [release]
    kind = "grr"
    m = 2
    epsilon = 1.0
    <BLANKLINE>
    [threat]
    # prior: 2 entries, not shown
    """
    parts = [_lines(options_of(spec, TOP_KEYS))]
    releases = [(one.table, _private(KINDS[one.kind].options)) for one in spec.releases]
    threats = [(one.table, _private(OPTIONS.values())) for one in spec.threats]
    for name, tables in (("release", releases), ("threat", threats)):
        heading = f"[{name}]" if len(tables) == 1 else f"[[{name}]]"
        parts += [[heading, *_lines(table, hidden=private if hide else ())] for table, private in tables]
    for name, table in _rest(spec).items():
        if table:
            parts.append([f"[{name}]", *_lines(table)])
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def _rest(spec: Spec) -> dict[str, dict[str, Any]]:
    evidence: dict[str, Any] = {}
    if spec.attack is not None:
        evidence["attack"] = {name: value for name, value in asdict(spec.attack).items() if value is not None}
    if spec.results:
        evidence["results"] = list(spec.results)
    report = options_of(spec, REPORT_KEYS)
    return {"utility": spec.utility, "evidence": evidence, "report": report, "decision": spec.decision}


def _private(options: Iterable[Option]) -> set[str]:
    return {option.name for option in options if option.about.private}


def _lines(table: Mapping[str, Any], hidden: Collection[str] = ()) -> list[str]:
    return [
        _hidden(key, value) if key in hidden and _is_listed(value) else f"{_key(key)} = {value_text(value)}"
        for key, value in table.items()
    ]


def _is_listed(value: Any) -> bool:
    """Whether a value says something about records itself, instead of naming where they are."""
    if isinstance(value, str) and value.startswith(("@", "columns:", "continuous:")):
        return False  # names of files, columns and distributions
    return not isinstance(value, str) or "," in value or value.lstrip().startswith(("[", "{"))


def _hidden(key: str, value: Any) -> str:
    while isinstance(value, Mapping) and len(value) == 1:
        value = next(iter(value.values()))
    count = len(value.split(",")) if isinstance(value, str) else len(value) if hasattr(value, "__len__") else 1
    return f"# {key}: {count} entries, not shown"


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _text(key)


def _text(text: str) -> str:
    # JSON escapes what TOML does, but for the one control character that JSON allows.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def value_text(value: Any) -> str:
    """Return a value as TOML writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, (int, float)):
        return repr(value)  # inf and nan are written as in Python
    if isinstance(value, dt.date):
        return value.isoformat()
    if isinstance(value, Mapping):
        inner = ", ".join(f"{_key(str(key))} = {value_text(one)}" for key, one in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, Sequence):
        return f"[{', '.join(map(value_text, value))}]"
    raise ParameterError("toml", "given text, numbers, dates, lists and tables", type(value).__name__)


# ---------------------------------------------------------------------------------------------------- command line


def command(question: Options, *, verb: str = "assess", further: Sequence[str] = ()) -> str:
    r"""Return the command line that asks a question; ``further`` words are added at the end.

    Examples
    --------
    >>> command({"kind": "grr", "m": 3, "epsilon": 2.0, "prior": [0.5, 0.3, 0.2], "goal": {"labels": ["a", "b", "b"]}})
    'dpradar assess grr --m 3 --epsilon 2.0 --prior 0.5,0.3,0.2 --goal labels:a,b,b'
    """
    kind = kind_of(question, PLAIN)
    if not kind.on_command_line:
        hint = "Write a spec file and `dpradar run` it."
        raise ParameterError("command", "about a kind that the command line knows", repr(question["kind"]), hint)
    ends = VALUES if ThreatOptions.of(question).prior_is_continuous else None
    words = ["dpradar", verb, str(question["kind"])]
    for name, option in by_name([*kind.options, *kind.threat_options, TIMES, RELATION]).items():
        value = question.get(name)
        if value is None or value is False or value == option.default:
            continue
        if verb == "attack" and (name == RELATION.name or not can_be_simulated(option.about)):
            continue
        pair = isinstance(option.shape, Span) or option == ends
        words += [FLAGS(name)] if value is True else [FLAGS(name), _word(option, value, pair=pair)]
    return shlex.join([*words, *further])


def _word(option: Option, value: Any, *, pair: bool) -> str:
    """Return a value as the command line writes it; JSON where there is no shorter way."""
    if isinstance(value, str):
        return value
    if pair and len(value) == 2:
        return f"{value[0]!r}:{value[1]!r}"
    if isinstance(value, Mapping) and len(value) == 1 and isinstance(option.shape, Alternatives):
        return _named(*next(iter(value.items())), value)
    if isinstance(value, Sequence) and not isinstance(option.shape, Rows) and _numeric(value):
        return ",".join(map(repr, value))
    return repr(value) if isinstance(value, (int, float)) else json.dumps(value)


def _named(kind: str, rest: Any, whole: Any) -> str:
    if isinstance(rest, (int, float)):
        return f"{kind}:{rest!r}"
    words = [rest] if isinstance(rest, str) else list(rest)
    short = all(
        isinstance(word, str) and word.strip() == word and word and not set(word) & set(",\n") for word in words
    )
    return (
        f"{kind}:{','.join(words)}"
        if short and words and not words[0].startswith(("@", "[", "{"))
        else json.dumps(whole)
    )


def _numeric(value: Sequence[Any]) -> bool:
    return bool(value) and all(isinstance(one, (int, float)) and not isinstance(one, bool) for one in value)


# ----------------------------------------------------------------------------------------------------------- Python


def python(question: Options, where: Where = PLAIN, *, function: str = "assess", **further: Any) -> str:
    """Return Python code that asks a question and prints the answer; the content of files is written out.

    ``further``: other arguments of the function.

    Examples
    --------
    >>> print(python({"kind": "grr", "m": 100, "epsilon": 2.0, "knowledge": "everything"}))
    import dpradar as dr
    <BLANKLINE>
    release = dr.GRR(m=100, epsilon=2.0)
    threat = dr.Threat(dr.Prior.uniform(100), dr.Knowledge.everything(), dr.Goal.exact())
    result = dr.assess(release, threat)
    print(result.explain())
    <BLANKLINE>
    """
    release, threat = release_call(question, where), threat_call(question, where)
    relation = question.get(RELATION.name)
    arguments = further if relation is None else {RELATION.name: relation, **further}
    argument = "".join(f", {name}={value!r}" for name, value in arguments.items())
    lines = ["import dpradar as dr", *release.imports(), *threat.imports(), ""]
    lines += [f"release = {release.source()}", f"threat = {threat.source()}"]
    lines += [f"result = dr.{function}(release, threat{argument})", "print(result.explain())", ""]
    return "\n".join(lines)
