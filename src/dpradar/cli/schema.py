"""``dpradar schema``: the JSON Schema of spec files and pipelines."""

from __future__ import annotations

import json

import click

__all__ = ["schema_command"]


@click.command("schema")
@click.argument("what", type=click.Choice(["spec", "pipeline"]), default="spec")
@click.option("--json", "as_json", is_flag=True, help="Print it in one line.")
def schema_command(what: str, *, as_json: bool) -> None:
    """Print the JSON Schema of spec files, or of pipelines (account, lint), for editors."""
    from ..spec.schema import pipeline_schema, schema

    made = pipeline_schema() if what == "pipeline" else schema()
    click.echo(json.dumps(made, indent=None if as_json else 2))
