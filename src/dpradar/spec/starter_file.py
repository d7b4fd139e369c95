"""A commented spec to start from, for every kind."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

from ..calibration.limit import COST_KEYS
from ..mechanisms.cost import cost_of
from ..options import Choice, Rows
from ..options.alternatives import Alternatives
from ..options.reading import PLAIN, inside
from .question import TIMES, release_of
from .release_kinds import KINDS
from .threat_options import SIZE, VALUES
from .write import value_text

if TYPE_CHECKING:
    from ..options import Option
    from .release_kinds import Kind

__all__ = ["starting_spec"]

_WIDTH = 34


def _line(key: str, value: str, comment: str, *, used: bool = True) -> str:
    text = f"{'' if used else '# '}{key} = {value}"
    return f"{text:<{_WIDTH}} # {comment}"


def _option(option: Option) -> str:
    """Return the line of an option with its example; what can be left out stands in a comment."""
    text = option.about.example
    is_file = isinstance(option.shape, Rows) and not text.startswith("[")
    value = text if is_file else option.shape.read(text, option.name, PLAIN)
    allowed = f" ({option.allowed})" if option.param is not None or isinstance(option.shape, Choice) else ""
    return _line(option.name, value_text(value), f"{option.about.what}{allowed}", used=_is_used(option))


def _is_used(option: Option) -> bool:
    """Whether a first question gives it: what is required, and a number that is 0 else."""
    return option.required or (option.param is not None and option.default == 0.0)


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
    lines += [_option(option) for option in known.options if "file" in option.about.places]
    costs = _utility("\n".join(lines))
    lines += [
        _option(TIMES),
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
    first, other = (VALUES, SIZE) if known.is_about_numbers else (SIZE, VALUES)
    options = [option for option in known.threat_options if option.about.file_help and option != other]
    return [_threat_line(option, known, first) for option in sorted(options, key=lambda option: option != first)]


def _threat_line(option: Option, known: Kind, first: Option) -> str:
    about, shape = option.about, option.shape
    example = about.example
    if isinstance(shape, Alternatives) and shape.takes_number(example) and not known.is_about_numbers:
        example = option.default
    text = known.first.get(option.name, example)
    value = text if option.param is not None else value_text(text)
    return _line(option.name, value, about.file_help, used=option == first or option.name in known.first)


def _utility(release: str) -> list[str]:
    """Return limits on the errors that are known of the release."""
    asked = tomllib.loads(release)["release"]
    costs = cost_of(release_of(asked, inside("release", None)))
    lines = ["", "# What the noise may cost: the release is checked against this too.", "# [utility]"]
    lines += [
        _line(option.name, option.about.example, option.about.file_help, used=False)
        for option in COST_KEYS
        if option.about.file_help and {option.name, option.about.beside} & set(costs)
    ]
    return lines if costs else []
