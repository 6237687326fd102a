"""One call: what it shows, its prompt, the only litellm, and what to do next with it."""
