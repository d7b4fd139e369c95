"""Look at the low bits of released numbers: floating-point noise may give away the number that it was added to.

Run: make audits, or PYTHONPATH=.venv/audited python examples/audits/low_bits.py
"""

from __future__ import annotations

import argparse

import dpradar as dr
from dpradar.granularity import lint_sampler

SIGNIFICANCE = 0.001  # as in verdicts.py: many audits, and all shall be right
EPSILON, DELTA = 1.0, 0.05
BOUNDS = {"lower": -50.0, "upper": 50.0}
NOISE = {
    "Laplace": {},
    "LaplaceTruncated": BOUNDS,
    "LaplaceFolded": BOUNDS,
    "LaplaceBoundedDomain": BOUNDS,
    "LaplaceBoundedNoise": {"delta": DELTA},
    "Staircase": {},
    "Gaussian": {"delta": DELTA},
    "GaussianAnalytic": {"delta": DELTA},
    "Snapping": BOUNDS,
    "Geometric": {},
}


def diffprivlib(seed):
    """Return the mechanisms of diffprivlib that release a number, with what each promises at sensitivity 1."""
    from diffprivlib import mechanisms

    for name, options in NOISE.items():
        kind, whole = getattr(mechanisms, name), name == "Geometric"
        seeded = {} if name == "Snapping" else {"random_state": seed}  # Snapping takes none
        mechanism = kind(epsilon=EPSILON, sensitivity=1 if whole else 1.0, **options, **seeded)
        cast = int if whole else float
        yield (
            name,
            lambda value, mechanism=mechanism, cast=cast: mechanism.randomise(cast(value)),
            options.get("delta", 0.0),
        )


def opendp(_):
    """Return the noise of OpenDP on one number; it takes no seed."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    noisy = dp.m.make_laplace(dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float), scale=1.0)
    yield "laplace, float", lambda value: noisy(float(value)), 0.0


def main():
    """Print one line for each mechanism: 0 and 1 are the two numbers, and the sensitivity is 1."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=60_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    for library, mechanisms in (("diffprivlib", diffprivlib), ("OpenDP", opendp)):
        for name, sampler, delta in mechanisms(arguments.seed):
            claim = dr.ApproxDP(EPSILON, delta, neighbours="replace-one")
            settings = {"trials": arguments.trials, "significance": SIGNIFICANCE, "seed": arguments.seed}
            report = lint_sampler(sampler, claim=claim, domain=2, **settings)
            findings = [f"REFUTED [{one.rule}]: {one.witness}" for one in report.findings] or ["nothing found"]
            least = [f" (epsilon at least {one.evidence.epsilon_lower - 5e-4:.3f})" for one in report.findings] or [""]
            print(f"{library} {name}: {findings[0]}{least[0]}")


if __name__ == "__main__":
    main()
