"""One piece at a time: input checks, samplers, curves, results."""
