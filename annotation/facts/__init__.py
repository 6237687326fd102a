"""What a study holds, counted: facts for a methods section, rows for a dataset, and rules every database keeps."""
