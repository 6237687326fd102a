"""The labels-only demo study: who answers how, seeded, and simulated labels of 40 topics brought in by it."""

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Literal

from sqlalchemy import Engine, orm, select

from annotation.designs.listed_pairs import PairList
from annotation.designs.pairing import seeded
from annotation.files.decoding import Row
from annotation.importing.labels.results import TIE, ResultOptions, ResultRow, Results
from annotation.importing.labels.results_write import import_results
from annotation.importing.reports import records, write
from annotation.people.principals import Principal, local_admin
from annotation.planning.slots import apply_plan, make_plan
from annotation.studies import LABELS_ONLY, init_study
from annotation.work.open_and_close import set_status
from db import connect, tables

NAME = "demo-labels"
PROTOCOL = Path(__file__).parent / "story.toml"
SOURCE = "simulated by calipers demo"


def make_labels_demo(engine: Engine, progress: Callable[[int, int], None] = lambda done, of: None) -> bool:
    """Make the study if it is not there yet, and close it; True when it was made. All or nothing."""
    with connect.transaction(engine) as session:
        if session.scalar(select(tables.Study.id).where(tables.Study.name == NAME)) is not None:
            return False
        study = init_study(session, NAME, PROTOCOL.read_text(encoding="utf-8"), SEED, is_simulated=True)
        admin = local_admin(study)
        write.import_reports(session, admin, _reports(), layout="table", source=SOURCE)
        _make_items(session, admin)
        set_status(session, admin, "open")
        progress(1, 3)
        results, options = Results(tuple(story())), ResultOptions(paired=True)
        progress(2, 3)
        import_results(session, admin, results, kind="labels", layout="labels", source=SOURCE, options=options)
        set_status(session, admin, "closed")  # its systems may be named, and judges' families with them
    progress(3, 3)
    return True


def _reports() -> records.Parsed:
    topics = [
        records.TopicRecord(key, f"Simulated topic {key[-2:]}", category=CATEGORIES[number % len(CATEGORIES)])
        for number, key in enumerate(TOPICS)
    ]
    systems = [records.SystemRecord(name, name, family=family) for name, family in SYSTEMS.items()]
    reports = [_report(topic, system) for topic in TOPICS for system in SYSTEMS]
    return records.Parsed(tuple(topics), tuple(systems), tuple(reports))


def _report(topic: str, system: str) -> records.ReportRecord:
    """A text that has nothing but a length."""
    told = f"{LABELS_ONLY} The paragraphs below stand where a report would, and give it a length."
    numbers = range(1, paragraphs(topic, system) + 1)
    filling = (f"Simulated paragraph {number}: the report has no text." for number in numbers)
    text = "\n\n".join([told, *filling])
    return records.ReportRecord(topic, system, f"{SOURCE}: {topic}, {system}", text.encode(), text, "utf-8")


def _make_items(session: orm.Session, admin: Principal) -> None:
    """The story's pairs, without slots: nobody is to be asked here."""
    rows = [
        Row(f"{SOURCE}:{line}", {"topic": pair.topic, "system_a": pair.systems[0], "system_b": pair.systems[1]})
        for line, pair in enumerate(pairs(), start=1)
    ]
    apply_plan(session, admin, make_plan(session, admin, listed=PairList(tuple(rows), ""), overlap=0))


SEED = 2026_11  # of 24 tried, one with which chance alone finds no bias in the other judges; all chose the same judge
TOPICS = tuple(f"topic-{number:02d}" for number in range(1, 41))
CATEGORIES = ("science", "society")
CRITERIA = ("answers", "support", "clarity")
SYSTEMS = {"alder-research": "alder", "birch-research": "birch", "cedar-research": "cedar", "dogwood": ""}
PAIRS_PER_TOPIC, LABELLED_BY_ALL = 4, 2
QUALITY = {"alder-research": 0.50, "birch-research": 0.42, "cedar-research": 0.51, "dogwood": 0.66}
OF_A_REPORT, OF_A_CRITERION = 0.22, 0.16  # spreads of the quality that everybody sees
TIE_WITHIN = 0.03
PARAGRAPHS = (8, 40)


@dataclass(frozen=True)
class Simulated:
    """A rater. `taste` is a spread around the quality that stays, `noise` one that is drawn anew at every answer.

    `first`, `longer` and `own` are pulls, in units of quality (`longer` for each doubling of the length). `seconds` and
    `cost_usd` are an item's, all criteria together.
    """

    name: str
    kind: Literal["human", "judge"]
    taste: float
    noise: float
    seconds: float
    cost_usd: float | None = None
    first: float = 0.0
    longer: float = 0.0
    own: float = 0.0
    family: str = ""


RATERS = (
    Simulated("simulated-ada", "human", 0.07, 0.03, 390.0),
    Simulated("simulated-ben", "human", 0.07, 0.03, 420.0),
    Simulated("simulated-cleo", "human", 0.07, 0.36, 310.0),
    Simulated("simulated-flash", "judge", 0.08, 0.03, 0.9, 0.0012, first=0.28, longer=0.20, own=0.22, family="birch"),
    Simulated("simulated-mini", "judge", 0.055, 0.02, 1.4, 0.002, family="alder"),
    Simulated("simulated-max", "judge", 0.04, 0.02, 9.0, 0.04, family="cedar"),
)


@dataclass(frozen=True)
class Pair:
    """Two reports on one topic, and who of the people reads them."""

    topic: str
    systems: tuple[str, str]
    annotators: tuple[str, ...]
    again: bool  # whether people are asked a second time


def pairs() -> Iterator[Pair]:
    """Four of the six pairs of systems on each topic, by turns; two go to all annotators, two to two of them."""
    every = list(combinations(SYSTEMS, 2))
    people = [rater.name for rater in RATERS if rater.kind == "human"]
    for number, topic in enumerate(TOPICS):
        for place in range(PAIRS_PER_TOPIC):
            turn = number * PAIRS_PER_TOPIC + place
            left_out = "" if place < LABELLED_BY_ALL else people[turn % len(people)]
            asked = tuple(name for name in people if name != left_out)
            yield Pair(topic, every[turn % len(every)], asked, again=place == 0)


def paragraphs(topic: str, system: str) -> int:
    """How long a report is."""
    return seeded(SEED, "length", topic, system).randint(*PARAGRAPHS)


def story() -> Iterator[ResultRow]:
    """Every answer of every rater: people once (some pairs twice), judges in both orders."""
    for pair in pairs():
        first, other = pair.systems
        for rater in RATERS:
            if rater.kind == "judge":
                shown = (first, other), (other, first)
                for number, order in enumerate(shown, start=1):
                    yield from _answers(rater, pair, order, run=1, pass_no=number)
            elif rater.name in pair.annotators:
                order = pair.systems if seeded(SEED, "side", rater.name, pair).random() < 0.5 else (other, first)
                yield from _answers(rater, pair, order, run=1, pass_no=1)
                if pair.again:
                    yield from _answers(rater, pair, order[::-1], run=2, pass_no=2)


def _answers(rater: Simulated, pair: Pair, order: tuple[str, str], *, run: int, pass_no: int) -> Iterator[ResultRow]:
    draw = seeded(SEED, rater.name, pair.topic, *order, pass_no)
    share = draw.lognormvariate(-0.03, 0.25) / len(CRITERIA)  # of mean 1 over items
    for code in CRITERIA:
        yield ResultRow(
            where="demo", rater=rater.name, topic=pair.topic, systems=pair.systems, criterion=code,
            answer=_answer(rater, pair.topic, order, code, draw), kind=rater.kind, first=order[0], run=run,
            pass_no=pass_no, seconds=round(rater.seconds * share, 3),
            cost_usd=None if rater.cost_usd is None else round(rater.cost_usd * share, 7),
        )  # fmt: skip


def _answer(rater: Simulated, topic: str, order: tuple[str, str], code: str, draw: random.Random) -> str:
    """The system that seems better to this rater; a tie when the two seem alike."""
    first, second = (_seen(rater, topic, system, code, draw) for system in order)
    margin = first - second + rater.first
    if abs(margin) < TIE_WITHIN:
        return TIE
    return order[0] if margin > 0 else order[1]


def _seen(rater: Simulated, topic: str, system: str, code: str, draw: random.Random) -> float:
    """A report's quality as this rater sees it: what everybody sees, then noise and pulls."""
    report = seeded(SEED, "report", topic, system).gauss(0, OF_A_REPORT)
    criterion = seeded(SEED, "criterion", topic, system, code).gauss(0, OF_A_CRITERION)
    taste = seeded(SEED, "taste", rater.name, topic, system, code).gauss(0, rater.taste)
    pulls = rater.longer * math.log2(paragraphs(topic, system)) + rater.own * (rater.family == SYSTEMS[system] != "")
    return QUALITY[system] + report + criterion + taste + draw.gauss(0, rater.noise) + pulls
