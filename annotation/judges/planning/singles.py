"""Which reports and probes judges rate or label, without their texts, and which probes share a call."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy import func, orm, select

from annotation.items.shown import SOURCES, ShownText, in_order
from annotation.judges.planning.calls import LabelledItem, to_label, utf8_length
from annotation.studies import protocol_of
from db.judge_tables import Judge, JudgeCall, JudgeCallAssignment, JudgeConfig
from db.tables import Assignment, Item, Report, Source, Study, Topic


def labelled_singles(session: orm.Session, study: Study) -> list[LabelledItem]:
    """Every report or probe that is not excluded and not only there for training or attention, by id."""
    protocol = protocol_of(study)
    reports = {
        key: (ShownText("", "…" if characters else "", sha256, ""), characters, utf8_bytes)
        for key, sha256, characters, utf8_bytes in session.execute(
            select(
                Report.id, Report.shown_sha256, func.length(Report.shown_text), utf8_length(session, Report.shown_text)
            ).where(Report.study_id == study.id, Report.status == "ready")
        )
    }
    of_source = select(Source.sha256, func.length(Source.text), utf8_length(session, Source.text))
    sources = {
        sha256: (characters, utf8_bytes)
        for sha256, characters, utf8_bytes in session.execute(of_source.where(Source.study_id == study.id))
    }
    rows = session.execute(
        select(
            Item.id, Item.topic_id, Item.kind, Item.report_a_id, Item.report_b_id, Item.reference_id, Item.probe,
            *SOURCES, (Topic.title + Topic.prompt).label("topic"),
        )
        .join(Topic, Topic.id == Item.topic_id)
        .where(Item.study_id == study.id, Item.kind != "pair", to_label())
        .order_by(Item.id)
        .execution_options(yield_per=500)  # passages that an older calipers kept with each probe are long
    )  # fmt: skip
    found = []
    for row in rows:
        shows = {key for key in (row.report_a_id, row.reference_id) if key is not None}
        if not shows <= reports.keys():
            continue  # one of its reports is empty or excluded
        shown = in_order(protocol, row, None, lambda name, key: replace(reports[key][0], name=name))
        size = {
            text.shown_sha256: sources.get(text.shown_sha256) or (len(text.shown_text), len(text.shown_text.encode()))
            for text in shown
        }
        size |= {reports[key][0].shown_sha256: reports[key][1:] for key in shows}
        parts = [size[text.shown_sha256] for text in shown]
        words = row.topic + (row.probe or "")
        found.append(
            LabelledItem(
                item_id=row.id,
                topic_id=row.topic_id,
                sha256=tuple(text.shown_sha256 for text in shown),
                characters=sum(characters for characters, _ in parts) + len(words),
                utf8_bytes=sum(utf8_bytes for _, utf8_bytes in parts) + len(words.encode()),
                names=tuple(text.name for text in shown),
                probe=row.probe,
            )
        )
    return found


def share_calls(
    items: Sequence[LabelledItem], per_call: int, standing: Sequence[Sequence[int]] = ()
) -> list[tuple[LabelledItem, ...]]:
    """Items in groups of at most `per_call` that show the very same texts. What was asked together stays together.

    So probes that are added later make new groups, and nothing that is there is asked again.
    """
    by_id = {item.item_id: item for item in items}
    groups = [tuple(by_id[key] for key in group if key in by_id) for group in standing]
    kept = [group for group in groups if group and len({(one.topic_id, one.sha256) for one in group}) == 1]
    placed = {item.item_id for group in kept for item in group}
    waiting: dict[tuple[int, tuple[str, ...]], list[LabelledItem]] = defaultdict(list)
    for item in items:
        if item.item_id not in placed:
            waiting[item.topic_id, item.sha256].append(item)
    new = [
        tuple(alike[start : start + per_call])
        for alike in waiting.values()
        for start in range(0, len(alike), per_call)
    ]  # fmt: skip
    return sorted([*kept, *new], key=lambda group: group[0].item_id)


def standing_groups(session: orm.Session, study: Study, judge: str, config_sha256: str) -> list[tuple[int, ...]]:
    """The items that were put into one call with these settings, in the order made."""
    rows = session.execute(
        select(JudgeCall.id, Assignment.item_id)
        .join(JudgeCallAssignment, JudgeCallAssignment.call_id == JudgeCall.id)
        .join(Assignment, Assignment.id == JudgeCallAssignment.assignment_id)
        .join(JudgeConfig, JudgeConfig.id == JudgeCall.config_id)
        .join(Judge, Judge.id == JudgeCall.judge_id)
        .where(
            Judge.study_id == study.id,
            Judge.name == judge,
            JudgeConfig.sha256 == config_sha256,
            JudgeCall.stress.is_(None),
        )
        .order_by(JudgeCall.id, Assignment.item_id)
    )
    by_call: dict[int, list[int]] = defaultdict(list)
    for call, item in rows:
        by_call[call].append(item)
    groups: dict[tuple[int, ...], None] = {}
    placed: set[int] = set()
    for group in by_call.values():
        if not placed.intersection(group):
            groups[tuple(group)] = None
            placed.update(group)
    return list(groups)
