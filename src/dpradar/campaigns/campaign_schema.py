"""The JSON Schema of campaign files, for editors that complete and check TOML."""

from __future__ import annotations

from typing import Any

from ..options.tables import document_schema

__all__ = ["campaign_schema"]


def campaign_schema() -> dict[str, Any]:
    """Return the JSON Schema of a campaign file.

    It takes every campaign that can be read, and some that cannot: a grid may vary the kind and hold what a run needs,
    so which keys go with which kind is left to ``dpradar campaign run``.

    Examples
    --------
    >>> sorted(campaign_schema()["properties"])
    ['description', 'run', 'seed', 'title']
    """
    from .campaign_tables import campaign_file

    return document_schema(campaign_file())
