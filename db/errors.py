"""The one error of this folder; in a file of its own, so that catching it loads no library."""

from __future__ import annotations


class DatabaseError(Exception):
    """The database cannot be used; the text says which one and what to do."""
