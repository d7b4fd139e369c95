"""Whether a file fits a JSON Schema."""

from __future__ import annotations

import json
import tomllib

from jsonschema import Draft202012Validator


def fits(schema, text):
    """Return whether a TOML text fits; dates are text to a schema. The schema itself must be one."""
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema).is_valid(json.loads(json.dumps(tomllib.loads(text), default=str)))
