"""The names of the figures, for ``dpradar list``, which does not wait for what computes them."""

from __future__ import annotations

__all__ = ["names"]

_NAMES = {
    "rad": "fig1 fig2 fig3 fig4 fig5 fig6 fig7 fig8 fig9 fig10 fig11 table2",
    "unify": "fig1 fig2 fig3 fig4 fig5 fig6 fig7 fig8 fig9 fig10",
    "measurement": (
        "fig4.1 fig4.2 fig4.3 fig5.1 fig6.1 fig6.2 fig6.3 fig6.4 table6.1 fig6.5 table6.2 table6.3 fig6.6 fig6.7 "
        "table6.4 table6.5 fig6.8 fig6.9 fig6.10 fig6.11 fig6.12 fig6.13 fig6.14 fig7.1 fig8.1 fig8.2 fig8.3 table8.1 "
        "table8.2 fig10.1 fig10.2 fig10.3 fig10.4 fig10.5 fig10.6 fig10.7 fig10.8 fig10.9"
    ),
    "thesis": ("fig2.1 table3.2 table6.1 fig6.1 fig6.2 fig6.3 fig6.4 fig6.5 fig6.6 fig6.7 fig6.8 fig6.9 table6.2"),
}


def names() -> tuple[str, ...]:
    """Return the names of the figures that can be reproduced.

    Examples
    --------
    >>> [name for name in names() if name.startswith("rad:")]
    ['rad:fig1', 'rad:fig2', 'rad:fig3', 'rad:fig4', 'rad:fig5', 'rad:fig6', ..., 'rad:fig10', 'rad:fig11'...]
    """
    return tuple(f"{source}:{name}" for source, listed in _NAMES.items() for name in listed.split())
