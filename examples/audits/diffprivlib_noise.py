"""Audit the noise of diffprivlib: two numbers as far apart as the sensitivity are its neighbours.

Run: make audits, or PYTHONPATH=.venv/audited python examples/audits/diffprivlib_noise.py
"""

from __future__ import annotations

import itertools
import math

from diffprivlib import mechanisms
from verdicts import Case, main

EPSILON, DELTA = 1.0, 0.05
REAL, WHOLE = [(0.0, 1.0)], [(0, 1)]  # noise that does not depend on the number: one pair stands for all
BOUNDED, COUNTS = [(0.0, 1.0), (1.0, 2.0)], [(0, 1), (1, 2)]  # at the lower end, and away from it
# Utilities of 11 candidates: between neighbours each changes by the sensitivity, 1, and one of them the other way.
UTILITIES = [((1.0, *[0.0] * 10), (0.0, *[1.0] * 10))]


def randomised(kind, **options):
    """Return what an audit starts with: one mechanism with a seed, repeated on one number."""

    def start(seed):
        mechanism = kind(random_state=seed, **options)
        return lambda value, count, _: [mechanism.randomise(value) for _ in range(count)]

    return start


def chosen(kind):
    """Return the same for a mechanism that chooses a candidate and gets the utilities when it is made."""

    def start(seed):
        # One mechanism for each set of utilities: a new one for each choice would start the same noise again.
        sets = {utility for pair in UTILITIES for utility in pair}
        choosers = {
            u: kind(epsilon=EPSILON, sensitivity=1.0, utility=list(u), random_state=seed + k)
            for k, u in enumerate(sorted(sets))
        }
        return lambda utility, count, _: [choosers[utility].randomise() for _ in range(count)]

    return start


def balanced_at_half(epsilon, each=6, middle=0.68, step=0.3):
    """Return distances between 14 words for which the mechanism thinks wrongly that it may leave out a factor 2.

    It may where the weights exp(-epsilon distance) of every word have the same sum; it compares the sums at epsilon/2.
    Here those are equal, and at epsilon the word "other" has a larger sum than "first", from which it is farthest.
    """
    least = math.exp(-epsilon / 2.0)
    inside = {
        kind: (least + (each - 2) * middle - sign * step) / (each - 1) for kind, sign in (("near", 1), ("wide", -1))
    }
    words = [*(f"{kind} {k}" for kind in inside for k in range(each))]
    weights = {("first", "other"): least}
    weights |= {("first", word): middle for word in words}
    weights |= {("other", word): middle + (step if word.startswith("near") else -step) for word in words}
    for one, two in itertools.combinations(words, 2):
        weights[one, two] = inside[one[:4]] if one[:4] == two[:4] else middle
    return [(one, two, -2.0 * math.log(weight) / epsilon) for (one, two), weight in weights.items()]


def cases():
    """Return the mechanisms with what they promise; sensitivity 1, and edges at which a bounded one is tested."""
    ends = {"lower": 0.0, "upper": 3.0}
    listed = [
        ("Laplace", {}, REAL, 0.0, 1.0),
        ("LaplaceTruncated", ends, BOUNDED, 0.0, 1.0),
        ("LaplaceFolded", ends, BOUNDED, 0.0, 1.0),
        ("LaplaceBoundedDomain", ends, BOUNDED, 0.0, 1.5),
        ("LaplaceBoundedNoise", {}, REAL, DELTA, 1.0),
        ("Staircase", {}, REAL, 0.0, 1.0),
        ("Snapping", ends, BOUNDED, 0.0, 1.0),
        ("Gaussian", {}, REAL, DELTA, 1.0),
        ("GaussianAnalytic", {}, REAL, DELTA, 1.0),
        ("GaussianDiscrete", {}, WHOLE, DELTA, 1.0),
        ("Geometric", {}, WHOLE, 0.0, 1.0),
        ("GeometricTruncated", {"lower": 0, "upper": 3}, COUNTS, 0.0, 1.0),
        ("GeometricFolded", {"lower": 0, "upper": 3}, COUNTS, 0.0, 0.3),
    ]
    all_cases = []
    for name, options, pairs, delta, share in listed:
        settings = {"epsilon": EPSILON, "sensitivity": type(pairs[0][0])(1), **options}
        if delta:
            settings["delta"] = delta
        start = randomised(getattr(mechanisms, name), **settings)
        # The classical formula for Gaussian noise adds more than (epsilon, delta) needs.
        how, tight = {"pairs": pairs}, name != "Gaussian"
        all_cases.append(Case(name=name, start=start, epsilon=EPSILON, delta=delta, how=how, share=share, tight=tight))
    words = randomised(mechanisms.Binary, epsilon=EPSILON, value0="no", value1="yes")
    all_cases.append(Case(name="Binary", start=words, epsilon=EPSILON, how={"pairs": [("no", "yes")]}))
    far = [("a", "b", 1.0), ("a", "c", 1.0), ("b", "c", 1.0)]
    letters = randomised(mechanisms.ExponentialCategorical, epsilon=EPSILON, utility_list=far)
    pairs = {"pairs": [("a", "b"), ("b", "c")]}
    all_cases.append(Case(name="ExponentialCategorical", start=letters, epsilon=EPSILON, how=pairs))
    uneven = randomised(mechanisms.ExponentialCategorical, epsilon=2.0, utility_list=balanced_at_half(2.0))
    pairs = {"pairs": [("first", "other")]}
    all_cases.append(Case(name="ExponentialCategorical, uneven", start=uneven, epsilon=2.0, how=pairs, share=2.5))
    tree = randomised(mechanisms.ExponentialHierarchical, epsilon=EPSILON, hierarchy=[["a", "b"], ["c", "d"]])
    pairs = {"pairs": [("a", "b"), ("a", "c")]}
    all_cases.append(Case(name="ExponentialHierarchical", start=tree, epsilon=EPSILON, how=pairs))
    for name in ("Exponential", "PermuteAndFlip"):
        start = chosen(getattr(mechanisms, name))
        all_cases.append(Case(name=name, start=start, epsilon=EPSILON, how={"pairs": UTILITIES}))
    return all_cases


SKIPPED = {
    "Uniform": "it promises no epsilon, only delta",
    "Vector, Bingham": "they release a function or a direction, for which this audit has no neighbours",
}

if __name__ == "__main__":
    main("diffprivlib", cases(), SKIPPED, trials=80_000)
