"""A judge's calls made once more with one thing changed that should not matter, and what it said then."""
