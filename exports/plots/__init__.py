"""The figures of a report, one a file, and what they share."""
