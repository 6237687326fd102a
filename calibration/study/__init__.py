"""Verdicts as a study: raters joined on the units that they answered, estimates from whole clusters."""
