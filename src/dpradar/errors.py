"""The exception tree: every error says what is wrong, what is allowed and what to do.

DpradarError
├── ParameterError(ValueError)      a parameter or an input array is outside its domain
├── SpecError(ValueError)           a spec file has problems; all of them are listed
├── UnsupportedError                this mechanism and this threat do not go together
├── NumericsError(ArithmeticError)  a computation could not reach the accuracy it promises
├── InconsistentEvidence            a lower bound lies above an upper bound: a bug or a broken claim
└── MissingExtra(ImportError)       an optional dependency is not installed

KeyboardInterrupt
└── AssessmentInterrupted           Ctrl-C during an assessment; holds the bounds computed so far
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "AssessmentInterrupted",
    "DpradarError",
    "InconsistentEvidence",
    "MissingExtra",
    "NumericsError",
    "ParameterError",
    "Problem",
    "SpecError",
    "UnsupportedError",
    "why_unreadable",
]

_TOO_LONG = "integer string conversion"  # part of Python's message about an int that is too long to convert


class DpradarError(Exception):
    """Catch this to catch everything dpradar raises on purpose."""


class AssessmentInterrupted(KeyboardInterrupt):
    """An assessment was interrupted before every rule was run.

    ``partial`` is an ``Assessment`` with the bounds of the rules that were run. They hold, but a rule that was not run
    may give a tighter one. It is None where nothing may be shown: bounds for a prior that was counted in a table
    are rounded only at the end.
    """

    def __init__(self, partial: Any, rules_run: int, rules: int) -> None:
        self.partial = partial
        self.rules_run = rules_run
        self.rules = rules
        super().__init__(f"interrupted after {rules_run} of {rules} rules")


class ParameterError(DpradarError, ValueError):
    """A parameter is outside its domain.

    The message is built from its parts, so that every caller words it the same way:
    ``Gaussian.sigma must be a number above 0; got -1. It is the standard deviation of the noise.``
    """

    def __init__(self, name: str, allowed: str, got: object, hint: str = "") -> None:
        self.name = name
        self.allowed = allowed
        self.got = got
        self.hint = hint
        message = f"{name} must be {allowed}; got {got}."
        super().__init__(f"{message} {hint}".rstrip())

    def __reduce__(self) -> tuple[type[ParameterError], tuple[str, str, object, str]]:
        return type(self), (self.name, self.allowed, self.got, self.hint)  # so that it passes between processes


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem of a spec: where it is, what is wrong and allowed, what to do.

    Examples
    --------
    >>> str(Problem("release.epsilon", "must be a number at least 0; got -1", "It is the privacy loss."))
    'release.epsilon: must be a number at least 0; got -1. It is the privacy loss.'
    """

    path: str
    message: str
    hint: str = ""

    def __str__(self) -> str:
        text = f"{self.message}. {self.hint}".rstrip()
        return f"{self.path}: {text}" if self.path else text


class SpecError(DpradarError, ValueError):
    """A spec has problems; ``problems`` are all of them, not only the first.

    Examples
    --------
    >>> print(SpecError("survey.toml", [Problem("release.epsilon", "is missing"), Problem("titel", "is not known")]))
    survey.toml has 2 problems:
      release.epsilon: is missing.
      titel: is not known.
    """

    def __init__(self, file: str, problems: Sequence[Problem]) -> None:
        self.file = file
        self.problems = tuple(problems)
        count = "a problem" if len(self.problems) == 1 else f"{len(self.problems)} problems"
        super().__init__("\n  ".join([f"{file} has {count}:", *map(str, self.problems)]))

    def __reduce__(self) -> tuple[type[SpecError], tuple[str, tuple[Problem, ...]]]:
        return type(self), (self.file, self.problems)


class UnsupportedError(DpradarError):
    """The mechanism and the threat do not go together; the message says what would."""


class NumericsError(DpradarError, ArithmeticError):
    """A computation could not reach the accuracy it promises."""


class InconsistentEvidence(DpradarError):
    """A lower bound lies above an upper bound; the message names both."""


class MissingExtra(DpradarError, ImportError):
    """An optional dependency is missing.

    Examples
    --------
    >>> str(MissingExtra("matplotlib", "report"))
    'this needs matplotlib, which is not installed. Run: pip install "dpradar[report]"'
    """

    def __init__(self, package: str, extra: str, distribution: str = "dpradar") -> None:
        self.package = package
        self.extra = extra
        self.distribution = distribution  # the one that has the extra
        super().__init__(f'this needs {package}, which is not installed. Run: pip install "{distribution}[{extra}]"')

    def __reduce__(self) -> tuple[type[MissingExtra], tuple[str, str, str]]:
        return type(self), (self.package, self.extra, self.distribution)


def why_unreadable(error: Exception) -> str:
    """Return why a file could not be read, as a sentence without its name, which the message has already.

    Examples
    --------
    >>> why_unreadable(FileNotFoundError(2, "No such file or directory", "prior.csv"))
    'No such file or directory.'
    >>> why_unreadable(ValueError("Exceeds the limit (4300 digits) for integer string conversion: ..."))
    'A whole number in it has more than 4,300 digits.'
    """
    if not isinstance(error, OSError) and _TOO_LONG in str(error):
        return f"A whole number in it has more than {sys.get_int_max_str_digits():,} digits."
    reason = error.strerror if isinstance(error, OSError) else None
    return f"{reason or error}."
