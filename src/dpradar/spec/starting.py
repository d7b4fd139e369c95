"""A commented spec to start from, for every kind."""

from __future__ import annotations

import math
import tomllib
from typing import TYPE_CHECKING

from ..mechanisms.cost import cost_of
from .kinds import KINDS
from .question import release_of
from .words import inside
from .write import value_text

if TYPE_CHECKING:
    from ..params import Param

__all__ = ["starting_spec"]

# Numbers that make a sensible first question; everything else starts in the middle of what is typical.
_VALUES: dict[str, float] = {"m": 10, "epsilon": 1.0, "delta": 1e-6, "rho": 0.05, "mu": 0.5, "steps": 1000}
_EXTRA = {
    "query": ("[0.0, 1.0]", "what the target adds to the released number, for each value the record can have"),
    "truncate": ("[0.0, 10.0]", "the output is clamped to this range"),
    "sensitivity": ("1.0", "instead of values in [threat]: how far one person moves the output; with neighbours"),
    "nonnegative": ("true", "nobody's contribution has a negative entry, as in a histogram"),
    "interval": ("[0.0, 10.0]", "outputs are any number of this interval"),
    "utility": ('"utility.csv"', "a table, rows = inputs, columns = outputs"),
    "matrix": ("[[0.9, 0.1], [0.2, 0.8]]", "probabilities of the outputs, one row for each input; or a CSV file"),
    "neighbours": ('"add-remove"', "which data sets the guarantee compares: add-remove or replace-one"),
    "orders": ("[2.0, 4.0, 8.0]", "orders of the Renyi divergences"),
    "epsilons": ("[0.1, 0.2, 0.4]", "the bound at each order"),
    "fpr": ("[0.1, 0.4]", "false-positive rates of points of the curve"),
    "fnr": ("[0.7, 0.4]", "false-negative rates there"),
}
_OPTIONAL = ("query", "truncate", "sensitivity", "nonnegative", "interval", "utility")
_OF_SENSITIVITY = "of the sensitivity: add-remove (one person added or removed) or replace-one"
_NUMERIC = ("laplace", "gaussian", "geometric", "discrete-gaussian", "exponential")
_WIDTH = 34


def _line(key: str, value: str, comment: str, *, used: bool = True) -> str:
    text = f"{'' if used else '# '}{key} = {value}"
    return f"{text:<{_WIDTH}} # {comment}"


def _extra(name: str, names: tuple[str, ...]) -> str:
    value, comment = _EXTRA[name]
    if name == "neighbours" and "sensitivity" in names:
        return _line(name, value, _OF_SENSITIVITY, used=False)
    return _line(name, value, comment, used=name not in _OPTIONAL)


def _number(param: Param) -> float:
    if param.name in _VALUES:
        return _VALUES[param.name]
    low, high = param.typical
    middle = math.sqrt(max(low, high / 100.0) * high)
    return round(middle, 1 - math.floor(math.log10(middle)))


def starting_spec(kind: str = "grr") -> str:
    """Return a spec that can be run as it is, with comments on what can be changed.

    Examples
    --------
    >>> print(starting_spec("grr").splitlines()[6])
    [release]
    """
    known = KINDS[kind]
    lines = [
        "# A spec of dpradar. Run it:  dpradar run FILE --report risk.html",
        "# Everything after a # is a comment; remove the # in front of a key to use it.",
        'title = "What could someone learn about one person?"',
        '# description = "For whom this is, and what it is about."',
        "# Several releases: write [[release]] for each of them, and how they are judged:",
        '# together = "compose"              # all were published about the same people; or "compare": one will be',
        "[release]",
        f'kind = "{kind}"'.ljust(_WIDTH) + f" # {known.help}",
    ]
    lines += [_line(p.name, value_text(_number(p)), f"{p.what} ({p.allowed})") for p in known.params]
    lines += [_extra(name, known.names) for name in known.names if name in _EXTRA]
    costs = _utility("\n".join(lines))
    lines += [
        _line("times", "12", "how often it is made about the same person", used=False),
        _line("what", '"who counts, and what is counted"', "for people, as are name, date and note", used=False),
        "",
        "[threat]",
        _line("name", '"someone who knows nothing"', "for people"),
        *_threat(kind),
        _line("limits", "{ rad = 0.1 }", "`dpradar run FILE --check` fails where this is exceeded"),
        _line("limit_source", '"who set the limit, and where"', "for people", used=False),
        *costs,
        "",
        "# Who assessed, who decided what, and until when it holds.",
        "# [decision]",
        '# assessed_by = "survey methods group"',
        '# decided_by = "data protection officer"',
        "# date = 2026-01-31",
        "# review_by = 2027-01-31",
        '# outcome = "may be released"',
    ]
    return "\n".join(lines) + "\n"


def _threat(kind: str) -> list[str]:
    """Return the threat of a first question: what the record can be, as the kind needs it."""
    known = KINDS[kind]
    own = "m" in [param.name for param in known.params] or kind == "channel"
    count = _VALUES["m"] if kind != "channel" else 2
    lines = []
    if kind in _NUMERIC:
        lines.append(
            _line("values", '"0:9"', "what the record can be; all values are equally likely unless prior says else")
        )
    elif not own:
        lines.append(_line("m", "10", "how many values the record can have, all equally likely"))
    shares = value_text([round(1.0 / count, 6)] * int(count)) if count <= 10 else '"@prior.csv"'
    lines.append(_line("prior", shares, "how likely each value is; also @file", used=False))
    lines.append(_line("knowledge", '"everything"', "what is known of the target; nothing unless given", used=False))
    goal = '"within:2"' if kind in _NUMERIC else '"exact"'
    lines.append(_line("goal", goal, "what counts as a right guess; exact unless given", used=False))
    lines.append(_line("membership", "0.5", "instead of all this: was the target's record used? (prior)", used=False))
    return lines


def _utility(release: str) -> list[str]:
    """Return limits on the errors that are known of the release."""
    asked = tomllib.loads(release)["release"]
    costs = cost_of(release_of(asked, inside("release", None)))
    lines = ["", "# What the noise may cost: the release is checked against this too.", "# [utility]"]
    if "frequency_error" in costs:
        lines.append(_line("frequency_error", "0.05", "standard deviation of an estimated frequency", used=False))
        lines.append(_line("reports", "10000", "estimated from this many reports", used=False))
    elif "error" in costs:
        lines.append(_line("error", "100.0", "95 of 100 released numbers are closer than this", used=False))
    return lines if costs else []
