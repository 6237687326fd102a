"""A judge is a rater that happens to be a model: a room each for its definition, replies, money, calls and runs."""
