"""Attacks: the optimal one, others to compare it with, and the measurement of anyone's."""

from .measure import measure
from .optimal import OptimalAttack, optimal_attack
from .run import attack

__all__ = ["OptimalAttack", "attack", "measure", "optimal_attack"]
