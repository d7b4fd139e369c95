"""The JSON Schemas of spec and pipeline files, for editors that complete and check TOML."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .shapes import Table

__all__ = ["pipeline_schema", "schema", "schema_of"]


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a spec file.

    Examples
    --------
    >>> sorted(schema()["properties"])[:4]
    ['decision', 'description', 'evidence', 'neighbours']
    """
    from .shapes import file_model

    return schema_of(file_model())


def pipeline_schema() -> dict[str, Any]:
    """Return the JSON Schema of a pipeline file, as ``dpradar account`` and ``dpradar lint`` read it.

    Examples
    --------
    >>> sorted(pipeline_schema()["properties"])[:4]
    ['claim', 'data', 'note', 'partition']
    """
    from .pipeline_shapes import pipeline_model

    return schema_of(pipeline_model())


def schema_of(model: type[Table]) -> dict[str, Any]:
    """Return the JSON Schema of files of a shape."""
    made = {"$schema": "https://json-schema.org/draft/2020-12/schema", **model.model_json_schema()}
    cleaned: dict[str, Any] = _without_nulls(made)
    return cleaned


def _without_nulls(part: Any) -> Any:
    """Return the schema without ``"default": null``: a key that is not given has no value, and TOML no null."""
    if isinstance(part, dict):
        return {key: _without_nulls(value) for key, value in part.items() if not (key == "default" and value is None)}
    return [_without_nulls(one) for one in part] if isinstance(part, list) else part
