"""Rules and exact engines."""
