"""Calls through a provider's batch API: files of requests go out, files of replies come back."""
