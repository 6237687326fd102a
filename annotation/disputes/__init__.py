"""Where people, or people and a judge, answered differently: the adjudicator's queue, and disagreements to look at."""
