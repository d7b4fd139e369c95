"""Run the benchmarks and print one table: ``python -m benchmarks [--quick | --full] [--only NAME] [--json FILE]``.

``--against FOLDER`` measures the checkout of another version in FOLDER, with its own benchmarks, and this one in turn.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from contextlib import suppress
from dataclasses import replace
from importlib import metadata
from pathlib import Path

import numpy as np
import scipy

import dpradar

from . import (
    accounting,
    campaigns,
    continuous,
    correlated,
    data,
    dense,
    granularity,
    guarantees,
    learning,
    local,
    noise,
    peers,
    reports,
    startup,
    web,
)
from .compare import SLOWER, compare
from .measure import Case, Effort, Row, measure
from .table import comparison_line, header, line, summary

CASES: tuple[Case, ...] = (
    *startup.CASES,
    *local.CASES,
    *dense.CASES,
    *peers.CASES,
    *noise.CASES,
    *continuous.CASES,
    *guarantees.CASES,
    *accounting.CASES,
    *granularity.CASES,
    *correlated.CASES,
    *reports.CASES,
    *learning.CASES,
    *campaigns.CASES,
    *data.CASES,
    *web.CASES,
    *local.LARGE_CASES,
    *data.LARGE_CASES,
    *dense.WATCHED,
    *noise.WATCHED,
    *web.WATCHED,
)
_EFFORTS = {
    "quick": Effort(repeats=3, seconds=0.1, most=3.0, level=0, longest=20.0),
    "usual": Effort(),
    "full": Effort(level=2),
}
_PEERS = ("dp-accounting", "riskcal", "qif", "multi-freq-ldpy", "opacus")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure the speed of dpradar.")
    parser.add_argument("--only", metavar="NAME", help="the case of this name, or all whose names contain it")
    parser.add_argument(
        "--json", metavar="FILE", help="also write the numbers to FILE (- for the standard output alone)"
    )
    effort = parser.add_mutually_exclusive_group()
    effort.add_argument(
        "--quick", action="store_const", const="quick", dest="effort", default="usual", help="fewer repeats and cases"
    )
    effort.add_argument("--full", action="store_const", const="full", dest="effort", help="all cases")
    parser.add_argument("--list", action="store_true", help="print the names and stop")
    parser.add_argument("--here", action="store_true", help="measure in this process what asks for one of its own")
    parser.add_argument("--alone", action="store_true", help="leave other software out")
    parser.add_argument(
        "--against", metavar="FOLDER", help="compare with the checkout of another version in this folder"
    )
    return parser.parse_args()


def _chosen(name: str | None, level: int) -> list[Case]:
    listed = [case for case in CASES if case.level <= level]
    if name is None:
        return listed
    chosen = [case for case in CASES if case.name == name] or [case for case in listed if name in case.name]
    if not chosen:
        sys.exit(f"no case is called {name!r} or contains it; --list shows all names")
    return chosen


def _versions() -> dict[str, str]:
    versions = {}
    for name in _PEERS:
        with suppress(metadata.PackageNotFoundError):
            versions[name] = metadata.version(name)
    return versions


def _machine() -> dict[str, object]:
    return {
        "dpradar": dpradar.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        **_versions(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
    }


def _compare(chosen: list[Case], other: Path, arguments: list[str]) -> None:
    """Print how many times as long each case takes with this version as with the other; exit 1 if one is slower."""
    if not all((other / part).is_file() for part in ("src/dpradar/__init__.py", "benchmarks/__main__.py")):
        sys.exit(f"{other} has no library with benchmarks; --against takes the folder of another checkout")
    slower, unmeasured = [], []
    for case in chosen:
        result = compare(case, other, arguments)
        print(comparison_line(result), flush=True)
        slower += [result.name] if result.is_slower else []
        unmeasured += [result.name] if result.ratio is None and not result.is_skipped else []
    print(f"\n{len(slower)} of {len(chosen)} cases take more than {SLOWER:g} times as long: {', '.join(slower) or '-'}")
    print(f"Not measured in both, though nothing is missing: {', '.join(unmeasured) or '-'}")
    sys.exit(1 if slower or unmeasured else 0)


def main() -> None:
    """Measure the chosen cases and print them line by line."""
    options = _arguments()
    effort = _EFFORTS[options.effort]
    chosen = _chosen(options.only, effort.level)
    arguments = [] if options.effort == "usual" else [f"--{options.effort}"]
    if options.alone:
        chosen = [replace(case, peers=()) for case in chosen]
    if options.list:
        print("\n".join(f"{case.name:45s}  {case.what}" for case in chosen))
        return
    if options.against:
        _compare(chosen, Path(options.against).resolve(), arguments)
    silent = options.json == "-"
    machine = _machine()
    if not silent:
        print(", ".join(f"{name} {value}" for name, value in machine.items()))
        if float(machine["load"] or 0.0) > 0.5 * (os.cpu_count() or 1):
            print("The machine is busy with other work: times are longer than they need be.")
        print("", header(), sep="\n")
    rows: list[Row] = []
    for case in chosen:
        measured = measure(
            case,
            effort,
            here=options.here,
            arguments=[*arguments, *(["--alone"] if options.alone else [])],
        )
        rows += measured
        if not silent:
            print("\n".join(line(row) for row in measured), flush=True)
    text = json.dumps({"machine": machine, "rows": [row.to_dict() for row in rows]}, indent=1)
    if silent:
        print(text)
        return
    print("", summary(rows), sep="\n")
    if options.json:
        Path(options.json).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
