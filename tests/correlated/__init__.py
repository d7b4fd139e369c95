"""Correlated records."""
