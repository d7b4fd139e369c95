"""One module for each screen: what it asks, what is to be computed, and how the same is asked elsewhere."""
