"""Run the benchmarks and print one table: ``python -m benchmarks [--quick] [--only NAME] [--json FILE]``."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from pathlib import Path

import numpy as np
import scipy

import dpradar

from . import continuous, dense, guarantees, local, noise, peers, startup
from .measure import Case, Effort, Row, measure
from .table import header, line, summary

CASES: tuple[Case, ...] = (
    *startup.CASES,
    *local.CASES,
    *dense.CASES,
    *peers.CASES,
    *noise.CASES,
    *continuous.CASES,
    *guarantees.CASES,
    *local.LARGE_CASES,
    *dense.WATCHED,
    *noise.WATCHED,
)
_QUICK = Effort(repeats=3, seconds=0.1, most=3.0)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure the speed of dpradar.")
    parser.add_argument("--only", metavar="NAME", help="the case of this name, or all whose names contain it")
    parser.add_argument(
        "--json", metavar="FILE", help="also write the numbers to FILE (- for the standard output alone)"
    )
    parser.add_argument("--quick", action="store_true", help="fewer repeats")
    parser.add_argument("--list", action="store_true", help="print the names and stop")
    parser.add_argument("--here", action="store_true", help="measure in this process what asks for one of its own")
    return parser.parse_args()


def _chosen(name: str | None) -> list[Case]:
    if name is None:
        return list(CASES)
    chosen = [case for case in CASES if case.name == name] or [case for case in CASES if name in case.name]
    if not chosen:
        sys.exit(f"no case is called {name!r} or contains it; --list shows all names")
    return chosen


def _machine() -> dict[str, object]:
    return {
        "dpradar": dpradar.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
    }


def main() -> None:
    """Measure what was asked for and print it line by line."""
    asked = _arguments()
    chosen = _chosen(asked.only)
    if asked.list:
        print("\n".join(f"{case.name:45s}  {case.what}" for case in chosen))
        return
    silent = asked.json == "-"
    machine = _machine()
    if not silent:
        print(", ".join(f"{name} {value}" for name, value in machine.items()))
        if float(machine["load"] or 0.0) > 0.5 * (os.cpu_count() or 1):
            print("The machine is busy with other work: times are longer than they need be.")
        print("", header(), sep="\n")
    rows: list[Row] = []
    for case in chosen:
        found = measure(
            case,
            _QUICK if asked.quick else Effort(),
            here=asked.here,
            arguments=["--quick"] if asked.quick else [],
        )
        rows += found
        if not silent:
            print("\n".join(line(row) for row in found), flush=True)
    text = json.dumps({"machine": machine, "rows": [row.to_dict() for row in rows]}, indent=1)
    if silent:
        print(text)
        return
    print("", summary(rows), sep="\n")
    if asked.json:
        Path(asked.json).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
