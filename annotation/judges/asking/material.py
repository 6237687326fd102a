"""Stored rows become the material of a prompt, and so the next step of their call and the most it may cost.

For a call about to be made, and for one that was made long ago. Texts that were read lately stay in memory.
"""

import hashlib
import json
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, cast

from sqlalchemy import bindparam, func, orm, select

from annotation.errors import AnnotationError
from annotation.items.shown import ShownText, in_order
from annotation.judges.asking.altered_texts import as_stressed
from annotation.judges.asking.prompt import PAIR, SEES, Asked, Material, Probe, Prompt, build_prompt, plain_prompt
from annotation.judges.asking.steps import Ask, Finish, Tried, next_step, second_prompt
from annotation.judges.defining.judge_file import Rung
from annotation.judges.money import accounts, prices
from annotation.judges.replies import outcomes, reply
from annotation.labels.answers import Answer, Answered
from annotation.labels.entries import scale_of
from annotation.protocol import Protocol
from annotation.studies import protocol_of
from annotation.texts.figures import MARKS
from db.judge_tables import Judge, JudgeAttempt, JudgeCall, JudgeCallAssignment, JudgeConfig
from db.tables import Assignment, Criterion, Item, Report, Study, Topic

TEXTS_KEPT = 16_000_000  # characters


class Texts:
    """Shown texts that were read lately, so that the passes and batches of a pair read them once.

    Holds about `at_most` characters; a text is found by its report and its sha256.
    """

    def __init__(self, at_most: int = TEXTS_KEPT) -> None:
        self._at_most, self._size = at_most, 0
        self._kept: OrderedDict[tuple[int, str], str] = OrderedDict()

    def of(self, session: orm.Session, wanted: Set[tuple[int, str]]) -> dict[tuple[int, str], str]:
        """The texts of these reports, the missing ones from the database."""
        missing = {report for report, _ in wanted - self._kept.keys()}
        if missing:
            rows = select(Report.id, Report.shown_sha256, Report.shown_text).where(Report.id.in_(missing))
            for report, sha256, text in session.execute(rows):
                self._kept[report, sha256] = text
                self._size += len(text)
        found = {key: self._kept[key] for key in wanted}
        for key in wanted:
            self._kept.move_to_end(key)
        while self._size > self._at_most:
            self._size -= len(self._kept.popitem(last=False)[1])
        return found


CHUNK = 100  # calls whose texts are in memory at once

VIEWED = ("first", "second")  # of two reports that are both rated, in the order shown
TAGS = dict(zip(("Left", "Right"), PAIR, strict=True))


@dataclass(frozen=True)
class CallRows:
    """A call with what it serves: `stale` when a text or question has changed since it was planned.

    `marks`: of each assignment, what its questions end with; see `Asked.about`.
    """

    call_id: int
    assignment_ids: tuple[int, ...]
    repeat_no: int
    material: Material
    tried: tuple[Tried, ...]
    stale: bool
    marks: tuple[str, ...] = ()
    stress: str | None = None
    key: str = ""

    @property
    def judged(self) -> Hashable:
        """What it is about, in whichever order that is shown."""
        return frozenset(self.material.text_sha256), self.material.probes

    def row_of(self, criterion: str) -> int:
        """The row of a criterion by its own id."""
        return next(asked.row for asked in self.material.criteria if asked.own_code == criterion)

    def answered(self, answers: Sequence[Answer]) -> tuple[Answered, ...]:
        """The answers of each assignment that the call serves, under the criteria's own ids, and what was read.

        None of a stress test: it was about a changed text or prompt, so its answers are nobody's labels.
        """
        if self.stress is not None:
            return ()
        read, rows = self.material.text_sha256, tuple(criterion.row for criterion in self.material.criteria)
        if len(self.assignment_ids) == 1:
            return (Answered(self.assignment_ids, tuple(answers), read, rows),)
        asked = {criterion.code: criterion for criterion in self.material.criteria}
        return tuple(
            Answered(
                (assignment,),
                tuple(
                    replace(answer, criterion=asked[answer.criterion].own_code)
                    for answer in answers
                    if asked[answer.criterion].about == mark
                ),
                read,
                rows,
            )
            for assignment, mark in zip(self.assignment_ids, self.marks, strict=True)
        )


def load_calls(
    session: orm.Session, study: Study, call_ids: Sequence[int], texts: Texts | None = None
) -> dict[int, CallRows]:
    """Material and attempts of calls, by id."""
    protocol, rows = protocol_of(study), _served(session, call_ids)
    report = _reports(session, rows, texts or Texts())
    templates, tried = _templates(session, rows), _tried(session, call_ids)
    asked, retired = _asked(session, protocol, rows)
    found: dict[int, CallRows] = {}
    for call, group in groupby(rows, lambda row: row.call):
        served = list(group)
        first, shown = served[0], _shown(study, protocol, served, report, templates)
        found[call] = CallRows(
            call_id=call,
            assignment_ids=tuple(row.assignment for row in served),
            repeat_no=first.repeat_no,
            material=material_of(
                protocol, templates[first.config_id], [asked[key] for key in first.criteria],
                title=first.title, prompt=first.prompt, shown=shown[0],
                probes=[Probe(row.probe, probe_mark(row.item)) for row in served if row.kind == "probe"],
            ),
            tried=tuple(tried.get(call, ())),
            marks=tuple(_mark(protocol, row) for row in served),
            stale=not retired.isdisjoint(first.criteria)
            or any(_sha256(texts_of) != first.shown_sha256 for texts_of in shown),
            stress=first.stress,
            key=first.key,
        )  # fmt: skip
    return found


SERVED = (
    select(
        JudgeCall.id.label("call"), JudgeCall.criteria, JudgeCall.shown_sha256, JudgeCall.config_id,
        JudgeCall.stress, JudgeCall.key,
        Assignment.id.label("assignment"), Assignment.left, Assignment.repeat_no, Topic.title, Topic.prompt,
        Item.id.label("item"), Item.kind, Item.report_a_id, Item.report_b_id, Item.reference_id, Item.probe,
        Item.source_sha256, Item.context.label("context"),
    )
    .join(JudgeCallAssignment, JudgeCallAssignment.call_id == JudgeCall.id)
    .join(Assignment, Assignment.id == JudgeCallAssignment.assignment_id)
    .join(Item, Item.id == Assignment.item_id)
    .join(Topic, Topic.id == Item.topic_id)
    .where(JudgeCall.id.in_(bindparam("calls", expanding=True)))
    .order_by(JudgeCall.id, Item.id)
)  # fmt: skip


def _served(session: orm.Session, call_ids: Sequence[int]) -> Sequence[Any]:
    """A row for every assignment that a call serves, with its item and topic; those of one call are together."""
    return session.execute(SERVED, {"calls": call_ids}).all()


def _reports(session: orm.Session, rows: Sequence[Any], texts: Texts) -> Callable[[str, int | None], ShownText]:
    """How a report of these rows is found by its title and id."""
    keys = {key for row in rows for key in (row.report_a_id, row.report_b_id, row.reference_id) if key is not None}
    stands = select(Report.id, Report.shown_sha256).where(Report.id.in_(keys))
    sha256 = {key: sha for key, sha in session.execute(stands)}
    texts_of = texts.of(session, set(sha256.items()))

    def report(name: str, key: int | None) -> ShownText:
        assert key is not None  # an item of this kind has it
        return ShownText(name, texts_of[key, sha256[key]], sha256[key], "")

    return report


def _templates(session: orm.Session, rows: Sequence[Any]) -> dict[int, str]:
    """The prompt of each configuration, by its id."""
    configs = select(JudgeConfig.id, JudgeConfig.template).where(JudgeConfig.id.in_({row.config_id for row in rows}))
    return {config: template for config, template in session.execute(configs)}


def _asked(session: orm.Session, protocol: Protocol, rows: Sequence[Any]) -> tuple[dict[int, Asked], set[int]]:
    """The questions of these rows by their ids, and which of them are retired."""
    columns = select(
        Criterion.id, Criterion.code, Criterion.label, Criterion.text, Criterion.scale, Criterion.retired_at
    )
    found = session.execute(columns.where(Criterion.id.in_({key for row in rows for key in row.criteria}))).all()
    return {one.row: one for one in as_asked(protocol, found)}, {one.id for one in found if one.retired_at is not None}


def as_asked(protocol: Protocol, rows: Iterable[Any]) -> list[Asked]:
    """The questions of these criteria."""
    return [Asked(row.id, row.code, row.label, row.text, scale_of(protocol, row.scale)) for row in rows]


def _tried(session: orm.Session, call_ids: Sequence[int]) -> dict[int, list[Tried]]:
    """The attempts of each call that has any, the first one first."""
    attempts = (
        select(
            JudgeAttempt.call_id, JudgeAttempt.outcome, JudgeAttempt.rung, JudgeAttempt.raw_reply,
            JudgeAttempt.finish_reason, JudgeAttempt.attempt_no <= func.coalesce(JudgeCall.retried_after, 0),
        )
        .join(JudgeCall, JudgeCall.id == JudgeAttempt.call_id)
        .where(JudgeAttempt.call_id.in_(call_ids))
        .order_by(JudgeAttempt.call_id, JudgeAttempt.attempt_no)
    )  # fmt: skip
    tried: dict[int, list[Tried]] = {}
    for call, outcome, rung, raw, reason, earlier in session.execute(attempts):
        attempt = Tried(outcome, cast(Rung, rung or "json_schema"), raw or "", reason, bool(earlier))
        tried.setdefault(call, []).append(attempt)
    return tried


def _shown(
    study: Study,
    protocol: Protocol,
    served: Sequence[Any],
    report: Callable[[str, int | None], ShownText],
    templates: Mapping[int, str],
) -> list[list[ShownText]]:
    """The texts of each assignment of a call in the order shown, changed where it is a stress test's."""
    first = served[0]
    shown = [_as_read(in_order(protocol, row, row.left, report), templates[first.config_id]) for row in served]
    if first.stress is None:
        return shown
    return [as_stressed(first.stress, texts, first.left, seed=study.seed, item=first.item) for texts in shown]


def _as_read(shown: Sequence[ShownText], template: str) -> list[ShownText]:
    """Pictures are for who sees them; others read the captions."""
    if template.startswith(SEES):
        return list(shown)
    marked = (MARKS.sub("", text.shown_text) if "![figure]" in text.shown_text else text.shown_text for text in shown)
    return [replace(text, shown_text=read) for text, read in zip(shown, marked, strict=True)]


def material_of(
    protocol: Protocol,
    template: str,
    questions: Sequence[Asked],
    *,
    title: str,
    prompt: str,
    shown: Sequence[ShownText],
    probes: Sequence[Probe] = (),
) -> Material:
    """The material of one call. Several probes are asked about each by its mark, under ids that end with it.

    So are two reports that are both rated, question by question.
    """
    if len(probes) == 1:
        probes = [Probe(probes[0].text)]
    about = [(asked, probe.mark) for probe in probes if probe.mark for asked in questions]
    if protocol.rates_both:
        about = [(asked, mark) for asked in questions for mark in VIEWED]
    several = [replace(asked, code=f"{asked.code}.{mark}", about=mark) for asked, mark in about]
    return Material(
        task_type=protocol.task_type,
        task=protocol.task,
        guidance=protocol.guidance,
        choices=protocol.choices,
        confidence=protocol.answers.confidence,
        topic_title=title,
        topic_prompt=prompt,
        texts=tuple(text.shown_text for text in _as_read(shown, template)),
        text_sha256=tuple(_sha256(shown)),
        criteria=tuple(several or questions),
        template=template,
        names=tuple(TAGS.get(text.name) or text.name.lower() for text in shown),
        probe_kind=protocol.answers.probe or "",
        probes=tuple(probes),
        meanings=tuple((label.id, label.text) for label in protocol.answers.labels),
    )


def probe_mark(item_id: int) -> str:
    """What a probe is called in a prompt: it says nothing, not even which came first."""
    return hashlib.sha256(f"probe {item_id}".encode()).hexdigest()[:8]


def _mark(protocol: Protocol, row: Any) -> str:
    """Which of several things a call asks about this assignment is about."""
    if protocol.rates_both:
        return VIEWED[row.left == "B"]
    return probe_mark(row.item) if row.kind == "probe" else ""


def _sha256(shown: Sequence[ShownText]) -> list[str]:
    return [text.shown_sha256 for text in shown]


def rebuilt_prompt(session: orm.Session, call_id: int, attempt_no: int) -> Prompt:
    """The prompt of one attempt, built again from the rows.

    Raises AnnotationError `changed` where its sha256 is not the stored one: a text or the guidance was replaced since.
    """
    study = session.scalar(
        select(Study)
        .join(Judge, Judge.study_id == Study.id)
        .join(JudgeCall, JudgeCall.judge_id == Judge.id)
        .where(JudgeCall.id == call_id)
    )
    attempt = session.scalar(
        select(JudgeAttempt).where(JudgeAttempt.call_id == call_id, JudgeAttempt.attempt_no == attempt_no)
    )
    if study is None or attempt is None or attempt.prompt_sha256 is None:
        raise AnnotationError(
            "not_found", "call {call_id} has no attempt {attempt_no} with a prompt", call_id=call_id,
            attempt_no=attempt_no,
        )  # fmt: skip
    if (rows := load_calls(session, study, [call_id]).get(call_id)) is None:  # it serves no item: a text of its own
        of_call = select(JudgeConfig.template).join(JudgeCall, JudgeCall.config_id == JudgeConfig.id)
        return plain_prompt(session.scalars(of_call.where(JudgeCall.id == call_id)).one())
    before = [tried for tried in rows.tried[: attempt_no - 1] if tried.outcome in outcomes.REPLIES]
    # a retry starts a new conversation, so which reply this attempt answers is for the hash to say
    built = [build_prompt(rows.material, cast(Rung, attempt.rung)), *(second_prompt(rows.material, r) for r in before)]
    for prompt in built:
        if prompt.sha256 == attempt.prompt_sha256:
            return prompt
    raise AnnotationError(
        "changed", "call {call_id}: its texts, questions or guidance changed after it was made, or this version of "
        "calipers fills its prompt in otherwise", call_id=call_id,
    )  # fmt: skip


def step_of(rows: CallRows, rung: Rung) -> Ask | Finish:
    """The next step; a call on replaced texts ends without labels, one whose prompt cannot be built as `missing`, and a
    prompt that alters a text stops its judge."""
    if rows.stale:
        return Finish((), "failed", "stale")
    try:
        return next_step(rows.material, rows.tried, rung)
    except AnnotationError as error:
        codes = [criterion.code for criterion in rows.material.criteria]
        stops = error.text if error.code == "altered" else ""
        return Finish(reply.failed_answers(codes, error.code), "failed", error.code, stops)


def worst(step: Ask | Finish, account: accounts.Account) -> float:
    """The most a step may cost, in USD; 0 for one that asks nothing or has no price."""
    if isinstance(step, Finish):
        return 0.0
    definition, price = account.resolved.definition, account.resolved.priced.price
    into = step.prompt.utf8_bytes + len(json.dumps(step.prompt.schema))
    return prices.worst_cost(into, definition.max_output_tokens, price)


def tokens(step: Ask, rows: CallRows) -> float:
    """About how many tokens a step takes of the judge's limit per minute."""
    return step.prompt.characters / 4 + prices.LIKELY_OUT * len(rows.material.criteria)
