"""A study on its own desk: the commands as typed, people who answer through the services, and a judge's provider."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session, aliased

from annotation.items.shown import asked_of, item_code
from annotation.items.twins import with_twin
from annotation.labelling import save, submit
from annotation.labels.entries import Beside
from annotation.people.principals import Principal
from annotation.verdicts import load_verdicts
from annotation.work.claiming import take_slot
from annotation.work.page import assignment_page, page_token, shown_stamps
from app.command_line import main
from app.settings import database, settings
from db.connect import open_database, reading, transaction
from db.people_tables import Enrollment, Rater
from db.tables import Assignment, Item, Label, Report, Study, System, Topic
from exports.figures import Figure
from tests.migrated import new_sqlite
from tests.small_study import answer


@dataclass(frozen=True)
class Task:
    """What a simulated person has before them. `left` is the system on the left, "" where one report stands alone."""

    person: str
    topic: str
    systems: tuple[str, ...]
    left: str
    probe: str
    criterion: str


Decide = Callable[[Task], str]
Said = tuple[
    str, str, tuple[str, ...], str, str, str
]  # person, topic, systems, probe, criterion, the answer or whose report
About = dict[int, tuple[str, tuple[str, ...], str]]  # item -> topic, systems, probe
Draw = Callable[..., Figure | None]


class Desk:
    """Everything in one folder and one database, a new one where none stands; commands run within this process.

    `figures`: those that a report has here. To draw takes longer than all else, and is looked at in tests/exports.
    """

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch, figures: Sequence[Draw] = ()) -> None:
        self.folder, self._patch = folder, patch
        self.saw: dict[tuple[str, str, frozenset[str]], str] = {}  # person, topic, systems -> which was on the left
        self.pages: dict[str, list[tuple[str, str | None, dict[str, Any]]]] = {}  # study -> item, left, what was sent
        self.bill: Callable[[], list[dict[str, Any]]] = list  # of a judge's provider, since the study began
        self.prompts: Callable[[], list[dict[str, str]]] = list  # that it was sent: model, text and reply
        self.claimed: set[int] = set()  # those of these, and of code, that a study's labels were held against
        self.said: dict[str, list[Said]] = {}  # study -> what people chose, of all pages that were taken
        patch.setattr("exports.pack.FIGURES", dict(enumerate(figures)))
        path = folder / "calipers.db"
        url = f"sqlite:///{path}" if path.exists() else new_sqlite(path)
        patch.setenv("CALIPERS_DATABASE_URL", url)
        patch.chdir(folder)
        settings.cache_clear()
        database.cache_clear()
        self.engine: Engine = open_database(url)

    def close(self) -> None:
        self.engine.dispose()
        settings.cache_clear()
        database.cache_clear()

    def __call__(self, *words: str, exit_code: int = 0) -> str:
        """What one command prints to stdout; its errors where it is meant to fail."""
        self._patch.setattr(sys, "argv", ["calipers", *words])
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as ended:
            main()
        told = out.getvalue() + err.getvalue()
        assert (ended.value.code or 0) == exit_code, told
        return told if exit_code else out.getvalue()

    def verdicts(self, study: str) -> pd.DataFrame:
        with reading(self.engine) as session:
            return load_verdicts(session, session.scalars(select(Study).where(Study.name == study)).one())

    def names(self, study: str) -> tuple[set[str], set[str]]:
        """Of its systems but the reference, in both spellings, and the titles of its topics, which pages have."""
        systems = select(System.key, System.public_name).where(System.is_reference.is_(False))
        of_study = Study.name == study
        with reading(self.engine) as session:
            rows = session.execute(systems.join(Study, Study.id == System.study_id).where(of_study))
            titles = session.scalars(select(Topic.title).join(Study, Study.id == Topic.study_id).where(of_study))
            return {name for row in rows for name in row if name}, {*titles}

    def texts(self, study: str) -> dict[str, str]:
        """Item -> all that raters are to read of it: its reports, what is beside them, and what is asked about."""
        a, b, reference = aliased(Report), aliased(Report), aliased(Report)
        rows = select(Item, a.shown_text, b.shown_text, reference.shown_text).outerjoin(a, a.id == Item.report_a_id)
        rows = rows.outerjoin(b, b.id == Item.report_b_id).outerjoin(reference, reference.id == Item.reference_id)
        with reading(self.engine) as session:
            found = session.execute(rows.join(Study, Study.id == Item.study_id).where(Study.name == study))
            return {
                item_code(item.id): "\n".join(text or "" for text in (item.probe, item.context, *texts))
                for item, *texts in found
            }

    def probes(self, study: str, *, beside: bool = False) -> dict[str, str]:
        """Item -> what is asked about, "" for the reports themselves; and the text `beside` it, in a line of its own."""
        asked = select(Item.id, Item.probe, Item.context).join(Study, Study.id == Item.study_id)
        with reading(self.engine) as session:
            rows = session.execute(asked.where(Study.name == study)).all()
        return {
            item_code(item): f"{probe}\n{' '.join(text.split())}" if beside else probe or ""
            for item, probe, text in rows
        }

    def hashes(self, study: str) -> pd.DataFrame:
        """Of each label the hashes of the texts that it was given on, by its item."""
        asked = (
            select(Assignment.item_id, Label.left_sha256, Label.right_sha256)
            .join(Assignment, Assignment.id == Label.assignment_id)
            .join(Study, Study.id == Assignment.study_id)
            .where(Study.name == study)
        )
        with reading(self.engine) as session:
            rows = [(item_code(item), *both) for item, *both in session.execute(asked)]
        return pd.DataFrame(rows, columns=["item_id", "left", "right"], dtype=object).set_index("item_id")

    def everybody_answers(self, study: str, decide: Decide, *, reasoned: bool = True) -> int:
        """Each enrolled annotator takes the slots that are best for them, as for a packet, and hands all of them in.

        Training and what is due between the items are left out. `reasoned`: whether the last answer of a page has a
        reason, as all others have. Returns the number of pages answered.
        """
        with reading(self.engine) as session:
            people = [
                (Principal(one.study_id, one.role, one.rater_id, one.id, opaque), one.pseudonym)
                for one, opaque in session.execute(
                    select(Enrollment, Rater.opaque_id)
                    .join(Rater, Rater.id == Enrollment.rater_id)
                    .join(Study, Study.id == Enrollment.study_id)
                    .where(Enrollment.role == "annotator", Study.name == study)
                    .order_by(Enrollment.id)
                )
            ]

        def noted(task: Task) -> str:
            self.saw[task.person, task.topic, frozenset(task.systems)] = task.left
            return decide(task)

        said = self.said.setdefault(study, [])

        done, pages = 0, self.pages.setdefault(study, [])
        for person, name in people:
            with transaction(self.engine) as session:
                row = session.get_one(Study, person.study_id)
                about = _about(session, person.study_id)
                _held = [
                    session.scalars(select(one)).all() for one in (Study, Item, Assignment)
                ]  # or each is read anew
                while taken := take_slot(session, row, person):
                    sent = _sent(session, person, taken)
                    said += _answer(session, person, name, taken, about, noted, reasoned)
                    pages += sent
                    done += 1
        return done


@contextmanager
def a_desk(folder: Path, figures: Sequence[Draw] = ()) -> Iterator[Desk]:
    """For a fixture of any scope."""
    with pytest.MonkeyPatch.context() as patch:
        desk = Desk(folder, patch, figures)
        yield desk
        desk.close()


def _sent(session: Session, person: Principal, taken: Assignment) -> list[tuple[str, str | None, dict[str, Any]]]:
    """The page of a slot, for each item that it is about: two where two reports are rated in one view."""
    page = assignment_page(session, person, taken.aid)
    return [(item_code(one.item_id), one.left, page) for one in with_twin(session, taken)]


def _answer(
    session: Session, person: Principal, name: str, taken: Assignment, about: About, decide: Decide, reasoned: bool
) -> list[Said]:
    """What a page sends, and what was chosen."""
    said: list[Said] = []

    def noted(task: Task) -> str:
        whose = {"left": task.left, "right": next((one for one in task.systems if one != task.left), "")}
        choice = decide(task)
        said.append((name, task.topic, task.systems, task.probe, task.criterion, whose.get(choice, choice)))
        return choice

    (row, token, revs), *others = [
        (one, *_answered(session, person, name, one, about[one.item_id], noted, reasoned))
        for one in with_twin(session, taken)
    ]  # two where two reports are rated in one view
    beside = next((Beside(aid=one.aid, page=page, revs=own) for one, page, own in others), None)
    submit(session, person, row.aid, token, f"{row.aid}-submit", revs, beside=beside, onward=False)  # the next is taken
    return said


def _answered(
    session: Session, person: Principal, name: str, row: Assignment, about: tuple[str, tuple[str, ...], str],
    decide: Decide, reasoned: bool,
) -> tuple[str, dict[str, int]]:  # fmt: skip
    """The sign of the page, and the revision of each answer."""
    topic, systems, probe = about
    left = systems["AB".index(row.left)] if row.left and len(systems) == 2 else ""
    sheet = {"aid": row.aid, "page": page_token(row, shown_stamps(session, row))}
    entries = []
    codes = [one.code for one in asked_of(session, session.get_one(Study, row.study_id), row)]
    for code in codes:
        choice = decide(Task(name, topic, systems, left, probe, code))
        reason = "a simulated reason" if reasoned or code != codes[-1] else ""
        entries.append(answer(sheet, code, choice, rationale=reason))
    saved = save(session, person, entries)
    assert saved.refused == [], saved.refused
    return sheet["page"], {entry.criterion: ack["rev"] for entry, ack in zip(entries, saved.acks, strict=True)}


def _about(session: Session, study: int) -> About:
    a, b, one, other = aliased(Report), aliased(Report), aliased(System), aliased(System)
    rows = session.execute(
        select(Item.id, Topic.key, one.key, other.key, Item.probe)
        .join(Topic, Topic.id == Item.topic_id)
        .outerjoin(a, a.id == Item.report_a_id)
        .outerjoin(one, one.id == a.system_id)
        .outerjoin(b, b.id == Item.report_b_id)
        .outerjoin(other, other.id == b.system_id)
        .where(Item.study_id == study)
    )
    return {item: (topic, tuple(key for key in keys if key), probe or "") for item, topic, *keys, probe in rows}
