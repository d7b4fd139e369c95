"""Private learning: the exact attack on DP-SGD, and what attacks on models really gain."""

from .attack import attack_gradients, candidate_mechanism
from .canaries import canary_audit
from .experiment import experiment
from .gradients import GradientScores, printed_rule
from .networks import Network
from .risk import CandidateRisk, candidate_risk
from .trainer import Candidates, Training, train

__all__ = [
    "CandidateRisk",
    "Candidates",
    "GradientScores",
    "Network",
    "Training",
    "attack_gradients",
    "canary_audit",
    "candidate_mechanism",
    "candidate_risk",
    "experiment",
    "printed_rule",
    "train",
]
