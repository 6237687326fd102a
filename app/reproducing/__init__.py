"""A published study again from its own public files: its parts as studies, its numbers beside ours."""
