"""Theorems that turn a release and a threat into numbers."""

from .assess import assess

__all__ = ["assess"]
