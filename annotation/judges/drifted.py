"""Two runs of judges held against the same people's labels: what changed between them, and what both said."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import pandas as pd
from sqlalchemy import select
from sqlalchemy.orm import Session

from annotation.errors import AnnotationError
from annotation.item_codes import item_code
from annotation.judges.drift import Drift, JudgedRun, drift
from annotation.judges.judged_runs import Run, find_run, runs_of
from annotation.judges.probing import CHUNK
from annotation.judges.prompt import canonical_sha256
from annotation.judges.said import said
from annotation.verdicts import load_verdicts
from db.judge_tables import JudgeCall, JudgeCallAssignment
from db.tables import Assignment, Criterion, Study

Unit = tuple[str, str]  # item and criterion, as in the table of verdicts
OF_ITEM = ["item_id", "cluster_id", "system_a", "system_b", "category"]


@dataclass(frozen=True)
class ComparedRuns:
    """`verdicts`: the people's labels and what both runs said on the same units, with the columns of `labels.csv`.

    The runs are the judges in it, by their names. `labels`: people's labels both are held against.
    """

    before: Run
    after: Run
    drift: Drift
    labels_sha256: str
    labels: int
    verdicts: pd.DataFrame


def compare_runs(session: Session, study: Study, before: str, after: str, *, common: bool = False) -> ComparedRuns:
    """What changed from one run to the other, and their verdicts. `common`: on what both were asked, and no more.

    Raises AnnotationError: `unknown_run`, `several_runs`, `labels_differ`, `no_labels`.
    """
    runs = runs_of(session, study)
    first, second = find_run(runs, before), find_run(runs, after)
    if set(first.calls) & set(second.calls):
        raise AnnotationError("unknown_run", f"{before} and {after} are the same run; name two different ones")
    people = load_verdicts(session, study)
    people = people[(people["rater_kind"] == "human") & (people["run"] == 1) & (people["status"] == "ok")]
    asked = {run.name: _asked(session, run.calls) for run in (first, second)}
    both = asked[first.name] & asked[second.name]
    labels = {run.name: _labels_on(people, both if common else asked[run.name]) for run in (first, second)}
    for name, own in labels.items():
        if own.empty:
            where = "that both runs were asked" if common else f"that {name} was asked"
            raise AnnotationError("no_labels", f"no annotator has handed in a label on anything {where}")
    held = [_held_against(session, run, labels[run.name]) for run in (first, second)]
    try:
        found = drift(*held)
    except AnnotationError as error:
        counts = " and ".join(f"{name} on {len(own):,}" for name, own in labels.items())
        raise AnnotationError(
            error.code, f"{error.text}: {counts} labels; finish both runs, or use --common for what both were asked"
        ) from None
    spoken = [_spoken(session, study, run, labels[first.name]) for run in (first, second)]
    verdicts = pd.concat([labels[first.name], *spoken], ignore_index=True)
    return ComparedRuns(first, second, found, held[0].labels_sha256, len(labels[first.name]), verdicts)


def _asked(session: Session, calls: Collection[int]) -> set[Unit]:
    """What the calls were asked, answered or not; questions whose words were changed since are no longer any."""
    criteria = select(Criterion.id, Criterion.code).where(Criterion.retired_at.is_(None))
    codes = {row: code for row, code in session.execute(criteria)}
    wanted, found = sorted(calls), set()
    for start in range(0, len(wanted), CHUNK):
        rows = session.execute(
            select(JudgeCall.criteria, Assignment.item_id)
            .join(JudgeCallAssignment, JudgeCallAssignment.call_id == JudgeCall.id)
            .join(Assignment, Assignment.id == JudgeCallAssignment.assignment_id)
            .where(JudgeCall.id.in_(wanted[start:][:CHUNK]))
        )
        found |= {(item_code(item), codes[row]) for asked, item in rows for row in asked if row in codes}
    return found


def _labels_on(people: pd.DataFrame, units: Collection[Unit]) -> pd.DataFrame:
    return people[[unit in units for unit in zip(people["item_id"], people["criterion"], strict=True)]]


def _held_against(session: Session, run: Run, labels: pd.DataFrame) -> JudgedRun:
    rows = labels[["item_id", "criterion", "rater_id", "presentation", "label"]].fillna("").astype(str)
    items = {int(item.removeprefix("item-")) for item in labels["item_id"]}
    shown: set[str] = set()
    for start in range(0, len(run.calls), CHUNK):
        texts = session.execute(
            select(JudgeCall.shown_sha256, Assignment.item_id)
            .join(JudgeCallAssignment, JudgeCallAssignment.call_id == JudgeCall.id)
            .join(Assignment, Assignment.id == JudgeCallAssignment.assignment_id)
            .where(JudgeCall.id.in_(run.calls[start:][:CHUNK]))
        )
        shown.update(sha256 for of_call, item in texts if item in items for sha256 in of_call)
    return JudgedRun(run.identity, canonical_sha256(sorted(rows.to_numpy().tolist())), frozenset(shown))


def _spoken(session: Session, study: Study, run: Run, labels: pd.DataFrame) -> pd.DataFrame:
    """What the run said about the labelled units, as rows of a rater with the run's name."""
    units = set(zip(labels["item_id"], labels["criterion"], strict=True))
    standing = select(Criterion.id).where(Criterion.study_id == study.id, Criterion.retired_at.is_(None))
    rows = set(session.scalars(standing))
    found = {
        (item_code(one.item), one.criterion, one.repeat, {"A": "AB", "B": "BA"}.get(one.left or "", "")): one.verdict
        for one in said(session, study, run.calls, stale=True)
        if one.row in rows
    }
    spoken = pd.DataFrame(
        [(*key, verdict) for key, verdict in found.items() if key[:2] in units and verdict is not None],
        columns=["item_id", "criterion", "run", "presentation", "label"],
    )
    about = labels[OF_ITEM].drop_duplicates("item_id")
    return spoken.assign(rater_id=run.name, rater_kind="judge", status="ok").merge(about, on="item_id")
