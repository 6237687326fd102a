"""The one error of this folder; in a file of its own, so that catching it loads no library."""


class CalibrationError(ValueError):
    """Says what is wrong, in which row, and what to do. `code` is stable; `text` is for people."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.text = text
