"""When a study's results were shown, on how many topics, and what its comparison of judges was to show beforehand."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import case, func, or_, orm, select

from annotation.planning.draws import kept_draws
from annotation.studies import audit, audit_data, cluster_of, hold_study, protocol_of
from db.tables import HANDED_IN, LIVE, Assignment, Item, Study, Topic

LOOK = "look"
DONE = Assignment.status.in_(HANDED_IN)


@dataclass(frozen=True)
class TopicsLabelled:
    """Topics (items, where the protocol's clusters are items) that people have labelled, of those planned.

    `labelled` counts what is done of each topic's labels, whole topics of the sum: a study that labels all its topics
    side by side has labelled half of them when half of the labels are in.
    """

    labelled: int
    planned: int


def topics_labelled(session: orm.Session, study: Study, planned: int | None = None) -> TopicsLabelled:
    """As the study is now. Planned are the topics with a label that is wanted or handed in, unless `planned` says more;
    where topics are drawn, all that have items.

    Labels of judges, training, attention and retest count nowhere; an item left out counts as far as it was labelled.
    """
    whole = Item.id if protocol_of(study).calibration.get("cluster") == "item" else cluster_of(study)
    rows = (
        select(func.count(), func.sum(case((DONE, 1), else_=0)))
        .select_from(Assignment)
        .join(Item, Item.id == Assignment.item_id)
        .join(Topic, Topic.id == Item.topic_id)
        .where(
            Assignment.study_id == study.id, Assignment.purpose == "label", Assignment.source != "judge",
            Assignment.status.in_(LIVE), or_(Item.excluded_at.is_(None), DONE),
        )
        .group_by(whole)
    )  # fmt: skip
    counted = session.execute(rows).all()
    labelled = sum((done or 0) / every for every, done in counted)
    if planned is None and kept_draws(session, study):  # the next batches will have their work
        every = select(Item.topic_id).where(
            Item.study_id == study.id, Item.purpose == "label", Item.excluded_at.is_(None)
        )
        planned = len({*session.scalars(every.distinct())})
    return TopicsLabelled(int(labelled + 1e-9), planned or len(counted))  # three thirds are one


def kept_looks(session: orm.Session, study: Study) -> list[dict[str, Any]]:
    """Every look that was kept, the first one first: `topics`, and `share` of the planned ones as they were then."""
    return audit_data(session, study.id, LOOK)


def keep_look(session: orm.Session, study: Study, topics: int, share: float, plan_sha256: str) -> None:
    """Write down that a result was shown on so many topics; once, whoever opens it again or at the same moment.

    A look on no more topics and at no larger share than one that is kept says nothing new. Nothing kept is changed.
    """
    if topics < 1:
        return
    hold_study(session, study)
    if not any(look["topics"] >= topics and look["share"] >= share for look in kept_looks(session, study)):
        audit(session, study.id, None, LOOK, topics=topics, share=share, plan_sha256=plan_sha256)


KEPT_PLAN = "comparison_plan"


def kept_plans(session: orm.Session, study: Study) -> list[dict[str, Any]]:
    """Every plan that was in force when a result was shown, the first one first."""
    return audit_data(session, study.id, KEPT_PLAN)


def keep_plan(session: orm.Session, study: Study, plan: Mapping[str, Any]) -> None:
    """Append the plan to the audit trail, unless it is the one kept last. Nothing kept is ever changed."""
    kept = kept_plans(session, study)
    if not kept or kept[-1]["plan_sha256"] != plan["plan_sha256"]:
        audit(session, study.id, None, KEPT_PLAN, **plan)
