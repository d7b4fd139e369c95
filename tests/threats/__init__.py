"""Priors, knowledge, goals, and what raw data would add."""
