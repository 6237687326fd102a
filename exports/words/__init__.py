"""Sentences that a paper takes over: parts of the methods section, checklists, captions, notes under tables."""
