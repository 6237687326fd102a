"""Who gave imported answers: a judge or a person of the study by name, found or made; never one who labels here."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from annotation.importing.records import shortened
from db.judge_tables import Judge, JudgeCall, JudgeConfig
from db.people_tables import ROLES, Enrollment, Rater
from db.tables import Assignment, Study

Name = tuple[str, str]  # kind (human or judge) and name
GIVEN_OUT = re.compile(rf"({'|'.join(ROLES)})-\d+")  # pseudonyms that this study may give to somebody else
IMPORTED = "imported"  # the model of a judge that was run elsewhere, wherever models are shown


def pseudonym(name: str) -> str:
    """What an imported person is called here: as in the file, unless it is a pseudonym that studies give out."""
    return f"{IMPORTED} {name}" if GIVEN_OUT.fullmatch(name) else name


def standing_raters(session: Session, study: Study, names: Iterable[Name], problems: list[str]) -> dict[Name, int]:
    """Rater ids of those who are there already. A name that works in this study itself joins `problems`."""
    judges = dict(session.execute(select(Judge.name, Judge.rater_id).where(Judge.study_id == study.id)).all())
    people = {
        name: (rater, role)
        for name, rater, role in session.execute(
            select(Enrollment.pseudonym, Enrollment.rater_id, Enrollment.role).where(Enrollment.study_id == study.id)
        )
    }
    found: dict[Name, int] = {}
    for kind, name in names:
        called = name if kind == "judge" else pseudonym(name)
        if "\0" in called or called.encode("utf-8", "replace").decode() != called:
            problems.append(f"{kind} {shortened(called)}: the name holds characters that cannot be kept; rename it")
        elif called in (people if kind == "judge" else judges):
            other = "person" if kind == "judge" else "judge"
            problems.append(f"{kind} {called!r}: a {other} of this study has that name; give the imported one another")
        elif kind == "judge" and called in judges:
            found[kind, name] = judges[called]
            calls = JudgeCall.judge_id == select(Judge.id).where(Judge.rater_id == judges[called]).scalar_subquery()
            if _any(session, select(JudgeCall.id).where(calls).limit(1).exists()):
                problems.append(
                    f"judge {called!r}: was run in this study itself; name the imported one otherwise: --judge NAME"
                )
        elif kind == "human" and called in people:
            found[kind, name], role = people[called]
            here = Assignment.rater_id == people[called][0], Assignment.source != "import"
            if role != "annotator" or _any(session, select(Assignment.id).where(*here).limit(1).exists()):
                problems.append(f"human {called!r}: works in this study itself; give the imported person another name")
    return found


def make_raters(session: Session, study: Study, names: Iterable[Name]) -> Mapping[Name, int]:
    """Rater ids of new ones. A judge's configuration says that it was run elsewhere: no model, prompt or price here."""
    made: dict[Name, int] = {}
    for kind, name in names:
        called = name if kind == "judge" else pseudonym(name)
        rater = Rater(kind=kind, handle=called)
        session.add(rater)
        session.flush()
        made[kind, name] = rater.id
        if kind == "human":
            session.add(
                Enrollment(
                    study_id=study.id, rater_id=rater.id, role="annotator", pseudonym=called,
                    is_simulated=study.is_simulated,
                )
            )  # fmt: skip
            continue
        judge = Judge(study_id=study.id, rater_id=rater.id, name=called, is_simulated=study.is_simulated)
        session.add(judge)
        session.flush()
        session.add(
            JudgeConfig(
                judge_id=judge.id, sha256=_sha256(f"{IMPORTED}\n{called}"), model=IMPORTED, params={},
                asked_params={}, template="", template_sha256=_sha256(""), structured=[], batching="all",
                max_output_tokens=0, price={}, price_source="none",
            )
        )  # fmt: skip
    session.flush()
    return made


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _any(session: Session, exists: ColumnElement[bool]) -> bool:
    return bool(session.scalar(select(exists)))
