"""A study with consent, three training items and one of attention beside five pairs to label."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from annotation.importing.gold import import_gold
from annotation.importing.reports.folder import read_folder
from annotation.importing.reports.write import import_reports
from annotation.labelling import save, submit
from annotation.people.principals import Principal, local_admin
from annotation.planning.slots import apply_plan, make_plan
from annotation.studies import init_study
from annotation.work.open_and_close import move_study
from annotation.work.page import assignment_page
from db.connect import transaction
from tests.prepared import prepared
from tests.small_study import PROTOCOL, answer, write_reports

CONSENT = "You may **stop** at any time.\n\nYour answers are published without your name."
TRAINED = PROTOCOL.replace(
    "[study]\n",
    f'[study]\nconsent = """{CONSENT}"""\ntraining = {{items = 3, pass_mark = 0.7, attempts = 2}}\n'
    'attention = {every = 2, policy = "note"}\nretest_share = 0.0\npay = {rate = 10.0, currency = "USD"}\n',
)
# alpha is agreed to be the clearer one, beta the deeper one
AGREED = [
    (topic, "alpha", "beta", criterion, winner, f"{winner} says more on {topic}")
    for topic in ("tides", "bread", "noise")
    for criterion, winner in (("clear", "alpha"), ("deep", "beta"))
]
ATTENTION = [("tides", "alpha", "gamma", "clear", "alpha", "")]
HEAD = ("topic", "system_a", "system_b", "criterion", "answer", "reason")


def gold_file(path: Path, lines: Sequence[Sequence[str]], head: Sequence[str] = HEAD) -> Path:
    path.write_text("".join(f"{','.join(line)}\n" for line in (head, *lines)), encoding="utf-8")
    return path


@prepared
def make_trained_study(engine: Engine, root: Path, *, protocol: str = TRAINED, name: str = "small") -> int:
    """Everything imported, gold before the plan, and open; the study's id."""
    with transaction(engine) as session:
        study = init_study(session, name, protocol, 7)
        admin = local_admin(study)
        reports = read_folder(write_reports(root / "reports"))
        import_reports(session, admin, reports, layout="folder", source="here")
        import_gold(session, admin, gold_file(root / "training.csv", AGREED), "training")
        import_gold(session, admin, gold_file(root / "attention.csv", ATTENTION), "attention")
        plan = make_plan(session, admin, design="all", per_topic=None, overlap=1)
        apply_plan(session, admin, plan)
        move_study(session, study, "open")
        return study.id


def do_training(session: Session, person: Principal, aid: str, *, right: bool = True) -> dict[str, Any]:
    """Answer a training item as was agreed, or the other way round, and hand it in."""
    page = assignment_page(session, person, aid)
    left_is_alpha = "manner 1" in page["panes"][0]["html"]
    clear = "left" if left_is_alpha == right else "right"
    choices = {"clear": clear, "deep": "right" if clear == "left" else "left"}
    saved = save(session, person, [answer(page, code, choice) for code, choice in choices.items()])
    revs = {code: ack["rev"] for code, ack in zip(choices, saved.acks, strict=True)}
    return submit(session, person, aid, page["page"], f"submit-{aid}", revs)
