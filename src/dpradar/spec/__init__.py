"""Files that describe releases."""

from .register import KINDS, register

__all__ = ["KINDS", "register"]
