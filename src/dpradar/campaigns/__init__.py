"""Many runs: described in a file, split into shards, computed anywhere, saved in one file that survives a crash."""

from .campaign_model import Campaign, Run
from .campaign_reader import parse, read
from .campaign_status import CampaignStatus, RunStatus, status
from .export import export
from .run_campaign import resume, run
from .store import StoreError

__all__ = [
    "Campaign",
    "CampaignStatus",
    "Run",
    "RunStatus",
    "StoreError",
    "export",
    "parse",
    "read",
    "resume",
    "run",
    "status",
]
