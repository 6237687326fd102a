"""Judges beside each other and beside a single annotator: pairs, drift, effective number, the alternative test."""
