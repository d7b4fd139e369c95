"""Attacks: the optimal one, others to compare it with, and the measurement of any other attack."""

from .attack_runs import attack
from .measure import measure
from .optimal import OptimalAttack, optimal_attack

__all__ = ["OptimalAttack", "attack", "measure", "optimal_attack"]
