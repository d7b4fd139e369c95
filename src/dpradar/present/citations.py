"""Which works a number rests on, as BibTeX."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["bibtex", "keys_of"]

_KEY = re.compile(r"\[(\w+)\]")
# Rules cite works by their authors where they have no short name.
_AUTHORS = {
    "Balle et al. 2022": "BalleCherubinHayes2022",
    "Dong, Roth and Su 2022": "DongRothSu2022",
    "Guo et al. 2023": "GuoSablayrollesSanjabi2023",
    "Maurer and Pontil 2009": "MaurerPontil2009",
    "Sauer 2025": "SauerThesis",
}


@cache
def _sources() -> dict[str, str]:
    text = files("dpradar.present").joinpath("templates", "sources.bib").read_text(encoding="utf-8")
    entries = re.findall(r"^@\w+\{(\w+),.*?^\}$", text, flags=re.M | re.S)
    bodies = re.findall(r"^@\w+\{\w+,.*?^\}$", text, flags=re.M | re.S)
    return dict(zip(entries, bodies, strict=True))


def keys_of(cites: Iterable[str]) -> list[str]:
    """Return the keys of the works that are cited, in the order of the bibliography.

    Examples
    --------
    >>> keys_of(["[UNIFY] Theorem 3.4", "[RAD] Theorem 4.2", "dpradar derivation"])
    ['RAD', 'UNIFY']
    """
    cited: set[str] = set()
    for cite in cites:
        cited.update(_KEY.findall(cite))
        cited.update(key for name, key in _AUTHORS.items() if cite.startswith(name))
    return [key for key in _sources() if key in cited]


def bibtex(cites: Iterable[str], version: str) -> str:
    """Return dpradar itself and the works that are cited."""
    fields = {"author": "{The dpradar contributors}", "title": "dpradar", "version": version}
    inside = "".join(f"  {name:<7} = {{{value}}},\n" for name, value in fields.items())
    own = f"@software{{dpradar,\n{inside}}}"
    return "\n\n".join([own, *(_sources()[key] for key in keys_of(cites))])
