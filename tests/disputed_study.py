"""A study in which two annotators and two judges disagree in ways that are known beforehand, with hostile texts."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from annotation.judges.planning.plan import plan_judges
from annotation.judges.running.run import run_judges
from annotation.labelling import save, submit
from annotation.labels.evidence import plain_text
from annotation.people.principals import Principal
from annotation.work.claiming import take
from annotation.work.page import assignment_page, shown_reports
from db.connect import transaction
from tests.annotation.judges.judged_study import PRICE, Stub, describe, judges, judgments
from tests.prepared import prepared
from tests.small_study import PROTOCOL, a_person, answer, make_study

TOPICS, SYSTEMS = ("tides", "bread"), ("atlas-9000", "borealis-77")
EVIL = '<img src="http://evil.example/a.png" alt="a"> ![b](http://evil.example/b.png)'
QUOTE = "The moon does it."
# what each says of every item, by criterion; `always-first` names another report in each order, `steady` always ties
CHOICES = {"Ada": {"clear": "left", "deep": "left"}, "Ben": {"clear": "right", "deep": "tie"}}


@prepared
def make_disputed(
    engine: Engine, root: Path, *, blind_until: str = "open", judged: bool = True, people: bool = True
) -> int:
    """Two items of two criteria; the study's id. `judged`: both judges have run. `people`: both annotators are done."""
    for system in SYSTEMS:
        (root / system).mkdir(parents=True)
        for topic in TOPICS:
            text = f"# {topic.title()}\n\nIt rises & falls, in manner {SYSTEMS.index(system)}. {QUOTE}\n\n{EVIL}\n"
            (root / system / f"{topic}.md").write_text(text, encoding="utf-8")
    protocol = PROTOCOL.replace('blind_until = "open"', f'blind_until = "{blind_until}"')
    study = make_study(engine, root, overlap=2, protocol=protocol, name="disputed")
    for name, choices in CHOICES.items() if people else ():
        with transaction(engine) as session:
            annotate(session, a_person(session, study, name), choices)
    if judged:
        for name, winner in (("always-first", "first"), ("steady", "tie")):
            judge(engine, study, name, Stub(partial(_say, winner=winner)))
    return study


def judge(engine: Engine, study: int, name: str, stub: Stub, *, limit: int | None = None, more: str = "") -> None:
    """Let a stub judge everything, or `limit` calls."""
    found = judges(f'name = "{name}"\nmodel = "openai/{name}"\nmax_output_tokens = 200\n{PRICE}\n{more}')
    plan_judges(engine, study, found, describe=describe)
    run_judges(engine, study, found, transport=stub, limit=limit)


def _say(text: str, number: int, winner: str) -> str:
    return judgments(text, winner)


def annotate(session: Session, person: Principal, choices: dict[str, str]) -> None:
    while (assignment := take(session, person)) is not None:
        page = assignment_page(session, person, assignment.aid)
        text = plain_text(shown_reports(session, assignment).left.shown_text)
        start = text.index(QUOTE)
        quoted = {"side": "left", "start": start, "end": start + len(QUOTE), "quote": QUOTE}
        entries = [
            answer(page, code, choice, rationale=f"The {choice} one, because of {EVIL}", evidence=[quoted])
            for code, choice in choices.items()
        ]
        saved = save(session, person, entries)
        assert saved.refused == []
        revs = {code: ack["rev"] for code, ack in zip(choices, saved.acks, strict=True)}
        submit(session, person, assignment.aid, page["page"], f"{assignment.aid}-submit", revs)
