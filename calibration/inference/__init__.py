"""From values of clusters to intervals and tests: resampling, differences, non-inferiority, repeated looks."""
