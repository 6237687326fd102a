"""One annotator's way through their items: taken, read, answered, handed in, given back, looked at again."""
