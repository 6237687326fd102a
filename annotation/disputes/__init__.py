"""Where people answered differently: the adjudicator's queue, what others said, and what was settled."""
