"""The figures of a report, and what they share."""
