"""Neighbour relations of any granularity, what a pipeline of mechanisms costs under each, and a linter for claims."""

from .advice import advise
from .brute_force_loss import loss_between, worst_pair
from .chain_mixing import mixing_time, transitions
from .claims import SurveyRow, centroid_attack, lint, lint_sampler, noisy_clusters, survey
from .claims.query_sensitivity import gram_counts, query_change
from .conversions import Conversion, conversion
from .database_facts import Facts
from .finite_domain import Domain
from .graphs import Graph, clique_bound, cliques_through
from .metrics import part_replaced
from .neighbour_relation import Granularity
from .pipeline import Claim, Partition, Pipeline, Practice, Step
from .pipeline_accounting import guarantee
from .pipeline_verdict import account
from .worst_change import gaussian_of_pure

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
    "clique_bound",
    "cliques_through",
    "conversion",
    "gaussian_of_pure",
    "gram_counts",
    "guarantee",
    "lint",
    "lint_sampler",
    "loss_between",
    "mixing_time",
    "noisy_clusters",
    "part_replaced",
    "query_change",
    "survey",
    "transitions",
    "worst_pair",
]
