"""Claims, facts and key points to be checked: one reader for each layout, and how they become items."""
