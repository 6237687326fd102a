"""Labels and judge results as published benchmarks ship them: a reader for each."""
