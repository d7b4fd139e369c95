"""Command lines: any options with any words; never an internal error, never a number that cannot be."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..command import called
from ..written import Body
from .files import judged_output

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

    from ..verdicts import Question, Verdict

WORDS = (
    "0", "1", "-1", "2", "3", "0.5", "1e-9", "1e308", "1e400", "-1e308", "nan", "inf", "-inf", "1,5", "9" * 400,
    "9" * 5001,
    "", " ", "x", "a" * 300, "~nobody/x.toml", "/dev/null", "/", ".", "missing.json", "caf\udce9", "a\nb",
    "\u202eabc", "0:3", "3:0",
    "0:1000000000000", "0,1,2", "0:0", "uniform", "0.5,0.5", "0.3,0.3,0.4", "1e-320,1", "everything", "nothing",
    "a,a,b", "exact",
    "within:1", "within:-1", "within:nan", "labels:a,b,c", "rad=0.1", "rad=-1", "rad=nan", "gain=0.2",
    "replace-one", "add-remove",
    "continuous:beta:2,5", "continuous:norm:0,0", "--", "-", "true", "1e5", "100", "7", "a=b", "[", "{}", "%s",
    "\x00",
)  # fmt: skip
USUAL = {
    "m": ("2", "3", "10"), "epsilon": ("0.5", "1", "4"), "delta": ("1e-5", "0"), "scale": ("1", "2.5"),
    "sigma": ("1", "3"),
    "values": ("0:3", "1,2,5"), "neighbours": ("replace-one", "add-remove"), "knowledge": ("everything", "nothing"),
    "goal": ("exact", "within:1"), "mu": ("1",), "rho": ("0.1",), "tv": ("0.2",), "trials": ("1000",), "seed": ("1",),
    "limit": ("rad=0.1", "gain=0.1"), "noise_multiplier": ("1.1",), "sample_rate": ("0.01",), "steps": ("100",),
    "matrix": ("0.9 0.1;0.2 0.8",), "prior": ("uniform",), "fpr": ("0.01",), "times": ("2",), "sensitivity": ("1",),
}  # fmt: skip
HEAVY = {"serve", "reproduce", "audit", "lint", "campaign"}  # start servers, write figures, run code or processes


def _commands() -> dict[str, Any]:
    import click

    from dpradar.cli.main import app

    context, commands = click.Context(app), {}
    for name in app.list_commands(context):
        command = app.get_command(context, name)
        if name in HEAVY or command is None:
            continue
        if isinstance(command, click.Group):
            for sub in command.list_commands(context):
                commands[f"{name} {sub}"] = command.get_command(context, sub)
        else:
            commands[name] = command
    return commands


class Commands:
    """A command with random options."""

    name = "commands"

    def __init__(self) -> None:
        self.known: dict[str, Any] = {}

    def prepare(self) -> None:
        """List commands and options."""
        self.known = self.known or _commands()

    def draw(self, rng: random.Random) -> Question:
        self.known = self.known or _commands()
        name = rng.choice(sorted(self.known))
        arguments = name.split()
        for option in self.known[name].params:
            is_set = getattr(option, "required", False) or rng.random() < 0.12
            if is_set and rng.random() < 0.99:
                arguments += self._given(rng, option)
        for _ in range(rng.choice((0, 0, 0, 0, 0, 0, 1))):
            arguments.insert(
                rng.randrange(len(arguments) + 1), rng.choice((*WORDS, "--bogus", "-q", "--help", "--version"))
            )
        return {"arguments": arguments}

    def _given(self, rng: random.Random, option: Any) -> list[str]:
        import click

        usual = USUAL.get(option.name) or (
            tuple(map(str, option.type.choices)) if isinstance(option.type, click.Choice) else ()
        )
        word = rng.choice(usual) if usual and rng.random() < 0.9 else rng.choice(WORDS)
        if isinstance(option, click.Argument):
            return [word]
        flag = max(option.opts, key=len)
        return [flag] if option.is_flag else [f"{flag}={word}"] if rng.random() < 0.5 else [flag, word]

    def judge(self, question: Question) -> Verdict:
        with tempfile.TemporaryDirectory() as folder:
            return judged_output(called(question["arguments"], Path(folder)))

    def smaller(self, question: Question) -> Iterator[Question]:
        arguments = question["arguments"]
        for i in range(1, len(arguments)):
            yield {"arguments": arguments[:i] + arguments[i + 1 :]}

    def body(self, question: Question, verdict: Verdict) -> Body:
        condition = "outcome.code == 2" if verdict.kind == "unsafe" else "not outcome.is_bug"
        lines = f"outcome = called({question['arguments']!r}, tmp_path)\nassert {condition}, outcome.shown\n"
        return Body(lines, "from tests.fuzz.command import called", "tmp_path")


FAMILIES = [Commands()]
