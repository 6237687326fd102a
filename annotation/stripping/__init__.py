"""What `citations.strip_citations` deletes from the body: marks, links, cards, each found by its own rule. Pure."""
