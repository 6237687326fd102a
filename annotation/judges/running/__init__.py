"""A run at work: claiming, sending at the pace of the limits, writing in groups, asking again, progress."""
