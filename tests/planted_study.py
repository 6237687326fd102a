"""The planted annotators of `tests/calibration/planted.py` in a database: they take, answer and submit like anybody."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pandas as pd
from sqlalchemy import Engine, update
from sqlalchemy.orm import Session

from annotation.labelling import save, submit
from annotation.people.principals import Principal
from annotation.work.claiming import take
from annotation.work.page import assignment_page
from db.connect import transaction
from db.tables import Assignment, Event
from tests.calibration.planted import Person, planted_study
from tests.prepared import prepared
from tests.small_study import PROTOCOL, a_person, answer, make_study, uuids, write_reports

BEGUN = datetime(2026, 11, 1, 8, tzinfo=UTC)
NAMES = ("Ada", "Ben", "Cleo", "Dan", "Eva", "Fay", "Gus")
CRITERION = '[[criterion]]\nid = "{code}"\nlabel = "Question {code}"\ntext = "Which is better in {code}?"\n'


@prepared
def make_planted(
    engine: Engine, root: Path, people: tuple[Person, ...], *, pairs: int = 10, criteria: int = 39, seed: int = 1,
    done: Mapping[str, int] | None = None, blind_until: str = "closed", name: str = "planted",
) -> int:  # fmt: skip
    """Everybody labels every pair, or the first `done[their name]` of them; the study's id."""
    verdicts, log = planted_study(people, seed, pairs, criteria)
    asked = "".join(CRITERION.format(code=f"c{number:02}") for number in range(criteria))
    head = PROTOCOL.partition("[[criterion]]")[0].replace('blind_until = "open"', f'blind_until = "{blind_until}"')
    write_reports(root, tuple(f"topic{number:02}" for number in range(pairs)), ("alpha", "beta"))
    study = make_study(engine, root, overlap=len(people), protocol=head + asked, name=name)
    for number, (called, person) in enumerate(zip(NAMES, people, strict=False), start=1):
        own = verdicts[verdicts["rater_id"] == f"ann{number}"]
        seconds = log[log["rater_id"] == f"ann{number}"].set_index("item_id")["active_s"]
        with transaction(engine) as session:
            principal = a_person(session, study, called)
            for count in range((done or {}).get(called, pairs)):
                at = BEGUN + timedelta(hours=count, minutes=10 * number)
                _label(session, principal, own, seconds, at, person.habit == "always_left")
    return study


def _label(
    session: Session, person: Principal, own: pd.DataFrame, seconds: pd.Series[float], at: datetime, always_left: bool
) -> None:
    """Take an item and give the simulated person's verdicts on the pair of the same number."""
    taken = take(session, person)
    assert taken is not None
    pair = f"p{(taken.item_id - 1) % len(seconds):02}"
    said = own[own["item_id"] == pair]
    page = assignment_page(session, person, taken.aid)
    words = {"A": "left", "B": "right"} if taken.left == "A" else {"A": "right", "B": "left"}
    entries = [
        answer(page, code, "left" if always_left else words.get(label, "tie"), rationale=why)
        for code, label, why in said[["criterion", "label", "rationale"]].itertuples(index=False)
    ]
    saved = save(session, person, entries)
    assert saved.refused == []
    revs = {entry.criterion: ack["rev"] for entry, ack in zip(entries, saved.acks, strict=True)}
    submit(session, person, taken.aid, page["page"], next(uuids), revs)
    begun = at - timedelta(seconds=float(seconds[pair]))
    session.add(
        Event(
            study_id=person.study_id, rater_id=person.rater_id, assignment_id=taken.id, kind="activity",
            what="intervals", data={"intervals": list(_intervals(begun, at))}, client_ts=at.isoformat(),
        )
    )  # fmt: skip
    session.execute(update(Assignment).where(Assignment.id == taken.id).values(taken_at=begun, submitted_at=at))
    session.expire_all()


def _intervals(begun: datetime, ended: datetime) -> Iterator[dict[str, str | None]]:
    """Pieces that a page would send: none is longer than ten minutes."""
    while begun < ended:
        until = min(ended, begun + timedelta(minutes=5))
        yield {"criterion": None, "start": begun.isoformat(), "end": until.isoformat()}
        begun = until
