"""Whether confidence can be believed: stated, or the share of votes."""
