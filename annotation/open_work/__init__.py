"""Slots that wait for somebody: which are open to whom, quotas, what is due next, and work that goes back."""
