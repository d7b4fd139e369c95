"""Who attacks: what is believed (Prior), known of the target (Knowledge) and counted as success (Goal)."""

from .counted_prior import Measured
from .goal import Goal
from .knowledge import Knowledge
from .prior import Prior
from .threat import Threat

__all__ = ["Goal", "Knowledge", "Measured", "Prior", "Threat"]
