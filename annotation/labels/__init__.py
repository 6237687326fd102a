"""Answers as they come in and as they are stored: entries, scores, evidence, sheets, and the labels that count."""
