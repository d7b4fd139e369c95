"""Assessments by every engine beside the twin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import draws, questions, truths
from ..shrinking import smaller_threats
from ..verdicts import Question, Truth, Verdict, judged
from ..written import Body

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator

LOCAL = ("GRR", "SUE", "OUE", "SubsetSelection", "BLH", "OLH", "THE", "HadamardResponse")


def outcome(ask: Callable[[], Any], compare: Callable[[Any], Verdict]) -> Verdict:
    """Compare the answer; of no answer, what its exception means: an error that says what is wrong is fine.

    An exception of the comparison is a fault of the twin or of the question, and is not caught.
    """
    import dpradar as dr

    try:
        answer = ask()
    except dr.InconsistentEvidence as error:
        return Verdict("internal", f"InconsistentEvidence: {error}")
    except (dr.DpradarError, MemoryError) as error:
        return Verdict("refused", f"{type(error).__name__}: {error}")
    except Exception as error:
        return Verdict("internal", f"{type(error).__name__}: {error}")
    return compare(answer)


@dataclass(frozen=True)
class Assessing:
    """One engine: how its releases are drawn."""

    name: str
    release: Callable[[random.Random], tuple[dict[str, Any], int, list[Any] | None]]
    truth: Callable[[Question], Truth] = truths.of_question
    plain: bool = False  # no numbers at all, so no goals of distance

    def prepare(self) -> None:
        """Nothing is shared."""

    def draw(self, rng: random.Random) -> Question:
        release, m, values = self.release(rng)
        prior = draws.prior(rng, m, values)
        numbers = truths.values_of(prior)
        goal = draws.goal(rng, m, numbers)
        return {"release": release, "prior": prior, "knowledge": draws.knowledge(rng, m), "goal": goal}

    def judge(self, question: Question) -> Verdict:
        code = questions.assessment(question)
        verdict = outcome(lambda: questions.run(code)["a"], lambda a: judged(a, self.truth(question)))
        if verdict.kind == "refused" and ": Prior" in verdict.message and question["prior"]["how"] != "raw":
            return Verdict("internal", f"a valid prior is refused: {verdict.message}")
        return verdict

    def smaller(self, question: Question) -> Iterator[Question]:
        return smaller_threats(question)

    def body(self, question: Question, verdict: Verdict) -> Body:
        return Body(questions.assessment(question) + verdict.check)


def local(rng: random.Random) -> tuple[dict[str, Any], int, list[Any] | None]:
    """A local protocol on few values."""
    name = rng.choice(LOCAL)
    epsilon = draws.log_uniform(rng, 1e-3, 12.0)
    most = {"BLH": 6, "OLH": 3, "SUE": 6, "OUE": 6, "THE": 6}.get(name, 7)
    if name == "OLH":
        epsilon = min(epsilon, 1.9)
    m = rng.randint(2, most)
    release: dict[str, Any] = {"name": name, "m": m, "epsilon": epsilon}
    if name == "THE":  # the one of least variance is only known to some digits
        release["threshold"] = round(rng.uniform(0.5, 1.0), 3)
    return release, m, draws.numbers(rng, m) if rng.random() < 0.7 else None


def channel(rng: random.Random) -> tuple[dict[str, Any], int, list[Any] | None]:
    """Any matrix, with zeros, equal rows and tiny entries."""
    m, n = rng.randint(2, 7), rng.randint(2, 6)
    rows = [draws.normalised(draws.weights(rng, n)) for _ in range(m)]
    if rng.random() < 0.3:
        rows[0] = list(rows[1])
    return {"name": "Channel", "matrix": rows}, m, draws.numbers(rng, m) if rng.random() < 0.7 else None


def finite(rng: random.Random) -> tuple[dict[str, Any], int, list[Any] | None]:
    """A finite channel: a protocol or a matrix."""
    return local(rng) if rng.random() < 0.6 else channel(rng)


def line(rng: random.Random) -> tuple[dict[str, Any], int, list[Any] | None]:
    """Laplace or Gaussian noise on numbers, sometimes clamped, of any size beside the gaps."""
    m = rng.randint(2, 7)
    values = draws.numbers(rng, m)
    unit = rng.choice(draws.gaps(values)) * draws.log_uniform(rng, 0.03, 30.0)
    if not unit > 0.0:
        unit = 1.0
    if rng.random() < 0.1:
        unit *= 1e5
    name = rng.choice(("Laplace", "Gaussian"))
    release: dict[str, Any] = {"name": name, "scale" if name == "Laplace" else "sigma": unit}
    low, high = float(min(values)), float(max(values))
    if rng.random() < 0.2 and high - low < 500 * unit:
        release["truncate"] = rng.choice(([low, high], [low - 2 * unit, high + unit], [low + (high - low) / 3, high]))
        if not release["truncate"][0] < release["truncate"][1]:
            del release["truncate"]
    elif name == "Gaussian" and rng.random() < 0.15:
        release = {"name": "Repeated", "part": release, "times": rng.randint(2, 60)}
    return release, m, values


def lattice(rng: random.Random) -> tuple[dict[str, Any], int, list[Any] | None]:
    """Integer noise on whole numbers near or far from 0."""
    m = rng.randint(2, 6)
    offset = rng.choice((0, 0, 10**6, 2**40, 2**52, -(2**45), 1_700_000_000))
    values = [offset + v for v in rng.sample(range(rng.choice((m, 12, 30))), m)]
    if rng.random() < 0.5:
        return {"name": "Geometric", "scale": draws.log_uniform(rng, 0.1, 30)}, m, values
    return {"name": "DiscreteGaussian", "sigma": draws.log_uniform(rng, 0.2, 8)}, m, values


def composition(rng: random.Random) -> tuple[dict[str, Any], int, list[Any] | None]:
    """Finite channels together, or noise with one, or one many times."""
    kind = rng.randrange(3)
    m = rng.randint(2, 3)
    parts: list[dict[str, Any]] = []
    for _ in range(rng.randint(1, 2)):
        name = rng.choice(("GRR", "OUE", "SubsetSelection"))
        parts.append({"name": name, "m": m, "epsilon": draws.log_uniform(rng, 0.05, 6.0)})
    values = draws.numbers(rng, m)
    if kind == 0:
        name = rng.choice(("GRR", "SUE", "OUE", "THE", "SubsetSelection"))
        m = rng.randint(2, 3)
        part: dict[str, Any] = {"name": name, "m": m, "epsilon": draws.log_uniform(rng, 0.05, 6.0)}
        if name == "THE":
            part["threshold"] = round(rng.uniform(0.5, 1.0), 3)
        return {"name": "Repeated", "part": part, "times": rng.randint(2, 9)}, m, draws.numbers(rng, m)
    if kind == 1:
        unit = rng.choice(draws.gaps(values)) * draws.log_uniform(rng, 0.1, 10) or 1.0
        name = rng.choice(("Laplace", "Gaussian"))
        parts = [{"name": name, "scale" if name == "Laplace" else "sigma": unit}, parts[0]]
        rng.shuffle(parts)
        return {"name": "Composed", "parts": parts}, m, values
    return (
        {"name": "Composed", "parts": [*parts, {"name": "GRR", "m": m, "epsilon": draws.log_uniform(rng, 0.05, 6.0)}]},
        m,
        values,
    )


FAMILIES = [
    Assessing("finite", finite),
    Assessing("line", line),
    Assessing("lattice", lattice),
    Assessing("composition", composition),
]
