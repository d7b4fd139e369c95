"""Which page belongs to which kind of result; a new kind is a line here and a module with its page."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from .page import Page

__all__ = ["page_of"]

# Class of the result, and the module of this package whose function ``page`` describes it; loaded when it is needed.
_MODULES = {
    "Assessment": "assessment",
    "Calibration": "calibration",
    "AttackRun": "attack",
    "AuditResult": "audit",
    "RunResult": "run",
    "Accounting": "accounting",
    "Advice": "advice",
    "LintReport": "lint",
    "Correlation": "correlation",
}


def page_of(result: Any) -> Page:
    """Return the page of a result.

    Examples
    --------
    >>> import dpradar as dr
    >>> page = page_of(dr.assess(dr.GRR(m=10, epsilon=1.0), dr.Threat(dr.Prior.uniform(10))))
    >>> page.verdict.text
    'Because they took part, an attacker who learns from the data is right about 14 more people in every 100.'
    """
    from ..errors import ParameterError

    module = _MODULES.get(type(result).__name__)
    if module is None:
        raise ParameterError("page_of", f"given one of {', '.join(_MODULES)}", type(result).__name__)
    return cast("Page", import_module(f".{module}", __package__).page(result))
