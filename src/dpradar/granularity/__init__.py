"""Neighbour relations of any granularity, what a pipeline of mechanisms costs under each, and a linter for claims."""

from .advice import advise
from .brute_force_loss import loss_between, worst_pair
from .chain_mixing import mixing_time, transitions
from .claims import SurveyRow, centroid_attack, lint, lint_sampler, noisy_clusters, survey
from .conversions import Conversion, conversion
from .database_facts import Facts
from .finite_domain import Domain
from .graphs import Graph
from .neighbour_relation import Granularity
from .pipeline import Claim, Partition, Pipeline, Practice, Step
from .pipeline_accounting import guarantee
from .pipeline_verdict import account

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
