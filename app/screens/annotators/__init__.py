"""The pages of annotators and adjudicators: consent, their own work, and the item to label."""
