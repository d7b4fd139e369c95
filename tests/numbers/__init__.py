"""The corpus of numbers: what dpradar answers to some hundred questions, and how a changed answer is judged."""
