"""From a study or a labels file to its calibration report and its files: the edge where calibration meets storage."""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd
from sqlalchemy import Engine, func, orm, select

from annotation.errors import AnnotationError
from annotation.facts.topic_facts import topics_of_one_text
from annotation.files.tables import FILE_SUFFIXES
from annotation.judges.defining.judge_file import JudgeFile, read_judge_file
from annotation.labels.entries import scale_of, scale_points
from annotation.leaks.redaction import Redactor, folders_of, secrets_of
from annotation.people.principals import Principal, local_admin, study_for
from annotation.planning.looks import keep_plan, kept_plans
from annotation.planning.plan_root import keep_plan_root
from annotation.protocol import Protocol, Scale, read_protocol
from annotation.studies import find_study, newest_act, no_work_yet, protocol_of
from annotation.verdicts import load_verdicts, require_revealed, shows_systems, with_systems_masked
from app.results.looks import NO_LOOKS, LooksGiven, keep_shown, looks_of_file, looks_of_study, refuse_kept, with_changes
from app.results.panels import with_panels, without_explained
from app.settings import database
from calibration.calibrate import NOBODY, Waiting
from calibration.errors import CalibrationError
from calibration.results import CalibrationReport, CalibrationSettings, ReportWarning
from calibration.settings import Aggregate
from calibration.systems.claim_scores import Part, together
from calibration.table.checking import without_examples
from calibration.table.verdicts import known
from calibration.warnings.comparison_cautions import changed_plan
from calipers import kept_reports, label_files, tidy_files
from db.connect import reading, transaction
from db.tables import HANDED_IN, Assignment, Criterion, Event, Label, Study
from exports.facts import StudyFacts, facts_of

NO_FILE = JudgeFile((), ())
NOT_SETTINGS = ("cluster", "after_reveal")  # of the protocol's `calibration` table: they decide what is counted


@dataclass(frozen=True)
class Calibrated:
    """A report beside what it was computed from. `study`: its name, "" for a bare labels file."""

    labels: pd.DataFrame  # with panels; cascades are worked out from them
    report: CalibrationReport
    verdicts: pd.DataFrame  # those of the report: cascades among them
    cascades: tuple[str, ...] = ()
    study: str = ""
    examples: Mapping[str, int] = field(default_factory=dict)  # judge -> labelled examples in its prompt
    version: tuple[int, ...] = ()  # `label_version` of what was read
    told: tuple[str, ...] = ()  # how a file of other columns or words was read


def settings_of(
    protocol: Protocol | None, seed: int = 0, criteria: Iterable[str] = (), **overrides: Any
) -> CalibrationSettings:
    """The protocol's choices, fixed before results are seen. Raises AnnotationError naming an unknown key.

    `criteria`: ids of the questions that came with the topics, where the protocol lists none.
    """
    written = {k: v for k, v in (protocol.calibration if protocol else {}).items() if k not in NOT_SETTINGS}
    chosen = {name: label_files.as_tuples(value) for name, value in written.items()}
    if {"at_least", "at_least_kappa"} & overrides.keys():  # one floor takes the place of another
        chosen = {name: value for name, value in chosen.items() if name not in ("at_least", "at_least_kappa")}
    answers = answer_settings(protocol, criteria) if protocol else {}
    refuse_kept(chosen)
    if own := sorted(answers.keys() & chosen.keys()):
        raise AnnotationError("bad_protocol", f"calibration.{own[0]}: is made of the protocol's answers; remove it")
    if protocol and protocol.answers.allow_tie and protocol.answers.allow_not_applicable:
        chosen.setdefault("not_applicable", "drop")
    try:
        return CalibrationSettings(**{"seed": seed, **answers, **chosen, **overrides})
    except (TypeError, CalibrationError) as error:
        text = str(error).replace(
            "CalibrationSettings.__init__() got an unexpected keyword argument", "no setting is called"
        )
        raise AnnotationError("bad_protocol", f"the calibration table, or an option: {text}") from None


def study_report(
    session: orm.Session,
    principal: Principal,
    file: JudgeFile = NO_FILE,
    cascades: Sequence[str] = (),
    only: Collection[str] | None = None,
    others: Sequence[Part] = (),
    waiting: Waiting = NOBODY,
    **overrides: Any,
) -> Calibrated:
    """Verdicts and calibration report of the principal's study, with the panels and without the examples of `file`.

    Systems have masked names and no families while the study may not show them; `others` are then refused. Raises
    AnnotationError where nothing was handed in.
    """
    study = study_for(session, principal, "evaluator")
    protocol = protocol_of(study)
    verdicts = load_verdicts(session, study)
    if verdicts.empty:
        raise no_work_yet(session, study)
    _refuse_unknown(overrides.get("families", {}), verdicts)
    if overrides.get("per_criterion", False) is None:
        overrides["per_criterion"] = len(verdicts) <= label_files.MANY_ROWS and protocol.criteria_from == "protocol"
    asked, overrides = verdicts["criterion"].unique(), {**looks_of_study(session, study), **overrides}
    settings, blind = settings_of(protocol, study.seed, asked, **overrides), tuple[ReportWarning, ...]()
    if others:
        require_revealed(study)  # masks differ between studies, and these are joined by system
    if not shows_systems(study):
        verdicts = with_systems_masked(verdicts, study.seed)
        blind = tuple(_without_families(settings))
        settings = replace(settings, families={})
    verdicts, left_out = without_examples(verdicts, {one.name: one.examples for one in file.judges})
    verdicts, derived = with_panels(verdicts, file.panels, settings, allow_tie=protocol.answers.allow_tie)
    verdicts, settings = together(verdicts, settings, others)
    if len(verdicts) > label_files.MANY_ROWS:
        verdicts = _slim(verdicts)
    report, with_made = kept_reports.calibrated_or_kept(verdicts, settings, cascades, only, waiting)
    first = next(iter(kept_plans(session, study)), None)
    changed = changed_plan(report.choice.plan, first) if report.choice else ()
    told = without_explained(report.warnings, file.panels, verdicts)
    about = (*_about_the_study(session, study), *changed, *left_out, *derived, *blind)
    report = replace(report, plan_root=study.plan_root or "", is_simulated=study.is_simulated, warnings=(*about, *told))
    examples = {one.name: len(one.examples) for one in file.judges if one.examples}
    version = label_version(session, study)
    return Calibrated(verdicts, report, with_made, tuple(cascades), study.name, examples, version)


def _slim(verdicts: pd.DataFrame) -> pd.DataFrame:
    """The same table with categories for the texts that return, in a tenth of their memory; None stays missing."""
    import pyarrow as pa

    texts = [name for name in verdicts if verdicts[name].dtype == "str" and name not in ("rationale", "evidence")]
    slim = verdicts.astype(dict.fromkeys(texts, "category"))
    pa.default_memory_pool().release_unused()
    return slim


def shown_report(
    engine: Engine,
    principal: Principal,
    file: JudgeFile = NO_FILE,
    cascades: Sequence[str] = (),
    only: Collection[str] | None = None,
    others: Sequence[Part] = (),
    waiting: Waiting = NOBODY,
    **overrides: Any,
) -> Calibrated:
    """`study_report` for somebody who will look at it: the root of the study's present plan is kept first, and so
    are the plan of its comparison and this look.
    """
    with transaction(engine) as session:
        study = study_for(session, principal, "evaluator")
        if study.plan_root is not None:
            keep_plan_root(session, study)
    with reading(engine) as session:
        found = study_report(session, principal, file, cascades, only, others, waiting, **overrides)
    if found.report.choice is not None:
        with transaction(engine) as session:
            study = study_for(session, principal, "evaluator")
            keep_plan(session, study, found.report.choice.plan.kept)
            keep_shown(session, study, found.report)
    return found


def _about_the_study(session: orm.Session, study: Study) -> list[ReportWarning]:
    """What the labels alone cannot tell: questions that changed under them, lifted blinding, one text on two topics."""
    left_out = session.scalar(
        select(func.count(Label.id))
        .join(Criterion, Criterion.id == Label.criterion_id)
        .where(Criterion.study_id == study.id, Criterion.retired_at.is_not(None))
    )
    warnings = []
    if left_out:
        text = f"the protocol is at version {study.protocol_version}, changed after labels existed: {left_out} label"
        text += " revisions answer words that are no longer asked, and are left out"
        warnings.append(ReportWarning("changed_after_labels", text))
    if study.revealed_at is not None:
        when = f"{study.revealed_at:%Y-%m-%d}"
        warnings.append(
            ReportWarning("revealed", f"labels were joined with systems before the study closed, on {when}")
        )
    if groups := topics_of_one_text(session, study):
        shown = "; ".join(" and ".join(keys) for keys in groups[:3])
        more = f" and {len(groups) - 3} more groups" if len(groups) > 3 else ""
        text = f"the reports of some topics are those of another, byte for byte ({shown}{more}): intervals and tests "
        text += "take one topic under several names for several independent ones; leave all but one out"
        warnings.append(ReportWarning("repeated_topics", text))
    return warnings


def _without_families(settings: CalibrationSettings) -> Iterator[ReportWarning]:
    """Families name systems, and a judge's preference for its own would tell which masked one that is."""
    if settings.families:
        text = "systems are numbered until the study is closed or revealed: no judge's preference for its own family "
        yield ReportWarning("still_blind", f"{text}is looked for, since that would tell which system is of it")


def label_version(session: orm.Session, study: Study) -> tuple[int, ...]:
    """Changes whenever a label, a submit or an act of the owner does: what a cached report is keyed by."""
    # from the newest back to the first of this study: most often one row, where the highest of a join would be all
    mine = select(Assignment.id).where(Assignment.id == Label.assignment_id, Assignment.study_id == study.id)
    labels = session.scalar(select(Label.id).where(mine.exists()).order_by(Label.id.desc()).limit(1))
    submitted = session.scalar(
        select(func.count()).where(Assignment.study_id == study.id, Assignment.status.in_(HANDED_IN))
    )
    return labels or 0, submitted or 0, newest_act(session, study), study.protocol_version


def work_version(session: orm.Session, study: Study) -> tuple[int, ...]:
    """The same, and changes with whatever else happens in the study: work taken, time spent, a flag."""
    newest = select(Event.id).where(Event.study_id == study.id).order_by(Event.id.desc()).limit(1)
    return *label_version(session, study), session.scalar(newest) or 0


def calibrated(
    what: str,
    *,
    protocol: str = "",
    judges: Path | None = None,
    resamples: int = 9_999,
    seed: int | None = None,
    per_criterion: bool | None = None,
    families: Mapping[str, str] | None = None,
    cascades: Sequence[str] = (),
    to_publish: bool = False,
    chosen: Mapping[str, Any] | None = None,
    looks: LooksGiven = NO_LOOKS,
    only: Collection[str] | None = None,
    others: Sequence[Part] = (),
    how_read: tidy_files.Options = tidy_files.NOTHING_SAID,
    waiting: Waiting = NOBODY,
) -> Calibrated:
    """Calibrate the file or study called `what`. Raises the folder's own error, naming the file or study.

    `judges`: the judges.toml whose panels take part. `per_criterion`: None is what the protocol says, else yes for
    tables of up to 200,000 rows. `families`: judge or system to model family, instead of the protocol's.
    `cascades`: such as `mini then large`, which takes part as one more judge. `to_publish`: a file's labels will leave
    the house, as a study's always may. `chosen`: settings by name, instead of the protocol's. `looks`: what is known of
    looks at a file, and how a study's are meant. `only`: as of `calibrate`.
    `others`: studies of the same reports that are joined with it. `how_read`: what is said about a file of other
    columns or words. `waiting`: who is told of the points, and how far the intervals are.
    """
    overrides: dict[str, Any] = {
        "resamples": resamples,
        **(chosen or {}),
        **({"families": families} if families else {}),
        **({"per_criterion": per_criterion} if per_criterion is not None else {}),
    }
    path = Path(what)
    if tidy_files.holds_labels(what) or (path.is_dir() and not _is_study(what)):
        if judges is not None:
            raise AnnotationError("bad_option", "--judges is for a study; a labels file already holds its raters")
        labels, told = tidy_files.labels_of(path, how_read, used_only=True)
        labels = publishable(labels) if to_publish else labels
        _refuse_unknown(families or {}, labels)
        read = read_protocol(protocol)[0] if protocol else None
        asked = labels["criterion"].unique() if "criterion" in labels else ()
        overrides = _each_criterion(read, labels, overrides)
        overrides |= looks_of_file(looks, labels, {**(read.calibration if read else {}), **overrides})
        labels, settings = together(labels, settings_of(read, seed or 0, asked, **overrides), others)
        with nullcontext() if told else label_files.every_column_asked(path):
            report, with_made = kept_reports.calibrated_or_kept(labels, settings, cascades, only, waiting)
        return Calibrated(labels, with_changes(report, looks), with_made, tuple(cascades), told=told)
    if protocol:
        raise AnnotationError("bad_option", "--protocol is for a labels file; a study brings its own protocol")
    from app.settings import opened

    overrides |= looks.of_study
    with no_labels_file(what):
        engine = opened()
        with reading(engine) as session:
            study = find_study(session, what)
            overrides |= {} if seed is None else {"seed": seed}
            if "per_criterion" not in protocol_of(study).calibration:
                overrides = {"per_criterion": None} | overrides
            file = NO_FILE if judges is None else read_judge_file(judges, protocol_of(study))
            principal = local_admin(study)
    return shown_report(engine, principal, file, cascades, only, others, waiting, **overrides)


def _is_study(name: str) -> bool:
    """Whether a study is called like a folder."""
    from app.settings import opened

    try:
        with reading(opened()) as session:
            return bool(find_study(session, name))
    except AnnotationError:
        return not any(one.suffix.lower() in FILE_SUFFIXES for one in Path(name).rglob("*"))


def facts_about(study: str, examples: Mapping[str, int] | None = None) -> StudyFacts:
    """What a methods paragraph says beside the numbers; `study` is "" for a bare labels file, whose facts are few."""
    if not study:
        return facts_of()
    from annotation.facts.study_facts import study_facts  # what every part of a study knows: half a second's imports

    with reading(database()) as session:
        facts = study_facts(session, find_study(session, study))
    return facts_of({**facts, "examples": {**facts["examples"], **(examples or {})}})


def families_of(pairs: Sequence[str]) -> dict[str, str]:
    """`NAME=FAMILY` as a mapping. Raises `bad_option` on anything else."""
    parts = {pair: pair.rpartition("=") for pair in pairs}
    wrong = next((pair for pair, (name, _, family) in parts.items() if not name or not family), None)
    if wrong is not None:
        raise AnnotationError("bad_option", f"--family {wrong!r} is not NAME=FAMILY, such as gpt-4=openai")
    return {name: family for name, _, family in parts.values()}


def _refuse_unknown(families: Mapping[str, str], labels: pd.DataFrame) -> None:
    """A name that is nobody's would be passed over in silence. Judges alone are listed: systems may be masked."""
    if not families:
        return
    columns = [labels[name].dropna().unique() for name in ("rater_id", "system_a", "system_b") if name in labels]
    known = {str(name) for column in columns for name in column}
    wrong = next((name for name in families if name not in known), None)
    if wrong is not None and {"rater_id", "rater_kind"} <= {*labels.columns}:
        judges = ", ".join(sorted({*labels.loc[labels["rater_kind"] == "judge", "rater_id"].astype(str)}))
        raise AnnotationError(
            "bad_option", f"--family: no judge or system is called {wrong!r}; the judges are {judges}"
        )


def _each_criterion(protocol: Protocol | None, labels: pd.DataFrame, overrides: dict[str, Any]) -> dict[str, Any]:
    if protocol and "per_criterion" in protocol.calibration:
        return overrides
    same_everywhere = (
        protocol is None or protocol.criteria_from == "protocol"
    )  # else an id is another question elsewhere
    return {"per_criterion": len(labels) <= label_files.MANY_ROWS and same_everywhere} | overrides


def answer_settings(protocol: Protocol, criteria: Iterable[str] = ()) -> dict[str, Any]:
    """Fields of `CalibrationSettings` by name. `criteria`: of the topics, where the protocol lists none."""
    answers = protocol.answers
    asked = [one.id for one in protocol.criterion] or sorted({*map(str, criteria)})
    scales = _scales(protocol, asked)
    points = {name: scale_points(scale) for name, scale in scales.items()}
    if answers.ordered:
        points = dict.fromkeys(asked, tuple(label.id for label in answers.labels if label.on_scale))
    return {
        "scales": {name: found for name, found in points.items() if found},
        "off_scale": tuple(label.id for label in answers.labels if answers.ordered and not label.on_scale),
        "aggregates": tuple(Aggregate(**one.model_dump()) for one in protocol.aggregate),
        "answer_values": {label.id: label.weight for label in answers.labels},
        "score_times": {name: scale.shown_times for name, scale in scales.items() if scale.shown_times != 1},
    }


def _scales(protocol: Protocol, asked: Iterable[str]) -> Mapping[str, Scale]:
    """The scale of each rated criterion; empty where nothing is rated."""
    own = {one.id: one.scale.model_dump() for one in protocol.criterion if one.scale}
    found = {name: scale_of(protocol, own.get(name)) for name in asked}
    return {name: scale for name, scale in found.items() if scale}


def publishable(labels: pd.DataFrame) -> pd.DataFrame:
    """The columns that statistics read, and rationales without e-mail addresses, keys and folders.

    Other columns may hold anything, and stay at home. Raises AnnotationError `not_pseudonymous` where a name of a
    rater, item or system is an e-mail address, a key or a folder.
    """
    kept = known(labels) if "pass_no" not in labels else known(labels).assign(pass_no=labels["pass_no"])
    redact = Redactor(secrets=secrets_of(os.environ), folders=folders_of(os.environ))
    for name in [column for column in kept if column != "rationale"]:
        told = next((text for text in kept[name].unique() if redact(str(text)) != str(text)), None)
        if told is not None:
            what = "an e-mail address, a key or a folder of a machine"
            raise AnnotationError("not_pseudonymous", f"{name} {told!r} is or holds {what}; write a pseudonym instead")
    return kept.assign(rationale=kept["rationale"].map(redact)) if "rationale" in kept else kept


@contextmanager
def no_labels_file(what: str) -> Iterator[None]:
    """Where no study is called `what`, the refusal says that it is no labels file either."""
    try:
        yield
    except AnnotationError as error:
        if error.code not in ("unknown_study", "no_database"):
            raise
        missing = f"{what} is a folder, not a labels file" if Path(what).is_dir() else f"there is no file {what!r}"
        raise AnnotationError(error.code, f"{missing}; {error.text}") from None
