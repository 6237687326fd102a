"""The exchange file: the same bytes in any number of chunks, and every text comes back from it."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import Engine, select

from annotation.verdicts import labels_csv, load_verdicts, write_labels_csv
from calipers.label_files import read_labels
from db.connect import reading, transaction
from db.tables import Assignment, Event, Study
from db.types import now
from tests.annotation.test_verdicts import submit_known
from tests.small_study import make_study


@pytest.mark.databases("sqlite")
def test_the_file_is_the_same_however_it_is_written_and_progress_is_told(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study_id = make_study(engine, tmp_path)
    submit_known(engine, study_id, "A", seed=1)
    with reading(engine) as session:
        verdicts = load_verdicts(session, session.get_one(Study, study_id))
        whole = labels_csv(verdicts)
        monkeypatch.setattr("annotation.verdicts.CHUNK", 5)
        again = load_verdicts(session, session.get_one(Study, study_id))
    assert again.equals(verdicts)
    assert (again.dtypes == verdicts.dtypes).all()
    seen: list[tuple[int, int]] = []
    with (tmp_path / "labels.csv").open("w", encoding="utf-8", newline="") as file:
        write_labels_csv(again, file, lambda done, of: seen.append((done, of)))
    assert (tmp_path / "labels.csv").read_bytes() == whole.encode()
    assert seen == [(done, 36) for done in (5, 10, 15, 20, 25, 30, 35, 36)]


@pytest.mark.databases("sqlite")
@pytest.mark.parametrize("rationale", ["a\rb", "\r\nx", "two\nlines", '=cmd(), "x"', "中文 🙂 \\LaTeX{} & 50 %", "NA"])
def test_any_rationale_comes_back_from_the_exchange_file(engine: Engine, tmp_path: Path, rationale: str) -> None:
    study_id = make_study(engine, tmp_path)
    submit_known(engine, study_id, "A", seed=1)
    with reading(engine) as session:
        verdicts = load_verdicts(session, session.get_one(Study, study_id))
    verdicts.loc[0, "rationale"] = rationale
    (tmp_path / "labels.csv").write_bytes(labels_csv(verdicts).encode())
    read = read_labels(tmp_path / "labels.csv")
    assert read["rationale"][0] == rationale
    assert read["label"].tolist() == verdicts["label"].tolist()


def test_seconds_are_read_person_by_person_and_add_up_as_all_at_once(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, tmp_path)
    submit_known(engine, study_id, "A", seed=1)
    begin = now() - timedelta(minutes=5)
    with transaction(engine) as session:
        work = session.scalars(select(Assignment).where(Assignment.status == "submitted").order_by(Assignment.id)).all()
        for number, one in enumerate(work):
            one.taken_at = now() - timedelta(hours=1)
            start = begin + timedelta(seconds=5 * (number % 9))  # ten seconds each: half of them overlaps the next
            spent = [
                {"criterion": "clear", "start": start.isoformat(), "end": (start + timedelta(seconds=10)).isoformat()}
            ]
            session.add(
                Event(study_id=study_id, assignment_id=one.id, kind="activity", what="intervals",
                      data={"intervals": spent}, client_ts=now().isoformat())
            )  # fmt: skip
    with reading(engine) as session:
        verdicts = load_verdicts(session, session.get_one(Study, study_id))
    # per person ten seconds for the first item and five for each of the eight after it
    per_person = verdicts.groupby("rater_id")["seconds"].sum()
    assert per_person.tolist() == pytest.approx([50.0, 50.0])
