"""The least noise under a limit."""
