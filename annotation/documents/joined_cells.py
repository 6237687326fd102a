"""The cells of a table that may be joined, each in a place of its own, as Markdown has them."""

from collections.abc import Sequence
from typing import Any

Words = list[dict[str, Any]]

REACH, MOST_CELLS = 200, 100_000  # places that one cell is joined over, and of a table: a file may claim any number


class TooLarge(ValueError):
    """A table with more places than anybody reads."""


def grid(rows: Sequence[Sequence[tuple[int, int, Words]]]) -> list[list[Words]]:
    """Rows of equal length from (rows, columns, text) of each cell; a joined cell's text is in its first place.

    Raises TooLarge.
    """
    made: list[list[Words]] = []
    taken: dict[tuple[int, int], bool] = {}
    before = 0  # places of the rows above
    for at, row in enumerate(rows):
        line: list[Words] = []
        for down, across, words in (
            (min(down, REACH, len(rows) - at), min(across, REACH), words) for down, across, words in row
        ):
            if before + len(line) + len(taken) + down * across > MOST_CELLS:
                raise TooLarge
            while taken.pop((at, len(line)), False):
                line.append([])
            for below in range(1, down):
                taken |= {(at + below, len(line) + right): True for right in range(across)}
            line += [words, *([] for _ in range(1, across))]
        while taken.pop((at, len(line)), False):
            line.append([])
        made.append(line)
        before += len(line)
    width = max(map(len, made), default=0)
    return [[*line, *([] for _ in range(width - len(line)))] for line in made if width]
