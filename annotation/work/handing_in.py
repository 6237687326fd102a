"""What must hold before work is handed in: the page that was read, every answer stored, and nothing missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy.orm import Session

from annotation.entries import Beside
from annotation.errors import AnnotationError, Incomplete
from annotation.protocol import Protocol
from annotation.work.asked import asked_of
from annotation.work.page import Shown, current_answers, missing_answers, page_token, shown_reports
from annotation.work.twins import twin_assignment
from db.tables import Assignment, Study


class HandedIn(NamedTuple):
    """One report's part of what a page hands in. `revs`: criterion -> the revision the page knows."""

    assignment: Assignment
    page: str
    revs: Mapping[str, int]


def refuse_other_page(assignment: Assignment, shown: Shown, page: str) -> None:
    """Raises AnnotationError `invalid` unless `page` is the token of what this work shows."""
    if page != page_token(assignment, shown):
        raise AnnotationError("invalid", "this page shows another item; reload it")


def handed_in(session: Session, own: HandedIn, beside: Beside | None) -> list[HandedIn]:
    """The page's own part and the one beside. Raises AnnotationError `invalid` where another report stands beside."""
    twin = twin_assignment(session, own.assignment)
    if (beside and beside.aid) != (twin and twin.aid):
        raise AnnotationError("invalid", "this page asks about other reports; reload it")
    return [own, HandedIn(twin, beside.page, beside.revs)] if twin and beside else [own]


def refuse_unfinished(session: Session, study: Study, protocol: Protocol, parts: Sequence[HandedIn]) -> int:
    """How many answers all parts hold. Raises AnnotationError `unsaved` or `incomplete`, both over all parts."""
    differing: list[Any] = []
    missing: list[dict[str, str]] = []
    asked = 0
    for assignment, page, revs in parts:
        refuse_other_page(assignment, shown_reports(session, assignment), page)
        answers = current_answers(session, assignment)
        # one criterion asked of two reports: of which is it?
        named = {"aid": assignment.aid} if len(parts) > 1 else {}
        stored = {code: label.revision for code, label in answers.items()}
        others = [code for code in sorted({*revs, *stored}) if revs.get(code, 0) != stored.get(code, 0)]
        differing += [{"criterion": code, **named} if named else code for code in others]
        codes = [row.code for row in asked_of(session, study, assignment)]
        missing += [lacking | named for lacking in missing_answers(protocol, codes, answers)]
        asked += len(codes)
    if differing:
        raise Incomplete(
            "unsaved", "something is not saved yet, or newer than this page; it was loaded again", differing
        )
    if missing:
        what = "criteria" if len(parts) == 1 else "answers"
        raise Incomplete("incomplete", f"{len(missing)} of {asked} {what} still need something", missing)
    return asked
