"""``dpradar schema``: the JSON Schemas of spec files, pipelines and campaigns."""

from __future__ import annotations

import json

import click

__all__ = ["schema_command"]


@click.command("schema")
@click.argument("what", type=click.Choice(["spec", "pipeline", "campaign"]), default="spec")
@click.option("--json", "as_json", is_flag=True, help="Print it in one line.")
def schema_command(what: str, *, as_json: bool) -> None:
    """Print the JSON Schema of spec files, pipelines or campaigns, for editors."""
    from ..campaigns.campaign_schema import campaign_schema
    from ..spec.schema import pipeline_schema, schema

    content = {"spec": schema, "pipeline": pipeline_schema, "campaign": campaign_schema}[what]()
    click.echo(json.dumps(content, indent=None if as_json else 2))
