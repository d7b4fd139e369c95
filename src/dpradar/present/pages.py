"""The page of a result: that of the kind ``audit`` is made by the function ``page`` of the module ``audit``."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from ..errors import ParameterError
from ..results.result_codec import Result
from .sentences import UNVERIFIED

if TYPE_CHECKING:
    from .page import Page

__all__ = ["page_of"]


def page_of(result: Any) -> Page:
    """Return the page of a result.

    Examples
    --------
    >>> import dpradar as dr
    >>> page = page_of(dr.assess(dr.GRR(m=10, epsilon=1.0), dr.Threat(dr.Prior.uniform(10))))
    >>> page.verdict.text
    'Of every 100 people, an attacker who goes by the data guesses 14 more correctly because they took part.'
    """
    if not isinstance(result, Result):
        raise ParameterError("page_of", "given a result", type(result).__name__)
    page = cast("Page", import_module(f".{result.KIND}", __package__).page(result))
    if not result.unverified:
        return page
    return replace(page, verdict=replace(page.verdict, more=(*page.verdict.more, UNVERIFIED)))
