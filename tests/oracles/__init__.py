"""Numbers of the theory notes and of the twin, against dpradar."""
