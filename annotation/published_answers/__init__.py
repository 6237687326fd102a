"""Answers as public benchmarks ship them: a pure reader for each."""
