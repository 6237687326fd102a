"""Plain text, numbers in words and hashes, which every folder may import; it imports nothing of ours."""
