"""What is promised: curves, profiles, losses, composition."""
