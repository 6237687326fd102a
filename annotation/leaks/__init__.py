"""What a shown text may still tell of its maker, how the owner is shown it, and what they decide about it."""
