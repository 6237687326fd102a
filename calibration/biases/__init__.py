"""Biases one by one, and what kind of answers each rater gives."""
