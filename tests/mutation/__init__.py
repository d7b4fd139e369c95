"""Small wrong changes to the library, each of which some test should notice."""
