"""``dpradar list``: what is known."""

from __future__ import annotations

import json

import click

from .main import json_option

__all__ = ["list_command"]


@click.command("list")
@json_option
def list_command(*, as_json: bool) -> None:
    """List mechanisms, guarantees, rules and figures."""
    from ..bounds.rules import RULES
    from ..options.entry_points import installed_plugins
    from ..spec import KINDS
    from .reproduction import figure_names

    figures = figure_names()
    plugins = {plugin.kind: str(plugin) for plugin in installed_plugins() if plugin.kind not in KINDS}
    if as_json:
        rules = [{"name": r.name, "title": r.title, "cites": list(r.cites)} for r in RULES]
        releases = {name: entry.help for name, entry in KINDS.items() if entry.on_command_line}
        in_files = {name: entry.help for name, entry in KINDS.items() if not entry.on_command_line}
        listed = {"releases": releases, "in_files": in_files, "plugins": plugins, "rules": rules, "figures": figures}
        click.echo(json.dumps({"schema": "dpradar/list/1", **listed}))
        return
    click.echo("Mechanisms and guarantees (dpradar assess NAME --help):")
    for name, entry in KINDS.items():
        where = "" if entry.on_command_line else " Only in spec files."
        click.echo(f"  {name:<18} {entry.help}{where}")
    if plugins:
        click.echo("Mechanisms of plug-ins:")
    for name, distribution in plugins.items():
        click.echo(f"  {name:<18} {distribution}")
    click.echo("Rules:")
    for rule in RULES:
        click.echo(f"  {rule.name:<18} {rule.title}")
    if figures:
        click.echo("Figures (dpradar reproduce NAME --out FOLDER):")
    else:
        click.echo("Figures: those of the package dpradar-reproduction, which is not installed.")
    for name in figures:
        click.echo(f"  {name}")
