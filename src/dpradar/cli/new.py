"""``dpradar new``: a spec file to start from."""

from __future__ import annotations

import json
from pathlib import Path

import click

from ..errors import ParameterError
from ..params import visible
from .main import json_option

__all__ = ["new_command"]


@click.command("new")
@click.argument("file", default="spec.toml", metavar="[FILE]")
@click.option("--kind", default="grr", show_default=True, help="A mechanism or guarantee; `dpradar list` has them.")
@click.option("--force", is_flag=True, help="Write over a file that exists.")
@json_option
def new_command(file: str, kind: str, *, force: bool, as_json: bool) -> int:
    """Write a spec file to start from.

    FILE is spec.toml unless given. The file can be run as it is; its comments say what can be changed.
    """
    from ..spec import FLAGS
    from ..spec.release_kinds import IN_FILES, kind_of
    from ..spec.starter_file import starting_spec

    kind_of({"kind": kind}, FLAGS, IN_FILES)
    if "\0" in file:
        raise ParameterError("new", "given the name of a file", "one with a null character", "Choose another name.")
    text = starting_spec(kind).replace("FILE", visible(file))
    path = Path(file)
    if path.exists() and not force:
        raise ParameterError("new", "given a file that does not exist yet", repr(file), "Add --force to write over it.")
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ParameterError("new", "given a file that can be written", repr(file), f"{error.strerror}.") from None
    if as_json:
        click.echo(json.dumps({"schema": "dpradar/new/1", "file": file, "kind": kind}))
        return 0
    click.echo(visible(f"wrote {file}"))
    click.echo(visible(f"Change it, then: dpradar run {file} --report risk.html"))
    return 0
