"""What people answered differently is kept between two looks, and is what a look at everything would find."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import Engine, event

import annotation.disputes.differing
from annotation.disputes.disputes import Dispute, disputes
from annotation.labelling import reopen
from db.connect import reading, transaction
from db.tables import Study
from tests.adjudicated_study import ANN, BEN, UNLIKE, decide, make_adjudicated, own, person


def found(engine: Engine, study: int, *, anew: bool = False) -> list[Dispute]:
    if anew:
        annotation.disputes.differing._studies.clear()
    with reading(engine) as session:
        return disputes(session, session.get_one(Study, study))


def test_work_handed_in_again_is_seen_at_once_as_if_everything_had_been_read(engine: Engine, tmp_path: Path) -> None:
    study = make_adjudicated(engine, tmp_path, {name: UNLIKE[name] for name in (ANN, BEN)})
    before = found(engine, study)
    with transaction(engine) as session:
        ben = person(session, study, BEN)
        first, second, *_ = own(session, ben)
        for work, verdict in ((first, "A"), (second, "tie")):
            reopen(session, ben, work.aid)
            decide(session, ben, work, {"clear": verdict, "deep": "B"})
    after = found(engine, study)
    assert after == found(engine, study, anew=True) != before
    told = {(one.item_id, one.criterion): sorted(one.verdicts.values()) for one in after}
    assert (first.item_id, "clear") not in told, "they agree now"
    assert told[second.item_id, "clear"] == ["A", "tie"]
    assert told[first.item_id, "deep"] == ["A", "B"]


@pytest.mark.databases("sqlite")
def test_a_second_look_reads_no_label_of_people_again(engine: Engine, tmp_path: Path) -> None:
    study = make_adjudicated(engine, tmp_path, {name: UNLIKE[name] for name in (ANN, BEN)})
    found(engine, study)
    asked: list[str] = []
    event.listen(engine, "before_cursor_execute", lambda *given: asked.append(given[2]))
    found(engine, study)
    assert [words for words in asked if "labels.confidence" in words] == []
