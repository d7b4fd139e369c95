"""Risks that are no threat."""
