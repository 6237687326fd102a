"""How an estimate gets its interval: raters joined, answers counted by cluster, clusters resampled."""
