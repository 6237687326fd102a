"""The LLM judges of a study: their runs, what these left behind, stress tests and drift."""
