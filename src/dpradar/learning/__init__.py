"""Private learning: the exact attack on DP-SGD, and what attacks on models really gain."""

from .attack import attack_gradients, candidate_mechanism
from .canaries import canary_audit
from .experiment import experiment
from .gradients import GradientScores, printed_rule
from .networks import Network
from .trainer import Candidates, Training, train

__all__ = [
    "Candidates",
    "GradientScores",
    "Network",
    "Training",
    "attack_gradients",
    "canary_audit",
    "candidate_mechanism",
    "experiment",
    "printed_rule",
    "train",
]
