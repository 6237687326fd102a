"""Reports, topics and their questions: one reader for each layout, one transaction, nothing half imported."""
