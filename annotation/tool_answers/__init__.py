"""Answers as annotation and evaluation tools write them: a pure reader for each, for studies and for files alike."""
