"""What `citations.strip_citations` is made of: marks and lists of sources, each found by its own rule. Pure."""
