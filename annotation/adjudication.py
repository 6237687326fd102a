"""Adjudication: a blind decision where people's verdicts differ. It is a label of its own; theirs never change."""

from collections import Counter, defaultdict
from collections.abc import Sequence

from sqlalchemy import ColumnElement, and_, func, orm, select

from annotation import errors, studies
from annotation.designs.pairing import seeded
from annotation.disputes.disputes import Dispute, disputes
from annotation.open_work.returns import return_stale
from annotation.people.principals import Principal
from annotation.training.training import closed_gate
from db import people_tables, types
from db.tables import HANDED_IN, LIVE, REPORT_A, REPORT_B, Assignment, Item, Study

GIVEN_OUT_WHILE = ("open", "closed")  # disputes come to light when a study is over
SEES_SYSTEMS = ("evaluator", "admin")


def take_dispute(session: orm.Session, principal: Principal) -> Assignment | None:
    """The adjudication in work, or the next item in dispute with its open questions; None when there is none (left).

    An item goes to one adjudicator at a time, and never to somebody who annotated it.
    Raises AnnotationError `forbidden` for those who may not adjudicate.
    """
    rater_id, study = _adjudicator(session, principal)
    studies.hold_person(session, rater_id)
    mine = select(Assignment).where(_own(study, rater_id), Assignment.status == "taken")
    in_work = session.scalar(mine.order_by(Assignment.taken_at, Assignment.id).limit(1))
    if in_work is not None:
        return in_work
    active = session.get_one(people_tables.Enrollment, principal.enrollment_id).status == "active"
    if study.status not in GIVEN_OUT_WHILE or not active or closed_gate(session, principal) == "consent":
        return None
    return_stale(session, study)
    passes = _passes(session, study)
    for item, found in _offered(session, study, rater_id):
        # the item waits for nobody: whoever holds it is being given it
        held = select(Item.id).where(Item.id == item).with_for_update(key_share=True, skip_locked=True)
        if session.scalar(held) is not None and _passes(session, study, item)[item] == passes[item]:
            return _given(session, study, rater_id, item, found, passes[item] + 1)
    return None


def count_disputes(session: orm.Session, principal: Principal) -> int:
    """How many items with open questions this person could still take. Raises AnnotationError `forbidden`."""
    rater_id, study = _adjudicator(session, principal)
    return len(_open_to(session, study, rater_id)) if study.status in GIVEN_OUT_WHILE else 0


def _adjudicator(session: orm.Session, principal: Principal) -> tuple[int, Study]:
    study = session.get_one(Study, principal.study_id)
    may = principal.role == "adjudicator" or (
        principal.role in SEES_SYSTEMS and studies.protocol_of(study).study.may_see_and_label
    )
    if principal.rater_id is None or not may:
        raise errors.AnnotationError("forbidden", "only adjudicators settle disputes; ask the study's admin")
    return principal.rater_id, study


def _offered(session: orm.Session, study: Study, rater_id: int) -> list[tuple[int, list[Dispute]]]:
    """`_open_to`: urgent items first, then a seeded draw."""
    found = _open_to(session, study, rater_id)
    rows = select(Item.id, Item.priority).where(Item.study_id == study.id)
    priority = {item: urgent for item, urgent in session.execute(rows)}
    draw = {item: seeded(study.seed, "disputes", rater_id, item).random() for item in found}
    return sorted(found.items(), key=lambda entry: (-priority[entry[0]], draw[entry[0]]))


def _open_to(session: orm.Session, study: Study, rater_id: int) -> dict[int, list[Dispute]]:
    """Items this person may settle, with their open disputes."""
    by_item: dict[int, list[Dispute]] = defaultdict(list)
    for dispute in disputes(session, study):
        by_item[dispute.item_id].append(dispute)
    own = select(Assignment.item_id).where(Assignment.study_id == study.id, Assignment.rater_id == rater_id)
    known = set(session.scalars(own.where(Assignment.purpose != "adjudicate")))
    known |= set(session.scalars(own.where(Assignment.purpose == "adjudicate", Assignment.returned == "skipped")))
    return {
        item: still_open
        for item, found in by_item.items()
        if item not in known
        and (still_open := [dispute for dispute in found if dispute.state == "open"])
        and all(dispute.state != "in work" for dispute in found)
    }


def _given(
    session: orm.Session, study: Study, rater_id: int, item_id: int, found: Sequence[Dispute], pass_no: int
) -> Assignment:
    """An adjudication of these questions: this person's own that came back, with what is typed there, or a new one."""
    codes = [dispute.criterion for dispute in found]
    back = _own(study, rater_id), Assignment.item_id == item_id, Assignment.pass_no == pass_no
    returned = select(Assignment).where(*back, Assignment.status == "returned").order_by(Assignment.id.desc())
    taken = next((assignment for assignment in session.scalars(returned) if assignment.criteria_order == codes), None)
    if taken is not None:
        taken.status, taken.returned, taken.active_at = "taken", None, types.now()
    else:
        taken = Assignment(
            study_id=study.id, item_id=item_id, rater_id=rater_id, purpose="adjudicate", slot_no=1, pass_no=pass_no,
            left=_side(session, study, item_id), criteria_order=codes, plan_seed=study.seed, status="taken",
            taken_at=types.now(), active_at=types.now(),
        )  # fmt: skip
        session.add(taken)
    session.flush()
    # what the decision is about: it is settled for as long as these verdicts stand
    saw = {dispute.criterion: {str(rater): verdict for rater, verdict in dispute.verdicts.items()} for dispute in found}
    studies.audit(session, study.id, rater_id, "adjudicate", assignment=taken.id, verdicts=saw)
    session.flush()
    return taken


def _side(session: orm.Session, study: Study, item_id: int) -> str | None:
    """Who stands left: what keeps each author's lefts and rights over all adjudications even, else a seeded coin."""
    one, other = REPORT_A, REPORT_B
    columns = one.system_id, other.system_id
    pairs = select(*columns).select_from(Item).join(one, one.id == Item.report_a_id)
    # beside a report that is rated stands another one, which is rated too
    beside = Item.reference_id if studies.protocol_of(study).rates_both else Item.report_b_id
    pairs = pairs.join(other, other.id == beside)
    here = session.execute(pairs.where(Item.id == item_id)).one_or_none()
    if here is None:
        return None
    a, b = here
    lean: Counter[int] = Counter()  # author -> lefts less rights
    rows = pairs.join(Assignment, Assignment.item_id == Item.id).add_columns(Assignment.left)
    for author, other_author, left in session.execute(
        rows.where(Assignment.study_id == study.id, Assignment.purpose == "adjudicate", Assignment.status.in_(LIVE))
    ):
        lean[author] += 1 if left == "A" else -1
        lean[other_author] += 1 if left == "B" else -1
    if lean[a] == lean[b]:
        return "A" if seeded(study.seed, "adjudicate", item_id).random() < 0.5 else "B"
    return "A" if lean[a] < lean[b] else "B"


def _own(study: Study, rater_id: int) -> ColumnElement[bool]:
    return and_(
        Assignment.study_id == study.id, Assignment.rater_id == rater_id, Assignment.purpose == "adjudicate",
        Assignment.source == "app",
    )  # fmt: skip


def _passes(session: orm.Session, study: Study, item_id: int | None = None) -> Counter[int]:
    """item -> the number of its newest adjudication that is handed in or in work."""
    rows = select(Assignment.item_id, func.max(Assignment.pass_no)).where(
        Assignment.study_id == study.id,
        Assignment.purpose == "adjudicate",
        Assignment.status.in_(("taken", *HANDED_IN)),
    )
    if item_id is not None:
        rows = rows.where(Assignment.item_id == item_id)
    return Counter({item: newest for item, newest in session.execute(rows.group_by(Assignment.item_id))})
