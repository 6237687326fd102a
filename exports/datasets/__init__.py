"""A study's labels for others: what a dataset is made of, and the forms of annotation tools."""
