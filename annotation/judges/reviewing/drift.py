"""Two runs of judges held against the same people's labels: which runs there are, what changed, and what both said."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any, Literal

import pandas as pd
from sqlalchemy import orm, select

from annotation.errors import AnnotationError
from annotation.items.shown import SOURCES, item_code, sources_sha256
from annotation.judges.asking.material import CHUNK
from annotation.judges.defining.judge_file import maker
from annotation.judges.replies.outcomes import REPLIES
from annotation.judges.reviewing.replies_again import said
from annotation.verdicts import load_verdicts
from db.judge_tables import Judge, JudgeAttempt, JudgeCall, JudgeCallAssignment, JudgeConfig
from db.tables import Assignment, Criterion, Event, Item, Report, Study
from plain.hashes import canonical_sha256

SAID = {
    "snapshot": "reported snapshot",
    "prompt_sha256": "prompt",
    "protocol_sha256": "protocol",
    "params": "parameters",
}
Cause = Literal["judge changed", "system changed", "cannot tell"]


@dataclass(frozen=True)
class Identity:
    """What makes a judge this judge. `snapshot`: the model as the provider reported it, None where it did not.

    `endpoint` None: the provider's own. `prompt_sha256` is the template's; `params` are the effective ones.
    """

    provider: str
    model: str
    snapshot: str | None
    endpoint: str | None
    prompt_sha256: str
    protocol_sha256: str
    params: Mapping[str, Any]


@dataclass(frozen=True)
class JudgedRun:
    """One run of a judge: who it was, the people's labels it is held against, and the reports it read."""

    identity: Identity
    labels_sha256: str
    shown_sha256: frozenset[str]  # of every report shown


@dataclass(frozen=True)
class Drift:
    """`changed`: fields of the judge's identity that differ, and `reports` where those do."""

    cause: Cause
    changed: tuple[str, ...]
    sentence: str


def drift(before: JudgedRun, after: JudgedRun) -> Drift:
    """What a difference between two runs can be put down to: one thing that changed while the other is known not to.

    Raises AnnotationError `labels_differ`: agreement with other labels is another number, not a change of this one.
    """
    if before.labels_sha256 != after.labels_sha256:
        raise AnnotationError(
            "labels_differ",
            f"the two runs are held against different labels ({before.labels_sha256[:12]} and "
            f"{after.labels_sha256[:12]}); compare both with the same labels",
        )
    names = [field.name for field in fields(Identity)]
    judge = tuple(name for name in names if getattr(before.identity, name) != getattr(after.identity, name))
    reports = ("reports",) if before.shown_sha256 != after.shown_sha256 else ()
    unknown = before.identity.snapshot is None or after.identity.snapshot is None
    known = tuple(name for name in judge if name != "snapshot" or not unknown)
    changed = (*judge, *reports)
    if known and not reports:
        return Drift("judge changed", changed, f"the judge changed ({_words(judge)}); it read the same reports")
    if reports and not judge and not unknown:
        return Drift("system changed", changed, "the reports changed; the judge is the same in every respect")
    if known and reports:
        why = f"both the judge ({_words(judge)}) and the reports changed"
    elif unknown:
        seen = "the reports changed" if reports else "nothing else is seen to have changed"
        why = f"{seen}, and the provider did not report which snapshot of the model answered"
    else:
        why = "neither the judge nor the reports changed; what differs is noise, or a change nobody reported"
    return Drift("cannot tell", changed, f"cannot tell: {why}")


def _words(names: tuple[str, ...]) -> str:
    return ", ".join(SAID.get(name, name) for name in names)


@dataclass(frozen=True)
class Run:
    """Finished calls that one judge made alike. `name`: as a user names it, `mini@2`, or the judge's name where all
    its runs are taken together. `texts_stand`: what it read is what is shown now.
    """

    name: str
    judge: str
    identity: Identity
    repeat_no: int
    texts_stand: bool
    calls: tuple[int, ...]
    first: datetime
    last: datetime


def runs_of(session: orm.Session, study: Study) -> tuple[Run, ...]:
    """Every run of every judge, the earliest first; probes and imported results are none.

    A call belongs to the protocol in force when its last reply came, and to the model that the provider reported.
    """
    calls: dict[tuple[Any, ...], dict[str | None, list[tuple[int, datetime]]]] = {}
    reported, shown, protocols = _reported(session, study), _shown_now(session, study), _protocols(session, study)
    for judge, config, call, repeat_no, items in _finished(session, study):
        model, replied = reported.get(call.id, (None, None))
        at = replied or call.done_at or call.created_at  # labelled again, an answer is as old as it was
        protocol = protocols[max(0, bisect_right(protocols, (at,)) - 1)][1]
        stands = set(call.shown_sha256) <= set().union(*(shown[item] for item in items))
        models = calls.setdefault((judge, config, protocol, repeat_no, stands), {})
        models.setdefault(model, []).append((call.id, at))
    found = [
        _run(judge, config, protocol, repeat_no, stands, model, made)
        for (judge, config, protocol, repeat_no, stands), models in calls.items()
        for model, made in _known(models).items()
    ]
    numbers: dict[str, int] = defaultdict(int)
    numbered = []
    for run in sorted(found, key=lambda run: (run.first, run.calls)):
        numbers[run.judge] += 1
        numbered.append(replace(run, name=f"{run.judge}@{numbers[run.judge]}"))
    return tuple(numbered)


def find_run(runs: Sequence[Run], name: str) -> Run:
    """The run called `name`; a judge's name is all its runs, where they differ in nothing but the repeat.

    Raises AnnotationError `unknown_run`, or `several_runs` naming them.
    """
    for run in runs:
        if run.name == name:
            return run
    mine = [run for run in runs if run.judge == name]
    if not mine:
        known = ", ".join(run.name for run in runs) or "none; run a judge first"
        raise AnnotationError("unknown_run", f"no judge and no run is called {name!r} (there are: {known})")
    if any((run.identity, run.texts_stand) != (mine[0].identity, mine[0].texts_stand) for run in mine):
        names = ", ".join(run.name for run in mine)
        raise AnnotationError(
            "several_runs", f"judge {name!r} was not always the same; choose one of its runs: {names}"
        )
    calls = sorted(call for run in mine for call in run.calls)
    return Run(
        name, name, mine[0].identity, min(run.repeat_no for run in mine), mine[0].texts_stand, tuple(calls),
        min(run.first for run in mine), max(run.last for run in mine),
    )  # fmt: skip


def _finished(session: orm.Session, study: Study) -> Iterable[tuple[str, JudgeConfig, JudgeCall, int, set[int]]]:
    """(judge, settings, call, repeat, its items)"""
    served = defaultdict(set)
    repeats: dict[int, int] = {}
    mine = Judge.study_id == study.id, JudgeCall.stress.is_(None), JudgeCall.state.in_(("done", "failed"))
    rows = session.execute(
        select(JudgeCallAssignment.call_id, Assignment.item_id, Assignment.repeat_no)
        .join(Assignment, Assignment.id == JudgeCallAssignment.assignment_id)
        .join(JudgeCall, JudgeCall.id == JudgeCallAssignment.call_id)
        .join(Judge, Judge.id == JudgeCall.judge_id)
        .where(*mine)
    )
    for call, item, repeat_no in rows:
        served[call].add(item)
        repeats[call] = repeat_no
    calls = session.execute(
        select(Judge.name, JudgeConfig, JudgeCall)
        .join(JudgeConfig, JudgeConfig.id == JudgeCall.config_id)
        .join(Judge, Judge.id == JudgeCall.judge_id)
        .where(*mine)
        .order_by(JudgeCall.id)
    )
    return ((judge, config, call, repeats[call.id], served[call.id]) for judge, config, call in calls)


def _reported(session: orm.Session, study: Study) -> dict[int, tuple[str | None, datetime]]:
    """call -> the model that its last reply was reported to come from, and when that came."""
    rows = session.execute(
        select(JudgeAttempt.call_id, JudgeAttempt.model_reported, JudgeAttempt.created_at)
        .join(JudgeCall, JudgeCall.id == JudgeAttempt.call_id)
        .join(Judge, Judge.id == JudgeCall.judge_id)
        .where(Judge.study_id == study.id, JudgeAttempt.outcome.in_(REPLIES))
        .order_by(JudgeAttempt.call_id, JudgeAttempt.attempt_no)
    )
    return {call: (model, at) for call, model, at in rows}


def _shown_now(session: orm.Session, study: Study) -> dict[int, set[str]]:
    """item -> sha256 of the texts it shows now."""
    reports = select(Report.id, Report.shown_sha256).where(Report.study_id == study.id)
    sha256 = {report: sha for report, sha in session.execute(reports)}
    columns = select(Item.id, Item.kind, *SOURCES, Item.report_a_id, Item.report_b_id, Item.reference_id)
    return {
        item: {sha256[report] for report in of_item if report is not None}
        | ({sources_sha256(kept, context)} if kind == "probe" else set())
        for item, kind, kept, context, *of_item in session.execute(columns.where(Item.study_id == study.id))
    }


def _protocols(session: orm.Session, study: Study) -> list[tuple[datetime, str]]:
    """(since when, sha256) of every protocol the study had, in order: the audit trail holds each change."""
    events = session.scalars(
        select(Event)
        .where(Event.study_id == study.id, Event.kind == "audit", Event.what.in_(("init", "protocol")))
        .order_by(Event.created_at, Event.id)
    )
    found = [(event.created_at, event.data.get("protocol_sha256") or event.data["new_sha256"]) for event in events]
    return found or [(study.created_at, study.protocol_sha256)]


def _known(models: dict[str | None, list[tuple[int, datetime]]]) -> dict[str | None, list[tuple[int, datetime]]]:
    """Calls that never got a reply belong to the only model there is."""
    if len(models) != 2 or None not in models:
        return models
    (model,) = set(models) - {None}
    return {model: [*models[model], *models[None]]}


def _run(
    judge: str, config: JudgeConfig, protocol: str, repeat_no: int, stands: bool, model: str | None,
    made: Sequence[tuple[int, datetime]],
) -> Run:  # fmt: skip
    sent = {
        **config.params, "batching": config.batching, "max_output_tokens": config.max_output_tokens,
        "structured": config.structured,
    }  # fmt: skip
    provider, named, _ = config.model.partition("/")
    identity = Identity(
        provider if named else maker(config.model), config.model, model, config.api_base, config.template_sha256,
        protocol, sent,
    )  # fmt: skip
    ends = [at for _, at in made]
    return Run("", judge, identity, repeat_no, stands, tuple(sorted(call for call, _ in made)), min(ends), max(ends))


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


def compare_runs(session: orm.Session, study: Study, before: str, after: str, *, common: bool = False) -> ComparedRuns:
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


def _asked(session: orm.Session, calls: Collection[int]) -> set[Unit]:
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


def _held_against(session: orm.Session, run: Run, labels: pd.DataFrame) -> JudgedRun:
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


def _spoken(session: orm.Session, study: Study, run: Run, labels: pd.DataFrame) -> pd.DataFrame:
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
