"""Work that nobody touches goes back to the others, and back to its person while it still can."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import Engine, select, update
from sqlalchemy.orm import Session

from annotation.labelling import reopen, save, skip
from annotation.open_work.returns import return_stale
from annotation.work.claiming import in_work, take
from annotation.work.page import assignment_page
from db.connect import transaction
from db.people_tables import Packet
from db.tables import Assignment, Label, Study
from db.types import now
from tests.plain_study import PROTOCOL, hand_in, people_of, plain_study
from tests.small_study import answer

ONE_HOUR = PROTOCOL.replace("retest_share = 0.0", "retest_share = 0.0\nlimits = {stale_h = 1}")


def days_pass(session: Session, hours: float = 25) -> None:
    """Nobody does anything for so long."""
    session.flush()
    session.execute(
        update(Assignment)
        .where(Assignment.status == "taken")
        .values(taken_at=now() - timedelta(hours=hours), active_at=now() - timedelta(hours=hours))
    )
    session.expire_all()


def test_untouched_work_goes_to_somebody_else_with_the_same_order_and_no_label_is_lost(engine: Engine) -> None:
    study_id = plain_study(engine, 1, 1)
    ada, bea = people_of(engine, study_id, 2)
    with transaction(engine) as session:
        old = take(session, ada)
        assert old is not None
        page = assignment_page(session, ada, old.aid)
        assert save(session, ada, [answer(page, "better", "left")]).refused == []
        assert take(session, bea) is None
        days_pass(session)
        new = take(session, bea)
        assert new is not None
        assert (new.left, new.slot_no, new.item_id) == (old.left, old.slot_no, old.item_id)
        assert new.aid != old.aid
        assert (old.status, old.returned, old.rater_id) == ("returned", "stale", ada.rater_id)
        assert session.scalar(select(Label.assignment_id)) == old.id
        # Ada's page is still open: she is told, and what stands does not change
        refused = save(session, ada, [answer(page, "better", "right", seq=2)]).refused
        assert [line["code"] for line in refused] == ["returned"]
        assert take(session, ada) is None


@pytest.mark.databases("sqlite")
@pytest.mark.parametrize("how", ["take", "save", "skip"])
def test_whoever_comes_back_in_time_has_their_work_again(engine: Engine, how: str) -> None:
    study_id = plain_study(engine, 2, 1)
    ada, bea = people_of(engine, study_id, 2, quota=1)
    with transaction(engine) as session:
        old = take(session, ada)
        assert old is not None
        page = assignment_page(session, ada, old.aid)
        days_pass(session)
        assert return_stale(session, session.get_one(Study, study_id)) == 1
        if how == "take":
            assert take(session, ada) is old
        elif how == "save":
            assert save(session, ada, [answer(page, "better", "left")]).refused == []
        else:
            skip(session, ada, old.aid, "I know this one")
            assert (old.status, old.returned) == ("returned", "skipped")
            return
        assert (old.status, old.returned, in_work(session, ada)) == ("taken", None, old)
        theirs = take(session, bea)
        assert theirs is not None
        assert theirs.item_id != old.item_id
        assert return_stale(session, session.get_one(Study, study_id)) == 0


@pytest.mark.databases("sqlite")
def test_what_was_handed_in_once_and_reopened_counts_as_handed_in_again(engine: Engine) -> None:
    study_id = plain_study(engine, 1, 1)
    ada, bea = people_of(engine, study_id, 2)
    with transaction(engine) as session:
        mine = take(session, ada)
        assert mine is not None
        hand_in(session, ada, mine.aid)
        reopen(session, ada, mine.aid)
        days_pass(session)
        assert take(session, bea) is None
        assert mine.status == "submitted"


def test_a_packet_waits_for_its_ballot_however_long(engine: Engine) -> None:
    study_id = plain_study(engine, 2, 1)
    (ada,) = people_of(engine, study_id, 1)
    with transaction(engine) as session:
        taken = take(session, ada)
        packet = Packet(study_id=study_id, enrollment_id=ada.enrollment_id, secret="s")
        session.add(packet)
        session.flush()
        assert taken is not None
        taken.source, taken.packet_id = "packet", packet.id
        days_pass(session)
        assert return_stale(session, session.get_one(Study, study_id)) == 0
        online = take(session, ada)
        assert online is not None
        assert online.item_id != taken.item_id


@pytest.mark.databases("sqlite")
@pytest.mark.parametrize(("hours", "went_back"), [(0.9, 0), (1.1, 1)])
def test_the_study_says_how_long_is_long(engine: Engine, hours: float, went_back: int) -> None:
    study_id = plain_study(engine, 1, 1, protocol=ONE_HOUR)
    (ada,) = people_of(engine, study_id, 1)
    with transaction(engine) as session:
        assert take(session, ada) is not None
        days_pass(session, hours)
        assert return_stale(session, session.get_one(Study, study_id)) == went_back


def test_a_kept_slot_stays_kept_when_it_goes_back_and_is_free_when_it_was_skipped(engine: Engine) -> None:
    study_id = plain_study(engine, 1, 1)
    ada, bea = people_of(engine, study_id, 2)
    with transaction(engine) as session:
        session.scalars(select(Assignment)).one().reserved_for = ada.rater_id
        mine = take(session, ada)
        assert mine is not None
        days_pass(session)
        assert take(session, bea) is None
        assert take(session, ada) is mine
        skip(session, ada, mine.aid, "I know this one")
        assert take(session, ada) is None
        assert take(session, bea) is not None
