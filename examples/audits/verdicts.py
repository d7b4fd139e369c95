"""What the scripts of this folder share: audit each mechanism of a library twice, and say what came out.

Every mechanism is audited with the epsilon its library promises, which should survive, and with 0.7 times that
epsilon, which should be refuted. The second audit shows that the first one could have found something.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dpradar as dr

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

PART = 0.7  # of the promised epsilon, for the audit that should refute
# One true claim in a thousand may be refuted by chance: these scripts run many audits, and all shall be right.
SIGNIFICANCE = 0.001


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A mechanism, what its library promises, and how dpradar shall read its outputs."""

    name: str
    start: Callable[[int], Any]  # sets the seed, where the library has one, and returns the function to audit
    epsilon: float
    delta: float = 0.0
    how: dict[str, Any] = field(default_factory=dict)  # domain, pairs, protocol: passed on to dpradar.audit
    share: float = 1.0  # of the trials, for slow functions
    tight: bool = True  # whether the mechanism really leaks what its library promises; False: it leaks less


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One audit, as it is printed and saved."""

    library: str
    mechanism: str
    part: float
    epsilon: float
    delta: float
    trials: int
    epsilon_lower: float
    epsilon_estimate: float | None
    refuted: bool
    witness: str
    seconds: float
    tight: bool = True

    @property
    def verdict(self) -> str:
        """The verdict in words."""
        return "REFUTED" if self.refuted else "not refuted"


def claim(epsilon: float, delta: float) -> Any:
    """Return the claim. The inputs that are compared are neighbours by choice, so the relation is only a name."""
    if delta > 0.0:
        return dr.ApproxDP(epsilon=epsilon, delta=delta, neighbours="replace-one")
    return dr.PureDP(epsilon=epsilon, neighbours="replace-one")


def audited(library: str, case: Case, part: float, trials: int, seed: int) -> Row:
    """Audit one claim about one mechanism."""
    began = time.perf_counter()
    audit = dr.audit(
        case.start(seed),
        claim=claim(part * case.epsilon, case.delta),
        trials=max(1000, int(case.share * trials)),
        significance=SIGNIFICANCE,
        seed=seed,
        **case.how,
    )
    seen = audit.witness
    return Row(
        library=library,
        mechanism=case.name,
        part=part,
        epsilon=part * case.epsilon,
        delta=case.delta,
        trials=audit.trials,
        epsilon_lower=audit.epsilon_lower,
        epsilon_estimate=audit.epsilon_estimate,
        refuted=audit.refuted,
        witness="" if seen is None else f"{seen.first} / {seen.other}: {seen.event}",
        seconds=time.perf_counter() - began,
        tight=case.tight,
    )


def number(value: float | None) -> str:
    """Return a number with three decimals; a dash where there is none."""
    return "-" if value is None else f"{value:.3f}"


def down(value: float) -> str:
    """Return a lower bound with three decimals, rounded down."""
    return f"{int(value * 1000.0) / 1000.0:.3f}"


def table(rows: Sequence[Row]) -> str:
    """Return the audits as a table in Markdown: a line for each mechanism, with both claims."""
    heads = ("mechanism", "promised", "trials", "at least", "estimate", "verdict", f"verdict on {PART:g} times it")
    lines = [heads]
    for whole in (row for row in rows if row.part == 1.0):
        less = next(row for row in rows if row.mechanism == whole.mechanism and row.part != 1.0)
        promised = f"{whole.epsilon:.3f}" + (f", delta {whole.delta:g}" if whole.delta else "")
        second = f"{less.verdict} (at least {down(less.epsilon_lower)})"
        cells = (whole.mechanism, promised, f"{whole.trials:,}", down(whole.epsilon_lower))
        lines.append((*cells, number(whole.epsilon_estimate), whole.verdict, second))
    wide = [max(len(line[k]) for line in lines) for k in range(len(heads))]
    text = ["| " + " | ".join(cell.ljust(w) for cell, w in zip(line, wide, strict=True)) + " |" for line in lines]
    text.insert(1, "|" + "|".join("-" * (w + 2) for w in wide) + "|")
    return "\n".join(text)


def summary(rows: Sequence[Row]) -> str:
    """Return how many claims fell, and which smaller claims did not although they should have."""
    promised = [row for row in rows if row.part == 1.0]
    fallen = [row.mechanism for row in promised if row.refuted]
    missed = [row.mechanism for row in rows if row.part != 1.0 and not row.refuted and row.tight]
    text = f"{len(fallen)} of {len(promised)} promises refuted" + (f": {', '.join(fallen)}" if fallen else "")
    return f"{text}. Not refuted is not proven." + (f" Without power for: {', '.join(missed)}." if missed else "")


def main(library: str, cases: Sequence[Case], skipped: dict[str, str], trials: int) -> None:
    """Read the options, audit every mechanism, print verdicts and table, and save them if asked to."""
    parser = argparse.ArgumentParser(description=f"Audit {library}, unchanged.")
    parser.add_argument("--trials", type=int, default=trials, help=f"outputs drawn for each audit ({trials})")
    parser.add_argument("--seed", type=int, default=1, help="seed of the audit, and of the library if it has one (1)")
    parser.add_argument("--only", default="", help="only mechanisms whose names start so, such as SUE,OUE")
    parser.add_argument("--json", type=Path, help="also write the rows to this file")
    arguments = parser.parse_args()
    title = f"{library} {version(library)}"
    print(f"{title}, dpradar {version('dpradar')}, seed {arguments.seed}, significance {SIGNIFICANCE:g}\n")
    rows = []
    for case in cases:
        if not case.name.startswith(tuple(arguments.only.split(","))):
            continue
        for k, part in enumerate((1.0, PART)):
            row = audited(title, case, part, arguments.trials, arguments.seed + 1000 * k)
            rows.append(row)
            lower, less = down(row.epsilon_lower), "" if part == 1.0 else f" ({PART:g} times)"
            print(f"{row.mechanism}: epsilon {row.epsilon:.3f}{less} {row.verdict}; at least {lower}", flush=True)
    for name, reason in skipped.items():
        print(f"{name}: skipped, {reason}")
    if not rows:
        sys.exit(f"no mechanism whose name starts with {arguments.only!r}")
    print(f"\n{table(rows)}\n\n{summary(rows)}")
    print(f"{sum(row.seconds for row in rows):.0f} seconds.")
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n", encoding="utf-8")
