"""What is left between a study and its opening: which steps are done, and what the next one takes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from shlex import quote
from typing import Any, Literal

from sqlalchemy import func, orm, select

from annotation.importing.reports.import_report import no_prompt
from annotation.people.principals import Principal, study_for
from annotation.studies import has_labels, protocol_of
from db.people_tables import Enrollment
from db.tables import LIVE, SLOT_SOURCES, Assignment, Criterion, Item, Report, Study, Topic
from plain.wording import several, worded, worded_of

State = Literal["done", "next", "later"]
PLANS = {
    "pairwise_choice": "--design all --per-topic 1",
    "pointwise_rating": "",
    "probe_label": "",
}  # of `calipers pairs`, by what is labelled


@dataclass(frozen=True)
class SetUp:
    """A study in counts."""

    study: str
    protocol: str  # its title
    task_type: str
    questions: int
    topics: int
    reports: int
    undecided: int  # passages that may name a report's maker, and nobody has decided about
    items: int
    slots: int
    annotators: int
    without_prompt: int = 0  # topics
    status: str = "draft"


@dataclass(frozen=True)
class Step:
    """`told`: its state. `command`: what does it on the command line; `key`: what it is known by."""

    key: str
    title: str
    state: State
    told: str
    command: str


def steps(study: SetUp) -> tuple[Step, ...]:
    """Return the steps in the order in which they are taken; the first that is not done is next."""
    said = _said(study)
    first = next((number for number, (is_done, _) in enumerate(said) if not is_done), None)
    return tuple(
        replace(step, state="done" if is_done else "next" if number == first else "later")
        for number, (is_done, step) in enumerate(said)
    )


def sentence(taken: Sequence[Step]) -> str:
    """Say how far setting up is, and what comes next."""
    done = sum(step.state == "done" for step in taken)
    after = next((step for step in taken if step.state == "next"), None)
    if after is None:
        return worded("Every step to an open study is done.")
    return worded_of(
        done, "{n} of {of} steps to an open study is done; next: {title}.",
        "{n} of {of} steps to an open study are done; next: {title}.",
        of=len(taken), title=f"{after.title[0].lower()}{after.title[1:]}",
    )  # fmt: skip


def set_up_of(session: orm.Session, principal: Principal) -> SetUp:
    """Raises AnnotationError unless an admin asks."""
    study = study_for(session, principal, "admin")
    protocol, of_it = protocol_of(study), Report.study_id == study.id
    shown = of_it, Report.status != "excluded"
    items = Item.study_id == study.id, Item.purpose == "label", Item.excluded_at.is_(None)
    slots = (
        Assignment.study_id == study.id, Assignment.source.in_(SLOT_SOURCES), Assignment.purpose == "label",
        Assignment.status.in_(LIVE),  # what was given back has an open slot beside it
    )  # fmt: skip
    asked = Criterion.study_id == study.id, Criterion.retired_at.is_(None)
    people = Enrollment.study_id == study.id, Enrollment.role == "annotator", Enrollment.status != "withdrawn"

    def count(column: Any, *which: Any) -> int:
        return session.scalar(select(func.count(column)).where(*which)) or 0

    undecided = session.scalar(select(func.sum(Report.open_flags)).where(*shown)) or 0
    return SetUp(
        study.name, protocol.title, protocol.task_type, count(Criterion.id, *asked),
        count(Topic.id, Topic.study_id == study.id), count(Report.id, *shown),
        undecided if protocol.reports.unresolved_flags == "refuse" else 0, count(Item.id, *items),
        count(Assignment.id, *slots), count(Enrollment.id, *people),
        count(Topic.id, Topic.study_id == study.id, Topic.prompt == ""), study.status,
    )  # fmt: skip


def is_setting_up(session: orm.Session, study: Study) -> bool:
    """A study in draft; not one that holds labels made elsewhere, which has results to show and nothing to open for."""
    return study.status == "draft" and not has_labels(session, study)


def _said(study: SetUp) -> tuple[tuple[bool, Step], ...]:
    """Return whether each step is done, and its words."""
    name = quote(study.study)
    planned = worded("{items} with {slots}", items=several(study.items, "item"), slots=several(study.slots, "slot"))
    return (
        (True, _step(
            "protocol", worded("Choose the protocol"), f"{study.protocol}: {several(study.questions, 'question')}", "",
        )),
        (study.reports > 0, _step(
            "reports", worded("Import the reports"), _imported(study) if study.reports
            else worded("none yet; a folder holds one folder for each system, with one file for each topic"),
            f"calipers import reports FOLDER --layout auto --study {name}",
        )),
        (study.reports > 0 and not study.undecided, _step(
            "flags", worded("Decide what may give a system away"), _undecided(study), f"calipers audit {name}",
        )),
        (study.slots > 0, _step(
            "plan", worded("Plan what is labelled"), planned if study.slots else worded("nothing planned yet"),
            _plan(study),
        )),
        (study.annotators > 0, _step(
            "people", worded("Invite people"),
            worded("{people} invited", people=several(study.annotators, "annotator"))
            if study.annotators else worded("nobody yet"),
            f"calipers invite {name} Ada Ben --role annotator",
        )),
        (study.status != "draft", _step(
            "open", worded("Open the study"), worded("from then on work is given out"), f"calipers open {name}",
        )),
    )  # fmt: skip


def _step(key: str, title: str, told: str, command: str) -> Step:
    return Step(key, title, "later", told, command)


def _imported(study: SetUp) -> str:
    told = worded(
        "{reports} on {topics}", reports=several(study.reports, "report"), topics=several(study.topics, "topic")
    )
    return f"{told}. {no_prompt(study.without_prompt, 'folder')}" if study.without_prompt else told


def _undecided(study: SetUp) -> str:
    if not study.reports:
        return worded("once reports are there, passages that may name their maker are listed")
    if study.undecided:
        return worded("{passages} left to decide", passages=several(study.undecided, "passage"))
    return worded("no passage is left to decide")


def _plan(study: SetUp) -> str:
    if study.task_type == "probe_label" and not study.items:
        return f"calipers import probes FILE --layout table --study {quote(study.study)}"
    words = ("calipers pairs", quote(study.study), PLANS[study.task_type], "--overlap 2 --apply")
    return " ".join(filter(None, words))
