"""A study as its protocol made it: found, begun, brought to a changed protocol, and its audit trail."""

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, TypeVar
from unicodedata import category

from sqlalchemy import ColumnElement, String, and_, bindparam, case, cast, exists, func, orm, select

from annotation.canonical.form import Layout
from annotation.errors import AnnotationError
from annotation.protocol import Protocol, Reports, parse_protocol, protocol_sha256
from db.people_tables import Enrollment, Rater
from db.tables import HANDED_IN, Assignment, Criterion, Event, Label, Report, Study, Topic
from db.types import now
from plain.hashes import text_sha256
from plain.wording import worded, worded_of

DRAW = "draw"  # in the audit trail: a batch of topics was drawn for people
NAME_MAX = 60  # characters
LABEL_FILES = (".csv", ".json", ".jsonl", ".ndjson", ".parquet")
LABELS_ONLY = "This study has labels only."  # says a text that stands where a report would
OWNER_ACTS = (
    "init", "protocol", "status", "reveal", "import", "import_probes", "import_gold", "pairs", "resolve_flag",
    "edit_text", "restore_passage", "exclude_report", "void_work",
)  # fmt: skip

BUILT = 64  # protocols of studies whose statements are kept
T = TypeVar("T")


def built_once(build: Callable[[Study], T]) -> Callable[[Study], T]:
    """Keep the statement that `build` makes of a study, for as long as its protocol is the same.

    To build one takes longer than to run it; what differs from one use to the next is a bound parameter.
    """
    kept: dict[tuple[int, str], T] = {}

    @wraps(build)
    def statement(study: Study) -> T:
        key = study.id, study.protocol_sha256
        made = kept.get(key)
        if made is None:
            if len(kept) >= BUILT:
                kept.clear()
            kept[key] = made = build(study)
        return made

    return statement


def protocol_of(study: Study) -> Protocol:
    """The protocol as the study stores it."""
    return parse_protocol(study.protocol_text, f"study {study.name!r}")


def find_study(session: orm.Session, name: str | None) -> Study:
    """The study called `name`, or the only one there is. Raises AnnotationError naming what exists."""
    studies = session.scalars(select(Study).order_by(Study.id)).all()
    names = (
        ", ".join(study.name for study in studies) or "none; make one with: calipers init NAME --protocol quick_start"
    )
    if name is None and len(studies) == 1:
        return studies[0]
    for study in studies:
        if study.name == name:
            return study
    if name is None:
        raise AnnotationError("unnamed_study", "which study? (there are: {names})", names=names)
    raise AnnotationError("unknown_study", "no study called {name!r} (there are: {names})", name=name, names=names)


def init_study(
    session: orm.Session, name: str, text: str, seed: int, *, is_simulated: bool = False, rater_id: int | None = None
) -> Study:
    """Make the study, or bring an existing one to a changed protocol as a new version; `rater_id`: who does it.

    A criterion whose words or answers changed is retired and asked anew; labels keep pointing at what they answered.
    """
    protocol = parse_protocol(text)
    study = session.scalar(select(Study).where(Study.name == name))
    if study is None:
        _refuse_name(name)
        study = Study(
            name=name, protocol_text=text, protocol_sha256=protocol_sha256(text), seed=seed, is_simulated=is_simulated
        )
        session.add(study)
        session.flush()
        _enter_criteria(session, study, protocol, protocol)
        audit(session, study.id, rater_id, "init", protocol_sha256=study.protocol_sha256, seed=seed)
    elif study.protocol_sha256 != protocol_sha256(text):
        if study.status == "locked":
            raise AnnotationError("locked", "study {name!r} is locked; its protocol can no longer change", name=name)
        if _shows(protocol) != _shows(protocol_of(study)) and _has_reports(session, study):
            raise AnnotationError(
                "reports_fixed",
                "study {name!r} holds reports prepared under other [reports] settings or another study.layout; "
                "mixing two layouts would give systems away, so make a new study, or keep the settings", name=name,
            )  # fmt: skip
        before, labelled = study.protocol_text, has_labels(session, study)
        old = protocol_of(study)
        study.protocol_text, study.protocol_sha256 = text, protocol_sha256(text)
        study.protocol_version += 1
        _enter_criteria(session, study, protocol, old)
        audit(
            session, study.id, rater_id, "protocol", old=before, new_sha256=study.protocol_sha256, after_labels=labelled
        )
    elif study.seed != seed:
        raise AnnotationError(
            "seed_fixed", "study {name!r} was made with seed {seed}; it cannot change", name=name, seed=study.seed
        )
    return study


def _shows(protocol: Protocol) -> tuple[Reports, Layout]:
    """What decides how a report is shown."""
    return protocol.reports, protocol.study.layout


def _refuse_name(name: str) -> None:
    """A name is copied into commands and names of files; what ends as a file is taken for one."""
    kept = "".join(
        character if category(character)[0] in "LMN" or character in "-_." else "-" for character in name
    ).strip("-.")[:NAME_MAX]
    better = kept.rpartition(".")[0] if kept.endswith(LABEL_FILES) else kept
    if name != better:
        raise AnnotationError(
            "bad_name",
            "a study cannot be called {name!r}: its name stands in commands and file names, and has letters, digits, "
            "'-', '_' and '.' alone; take {better!r}", name=name, better=better or "mystudy",
        )  # fmt: skip


def has_labels(session: orm.Session, study: Study) -> bool:
    """Whether anybody has answered anything in this study."""
    found = select(Label.id).join(Assignment, Assignment.id == Label.assignment_id)
    return session.scalar(found.where(Assignment.study_id == study.id).limit(1)) is not None


def has_work(session: orm.Session, study: Study) -> bool:
    """Whether a person has handed in anything."""
    handed_in = Assignment.status.in_(HANDED_IN), Assignment.source != "judge"
    return session.scalar(select(Assignment.id).where(Assignment.study_id == study.id, *handed_in).limit(1)) is not None


def no_work_yet(session: orm.Session, study: Study) -> AnnotationError:
    """The refusal of what rests on labels: whom to wait for, or that nobody is invited yet."""
    invited = Enrollment.role == "annotator", Enrollment.status != "withdrawn"
    count = session.scalar(select(func.count(Enrollment.id)).where(Enrollment.study_id == study.id, *invited)) or 0
    waiting = worded_of(count, "{n} annotator is invited", "{n} annotators are invited")
    return AnnotationError(
        "no_labels", "nobody has handed in work in study {name!r} yet; {waiting}", name=study.name,
        waiting=waiting if count else worded("invite annotators"),
    )  # fmt: skip


def _has_reports(session: orm.Session, study: Study) -> bool:
    return session.scalar(select(Report.id).where(Report.study_id == study.id).limit(1)) is not None


ASKED_NOW = (
    select(Criterion)
    .where(
        Criterion.study_id == bindparam("study"),
        Criterion.retired_at.is_(None),
        Criterion.topic_id.is_(None) | (Criterion.topic_id == bindparam("topic")),
    )
    .order_by(Criterion.position)
)
PERSON = select(Rater.id).where(Rater.id == bindparam("rater")).with_for_update(key_share=True)


def criteria_of(session: orm.Session, study: Study, topic_id: int | None = None) -> list[Criterion]:
    """The questions asked now, in page order: the protocol's, or the topic's where they come with each topic."""
    return list(session.scalars(ASKED_NOW, {"study": study.id, "topic": topic_id}))


def codes_by_topic(session: orm.Session, study: Study, topics: Iterable[int]) -> dict[int, list[str]]:
    """topic -> codes of the questions asked of it now, in page order; one query however many topics."""
    rows = session.execute(
        select(Criterion.topic_id, Criterion.code)
        .where(Criterion.study_id == study.id, Criterion.retired_at.is_(None))
        .order_by(Criterion.position)
    ).all()
    return {topic: [row.code for row in rows if row.topic_id in (None, topic)] for topic in topics}


def cluster_of(study: Study) -> ColumnElement[str]:
    """What a topic is resampled with: the `cluster_id` it came with, which it shares in another language, or its key;
    its key where topics were drawn one by one, each with its own probability.
    """
    drawn = exists().where(audited(study.id, DRAW))
    came_with = func.nullif(cast(Topic.features["cluster_id"].as_string(), String), "")
    return case((drawn, Topic.key), else_=func.coalesce(came_with, Topic.key))


def clusters_of(session: orm.Session, study: Study) -> dict[str, str]:
    """Key of each topic -> the cluster that it is resampled with, one for a topic in several languages."""
    return dict(session.execute(select(Topic.key, cluster_of(study)).where(Topic.study_id == study.id)).all())


def each_language(clusters: int, topics: int) -> str:
    """What stands behind a number of topics of which some are there in several languages."""
    return f" ({topics} with each language counted)" if topics > clusters else ""


def audit(session: orm.Session, study_id: int | None, rater_id: int | None, what: str, **data: Any) -> None:
    """Append one line to the study's audit trail."""
    session.add(Event(study_id=study_id, rater_id=rater_id, kind="audit", what=what, data=data))


def audited(study_id: int, what: str) -> ColumnElement[bool]:
    """Which lines of the study's audit trail are called so."""
    return and_(Event.study_id == study_id, Event.kind == "audit", Event.what == what)


def audit_data(session: orm.Session, study_id: int, what: str) -> list[dict[str, Any]]:
    """What every line of the study's audit trail that is called so holds, the first one first."""
    return list(session.scalars(select(Event.data).where(audited(study_id, what)).order_by(Event.id)))


def newest_act(session: orm.Session, study: Study) -> int:
    """The number of the last act of the owner that can change what is shown, asked or counted; 0 before the first."""
    acts = Event.study_id == study.id, Event.kind == "audit", Event.what.in_(OWNER_ACTS)
    return session.scalar(select(func.max(Event.id)).where(*acts)) or 0


def not_yet_active(protocol: Protocol) -> list[str]:
    """Keys of the protocol that this version stores but does not act on yet; `init` prints them."""
    asked = {
        "calibration.epsilon": "epsilon" in protocol.calibration,
        "calibration.families": "families" in protocol.calibration,
    }
    return [key for key, wanted in asked.items() if wanted]


def _enter_criteria(session: orm.Session, study: Study, protocol: Protocol, old: Protocol) -> None:
    standing = {row.code: row for row in criteria_of(session, study)}
    same_answers = (old.answers.scale, old.answers.labels) == (protocol.answers.scale, protocol.answers.labels)
    if not (same_answers and protocol.criteria_from == "topics"):
        _retire_of_topics(session, study, anew=protocol.criteria_from == "topics")
    for position, asked in enumerate(protocol.criterion):
        row = standing.pop(asked.id, None)
        scale = asked.scale.model_dump(mode="json") if asked.scale else None
        unchanged, words = same_answers or scale is not None, words_sha256(asked.label, asked.text)
        if row is not None and unchanged and (row.text_sha256, row.scale) == (words, scale):
            row.position, row.category, row.subcategory = position, asked.category, asked.subcategory
            row.weight = asked.weight
            continue
        if row is not None:
            row.retired_at = now()
            session.flush()
        session.add(
            Criterion(
                study_id=study.id, code=asked.id, position=position, label=asked.label, text=asked.text,
                text_sha256=words, category=asked.category, subcategory=asked.subcategory,
                weight=asked.weight, scale=scale,
            )
        )  # fmt: skip
    for row in standing.values():
        row.retired_at = now()
    session.flush()


def _retire_of_topics(session: orm.Session, study: Study, *, anew: bool) -> None:
    """Questions of the topics follow the protocol: no longer asked, or `anew` where other answers are allowed now."""
    asked = Criterion.study_id == study.id, Criterion.topic_id.is_not(None), Criterion.retired_at.is_(None)
    standing = session.scalars(select(Criterion).where(*asked).order_by(Criterion.id)).all()
    for row in standing:
        row.retired_at = now()
    session.flush()
    copied = [column.name for column in Criterion.__table__.columns if column.name not in ("id", "retired_at")]
    session.add_all(Criterion(**{name: getattr(row, name) for name in copied}) for row in (standing if anew else ()))


def words_sha256(label: str, text: str) -> str:
    """What a question is known by: sha256 of its words, as hex."""
    return text_sha256(f"{label}\n{text}")


# Rows that a transaction holds to its end, always in this order: own assignments, own person, study, enrolment,
# sign-in. With one order for all, no two wait for each other. Whoever holds a person and finds their work held by
# somebody else does not wait for it: see `claiming.take` and `standing.hold_work`. Rows that point at a person or a
# study are written by others meanwhile, so neither is held by a plain FOR UPDATE, which would wait for them, and they
# for it. SQLite has one writer at a time anyway.
def hold_person(session: orm.Session, rater_id: int) -> None:
    """One person's two tabs, or their admin, go one after the other from here on."""
    session.execute(PERSON, {"rater": rater_id})


def hold_study(session: orm.Session, study: Study) -> None:
    """Whoever decides something about all of the study goes one after the other from here on."""
    session.execute(select(Study.id).where(Study.id == study.id).with_for_update(key_share=True))
