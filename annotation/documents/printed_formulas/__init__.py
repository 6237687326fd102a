"""Formulas of a PDF that a browser printed, told from where their characters stand."""
