"""Ask random questions: ``python -m tests.fuzz --minutes 5 --seed 7 --family line --family files``."""

from __future__ import annotations

import argparse
import json
import secrets
import sys
from pathlib import Path

from .families.all import FAMILIES
from .runner import ROOT, Run
from .worker import answer


def parsed(arguments: list[str] | None = None) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0, help="how long to run (default 5)")
    parser.add_argument("--seed", type=int, help="the seed; drawn and printed where it is not given")
    parser.add_argument("--family", action="append", choices=sorted(FAMILIES), help="a family; all where none is given")
    parser.add_argument("--index", type=int, help="judge this one case in this process and show everything")
    parser.add_argument("--case-seconds", type=float, default=20.0, help="abandon a case after so long")
    parser.add_argument("--round-seconds", type=float, default=60.0, help="about how long a family is asked at a time")
    parser.add_argument("--source", type=Path, help="the root of another source tree to ask instead of this one")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "fuzz", help="where tests of findings go")
    return parser.parse_args(arguments)


def one_case(family: str, seed: int, index: int, seconds: float) -> int:
    """Judge one case here."""
    reply = answer(FAMILIES[family], seed, index, seconds)
    test = reply.pop("test", "")
    print(json.dumps(reply, indent=1, default=repr))
    print(test)
    return 1 if test else 0


def main(arguments: list[str] | None = None) -> int:
    """Run, print the table, and return 1 where there are findings."""
    options = parsed(arguments)
    seed = secrets.randbelow(10**6) if options.seed is None else options.seed
    names = options.family or list(FAMILIES)
    if options.index is not None:
        return one_case(names[0], seed, options.index, options.case_seconds)
    print(f"seed {seed}, {options.minutes:g} minutes, families: {', '.join(names)}", flush=True)
    run = Run(seed, names, options.case_seconds, options.source, options.out)
    run.over(options.minutes, options.round_seconds)
    for name, tally in run.tallies.items():
        for one in tally.loose[:1]:
            print(f"loose, {name}: {one['message'][:200]}")
    print(run.table())
    if run.findings:
        print(f"{len(run.findings)} findings; tests of the first ones of each family: {options.out}")
    return 1 if run.findings else 0


if __name__ == "__main__":
    sys.exit(main())
