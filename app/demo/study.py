"""The demo study: our own reports, simulated annotators, two simulated judges, all through the real doors."""

import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, orm, select

from annotation import labelling, protocol, studies
from annotation.designs.pairing import seeded
from annotation.importing.reports import folder, write
from annotation.judges.asking.prompt import Message
from annotation.judges.defining.judge_file import JudgeDefinition, ModelFacts, Price, Rung
from annotation.judges.planning.plan import plan_judges
from annotation.judges.replies.outcomes import Reply, Usage
from annotation.judges.running.run import run_judges
from annotation.labels.entries import AnswerEntry
from annotation.people.links import invite
from annotation.people.principals import Principal, enroll, local_admin
from annotation.planning.slots import apply_plan, compare_plan, make_plan
from annotation.work import claiming, open_and_close
from annotation.work.page import assignment_page
from annotation.work.progress import position
from db import connect, people_tables
from db.tables import Assignment, Event, Item, Report, Study, System, Topic

NAME, SEED = "demo", 20_26
REPORTS = Path(__file__).parent / "reports"
SETTLED = {"atlas", "borealis"}  # pairs that nobody is asked about any more
ANNOTATORS = 6  # each sees every topic once, so that every pair is labelled by two
# How good each system's reports are in the eyes of the simulated raters, and on which criterion more or less so
QUALITY = {"handbook": 0.62, "atlas": 0.52, "borealis": 0.42}
LEANING = {("atlas", "coverage"): 0.16, ("atlas", "clarity"): -0.08, ("borealis", "structure"): 0.18,
           ("handbook", "answers"): -0.06, ("borealis", "clarity"): 0.12}  # fmt: skip
FROM_REPORT_TO_REPORT = 0.22  # spread of the quality that everybody sees, beyond system and criterion
ANNOTATORS_NOISE, CAREFUL_NOISE, QUICK_NOISE, QUICK_FAVOURS_FIRST = 0.09, 0.08, 0.24, 0.14
TIE_WITHIN = 0.04
REASONS = {
    "answers": "it takes up the question as asked and stays with it to the end",
    "coverage": "it treats the points one would look for, where the other leaves two of them out",
    "support": "its figures come with conditions and examples, so one can see what they rest on",
    "structure": "each section has one idea, and nothing is said twice",
    "clarity": "the sentences are shorter and the terms are explained at first use",
}
JUDGES = (
    JudgeDefinition(
        name="simulated-careful", model="simulated/careful", price=Price(input=1.25, output=10.0), structured=("plain",)
    ),
    JudgeDefinition(
        name="simulated-quick", model="simulated/quick", price=Price(input=0.1, output=0.4), structured=("plain",)
    ),
)
CRITERION = re.compile(r"^criterion: (\S+)$", re.M)
Written = tuple[str, str]  # topic and system


def make_demo(engine: Engine, progress: Callable[[int, int], None] = lambda done, of: None) -> bool:
    """Make the study if it is not there yet; True when it was made. All or nothing up to the judges' calls."""
    steps = ANNOTATORS + 3
    with connect.transaction(engine) as session:
        if session.scalar(select(Study.id).where(Study.name == NAME)) is None:
            study = studies.init_study(session, NAME, protocol.read_protocol("quick_start")[1], SEED, is_simulated=True)
            admin = local_admin(study)
            write.import_reports(session, admin, folder.read_folder(REPORTS), layout="folder", source="demo_reports")
            plan = make_plan(session, admin, design="all", per_topic=None, overlap=2)
            apply_plan(session, admin, plan, compare_plan(session, admin, plan))
            open_and_close.set_status(session, admin, "open")
            progress(1, steps)
            for number in range(1, ANNOTATORS + 1):
                _annotate(session, study, number)
                progress(1 + number, steps)
            # one more slot for two pairs a topic, for whoever opens the demo; disputes about the third can be settled
            more = make_plan(session, admin, design="all", overlap=3)
            left_out = {number for number, pair in enumerate(more.pairs) if {pair.a.system, pair.b.system} == SETTLED}
            apply_plan(session, admin, replace(more, slots=tuple(s for s in more.slots if s.item not in left_out)))
            made, study_id = True, study.id
        else:
            made, study_id = False, session.scalars(select(Study.id).where(Study.name == NAME)).one()
        written = _written(session, study_id)
    # a run that was interrupted goes on where its rows end; a finished one plans nothing
    plan_judges(engine, study_id, JUDGES, describe=_facts)
    run_judges(engine, study_id, JUDGES, transport=_Simulated(written))
    progress(steps, steps)
    return made


def demo_links(engine: Engine, name: str = NAME, roles: Sequence[str] = people_tables.ROLES) -> dict[str, str]:
    """A fresh token for each role in one of the demo's studies."""
    with connect.transaction(engine) as session:
        study = session.scalars(select(Study).where(Study.name == name)).one()
        admin = local_admin(study)
        return {role: invite(session, admin, f"demo {role}", role) for role in roles}


def _annotate(session: orm.Session, study: Study, number: int) -> None:
    """One simulated annotator works through everything that is offered, through the doors a browser uses."""
    person = enroll(session, study, f"simulated annotator {number}", "annotator", is_simulated=True)
    principal = Principal(study.id, "annotator", person.rater_id, person.id, f"simulated{number}")
    while (assignment := claiming.take(session, principal)) is not None:
        page = assignment_page(session, principal, assignment.aid)
        draw = seeded(SEED, "annotator", number, assignment.item_id)
        left, right = _shown_systems(session, assignment)
        topic = session.get_one(Topic, session.get_one(Item, assignment.item_id).topic_id).key
        entries = [
            _answer(page, code, _choice(draw, (topic, left), (topic, right), code, noise=ANNOTATORS_NOISE), draw)
            for code in (criterion["id"] for criterion in page["criteria"])
        ]
        _pretend_time_passed(session, principal, assignment, page, draw)
        saved = labelling.save(session, principal, entries)
        revs = {entry.criterion: ack["rev"] for entry, ack in zip(entries, saved.acks, strict=True)}
        submit_id = f"{assignment.aid}-submit"
        # hands in and takes the next, which the loop then finds in work
        labelling.submit(session, principal, assignment.aid, page["page"], submit_id, revs)


def _answer(page: Mapping[str, Any], code: str, choice: str, draw: random.Random) -> AnswerEntry:
    better = {
        "left": "The left report: ",
        "right": "The right report: ",
        "tie": "Both do this equally well; of either, ",
    }
    return AnswerEntry(
        kind="label", aid=page["aid"], page=page["page"], criterion=code, choice=choice,
        rationale=f"{better[choice]}{REASONS[code]}.", client_uuid=f"{draw.getrandbits(120):030x}", writer="simulated",
        seq=1,
    )  # fmt: skip


def _choice(
    draw: random.Random, left: Written, right: Written, code: str, *, noise: float, first_bonus: float = 0.0
) -> str:
    """Left or right by quality as this rater sees it; a tie when the two seem alike."""
    margin = _quality(left, code) - _quality(right, code) + draw.gauss(0, noise) - draw.gauss(0, noise) + first_bonus
    if abs(margin) < TIE_WITHIN:
        return "tie"
    return "left" if margin > 0 else "right"


def _quality(report: Written, code: str) -> float:
    topic, system = report
    own = seeded(SEED, "quality", topic, system, code).gauss(0, FROM_REPORT_TO_REPORT)
    return QUALITY[system] + LEANING.get((system, code), 0.0) + own


def _shown_systems(session: orm.Session, assignment: Assignment) -> tuple[str, str]:
    item = session.get_one(Item, assignment.item_id)
    systems = dict(session.execute(select(Report.id, System.key).join(System, System.id == Report.system_id)).all())
    a, b = systems[item.report_a_id or 0], systems[item.report_b_id or 0]
    return (a, b) if assignment.left == "A" else (b, a)


def _pretend_time_passed(
    session: orm.Session, principal: Principal, assignment: Assignment, page: Mapping[str, Any], draw: random.Random
) -> None:
    """Active time of a simulated person: some minutes of reading, then a little for each criterion."""
    ended = assignment.taken_at
    if ended is None:
        return
    spent = [(None, draw.uniform(240, 520)), *((c["id"], draw.uniform(20, 70)) for c in page["criteria"])]
    # an hour for each item before this one: what overlaps would count once
    ended -= timedelta(hours=position(session, principal)[0])
    at = ended - timedelta(seconds=sum(seconds for _, seconds in spent))
    assignment.taken_at = at
    intervals = []
    for criterion, seconds in spent:
        intervals.append(
            {"criterion": criterion, "start": at.isoformat(), "end": (at + timedelta(seconds=seconds)).isoformat()}
        )
        at += timedelta(seconds=seconds)
    session.add(
        Event(
            study_id=assignment.study_id, rater_id=principal.rater_id, assignment_id=assignment.id, kind="activity",
            what="intervals", data={"intervals": intervals}, client_ts=at.isoformat(), created_at=at,
        )
    )  # fmt: skip


def _written(session: orm.Session, study_id: int) -> dict[str, Written]:
    """Shown text -> topic and system: how a simulated judge knows what it reads."""
    rows = session.execute(
        select(Report.shown_text, Topic.key, System.key)
        .join(System, System.id == Report.system_id)
        .join(Topic, Topic.id == Report.topic_id)
        .where(Report.study_id == study_id)
    )
    return {text.strip(): (topic, system) for text, topic, system in rows}


def _facts(judge: JudgeDefinition) -> ModelFacts:
    return ModelFacts(
        params=judge.params, dropped=(), takes_seed=False, price=judge.price, price_source="user", context_tokens=None
    )


class _Simulated:
    """A transport without a network: reads the prompt like a model would, and answers from the planted qualities."""

    def __init__(self, written: Mapping[str, Written]) -> None:
        self._written = written

    async def __call__(
        self, judge: JudgeDefinition, messages: Sequence[Message], schema: Mapping[str, Any], rung: Rung
    ) -> Reply:
        prompt = "\n".join(message["content"] for message in messages)
        places = sorted((prompt.find(text), report) for text, report in self._written.items() if text in prompt)
        (_, first), (_, second) = places[:2]
        careful = judge.name.endswith("careful")
        noise, bonus = (CAREFUL_NOISE, 0.0) if careful else (QUICK_NOISE, QUICK_FAVOURS_FIRST)
        judgments = []
        for code in CRITERION.findall(prompt):
            draw = seeded(SEED, judge.name, first, second, code)
            choice = _choice(draw, first, second, code, noise=noise, first_bonus=bonus)
            winner = {"left": "first", "right": "second", "tie": "tie"}[choice]
            judgments.append({"criterion": code, "rationale": f"Simulated: {REASONS[code]}.", "winner": winner})
        text = json.dumps({"judgments": judgments})
        return Reply(
            "ok", seconds=2.4 if careful else 0.7, text=text, finish_reason="stop", model=judge.model, http_status=200,
            usage=Usage(input=len(prompt) // 4, output=len(text) // 4),
        )  # fmt: skip
