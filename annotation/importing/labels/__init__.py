"""Labels and judge results made elsewhere: matched with the study's items and raters, then written in one go."""
