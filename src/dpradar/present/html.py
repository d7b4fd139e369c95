"""Results as HTML: a report in one file, and a fragment for pages that exist already."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._version import __version__
from ..errors import MissingExtra, ParameterError
from ..params import visible
from ..results.result_codec import with_digest
from .curve import chart_svg, curve_svg, scale_svg
from .icons import icons_svg
from .page import HEADINGS
from .pages import page_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jinja2 import Environment

    from .page import Curve, Page

__all__ = ["LARGEST", "document", "fragment", "report", "stylesheet"]

LARGEST = 300_000  # bytes of a report
_ROOM = 20  # lines below the label that fit on a sheet in normal print
_DRAWN = 12  # cards that keep their icons in a large report
_LEFT_OUT = "The data behind this report are too large to be part of it; save the result as JSON beside it."
# What could end a script element, or a string in JavaScript that is read from it, is written as an escape.
_ESCAPED = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


@cache
def stylesheet() -> str:
    """Return the style of everything that ``fragment`` draws; all of it is scoped to the class ``dpr``.

    Examples
    --------
    >>> "url(" in stylesheet() or "@import" in stylesheet()
    False
    """
    return files("dpradar.present").joinpath("templates", "style.css").read_text(encoding="utf-8")


@cache
def environment() -> Environment:
    """Return the templates, with escaping on."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
        from markupsafe import Markup
    except ImportError:
        raise MissingExtra("jinja2", "report") from None
    templates = Environment(
        loader=PackageLoader("dpradar.present", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )

    def trusted(draw: Any) -> Any:
        # The drawings escape every text themselves.
        return lambda one: Markup(draw(one))  # noqa: S704

    drawings = {"icons": icons_svg, "curve": curve_svg, "chart": chart_svg, "scale": scale_svg}
    templates.globals["draw"] = {name: trusted(draw) for name, draw in drawings.items()}
    templates.globals["attacked"] = _attacked
    templates.globals["headings"] = HEADINGS
    return templates


def _attacked(curve: Curve) -> bool:
    return any(mark.low is not None for mark in curve.marks)


def _plain(value: Any) -> Any:
    """Return the same data without numbers that JSON does not have."""
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return repr(value) if isinstance(value, float) and not math.isfinite(value) else value


def embedded(data: dict[str, Any]) -> str:
    r"""Return data as JSON that can stand in a script element.

    Examples
    --------
    >>> print(embedded({"title": "</script>"}))
    {"title":"\u003c/script\u003e"}
    """
    text = json.dumps(_plain(data), separators=(",", ":"), allow_nan=False)
    for sign, escape in _ESCAPED.items():
        text = text.replace(sign, escape)
    return text


def fragment(page: Page, level: int = 2) -> str:
    """Return a page without its frame; headings start at ``level``, and ``stylesheet`` goes with it.

    Examples
    --------
    >>> import dpradar as dr
    >>> fragment(page_of(dr.assess(dr.GRR(m=10, epsilon=1.0)))).startswith('<div class="dpr">')
    True
    """
    return visible(environment().get_template("fragment.html").render(page=page, level=level))


def _slimmer(value: Any, inside: str | None) -> Any:
    """Return the data of a run without curves and lost rules, everywhere or only below the key ``inside``."""
    if isinstance(value, list):
        return [_slimmer(one, inside) for one in value]
    if not isinstance(value, dict):
        return value
    if inside is None and "others" in value and "rates" in value:
        return {**value, "others": [], "rates": None}
    return {key: _slimmer(one, None if key == inside else inside) for key, one in value.items()}


def document(result: Any) -> str:
    """Return a result as an HTML document that needs nothing else: no script, no network, at most 300 kB.

    The data are part of it. Where they are too large, what can be computed again is left out, last of all the data.
    """
    from markupsafe import Markup

    template = environment().get_template("report.html")
    sheet = files("dpradar.present").joinpath("templates", "page.css").read_text(encoding="utf-8")
    # Style sheets of our own, and JSON in which nothing can end the script element.
    context: dict[str, Any] = {"version": __version__, "style": Markup(stylesheet()), "sheet": Markup(sheet)}  # noqa: S704
    bare = ""
    for page in _smaller(page_of(result)):
        context |= {"page": page, "dense": _dense(page)}
        bare = visible(template.render(**context, data="", missing=_LEFT_OUT))
        full = result.to_dict()
        for data in (full, _slimmer(full, "neighbours_cost"), _slimmer(full, None)):
            inside = embedded(with_digest(data) if "digest" in full else data)
            if len(bare.encode()) + len(inside) <= LARGEST:
                return visible(template.render(**context, data=Markup(inside), missing=""))  # noqa: S704
        if len(bare.encode()) <= LARGEST:
            return bare
    got = f"{len(bare.encode()) // 1000} kB"
    raise ParameterError("report", f"at most {LARGEST // 1000} kB", got, "Write one report for each release.")


def _dense(page: Page) -> bool:
    """Whether a page needs smaller print to stay on one sheet of paper: an estimate of its lines."""
    rows = sum(len(table.rows) for table in page.tables)
    utility = 0 if page.utility is None else 2 + sum(2 + len(table.rows) for table in page.utility.tables)
    return rows + 4 * len(page.evidence) + utility + 2 * bool(page.decision) > _ROOM


def _smaller(page: Page) -> Iterator[Page]:
    """Return the page, then the page with less of what is only there to look things up."""
    yield page
    yield replace(page, others=())
    cards = [*page.cards[:_DRAWN], *(replace(card, icons=None) for card in page.cards[_DRAWN:])]
    yield replace(page, others=(), cards=tuple(cards))


def report(result: Any, path: str | Path) -> Path:
    """Write a result as one HTML file and return where it is.

    Examples
    --------
    >>> import dpradar as dr, tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report(dr.assess(dr.GRR(m=10, epsilon=1.0)), pathlib.Path(folder) / "risk.html").stat().st_size < 300_000
    True
    """
    where = Path(path)
    where.write_text(document(result), encoding="utf-8")
    return where
