"""Some thousand answers of the library, compared with those in the repository."""
