"""Private learning: the exact attack on DP-SGD, and what attacks on models really gain."""

from .attack import attack_gradients, candidate_mechanism
from .gradients import GradientScores, printed_rule
from .networks import Network
from .trainer import Candidates, Training, train

__all__ = [
    "Candidates",
    "GradientScores",
    "Network",
    "Training",
    "attack_gradients",
    "candidate_mechanism",
    "printed_rule",
    "train",
]
