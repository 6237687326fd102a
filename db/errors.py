"""The errors of this folder; in a file of their own, so that catching one loads no library."""


class DatabaseError(Exception):
    """The database cannot be used; the text says which one and what to do."""


class DatabaseAway(DatabaseError):
    """The server cannot be reached, or ended the connection; the same again may work."""


class DiskFull(DatabaseError):
    """The disk under the database has no room left; nothing of the transaction was written."""
