"""Questions as command lines and as specs: the numbers printed and the limits said to be kept, beside the twin."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import draws, truths
from ..command import called
from ..shrinking import smaller_threats
from ..verdicts import FINE, REFERENCE, ROUNDING, Question, Truth, Verdict, judged, worst
from ..written import Body
from .assessing import finite, lattice, line
from .files import judged_output

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

COMMANDS = {
    "GRR": "grr", "SUE": "sue", "OUE": "oue", "SubsetSelection": "ss", "BLH": "blh", "OLH": "olh", "THE": "the",
    "HadamardResponse": "hadamard", "Channel": "channel", "Laplace": "laplace", "Gaussian": "gaussian",
    "Geometric": "geometric", "DiscreteGaussian": "discrete-gaussian",
}  # fmt: skip
SHOWN = re.compile(r"^(rad|success|gain|worst_gain|ceiling) +(at most |at least |)([0-9.e+-]+)", re.MULTILINE)
MATRIX = "matrix.csv"
LAST_DIGIT = 1.1e-6  # six decimals, rounded outward


class Answers:
    """A release and a threat in options of the command line."""

    name = "answers"

    def prepare(self) -> None:
        """Nothing is shared."""

    def draw(self, rng: random.Random) -> Question:
        release, m, values = rng.choice((finite, line, lattice))(rng)
        if release["name"] == "THE":  # has no option
            release = {"name": "GRR", "m": m, "epsilon": release["epsilon"]}
        weights = draws.normalised(draws.weights(rng, m))
        prior = {"how": "of", "weights": weights, "values": values}
        goal = draws.goal(rng, m, truths.values_of(prior))
        return {
            "release": release,
            "prior": prior,
            "knowledge": draws.knowledge(rng, m),
            "goal": goal,
            **self.more(rng),
        }

    def more(self, rng: random.Random) -> dict[str, Any]:
        """What else is drawn."""
        return {}

    def judge(self, question: Question) -> Verdict:
        arguments = arguments_of(question)
        with tempfile.TemporaryDirectory() as folder:
            if "matrix" in question["release"]:
                Path(folder, MATRIX).write_text(
                    "\n".join(map(_listed, question["release"]["matrix"])), encoding="utf-8"
                )
            data, text = (called([*arguments, *more], Path(folder)) for more in (["--json"], []))
        verdict = worst([judged_output(data), judged_output(text)])
        if verdict.kind != "fine":
            return verdict
        truth = truths.of_question(question)
        return worst([judged(_assessment(data.out), truth), judged_text(text.out, truth)])

    def smaller(self, question: Question) -> Iterator[Question]:
        return (one for one in smaller_threats(question) if one["prior"]["how"] == "of")

    def body(self, question: Question, verdict: Verdict) -> Body:
        lines = (
            f"verdict = FAMILIES[{self.name!r}].judge({question!r})\nassert not verdict.is_finding, verdict.message\n"
        )
        return Body(lines, "from tests.fuzz.families.all import FAMILIES")


class Specs(Answers):
    """The same as a file with a limit: a limit that is broken never passes."""

    name = "specs"

    def more(self, rng: random.Random) -> dict[str, Any]:
        """A limit, as a multiple of the true number."""
        return {"limited": rng.choice(("rad", "success")), "factor": rng.choice((0.3, 0.9, 0.999, 0.99999, 1.001, 1.2))}

    def judge(self, question: Question) -> Verdict:
        name = question["limited"]
        low, _ = truths.of_question(question)[name]
        limit = min(1.0, max(0.0, float(f"{low * question['factor']:.12g}")))
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "spec.toml").write_text(spec_of(question, limit), encoding="utf-8")
            outcome = called(["run", "spec.toml", "--check"], Path(folder))
        verdict = judged_output(outcome)
        if verdict.kind == "fine" and outcome.code == 0 and limit < low * (1 - 1e-6) - ROUNDING:
            return Verdict("unsafe", f"a limit of {name} {limit!r} passes, true value at least {low!r}")
        return verdict


def spec_of(question: Question, limit: float) -> str:
    """The file that asks."""
    release, prior = question["release"], question["prior"]
    times = release.get("times")
    release = release.get("part", release)
    lines = ['title = "t"', "[release]", 'name = "r"', f"kind = {json.dumps(COMMANDS[release['name']])}"]
    lines += [f"{key} = {json.dumps(value)}" for key, value in release.items() if key != "name"]
    lines += [f"times = {times}"] if times else []
    lines += ["[threat]", 'name = "a"', f"prior = {json.dumps(prior['weights'])}"]
    lines += [] if prior["values"] is None else [f"values = {json.dumps(prior['values'])}"]
    knowledge, goal = question["knowledge"], question["goal"]
    lines.append(f"knowledge = {_inline(knowledge if isinstance(knowledge, str) else {'labels': knowledge})}")
    lines += [f"goal = {_inline(goal)}", f"limits = {_inline({question['limited']: limit})}", 'limit_source = "s"']
    return "\n".join(lines) + "\n"


def _inline(option: Any) -> str:
    if isinstance(option, str):
        return json.dumps(option)
    return "{ " + ", ".join(f"{key} = {json.dumps(value)}" for key, value in option.items()) + " }"


def arguments_of(question: Question) -> list[str]:
    """The command line that asks."""
    release, prior = question["release"], question["prior"]
    times = release.get("times")
    release = release.get("part", release)
    options = {key: value for key, value in release.items() if key != "name"}
    if "matrix" in options:
        options["matrix"] = MATRIX
    if "truncate" in options:
        options["truncate"] = ":".join(map(repr, options["truncate"]))
    options |= {"prior": _listed(prior["weights"]), "times": times}
    options["values"] = None if prior["values"] is None else _listed(prior["values"])
    for key in ("knowledge", "goal"):
        options[key] = _worded(question[key])
    return ["assess", COMMANDS[release["name"]], *(f"--{k}={v}" for k, v in options.items() if v is not None)]


def _listed(numbers: list[Any]) -> str:
    return ",".join(map(repr, numbers))


def _worded(option: Any) -> str:
    if isinstance(option, str):
        return option
    if isinstance(option, list):
        return "labels:" + ",".join(option)
    return "labels:" + ",".join(option["labels"]) if "labels" in option else f"within:{option['within']!r}"


def _assessment(text: str) -> Any:
    import dpradar as dr

    return dr.Assessment.from_dict(json.loads(text))


def judged_text(text: str, truth: Truth) -> Verdict:
    """Compare the numbers of the table: an upper one is never below the truth, a plain one near it."""
    for name, side, shown in SHOWN.findall(text):
        if name not in truth:
            continue
        low, high = truth[name]
        margin, value = REFERENCE * low + ROUNDING, float(shown)
        below = side != "at least " and name != "ceiling" and value < low - margin
        above = side != "at most " and name != "ceiling" and value > high * (1 + LAST_DIGIT) + LAST_DIGIT
        if below or above:
            return Verdict("unsafe", f"the table says {name} {side}{shown}, true value in [{low!r}, {high!r}]")
    return FINE


FAMILIES = [Answers(), Specs()]
