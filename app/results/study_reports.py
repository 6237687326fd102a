"""From a study to its calibration report: the edge where calibration meets storage."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
from sqlalchemy import Engine, func, orm, select

from annotation.facts.topic_facts import topics_of_one_text
from annotation.judges.aligning.align_plan import kept_alignments, variants_tried
from annotation.judges.asking.examples import clusters_drawn_before, items_shown_to
from annotation.judges.defining.judge_file import JudgeFile, read_judge_file
from annotation.judges.reviewing.judge_standings import answered_otherwise
from annotation.people.principals import Principal, local_admin, study_for
from annotation.planning.looks import keep_look, keep_plan, kept_looks, kept_plans, topics_labelled
from annotation.planning.plan_root import keep_plan_root
from annotation.studies import find_study, newest_act, no_work_yet, protocol_of
from annotation.verdicts import load_verdicts, require_revealed, shows_systems, with_systems_masked
from app.results.panels import with_panels, without_explained
from app.results.reporting import WHOLE, Calibrated, Extent, refuse_unknown, settings_of
from app.settings import opened
from calibration.choosing.looking import looking_of
from calibration.estimates import first_few
from calibration.inference.looks import Look
from calibration.results import CalibrationReport, ReportWarning
from calibration.systems.claim_scores import together
from calibration.table.checking import without_examples
from calibration.warnings.comparison_cautions import changed_plan
from calipers import kept_reports, label_files
from db.connect import reading, transaction
from db.judge_tables import Judge
from db.tables import HANDED_IN, Assignment, Criterion, Event, Label, Study

NO_FILE = JudgeFile((), ())


def study_report(
    session: orm.Session,
    principal: Principal,
    file: JudgeFile = NO_FILE,
    extent: Extent = WHOLE,
    **overrides: Any,
) -> Calibrated:
    """Verdicts and calibration report of the principal's study, with the panels and without the examples of `file`.

    Systems have masked names and no families while the study may not show them; others are then refused. Raises
    AnnotationError where nothing was handed in.
    """
    study = study_for(session, principal, "evaluator")
    protocol = protocol_of(study)
    verdicts = load_verdicts(session, study)
    if verdicts.empty:
        raise no_work_yet(session, study)
    refuse_unknown(overrides.get("families", {}), verdicts)
    if overrides.get("per_criterion", False) is None:
        overrides["per_criterion"] = len(verdicts) <= label_files.MANY_ROWS and protocol.criteria_from == "protocol"
    asked, overrides = verdicts["criterion"].unique(), {**looks_of_study(session, study), **overrides}
    settings, blind = settings_of(protocol, study.seed, asked, **overrides), tuple[ReportWarning, ...]()
    if extent.others:
        require_revealed(study)  # masks differ between studies, and these are joined by system
    if not shows_systems(study):
        verdicts = with_systems_masked(verdicts, study.seed)
        # families name systems, and a judge's preference for its own would tell which masked one that is
        blind = (ReportWarning("still_blind"),) * bool(settings.families)
        settings = replace(settings, families={})
    verdicts, left_out = without_examples(verdicts, {one.name: one.examples for one in file.judges})
    verdicts, derived = with_panels(
        verdicts,
        file.panels,
        settings,
        allow_tie=protocol.answers.allow_tie,
        pairs=protocol.task_type == "pairwise_choice",
    )
    verdicts, settings = together(verdicts, settings, extent.others)
    if len(verdicts) > label_files.MANY_ROWS:
        verdicts = _slim(verdicts)
    report, with_made = kept_reports.calibrated_or_kept(
        verdicts, settings, extent.cascades, extent.only, extent.waiting
    )
    first = next(iter(kept_plans(session, study)), None)
    changed = changed_plan(report.choice.plan, first) if report.choice else ()
    told = [
        warning
        for warning in without_explained(report.warnings, file.panels, verdicts)
        if warning.code != "join_loss" or not _lacks_shown_topics_alone(session, study, verdicts, warning.rater)
    ]
    about = (*_about_the_study(session, study), *changed, *left_out, *derived, *blind)
    report = replace(report, plan_root=study.plan_root or "", is_simulated=study.is_simulated, warnings=(*about, *told))
    examples = {one.name: len(one.examples) for one in file.judges if one.examples}
    version = label_version(session, study)
    return Calibrated(verdicts, report, with_made, tuple(extent.cascades), study.name, examples, version)


def _lacks_shown_topics_alone(session: orm.Session, study: Study, verdicts: pd.DataFrame, judge: str) -> bool:
    """Whether the judge answered every item that people did, but on topics whose labels its prompt shows."""
    if judge not in items_shown_to(session, study):
        return False
    rest = verdicts[~verdicts["cluster_id"].isin(clusters_drawn_before(session, study))]
    return {*rest["item_id"][rest["rater_kind"] == "human"]} <= {*rest["item_id"][rest["rater_id"] == judge]}


def _slim(verdicts: pd.DataFrame) -> pd.DataFrame:
    """The same table with categories for the texts that return, in a tenth of their memory; None stays missing."""
    texts = [name for name in verdicts if verdicts[name].dtype == "str" and name not in ("rationale", "evidence")]
    slim = verdicts.astype(dict.fromkeys(texts, "category"))
    pa.default_memory_pool().release_unused()
    return slim


def shown_report(
    engine: Engine,
    principal: Principal,
    file: JudgeFile = NO_FILE,
    extent: Extent = WHOLE,
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
        found = study_report(session, principal, file, extent, **overrides)
    if found.report.choice is not None:
        with transaction(engine) as session:
            study = study_for(session, principal, "evaluator")
            keep_plan(session, study, found.report.choice.plan.kept)
            keep_shown(session, study, found.report)
    return found


def named_study_report(
    what: str,
    judges: Path | None = None,
    extent: Extent = WHOLE,
    *,
    seed: int | None = None,
    **overrides: Any,
) -> Calibrated:
    """`shown_report` of the study called `what`, for whoever has its database; arguments as of `sources.calibrated`."""
    engine = opened()
    with reading(engine) as session:
        study = find_study(session, what)
        overrides |= {} if seed is None else {"seed": seed}
        if "per_criterion" not in protocol_of(study).calibration:
            overrides = {"per_criterion": None} | overrides
        file = NO_FILE if judges is None else read_judge_file(judges, protocol_of(study))
        principal = local_admin(study)
    return shown_report(engine, principal, file, extent, **overrides)


def looks_of_study(session: orm.Session, study: Study) -> dict[str, Any]:
    """Settings about looks at a study: what its protocol says, else a plan of the topics that it has items of.

    The looks that were kept are beside it, and how many topics are labelled by now.
    """
    chosen = protocol_of(study).calibration
    labelled = topics_labelled(session, study, chosen.get("planned_topics"))
    # this very look, opened again, is no earlier one: the same labels give the same report
    earlier = tuple(
        Look(look["topics"], look["share"])
        for look in kept_looks(session, study)
        if look["topics"] < labelled.labelled or look["share"] > labelled.labelled / max(1, labelled.planned)
    )
    return {
        "looks": chosen.get("looks", "planned"),
        "planned_topics": labelled.planned or None,
        "earlier_looks": earlier,
        "topics_labelled": labelled.labelled or None,  # less than one topic in all: too little to tell how much
    }


def keep_shown(session: orm.Session, study: Study, report: CalibrationReport) -> None:
    """Keep that this report was shown, if it holds a choice: nothing else in it is called adequate."""
    if report.choice is None:
        return
    looking = looking_of(report.settings, int(report.labels.clusters))
    keep_look(session, study, looking.topics, looking.share, report.choice.plan.plan_sha256)


def _about_the_study(session: orm.Session, study: Study) -> list[ReportWarning]:
    """What the labels alone cannot tell: questions that changed under them, lifted blinding, one text on two topics."""
    left_out = session.scalar(
        select(func.count(Label.id))
        .join(Criterion, Criterion.id == Label.criterion_id)
        .where(Criterion.study_id == study.id, Criterion.retired_at.is_not(None))
    )
    warnings = []
    if left_out:
        facts = {"version": study.protocol_version, "left_out": left_out}
        warnings.append(ReportWarning("changed_after_labels", facts))
    if study.revealed_at is not None:
        warnings.append(ReportWarning("revealed", {"day": f"{study.revealed_at:%Y-%m-%d}"}))
    if groups := topics_of_one_text(session, study):
        warnings.append(ReportWarning("repeated_topics", {"reports": first_few([{"names": keys} for keys in groups])}))
    mixed = answered_otherwise(session, study).items()
    warnings += [
        ReportWarning("mixed_settings", {"before": old, "passes": all_of}, name) for name, (old, all_of) in mixed
    ]
    return [*warnings, *_aligned(session, study)]


def _aligned(session: orm.Session, study: Study) -> Iterator[ReportWarning]:
    """How many wordings stand behind a judge that was made to agree; of these it alone was measured on these topics."""
    for name, plan in kept_alignments(session, study).items():
        made = select(Judge.id).where(Judge.study_id == study.id, Judge.name == name)
        if session.scalar(made) is not None:
            tried = variants_tried(session, study, plan.judge)
            yield ReportWarning("aligned", {"tried": tried, "judge": plan.judge, "topics": len(plan.seen)}, name)


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
