"""Tables of the published studies, each in its own form, with our intervals and counts beside it."""
