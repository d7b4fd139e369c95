"""Engines for Theorem 4.3: the risk itself, not a bound on it."""
