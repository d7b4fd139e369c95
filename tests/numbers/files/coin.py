"""A program to audit: one input a line, one output a line."""

import os
import random
import sys

random.seed(os.environ["DPRADAR_SEED"])
for line in sys.stdin:
    value = int(line)
    sys.stdout.write(f"{value if random.random() < 0.9 else 1 - value}\n")  # noqa: S311
