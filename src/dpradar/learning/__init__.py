"""Private learning: the exact attack on DP-SGD, and what attacks on models really gain."""

from .canaries import canary_audit
from .candidate_risks import CandidateRisk, candidate_risk
from .experiment import experiment
from .gradient_attack import attack_gradients, candidate_mechanism
from .gradient_scores import GradientScores, printed_rule
from .stacked_networks import Network
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
