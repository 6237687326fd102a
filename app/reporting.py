"""From a study or a labels file to its calibration report and its files: the edge where calibration meets storage."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd
from sqlalchemy import Engine, func, select
from sqlalchemy.orm import Session

from annotation.errors import AnnotationError
from annotation.facts.study_facts import study_facts
from annotation.judges.judge_file import JudgeFile, read_judge_file
from annotation.people.principals import Principal, local_admin, study_for
from annotation.planning.comparison_plans import keep_plan, kept_plans
from annotation.planning.plan_root import keep_plan_root
from annotation.protocol import Protocol, read_protocol
from annotation.studies import find_study, newest_act, no_work_yet, protocol_of
from annotation.verdicts import load_verdicts, shows_systems, with_systems_masked
from app.answer_settings import answer_settings
from app.label_files import FILE_SUFFIXES, every_column_asked, no_labels_file, publishable, read_labels
from app.panels import with_panels, without_explained
from app.settings import database
from calibration.biases.examples import without_examples
from calibration.choosing.cascades import calibrate_with_cascades
from calibration.errors import CalibrationError
from calibration.results import CalibrationReport, CalibrationSettings, ReportWarning
from calibration.warnings.comparison_cautions import changed_plan
from db.connect import reading, transaction
from db.tables import HANDED_IN, Assignment, Criterion, Event, Label, Study
from exports.facts import StudyFacts, facts_of

NO_FILE = JudgeFile((), ())
MANY_ROWS = 200_000  # beyond these, single criteria cost more seconds than the rest together
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


def settings_of(
    protocol: Protocol | None, seed: int = 0, criteria: Iterable[str] = (), **overrides: Any
) -> CalibrationSettings:
    """The protocol's choices, fixed before results are seen. Raises AnnotationError naming an unknown key.

    `criteria`: ids of the questions that came with the topics, where the protocol lists none.
    """
    chosen = {k: v for k, v in (protocol.calibration if protocol else {}).items() if k not in NOT_SETTINGS}
    answers = answer_settings(protocol, criteria) if protocol else {}
    if own := sorted(answers.keys() & chosen.keys()):
        raise AnnotationError("bad_protocol", f"calibration.{own[0]}: is made of the protocol's answers; remove it")
    if protocol and protocol.answers.allow_tie and protocol.answers.allow_not_applicable:
        chosen.setdefault("not_applicable", "drop")
    try:
        return CalibrationSettings(**{"seed": seed, **answers, **chosen, **overrides})
    except (TypeError, CalibrationError) as error:
        raise AnnotationError("bad_protocol", f"the protocol's calibration table: {error}") from None


def study_report(
    session: Session,
    principal: Principal,
    file: JudgeFile = NO_FILE,
    cascades: Sequence[str] = (),
    **overrides: Any,
) -> Calibrated:
    """Verdicts and calibration report of the principal's study, with the panels and without the examples of `file`.

    Systems have masked names and no families while the study may not show them. Raises AnnotationError where nothing
    was handed in.
    """
    study = study_for(session, principal, "evaluator")
    protocol = protocol_of(study)
    verdicts = load_verdicts(session, study)
    if verdicts.empty:
        raise no_work_yet(session, study)
    _refuse_unknown(overrides.get("families", {}), verdicts)
    if overrides.get("per_criterion", False) is None:
        overrides["per_criterion"] = len(verdicts) <= MANY_ROWS and protocol.criteria_from == "protocol"
    asked = verdicts["criterion"].unique()
    settings, blind = settings_of(protocol, study.seed, asked, **overrides), tuple[ReportWarning, ...]()
    if not shows_systems(study):
        verdicts = with_systems_masked(verdicts, study.seed)
        blind = tuple(_without_families(settings))
        settings = replace(settings, families={})
    verdicts, left_out = without_examples(verdicts, {one.name: one.examples for one in file.judges})
    verdicts, derived = with_panels(verdicts, file.panels, settings, allow_tie=protocol.answers.allow_tie)
    if len(verdicts) > MANY_ROWS:
        verdicts = _slim(verdicts)
    report, with_made = calibrate_with_cascades(verdicts, settings, cascades)
    first = next(iter(kept_plans(session, study)), None)
    changed = changed_plan(report.choice.plan, first) if report.choice else ()
    told = without_explained(report.warnings, file.panels, verdicts)
    about = (*_about_the_study(session, study), *changed, *left_out, *derived, *blind)
    own = {"plan_root": study.plan_root, "is_simulated": study.is_simulated}
    data = {**report.data, **{name: value for name, value in own.items() if value}}
    report = replace(report, data=data, warnings=(*about, *told))
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
    engine: Engine, principal: Principal, file: JudgeFile = NO_FILE, cascades: Sequence[str] = (), **overrides: Any
) -> Calibrated:
    """`study_report` for somebody who will look at it: the root of the study's plan as it stands is kept first, and so
    is the plan of its comparison.
    """
    with transaction(engine) as session:
        study = study_for(session, principal, "evaluator")
        if study.plan_root is not None:
            keep_plan_root(session, study)
    with reading(engine) as session:
        found = study_report(session, principal, file, cascades, **overrides)
    if found.report.choice is not None:
        with transaction(engine) as session:
            keep_plan(session, study_for(session, principal, "evaluator"), found.report.choice.plan.kept)
    return found


def _about_the_study(session: Session, study: Study) -> list[ReportWarning]:
    """What the labels alone cannot tell: that questions changed under them, or that blinding was lifted."""
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
    return warnings


def _without_families(settings: CalibrationSettings) -> Iterator[ReportWarning]:
    """Families name systems, and a judge's preference for its own would tell which masked one that is."""
    if settings.families:
        text = "systems are numbered until the study is closed or revealed: no judge's preference for its own family "
        yield ReportWarning("still_blind", f"{text}is looked for, since that would tell which system is of it")


def label_version(session: Session, study: Study) -> tuple[int, ...]:
    """Changes whenever a label, a submit or an act of the owner does: what a cached report is keyed by."""
    # from the newest back to the first of this study: most often one row, where the highest of a join would be all
    mine = select(Assignment.id).where(Assignment.id == Label.assignment_id, Assignment.study_id == study.id)
    labels = session.scalar(select(Label.id).where(mine.exists()).order_by(Label.id.desc()).limit(1))
    submitted = session.scalar(
        select(func.count()).where(Assignment.study_id == study.id, Assignment.status.in_(HANDED_IN))
    )
    return labels or 0, submitted or 0, newest_act(session, study), study.protocol_version


def work_version(session: Session, study: Study) -> tuple[int, ...]:
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
) -> Calibrated:
    """Calibrate the file or study called `what`. Raises the folder's own error, naming the file or study.

    `judges`: the judges.toml whose panels take part. `per_criterion`: None is what the protocol says, else yes for
    tables of up to 200,000 rows. `families`: judge or system to model family, instead of the protocol's.
    `cascades`: such as `mini then large`, which takes part as one more judge. `to_publish`: a file's labels will leave
    the house, as a study's always may.
    """
    overrides: dict[str, Any] = {"resamples": resamples, **({"families": families} if families else {})}
    if per_criterion is not None:
        overrides["per_criterion"] = per_criterion
    path = Path(what)
    if path.suffix in FILE_SUFFIXES or path.is_file():
        if judges is not None:
            raise AnnotationError("bad_option", "--judges is for a study; a labels file already holds its raters")
        labels = read_labels(path, used_only=True)
        labels = publishable(labels) if to_publish else labels
        _refuse_unknown(families or {}, labels)
        chosen = read_protocol(protocol)[0] if protocol else None
        asked = labels["criterion"].unique() if "criterion" in labels else ()
        settings = settings_of(chosen, seed or 0, asked, **_each_criterion(chosen, labels, overrides))
        with every_column_asked(path):
            return Calibrated(labels, *calibrate_with_cascades(labels, settings, cascades), tuple(cascades))
    if protocol:
        raise AnnotationError("bad_option", "--protocol is for a labels file; a study brings its own protocol")
    from app.commands.database import opened

    with no_labels_file(what):
        engine = opened()
        with reading(engine) as session:
            study = find_study(session, what)
            overrides |= {} if seed is None else {"seed": seed}
            if "per_criterion" not in protocol_of(study).calibration:
                overrides = {"per_criterion": None} | overrides
            file = NO_FILE if judges is None else read_judge_file(judges, protocol_of(study))
            principal = local_admin(study)
    return shown_report(engine, principal, file, cascades, **overrides)


def facts_about(study: str, examples: Mapping[str, int] | None = None) -> StudyFacts:
    """What a methods paragraph says beside the numbers; `study` is "" for a bare labels file, whose facts are few."""
    if not study:
        return facts_of()
    with reading(database()) as session:
        facts = study_facts(session, find_study(session, study))
    return facts_of({**facts, "examples": dict(examples or {})})


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
    return {"per_criterion": len(labels) <= MANY_ROWS and same_everywhere} | overrides
