"""Simulations whose failure probability is known and tiny."""
