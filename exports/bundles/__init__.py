"""Bundles: what a reviewer needs to compute a paper's numbers again, how that is done and what it proves."""
