"""A table of labels before anybody trusts it: its cells, its columns' roles, what it can support and what it lacks."""
