"""What comes back from a model: the outcome of a request, and a raw reply read into answers. Pure."""
