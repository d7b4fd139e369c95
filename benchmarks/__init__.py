"""Speed of dpradar against the goals it set itself, and beside its peers: ``python -m benchmarks``."""
