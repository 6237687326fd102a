"""How large a study must be: what a pilot tells, what it would take and cost."""
