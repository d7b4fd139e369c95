"""The true numbers of a question, by the twin alone."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import mpmath

from tests.twin import brute, lines, mixed, protocols, repeated

if TYPE_CHECKING:
    from .verdicts import Truth

FAR_APART = {"Laplace": 120.0, "Gaussian": 60.0}  # in units of the noise; farther apart makes no difference
DIGITS = 40
FPR = Fraction(1, 100)
TINY = Fraction(1, 10**28)  # 12 digits are left of them


def decimal(x: Any) -> Fraction:
    """A number as the decimal that Python prints."""
    return Fraction(repr(x))


def law(prior: dict[str, Any]) -> list[Fraction]:
    """The prior, exactly."""
    weights = [Fraction(w) for w in prior["weights"]]
    total = sum(weights, Fraction(0))
    return [w / total for w in weights]


def values_of(prior: dict[str, Any]) -> list[Any]:
    """The numbers of a prior."""
    return list(range(len(prior["weights"]))) if prior["values"] is None else list(prior["values"])


def known(question: dict[str, Any]) -> list[Any]:
    """What the attacker knows of each value."""
    m, knowledge = len(question["prior"]["weights"]), question["knowledge"]
    if isinstance(knowledge, str):
        return brute.nothing(m) if knowledge == "nothing" else brute.everything(m)
    return list(knowledge)


def success_sets(question: dict[str, Any]) -> brute.Success:
    """Which guesses are right for which values; |a - b| <= eta is decided on decimals."""
    m, goal = len(question["prior"]["weights"]), question["goal"]
    if goal == "exact":
        return brute.exact(m)
    if "labels" in goal:
        return brute.labels(goal["labels"])
    return brute.within([decimal(v) for v in values_of(question["prior"])], decimal(goal["within"]))


# Finite channels.


def matrix(release: dict[str, Any], prior: dict[str, Any]) -> Any:
    """The channel of a release with finitely many outputs."""
    name = release["name"]
    if name == "Channel":
        return [[Fraction(x) / sum(map(Fraction, row)) for x in row] for row in release["matrix"]]
    if name == "Repeated":
        return _repeated(release, prior)
    if name == "Composed":
        return brute_composed([matrix(part, prior) for part in release["parts"]])
    if name in ("Geometric", "DiscreteGaussian"):
        return _lattice(release, prior)
    return protocols.protocol(name, len(prior["weights"]), release["epsilon"], release.get("threshold"))


def brute_composed(parts: list[Any]) -> list[list[Any]]:
    """Independent outputs about the same record."""
    rows = parts[0]
    for other in parts[1:]:
        rows = [[x * y for x in row for y in more] for row, more in zip(rows, other, strict=True)]
    return rows


def _repeated(release: dict[str, Any], prior: dict[str, Any]) -> Any:
    part, times = release["part"], release["times"]
    if part["name"] in ("SUE", "OUE", "THE"):
        m = len(prior["weights"])
        p, q = unary_bits(part)
        return repeated.unary_counts(m, p, q, times)
    return repeated.counted_channel(matrix(part, prior), times)


def unary_bits(part: dict[str, Any]) -> tuple[Fraction, Fraction]:
    """How often the bit of the value, and another one, is 1."""
    epsilon = part["epsilon"]
    if part["name"] == "THE":
        threshold = part.get("threshold")
        return protocols.the_bits(epsilon, protocols.the_threshold(epsilon) if threshold is None else threshold)
    if part["name"] == "SUE":
        half = protocols.exponential(Fraction(epsilon) / 2)
        return half / (half + 1), 1 / (half + 1)
    return Fraction(1, 2), 1 / (protocols.exponential(epsilon) + 1)


def _lattice(release: dict[str, Any], prior: dict[str, Any]) -> Any:
    numbers = release.get("query") or values_of(prior)
    first = min(map(int, numbers))
    values = [int(v) - first for v in numbers]
    clamp = release.get("truncate")
    clamp = None if clamp is None else tuple(int(c) - first for c in clamp)
    if release["name"] == "Geometric":
        return lines.geometric_channel(values, protocols.exponential(-1 / Fraction(release["scale"])), clamp)
    rows = lines.discrete_gaussian(values, release["sigma"], clamp)
    return [[protocols.exact(x) for x in row] for row in rows]


def of_channel(P: Any, question: dict[str, Any]) -> Truth:
    """The numbers of a finite channel, by Theorem 4.3 in fractions."""
    pi, a, S = law(question["prior"]), known(question), success_sets(question)
    denominator = 10**DIGITS  # fractions of hundreds of digits are slow, 40 digits are enough
    rounded = [[Fraction(round(x * denominator), denominator) for x in row] for row in P]
    risk = brute.rad(rounded, pi, a, S), brute.success(rounded, pi, a, S), brute.baseline(pi, a, S)
    tv = float(brute.total_variation(rounded))
    gain = float(risk[1] - risk[2])
    tiny = any(0 < x < TINY for row in P for x in row)
    return {
        **_points(*map(float, risk)), "gain": (gain, gain), "worst_gain": (tv, math.inf),
        **beside_raw(question, float(risk[0])), **of_the_rarest(rounded, question, tiny=tiny),
    }  # fmt: skip


def beside_raw(question: dict[str, Any], rad: float) -> Truth:
    """What publishing the raw data would give, and the share of it that a release reaches which has at least this."""
    pi, a, S = law(question["prior"]), known(question), success_sets(question)
    identity = [[Fraction(int(i == j)) for j in range(len(pi))] for i in range(len(pi))]
    most = float(brute.rad(identity, pi, a, S))
    return {"ceiling": (most, most), "share": (min(1.0, rad / most) * (1 - 1e-9) if most else 1.0, 1.0)}


def of_the_rarest(P: list[list[Fraction]], question: dict[str, Any], *, tiny: bool) -> Truth:
    """What the release says about people with the rarest answer, beside all others: hits at 1 % false alarms, odds.

    With tiny probabilities, which were rounded, there are no odds.
    """
    pi, goal = law(question["prior"]), question["goal"]
    if goal != "exact" and "labels" not in goal:
        return {}
    names = list(range(len(pi))) if goal == "exact" else goal["labels"]
    answers = {name: sum(p for p, other in zip(pi, names, strict=True) if other == name) for name in names}
    least = min(p for p in answers.values() if p > 0)
    results = [
        brute.flagged(*(_mixture(P, pi, [(n == name) is of_it for n in names]) for of_it in (True, False)), FPR)
        for name, p in answers.items()
        if p == least and p < 1
    ]
    if not results:
        return {}
    hits, odds = (float(max(column)) for column in zip(*results, strict=True))
    return {"rarest.tpr": (hits, math.inf), **({} if tiny else {"rarest.odds": (odds, math.inf)})}


def _mixture(P: list[list[Fraction]], pi: list[Fraction], chosen: list[bool]) -> list[Fraction]:
    mass = sum(p for p, here in zip(pi, chosen, strict=True) if here)
    rows = [(p / mass, row) for p, row, here in zip(pi, P, chosen, strict=True) if here and p]
    return [sum((p * row[t] for p, row in rows), Fraction(0)) for t in range(len(P[0]))]


def _points(rad: float, success: float, baseline: float) -> Truth:
    return {"rad": (rad, rad), "success": (success, success), "baseline": (baseline, baseline)}


# Noise on the line.


def noise(release: dict[str, Any]) -> tuple[lines.Noise, str]:
    """The noise of a release and the name of its kind; repeated Gaussian noise is less of it."""
    if release["name"] == "Repeated":
        return lines.gaussian(release["part"]["sigma"] / math.sqrt(release["times"])), "Gaussian"
    if release["name"] == "Laplace":
        return lines.laplace(release["scale"]), "Laplace"
    return lines.gaussian(release["sigma"]), "Gaussian"


def near(values: list[Fraction], unit: float, kind: str) -> list[float]:
    """The numbers from the smallest on, with gaps that no noise bridges made shorter."""
    order = sorted(range(len(values)), key=values.__getitem__)
    most, place, result = Fraction(FAR_APART[kind] * unit), Fraction(0), [0.0] * len(values)
    for before, here in zip([order[0], *order], order, strict=False):
        place += min(values[here] - values[before], most)
        result[here] = float(place)
    return result


def of_line(question: dict[str, Any], step: float = 0.02) -> Truth:
    """The numbers of noise on the line; the number itself is read as a float and as a decimal, and both are allowed."""
    release, prior = question["release"], question["prior"]
    law_of_noise, kind = noise(release)
    pi, a, S = [float(p) for p in law(prior)], known(question), success_sets(question)
    numbers = release.get("query") or values_of(prior)
    clamp = release.get("truncate")
    risks = []
    for reading in (Fraction, decimal):
        places = [reading(v) for v in numbers]
        if clamp is None:
            risks.append(lines.risks(law_of_noise, near(places, law_of_noise.scale, kind), pi, a, S, None, step))
        else:
            first = min(places)
            ends = tuple(float(reading(c) - first) for c in clamp)
            risks.append(lines.risks(law_of_noise, [float(v - first) for v in places], pi, a, S, ends, step))
        if all(Fraction(v) == decimal(v) for v in numbers):
            break
    truth = {
        name: (min(x), max(x)) for name, x in zip(("rad", "success", "baseline"), zip(*risks, strict=True), strict=True)
    }
    base = float(brute.baseline(law(prior), a, S))
    low, high = truth["success"]
    raw = beside_raw(question, truth["rad"][0])
    return {**truth, "baseline": (base, base), "gain": (low - base, high - base), **raw}


def of_mixture(question: dict[str, Any]) -> Truth:
    """Noise on the line composed with one finite channel."""
    parts, prior = question["release"]["parts"], question["prior"]
    noisy = next(p for p in parts if p["name"] in FAR_APART)
    finite = [matrix(p, prior) for p in parts if p is not noisy]
    law_of_noise, kind = noise(noisy)
    places = near([Fraction(v) for v in noisy.get("query") or values_of(prior)], law_of_noise.scale, kind)
    pi, a, S = [float(p) for p in law(prior)], known(question), success_sets(question)
    rad, success = mixed.risks(law_of_noise, places, brute_composed(finite), pi, a, S)
    base = float(brute.baseline(law(prior), a, S))
    return {**_points(rad, success, base), "gain": (success - base, success - base), **beside_raw(question, rad)}


def of_question(question: dict[str, Any]) -> Truth:
    """The true numbers, by whatever part of the twin has them."""
    release = question["release"]
    names = [part["name"] for part in release.get("parts", [])] or [release.get("part", release)["name"]]
    with mpmath.workdps(30):
        if not set(names) & set(FAR_APART):
            return of_channel(matrix(release, question["prior"]), question)
        return of_mixture(question) if release["name"] == "Composed" else of_line(question)
