"""Labels as annotation and evaluation tools export them: a reader for each tool."""
