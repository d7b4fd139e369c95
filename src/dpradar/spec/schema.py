"""The JSON Schema of a spec file, for editors that complete and check TOML."""

from __future__ import annotations

from typing import Any

__all__ = ["schema"]


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a spec file.

    Examples
    --------
    >>> sorted(schema()["properties"])[:4]
    ['decision', 'description', 'evidence', 'neighbours']
    """
    from .shapes import file_model

    made = {"$schema": "https://json-schema.org/draft/2020-12/schema", **file_model().model_json_schema()}
    cleaned: dict[str, Any] = _without_nulls(made)
    return cleaned


def _without_nulls(part: Any) -> Any:
    """Return the schema without ``"default": null``: a key that is not given has no value, and TOML no null."""
    if isinstance(part, dict):
        return {key: _without_nulls(value) for key, value in part.items() if not (key == "default" and value is None)}
    return [_without_nulls(one) for one in part] if isinstance(part, list) else part
