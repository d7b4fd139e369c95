"""Bayesian differential privacy: what a release gives away when records depend on each other."""

from .conditional_risk import assess
from .fitting import Fit, fit
from .leakage_bounds import calibrate, leakage
from .models import Chain, GaussianGroups, Groups, Joint

__all__ = ["Chain", "Fit", "GaussianGroups", "Groups", "Joint", "assess", "calibrate", "fit", "leakage"]
