"""Numerics without a privacy word: logarithms, quadrature, envelopes, intervals, rounding."""
