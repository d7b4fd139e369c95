"""A health survey asks how often people drink, with 10 possible answers: which mechanism should protect them.

GRR, OUE and Laplace noise are all epsilon-differentially private with the same epsilon, and still differ in what
someone could learn about one person. Run: make demo.
"""

from __future__ import annotations

import math

from rich.console import Console
from rich.table import Table

import dpradar as dr

EPSILON = 2.0
ANSWERS = [
    "never",
    "yearly",
    "monthly",
    "2-3 a month",
    "weekly",
    "2 a week",
    "3 a week",
    "4-5 a week",
    "6 a week",
    "daily",
]
# What everyone believes before the survey: published shares of the population.
SHARES = [0.20, 0.15, 0.13, 0.12, 0.12, 0.09, 0.07, 0.05, 0.03, 0.04]


def mechanisms() -> dict[str, object]:
    """Return three ways to protect one answer, all epsilon-DP when one answer is replaced by another."""
    m = len(ANSWERS)
    return {
        "GRR": dr.GRR(m=m, epsilon=EPSILON),
        "OUE": dr.OUE(m=m, epsilon=EPSILON),
        # Answers are numbered 0..9, so two answers are at most 9 apart.
        "Laplace": dr.Laplace(scale=(m - 1) / EPSILON, query=list(range(m)), truncate=(0, m - 1)),
    }


def threats() -> dict[str, dr.Threat]:
    """Return three attackers, from the curious stranger to the one who knows the answer already."""
    prior = dr.Prior.of(SHARES, values=ANSWERS)
    heavy = ["light" if i < 5 else "heavy" for i in range(len(ANSWERS))]
    return {
        "the exact answer, nothing known": dr.Threat(prior),
        "heavy drinker or not, nothing known": dr.Threat(prior, goal=dr.Goal.labels(heavy)),
        "whether the answer was used, answer known": dr.Threat(prior, knowledge=dr.Knowledge.everything()),
    }


def shown(bound: dr.Bound) -> str:
    """Return a number with four digits, rounded up, and the word that says that it is an upper bound."""
    return f"{'at most ' if bound.side == 'upper' else ''}{math.ceil(1e4 * bound.value) / 1e4:.4f}"


def main() -> None:
    """Assess every mechanism under every threat and say what comes out."""
    console = Console(width=118, highlight=False)
    console.print(
        f"\nA health survey, {len(ANSWERS)} possible answers, epsilon = {EPSILON:g} for all three mechanisms.\n"
    )
    for question, threat in threats().items():
        table = Table(title=f"What someone could learn: {question}", title_justify="left")
        for heading in (
            "mechanism",
            "blind guess",
            "right after release",
            "taking part adds (RAD)",
            "how sure",
            "rule",
        ):
            table.add_column(heading)
        results = {name: dr.assess(mechanism, threat) for name, mechanism in mechanisms().items()}
        for name, a in results.items():
            table.add_row(name, f"{a.baseline:.2f}", shown(a.success), shown(a.rad), a.rad.side, a.rad.rule)
        console.print(table)
        least = min(results, key=lambda name: results[name].rad.value)
        added = math.ceil(100 * results[least].rad.value)
        console.print(f"{least} gives away least: of 100 who take part, at most {added} more are guessed right.\n")
    everyone = dr.assess(
        dr.PureDP(epsilon=EPSILON, neighbours="replace-one"), threats()["the exact answer, nothing known"]
    )
    console.print(
        f"Knowing only epsilon = {EPSILON:g} and not the mechanism, the advantage on the exact answer is "
        f"{shown(everyone.rad)} ({everyone.rad.rule}): which mechanism it is matters as much as epsilon.\n"
    )


if __name__ == "__main__":
    main()
