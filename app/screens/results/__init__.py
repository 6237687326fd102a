"""The pages that show what the labels say, with the tables, figures and sentences on them."""
