"""Whether a file fits a JSON Schema."""

from __future__ import annotations

import json
import tomllib
from functools import cache

from jsonschema import Draft202012Validator


@cache  # to check a schema takes a hundred times as long as to check a file against it
def _validator(schema):
    checked = json.loads(schema)
    Draft202012Validator.check_schema(checked)
    return Draft202012Validator(checked)


def fits(schema, text):
    """Return whether a TOML text fits; dates are text to a schema. The schema itself must be one."""
    data = json.loads(json.dumps(tomllib.loads(text), default=str))
    return _validator(json.dumps(schema)).is_valid(data)
