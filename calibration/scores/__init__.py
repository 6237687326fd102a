"""Ratings: two raters' numbers side by side, and preferences that they imply."""
