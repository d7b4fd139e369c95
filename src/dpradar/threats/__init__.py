"""Who attacks: what is believed (Prior), known of the target (Knowledge) and counted as success (Goal)."""

from .goal import Goal
from .knowledge import Knowledge
from .measured import Measured
from .prior import Prior
from .threat import Threat

__all__ = ["Goal", "Knowledge", "Measured", "Prior", "Threat"]
