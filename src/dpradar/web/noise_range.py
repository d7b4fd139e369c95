"""The range of noise that the limits allow, as a sentence and as a drawing."""

from __future__ import annotations

import math
from html import escape
from typing import Any

from ..present.numbers import safe_number
from ..present.verdicts import HARDLY

__all__ = ["band_sentence", "band_svg"]

_WIDTH, _LEFT, _RIGHT, _TOP, _BOTTOM = 420.0, 10.0, 410.0, 26.0, 52.0
_MARGIN_FACTOR = 3.0  # factor beyond what is marked


def _axis_ends(band: dict[str, Any]) -> tuple[float, float]:
    """Return the axis: the typical range, and wider where a mark lies outside."""
    low, high = band["range"]
    marks = [band[name]["value"] for name in ("least", "most") if band[name] and band[name]["value"]]
    low = low if low > 0.0 else high / 1000.0
    return min([low, *(mark / _MARGIN_FACTOR for mark in marks)]), max(
        [high, *(mark * _MARGIN_FACTOR for mark in marks)]
    )


def _allowed_range(band: dict[str, Any], low: float, high: float) -> tuple[float, float] | None:
    """Return the values that keep every limit, or None where there are none."""
    least, most = band["least"], band["most"]
    if (least is not None and least["value"] is None) or (most is not None and most["value"] is None):
        return None
    by_risk = least["value"] if least is not None and least["status"] != "free" else None
    by_cost = most["value"] if most is not None and most["status"] != "free" else None
    first, last = (by_risk, by_cost) if band["up"] else (by_cost, by_risk)
    start, end = low if first is None else first, high if last is None else last
    return (start, end) if start <= end else None


def _limit_text(band: dict[str, Any], name: str) -> str:
    """Return a limit as text, rounded to the side that keeps it."""
    value = band[name]["value"]
    more_noise_is_up = band["up"] == (name == "least")
    return safe_number(value, "up" if more_noise_is_up else "down", 4)


def band_sentence(band: dict[str, Any]) -> str:
    """Return the range of noise that the limits allow, in words.

    Examples
    --------
    >>> both = {"least": {"value": 2.50437, "status": "met"}, "most": {"value": 1.2, "status": "met"}}
    >>> band_sentence({"parameter": "epsilon", "up": False, "range": [0.05, 12.0], **both})
    'The risk allows epsilon up to 2.504; the accuracy needs at least 1.200. Every epsilon between them keeps both.'
    """
    name, least, most = band["parameter"], band["least"], band["most"]
    side, other = ("at least", "up to") if band["up"] else ("up to", "at least")
    parts = []
    if least is not None:
        if least["value"] is None:
            return f"No {name} keeps the limit on the risk."
        if least.get("idle"):
            return "Even publishing the raw data would keep the limit on the risk, so it does not protect: lower it."
        limit_words = f"{side} {_limit_text(band, 'least')}" if least["status"] != "free" else "of any size"
        parts.append(
            f"The risk allows {name} {limit_words}" if not band["up"] else f"The risk needs {name} {limit_words}"
        )
    if most is not None:
        if most["value"] is None:
            return f"No {name} keeps the limit on the accuracy."
        word = "needs" if not band["up"] else "allows"
        limit_words = f"{other} {_limit_text(band, 'most')}" if most["status"] != "free" else "any"
        parts.append(f"the accuracy {word} {limit_words}" if parts else f"The accuracy {word} {name} {limit_words}")
    if least is not None and least.get("near"):
        parts[0] += f", which is {HARDLY}"
    joined = "; ".join(parts)
    if least is None or most is None:
        return f"{joined}."
    both = "Every" if _allowed_range(band, *_axis_ends(band)) else "No"
    return f"{joined}. {both} {name} {'between them ' if both == 'Every' else ''}keeps both."


def band_svg(band: dict[str, Any]) -> str:
    """Return the axis of the parameter with the range that keeps every limit."""
    low, high = _axis_ends(band)

    def x(value: float) -> float:
        share = math.log(value / low) / math.log(high / low)
        return _LEFT + (_RIGHT - _LEFT) * min(max(share, 0.0), 1.0)

    near = band["least"] is not None and band["least"].get("near")
    inside = None if near else _allowed_range(band, low, high)  # nothing is marked as kept that hardly protects
    elements = [f'<path class="g" d="M{_LEFT} {_TOP}H{_RIGHT}V{_BOTTOM}H{_LEFT}Z"/>']
    if inside is not None:
        start, end = x(inside[0]), x(inside[1])
        elements.append(
            f'<rect class="ok" x="{start:.1f}" y="{_TOP}" width="{max(end - start, 2.0):.1f}" height="26"/>'
        )
    for name, word in (("least", "risk"), ("most", "accuracy")):
        end_of = band[name]
        if end_of is not None and end_of["value"] is not None and end_of["status"] != "free":
            at = x(end_of["value"])
            anchor = "start" if at < _WIDTH * 0.2 else "end" if at > _WIDTH * 0.8 else "middle"
            y = _TOP - 9 if name == "least" else _BOTTOM + 34
            elements.append(f'<path class="b" d="M{at:.1f} {_TOP - 5}V{_BOTTOM + 5}"/>')
            parts = escape(f"{word}: {_limit_text(band, name)}")
            elements.append(f'<text x="{at:.1f}" y="{y}" text-anchor="{anchor}">{parts}</text>')
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    step = max(1, (last - first) // 6)
    for power in range(first, last + 1, step):
        at = x(10.0**power)
        elements.append(f'<path class="g" d="M{at:.1f} {_BOTTOM}v5"/>')
        elements.append(f'<text class="q" x="{at:.1f}" y="{_BOTTOM + 18}" text-anchor="middle">{10.0**power:g}</text>')
    label = escape(band_sentence(band), quote=True)
    return f'<svg class="band" viewBox="0 0 {_WIDTH:g} 92" role="img" aria-label="{label}">{"".join(elements)}</svg>'
