"""Questions as text and files: one description for the command line, for TOML and for the web."""

from .kinds import KINDS, Kind
from .question import release_of, threat_of
from .register import register
from .words import FLAGS, PLAIN, Where, inside

__all__ = ["FLAGS", "KINDS", "PLAIN", "Kind", "Where", "inside", "register", "release_of", "threat_of"]
