"""One annotator's way through their items: taken, read, answered, handed in, and looked at again."""
