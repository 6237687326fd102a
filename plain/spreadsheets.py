"""Text in a cell that a spreadsheet might run."""

import re
import unicodedata

RUNS = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")  # a spreadsheet reads the wide signs alike
NUMBER = re.compile(r"-\d+(\.\d+)?")


def starts_formula(text: str) -> bool:
    """Whether a spreadsheet may run a cell: blanks and signs without width before the sign do not keep it from that.

    A text with quotes before such a sign counts as well, so that taking one quote away always gives back the text.
    """
    if not text or text[0].isalnum():  # most cells, at once
        return False
    bare = text
    while bare and not bare.startswith(RUNS) and (bare[0].isspace() or bare[0] == "'" or _is_invisible(bare[0])):
        bare = bare[1:]
    return bare.startswith(RUNS)


def guarded(text: str) -> str:
    """A cell that no spreadsheet runs: a quote is before what would start a formula. A number is no formula.

    A text that starts with such a quote itself gets one more, so that `unguarded` gives back every text.
    """
    return f"'{text}" if starts_formula(text) and not NUMBER.fullmatch(text) else text


def unguarded(cell: str) -> str:
    """The text that `guarded` was given."""
    return cell[1:] if cell.startswith("'") and starts_formula(cell) else cell


def _is_invisible(mark: str) -> bool:
    return unicodedata.category(mark) in {"Cc", "Cf"}
