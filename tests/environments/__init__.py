"""What pyproject.toml declares, tried in environments that hold nothing else."""
