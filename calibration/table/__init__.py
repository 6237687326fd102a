"""The table of verdicts: its columns, its cells checked one by one, and what was called what."""
