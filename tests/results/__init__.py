"""What a computation returns, saved and read again."""
