"""How results meet people: one place for sentences and rounding."""
