"""``dpradar schema``: the JSON Schema of spec files."""

from __future__ import annotations

import json

import click

__all__ = ["schema_command"]


@click.command("schema")
@click.option("--json", "as_json", is_flag=True, help="Print it in one line.")
def schema_command(*, as_json: bool) -> None:
    """Print the JSON Schema of spec files, for editors."""
    from ..spec.schema import schema

    click.echo(json.dumps(schema(), indent=None if as_json else 2))
