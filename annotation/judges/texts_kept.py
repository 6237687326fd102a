"""Shown texts that were read lately stay in memory, up to a size."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Set

from sqlalchemy import select
from sqlalchemy.orm import Session

from db.tables import Report

TEXTS_KEPT = 16_000_000  # characters


class Texts:
    """Shown texts that were read lately, so that the passes and batches of a pair read them once.

    Holds about `at_most` characters; a text is found by its report and its sha256.
    """

    def __init__(self, at_most: int = TEXTS_KEPT) -> None:
        self._at_most, self._size = at_most, 0
        self._kept: OrderedDict[tuple[int, str], str] = OrderedDict()

    def of(self, session: Session, wanted: Set[tuple[int, str]]) -> dict[tuple[int, str], str]:
        """The texts of these reports, the missing ones from the database."""
        missing = {report for report, _ in wanted - self._kept.keys()}
        if missing:
            rows = select(Report.id, Report.shown_sha256, Report.shown_text).where(Report.id.in_(missing))
            for report, sha256, text in session.execute(rows):
                self._kept[report, sha256] = text
                self._size += len(text)
        found = {key: self._kept[key] for key in wanted}
        for key in wanted:
            self._kept.move_to_end(key)
        while self._size > self._at_most:
            self._size -= len(self._kept.popitem(last=False)[1])
        return found
