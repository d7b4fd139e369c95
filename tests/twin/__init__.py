"""The reference twin: slow, plain recomputations that share no code with the package under test."""
