"""The tables of a report, by what they are about."""
