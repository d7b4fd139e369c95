"""Tests by package: oracles, properties and simulations of a package stand in its folder, and their names say so."""
