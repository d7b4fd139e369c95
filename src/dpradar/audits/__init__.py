"""Audits: what the outputs of someone's implementation prove about its privacy."""

from .audit import audit
from .executable import Executable
from .samples import Samples

__all__ = ["Executable", "Samples", "audit"]
