"""The one error of this folder; in a file of its own, so that catching it loads no library."""

from plain.wording import Refusal


class CalibrationError(Refusal, ValueError):
    """Says what is wrong, in which row, and what to do. `code` is stable; `text` is for people."""
