"""Attacks that are run."""
