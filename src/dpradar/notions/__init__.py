"""Notions of risk that are not a prior, some knowledge and a goal: singling out, memorisation, odds, and others."""

from .isolation import (
    classic_singling_out,
    isolation_baseline,
    isolation_success,
    narcissus,
    predicate_singling_out,
    singling_out,
)
from .memorisation_bounds import cross_influence, generalisation, memorisation
from .odds import PosteriorOdds, normalised_gain, posterior_odds, remaining_error

__all__ = [
    "PosteriorOdds",
    "classic_singling_out",
    "cross_influence",
    "generalisation",
    "isolation_baseline",
    "isolation_success",
    "memorisation",
    "narcissus",
    "normalised_gain",
    "posterior_odds",
    "predicate_singling_out",
    "remaining_error",
    "singling_out",
]
