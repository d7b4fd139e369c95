"""The kinds of questions."""
