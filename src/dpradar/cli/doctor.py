"""``dpradar doctor``: versions, what is installed, what works."""

from __future__ import annotations

import json
import math
import platform
import re
import sys
from importlib import metadata
from typing import Any

import click

from ..errors import DpradarError
from ..numerics.platform_support import untested_platform_notes
from .main import EXIT_BUG, json_option

__all__ = ["EXTRAS", "doctor_command"]

# What an extra is for, in the words of someone who misses it.
EXTRAS = {
    "accounting": "composition of privacy losses: dpsgd, registers, repeated noise",
    "cluster": "campaigns on many machines, with Dask",
    "data": "priors counted in tables, audits of logs in Parquet files",
    "opendp": "measurements of OpenDP",
    "report": "reports and figures",
    "search": "audits that search for events with classifiers, attacks that impute values",
    "torch": "training with PyTorch and Opacus, and recording it",
    "web": "the explorer: dpradar serve",
}
_REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+).*?(?:;.*extra == ['\"]([\w-]+)['\"])?$")


@click.command("doctor")
@json_option
def doctor_command(*, as_json: bool) -> int:
    """Show versions, what is installed and what works."""
    core, extras = _requirements()
    versions = {"dpradar": _version("dpradar"), "python": platform.python_version(), **{n: _version(n) for n in core}}
    extra_versions = {
        extra: {name: _version(name) for name in names} for extra, names in extras.items() if extra in EXTRAS
    }
    works = {name: check() for name, check in _CHECKS.items()}
    if as_json:
        content = {"schema": "dpradar/doctor/1", "versions": versions, "extras": extra_versions, "works": works}
        content["system"] = {"name": sys.platform, "tested": not untested_platform_notes()}
        click.echo(json.dumps(content))
    else:
        click.echo("\n".join(_lines(versions, extra_versions, works)))
    return 0 if all(answer == "yes" for answer in works.values()) else EXIT_BUG


def _requirements() -> tuple[list[str], dict[str, list[str]]]:
    """Return the packages that dpradar needs, and those of each extra."""
    core: list[str] = []
    extras: dict[str, list[str]] = {}
    for requirement in metadata.requires("dpradar") or []:
        match = _REQUIREMENT.match(requirement)
        if match is not None:
            (core if match.group(2) is None else extras.setdefault(match.group(2), [])).append(match.group(1))
    return core, extras


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _lines(versions: dict[str, Any], extras: dict[str, dict[str, Any]], works: dict[str, str]) -> list[str]:
    lines = ["Versions:", *(f"  {name:<12} {version or 'missing'}" for name, version in versions.items()), "Extras:"]
    for extra, packages in extras.items():
        missing = [name for name, version in packages.items() if version is None]
        state = "installed" if not missing else f'pip install "dpradar[{extra}]"'
        lines.append(f"  {extra:<12} {EXTRAS[extra]}: {state}")
    lines += ["System:", f"  {sys.platform:<12} {untested_platform_notes() or 'tested'}"]
    return [*lines, "Works:", *(f"  {name:<12} {answer}" for name, answer in works.items())]


def _assesses() -> str:
    """Compare one number with its closed form."""
    from .. import GRR, Prior, Threat, assess

    rad = assess(GRR(m=4, epsilon=1.0), Threat(Prior.uniform(4))).rad
    expected = (math.e - 1.0) / (math.e + 3.0) * 0.75
    return "yes" if rad is not None and math.isclose(rad.value, expected, rel_tol=1e-12) else "no: a wrong number"


def _reads_specs() -> str:
    from ..spec import parse, toml

    try:
        spec = parse('release = { kind = "grr", m = 4, epsilon = 1.0 }')
    except DpradarError as error:
        return f"no: {error}"
    return "yes" if parse(toml(spec)) == spec else "no: a spec changed when it was written"


_CHECKS = {"assess": _assesses, "spec": _reads_specs}
