"""The one error of this folder; in a file of its own, so that catching it loads no library."""


class ExportError(ValueError):
    """Says which number cannot be printed and what it lacks. `code` is stable; `text` is for people."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.text = text
