"""Arithmetic with known errors."""
