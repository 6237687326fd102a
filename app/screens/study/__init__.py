"""The pages that show the work of a study, and plan the next: setup, people, progress, judges, disputes."""
