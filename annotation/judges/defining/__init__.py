"""judges.toml: which models judge, with which settings, who made them, and panels of several."""
