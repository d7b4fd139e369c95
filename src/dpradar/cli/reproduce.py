"""``dpradar reproduce FIGURE``: the numbers as CSV and the picture as SVG."""

from __future__ import annotations

import json
import os
from pathlib import Path

import click

from .progress import bar

__all__ = ["reproduce_command"]


@click.command("reproduce")
@click.argument("figure")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default=Path("figures"), show_default=True)
@click.option(
    "--data", type=click.Path(exists=True, file_okay=False, path_type=Path), envvar="DPRADAR_DATA", help="Real data."
)
@click.option("--quick", is_flag=True, help="A small version of figures that take hours.")
@click.option("--models", type=click.IntRange(min=1), help="Models trained for each candidate (figures that train).")
@click.option(
    "--network", type=click.Choice(["mlp", "convnet"]), default="mlp", show_default=True, help="The network trained."
)
@click.option("--workers", type=click.IntRange(min=1), help="Processes that train; as many as there are cores.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def reproduce_command(
    figure: str,
    out: Path,
    data: Path | None,
    quick: bool,
    models: int | None,
    network: str,
    workers: int | None,
    as_json: bool,
) -> None:
    """Write a figure of the papers, such as rad:fig1, as CSV and SVG.

    What takes hours keeps its finished parts: start it again to go on.
    """
    from ..papers import Effort, reproduce

    effort = Effort(quick=quick, models=models, network=network, workers=workers or os.cpu_count() or 1)
    with bar(figure) as moved:
        files = reproduce(figure, out, data, lambda text: click.echo(text, err=True), effort=effort, bar=moved)
    if as_json:
        click.echo(json.dumps({"schema": "dpradar/reproduce/1", "figure": figure, "files": [str(f) for f in files]}))
        return
    for file in files:
        click.echo(f"wrote {file}")
