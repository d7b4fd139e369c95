"""The command line: ``dpradar``."""

from .main import main

__all__ = ["main"]
