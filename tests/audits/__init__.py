"""Tests of claims: outputs of others against what is promised."""
