"""Questions as text and files: one description for the command line, for TOML and for the web."""

from ..attacks.attack_options import AttackOptions
from ..errors import Problem, SpecError
from ..options.reading import FLAGS, PLAIN, Where, inside
from .model import ReleaseSpec, Spec, ThreatSpec
from .question import release_of, threat_of
from .read import parse, read
from .release_kinds import KINDS, Kind
from .release_register import register
from .run import run
from .write import command, python, toml

__all__ = [
    "FLAGS",
    "KINDS",
    "PLAIN",
    "AttackOptions",
    "Kind",
    "Problem",
    "ReleaseSpec",
    "Spec",
    "SpecError",
    "ThreatSpec",
    "Where",
    "command",
    "inside",
    "parse",
    "python",
    "read",
    "register",
    "release_of",
    "run",
    "threat_of",
    "toml",
]
