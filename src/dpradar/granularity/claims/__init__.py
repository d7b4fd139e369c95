"""The linter for claims: rules for described pipelines, tests of samplers, and a survey of published mechanisms."""

from .centroids import centroid_attack, noisy_clusters
from .linting import lint
from .sampler_tests import lint_sampler
from .survey import SurveyRow, survey

__all__ = ["SurveyRow", "centroid_attack", "lint", "lint_sampler", "noisy_clusters", "survey"]
