"""What the labels say, in the terminal and as files."""
