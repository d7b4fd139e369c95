"""What a mechanism, a noise density or a rule outside of dpradar may import. Names here change only as SemVer says.

A **mechanism** is a class made by ``described`` with a method ``at(prior)`` that returns a ``Release``: what it offers
to the rules. Its options are fields with ``About``; command line, spec files and errors follow from them. A
distribution makes it known by an entry point of the group ``dpradar.mechanisms``, named as the kind; it is imported
when somebody names that kind. A **kernel** is a noise density on the line, whose promises ``kernel_problems`` checks.
A **rule** is a function from a ``Case`` to ``Finding`` objects; ``dpradar.assess(..., extra_rules=(rule,))`` runs it.

Examples
--------
A survey question that is answered truly when a coin says so; the distribution would declare
``[project.entry-points."dpradar.mechanisms"]`` with ``coin = "my_package:Coin"``.

>>> from typing import Annotated
>>> from annotated_types import Gt, Lt
>>> import dpradar as dr
>>> from dpradar.plugins import About, Release, described
>>> @described("coin", "A question that is answered truly when a coin says so, else by a second coin.", "local")
... class Coin:
...     truth: Annotated[float, Gt(0), Lt(1), About("the probability of the truth", typical=(0.1, 0.9))]
...
...     def at(self, prior) -> Release:
...         same, other = 0.5 + self.truth / 2, 0.5 - self.truth / 2
...         return dr.Channel([[same, other], [other, same]]).at(prior)
>>> round(dr.assess(Coin(truth=0.5), dr.Threat(dr.Prior.uniform(2))).rad.value, 6)
0.25
>>> Coin(truth=2)
Traceback (most recent call last):
dpradar.errors.ParameterError: Coin.truth must be a number above 0 and below 1; got 2. It is the probability of the ...
"""

from .bounds.question import Case, Inapplicable
from .bounds.rule import Finding, Rule
from .guarantees.curves import TradeoffCurve, approx_curve
from .guarantees.privacy import Privacy, Relation
from .mechanisms.capabilities import (
    ContinuousModel,
    DiagonalChannel,
    FiniteChannel,
    InclusionChannel,
    Kernel,
    LineModel,
    Mechanism,
    OneHot,
    Release,
    SetLaw,
)
from .mechanisms.ldp.estimators import MeanEstimator, ShareEstimator
from .mechanisms.ldp.parameters import Epsilon, Values
from .mechanisms.noise.kernel_checks import kernel_problems
from .mechanisms.noise.kernels import GaussianKernel, LaplaceKernel
from .mechanisms.noise.noise_options import Truncate
from .mechanisms.query import Contribution, contributions
from .options import About, Contributions, Numbers, Rows, Span, described

__all__ = [
    "About",
    "Case",
    "ContinuousModel",
    "Contribution",
    "Contributions",
    "DiagonalChannel",
    "Epsilon",
    "Finding",
    "FiniteChannel",
    "GaussianKernel",
    "Inapplicable",
    "InclusionChannel",
    "Kernel",
    "LaplaceKernel",
    "LineModel",
    "MeanEstimator",
    "Mechanism",
    "Numbers",
    "OneHot",
    "Privacy",
    "Relation",
    "Release",
    "Rows",
    "Rule",
    "SetLaw",
    "ShareEstimator",
    "Span",
    "TradeoffCurve",
    "Truncate",
    "Values",
    "approx_curve",
    "contributions",
    "described",
    "kernel_problems",
]
