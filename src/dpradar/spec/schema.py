"""The JSON Schemas of spec and pipeline files, for editors that complete and check TOML."""

from __future__ import annotations

from typing import Any

from ..options.tables import document_schema

__all__ = ["pipeline_schema", "schema"]


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a spec file.

    Examples
    --------
    >>> sorted(schema()["properties"])[:4]
    ['decision', 'description', 'evidence', 'neighbours']
    """
    from .file_tables import spec_file

    return document_schema(spec_file())


def pipeline_schema() -> dict[str, Any]:
    """Return the JSON Schema of a pipeline file, as ``dpradar account`` and ``dpradar lint`` read it.

    Examples
    --------
    >>> sorted(pipeline_schema()["properties"])[:4]
    ['claim', 'data', 'note', 'partition']
    """
    from .pipeline_tables import pipeline_file

    return document_schema(pipeline_file())
