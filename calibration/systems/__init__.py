"""What labels say of the systems: win rates, strengths, ranks, a study's own aggregates, total scores."""
