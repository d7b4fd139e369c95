"""Statements that hold for every mechanism and threat, tried on drawn cases."""
