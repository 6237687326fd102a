"""Planned calls as a durable queue: claimed under a lease, and written back with what they came to."""
