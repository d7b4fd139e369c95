"""Many runs: described in a file, cut into shards, computed anywhere, kept in one file that survives a crash."""

from .export import export
from .model import Campaign, Run
from .read import parse, read
from .run import resume, run
from .status import Outcome, Results, status
from .store import StoreError

__all__ = ["Campaign", "Outcome", "Results", "Run", "StoreError", "export", "parse", "read", "resume", "run", "status"]
