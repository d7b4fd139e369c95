"""Neighbour relations of any granularity, what a pipeline of mechanisms costs under each, and a linter for claims."""

from .accounting import guarantee
from .advice import advise
from .claims import SurveyRow, centroid_attack, lint, lint_sampler, noisy_clusters, survey
from .conversions import Conversion, conversion
from .exact import loss_between, worst_pair
from .facts import Facts
from .finite import Domain
from .graphs import Graph
from .judged import account
from .mixing import mixing_time, transitions
from .pipeline import Claim, Partition, Pipeline, Practice, Step
from .relation import Granularity

__all__ = [
    "Claim",
    "Conversion",
    "Domain",
    "Facts",
    "Granularity",
    "Graph",
    "Partition",
    "Pipeline",
    "Practice",
    "Step",
    "SurveyRow",
    "account",
    "advise",
    "centroid_attack",
    "conversion",
    "guarantee",
    "lint",
    "lint_sampler",
    "loss_between",
    "mixing_time",
    "noisy_clusters",
    "survey",
    "transitions",
    "worst_pair",
]
