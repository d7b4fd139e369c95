"""Attribute inference: what a trained classifier gives away about a sensitive column of one person's record."""

from .attribute_attacker import AttributeAttacker, Targets
from .attribute_attacks import ATTACKS, AttributeAttack, View, csmia, imputation, wcai, yeom, yeom_membership
from .model_trials import attack_model, model_risk
from .network_classifier import NetworkClassifier
from .torch_classifier import OpacusClassifier, TorchClassifier

__all__ = [
    "ATTACKS",
    "AttributeAttack",
    "AttributeAttacker",
    "NetworkClassifier",
    "OpacusClassifier",
    "Targets",
    "TorchClassifier",
    "View",
    "attack_model",
    "csmia",
    "imputation",
    "model_risk",
    "wcai",
    "yeom",
    "yeom_membership",
]
