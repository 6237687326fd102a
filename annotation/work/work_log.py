"""What was handed in by whom, when, and in how much active time: one row for each assignment."""

from __future__ import annotations

import pandas as pd
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from annotation.item_codes import item_code
from annotation.people.active_time import seconds_by_assignment
from annotation.work.attention import attention_items
from annotation.work.twins import beside_by_id, once_a_page
from db.aliases import REFERENCE, REPORT_A, REPORT_B
from db.people_tables import Enrollment
from db.tables import HANDED_IN, Assignment, Item, Study

COLUMNS = ("rater_id", "item_id", "purpose", "submitted_at", "active_s", "words", "attention")


def work_log(session: Session, study: Study) -> pd.DataFrame:
    """`COLUMNS` of people's work handed in, in the order handed in; three queries. `study` from `principals.study_for`.

    `rater_id` is the pseudonym, `item_id` that of `labels.csv`. `active_s`: nan where no page reported any, as for
    packets and imported labels. `words`: of all texts shown. `attention`: `passed` or `failed` where it is one. Two
    reports rated in one view are one row.
    """
    texts = a, b, reference = REPORT_A, REPORT_B, REFERENCE
    words = func.coalesce(a.words, 0) + func.coalesce(b.words, 0) + func.coalesce(reference.words, 0)
    rows = (
        select(Assignment.id, Enrollment.pseudonym, Assignment.item_id, Assignment.purpose, Assignment.submitted_at,
               words)
        .join(Enrollment, (Enrollment.rater_id == Assignment.rater_id) & (Enrollment.study_id == study.id))
        .join(Item, Item.id == Assignment.item_id)
        .where(
            Assignment.study_id == study.id, Assignment.status.in_(HANDED_IN),
            Assignment.purpose.in_(("label", "retest", "attention")), *once_a_page(study),
        )
        .order_by(Assignment.submitted_at, Assignment.id)
    )  # fmt: skip
    for text, column in zip(texts, (Item.report_a_id, Item.report_b_id, Item.reference_id), strict=True):
        rows = rows.outerjoin(text, text.id == column)
    seconds = {key: sum(own.values()) for key, own in seconds_by_assignment(session, study).items()}
    for one, twin in beside_by_id(session, study).items():
        if one < twin and {one, twin} & seconds.keys():
            seconds[one] = seconds[twin] = seconds.get(one, 0.0) + seconds.get(twin, 0.0)
    verdict = {
        assignment: "failed" if failed else "passed" for _, assignment, failed in attention_items(session, study)
    }
    found = [
        (rater, item_code(item), purpose, submitted, seconds.get(key), shown,
         verdict.get(key, ""))
        for key, rater, item, purpose, submitted, shown in session.execute(rows)
    ]  # fmt: skip
    log = pd.DataFrame(found, columns=list(COLUMNS))
    return log.assign(
        active_s=log["active_s"].astype(float), submitted_at=pd.to_datetime(log["submitted_at"], utc=True)
    )
