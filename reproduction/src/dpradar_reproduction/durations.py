"""How long figures take, roughly, for the time left of a first run; later runs know better."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["expected_seconds"]

_USUAL = 1.5
# Seconds on one core of a small machine, measured; with made-up towns some take twice as long.
_SECONDS: Mapping[str, float] = {
    "rad:fig6": 7,
    "rad:fig7": 27,
    "rad:fig8": 6,
    "rad:fig9": 9,
    "measurement:fig5.1": 3,
    "measurement:fig6.4": 4,
    "measurement:fig6.5": 5,
    "measurement:fig6.6": 8,
    "measurement:fig6.7": 8,
    "measurement:table6.3": 4,
    "measurement:table6.4": 5,
    "measurement:fig6.8": 12,
    "measurement:fig6.10": 6,
    "measurement:fig6.11": 10,
    "measurement:fig6.12": 12,
    "measurement:fig6.13": 6,
    "measurement:fig6.14": 10,
    "measurement:fig10.2": 7,
    "measurement:fig10.3": 10,
    "measurement:fig10.4": 20,
    "thesis:fig6.7": 6,
    "thesis:fig6.9": 6,
}
_QUICK: Mapping[str, float] = {
    "rad:fig4": 45,
    "rad:fig5": 45,
    "rad:fig10": 15,
    "rad:fig11": 15,
    "measurement:fig8.1": 70,
    "measurement:fig8.2": 12,
    "measurement:fig8.3": 30,
    "rad:table2": 3,
    "measurement:table8.1": 3,
    "measurement:table8.2": 3,
}
_FULL: Mapping[str, float] = {
    "rad:fig4": 3500,
    "rad:fig5": 3500,
    "rad:fig10": 650,
    "rad:fig11": 650,
    "measurement:fig8.1": 400,
    "measurement:fig8.2": 60,
    "measurement:fig8.3": 250,
    "rad:table2": 40,
    "measurement:table8.1": 90,
    "measurement:table8.2": 130,
}


def expected_seconds(name: str, *, quick: bool) -> float:
    """Return about how many seconds a figure takes on one core.

    Examples
    --------
    >>> expected_seconds("rad:fig4", quick=True) < expected_seconds("rad:fig4", quick=False)
    True
    """
    return float({**_SECONDS, **(_QUICK if quick else _FULL)}.get(name, _USUAL))
