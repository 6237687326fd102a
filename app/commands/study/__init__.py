"""A study from init to lock, the protocols it can start from, and how large the next one must be."""
