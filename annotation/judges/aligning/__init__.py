"""A judge's wording improved from people's verdicts on some topics, and measured on the others."""
