"""Agreed answers come in by the names a file uses, are kept as A and B, and refuse whatever would harm a result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple
from pathlib import Path

import pytest
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from annotation.errors import AnnotationError, ImportingError
from annotation.importing.gold import import_gold
from annotation.importing.reports.folder import read_folder
from annotation.importing.reports.write import import_reports
from annotation.passages import from_stored
from annotation.people.consent import consent_version, give_consent
from annotation.people.principals import local_admin
from annotation.planning.slots import apply_plan, make_plan
from annotation.studies import init_study
from annotation.training.gold import as_shown, told_reason
from annotation.work.claiming import take
from db.connect import reading, transaction
from db.tables import Assignment, Item, Report, Study, System, Topic
from tests.small_study import (
    BESIDE,
    PROBES,
    PROTOCOL,
    RATING,
    a_person,
    add_probes,
    make_study,
    with_reference,
    write_reports,
)
from tests.trained_study import AGREED, CONSENT, HEAD, gold_file, make_trained_study

PAIR = ("tides", "alpha", "beta")


@pytest.fixture
def draft(engine: Engine, tmp_path: Path) -> int:
    """Reports are in; nothing is planned."""
    with transaction(engine) as session:
        study = init_study(session, "small", PROTOCOL, 7)
        import_reports(session, local_admin(study), read_folder(write_reports(tmp_path / "reports")), layout="folder", source="here")  # fmt: skip
        return study.id


def bring(session: Session, study_id: int, path: Path, use: str = "training") -> tuple[int, ...]:
    return astuple(import_gold(session, local_admin(session.get_one(Study, study_id)), path, use))


def refused(engine: Engine, study_id: int, path: Path, use: str = "training") -> tuple[str, ...]:
    with pytest.raises(ImportingError) as error, transaction(engine) as session:
        bring(session, study_id, path, use)
    return error.value.problems


def test_a_winner_by_name_is_kept_as_a_or_b_of_its_item_and_the_plan_leaves_the_pair_alone(
    engine: Engine, draft: int, tmp_path: Path
) -> None:
    path = gold_file(tmp_path / "gold.csv", AGREED)
    with transaction(engine) as session:
        assert bring(session, draft, path) == (3, 0, 0)
        assert bring(session, draft, path) == (0, 0, 3)
        study = session.get_one(Study, draft)
        plan = make_plan(session, local_admin(study), design="all", per_topic=None, overlap=2)
        apply_plan(session, local_admin(study), plan)
    with reading(engine) as session:
        items = session.scalars(select(Item).where(Item.purpose == "training")).all()
        for item in items:
            keys = {
                side: session.scalar(select(System.key).join(Report, Report.system_id == System.id).where(Report.id == report))
                for side, report in (("A", item.report_a_id), ("B", item.report_b_id))
            }  # fmt: skip
            a, b = (session.get_one(Report, report).shown_sha256 for report in (item.report_a_id, item.report_b_id))
            assert from_stored(item.passages, a, b) is not None  # or its page would take longer than the others
            assert item.gold is not None
            assert {code: keys[one["answer"]] for code, one in item.gold.items()} == {"clear": "alpha", "deep": "beta"}
        assert len(session.scalars(select(Item.id)).all()) == 9
        slots = session.scalars(select(Assignment.item_id)).all()
        assert len(slots) == 12
        assert not set(slots) & {item.id for item in items}


@pytest.mark.databases("sqlite")
@pytest.mark.parametrize("suffix", ["tsv", "jsonl"])
def test_tabs_and_json_lines_say_the_same(engine: Engine, draft: int, tmp_path: Path, suffix: str) -> None:
    path = gold_file(tmp_path / f"gold.{suffix}", AGREED)
    text = path.read_text(encoding="utf-8").replace(",", "\t")
    if suffix == "jsonl":
        rows = (dict(zip(HEAD, line, strict=True)) for line in AGREED)
        text = "".join(f"{str(row).replace(chr(39), chr(34))}\n" for row in rows)
    path.write_text(text, encoding="utf-8")
    with transaction(engine) as session:
        assert bring(session, draft, path) == (3, 0, 0)


def test_every_line_that_cannot_be_placed_is_named_at_once_and_nothing_comes_in(
    engine: Engine, draft: int, tmp_path: Path
) -> None:
    lines = [
        ("rain", "alpha", "beta", "clear", "alpha", ""),
        ("tides", "alpha", "omega", "clear", "alpha", ""),
        ("tides", "alpha", "alpha", "clear", "alpha", ""),
        (*PAIR, "bright", "alpha", ""),
        (*PAIR, "clear", "gamma", ""),
        (*PAIR, "clear", "not_applicable", ""),  # this protocol has no such answer
        (*PAIR, "clear", "", ""),
        ("bread", "alpha", "beta", "clear", "tie", ""),
        ("bread", "beta", "alpha", "clear", "alpha", ""),
        ("noise", "beta", "alpha", "clear", "alpha", "as clear as gamma"),
    ]
    problems = refused(engine, draft, gold_file(tmp_path / "gold.csv", lines))
    expected = [
        "gold.csv:2: no topic 'rain' in the study",
        "gold.csv:3: no report by 'omega' on topic 'tides' (there are: alpha, beta, gamma)",
        "gold.csv:4: name system_a and system_b, two different ones",
        "gold.csv:5: no criterion 'bright' asked of this topic (clear, deep)",
        "gold.csv:6: 'gamma' is no answer here; write one of alpha, beta, tie",
        "gold.csv:7: 'not_applicable' is no answer here; write one of alpha, beta, tie",
        "gold.csv:8: no answer; write what was agreed, or remove the line",
        "gold.csv:11: the reason names the system 'gamma', and people would read it; reword it",
        "gold.csv:10: clear of this item is answered twice; remove one line",
    ]
    assert list(problems) == expected
    with reading(engine) as session:
        assert session.scalars(select(Item.id)).all() == []


@pytest.mark.databases("sqlite")
@pytest.mark.parametrize(
    ("head", "lines", "says"),
    [
        (("topic", "system_a"), [("tides", "alpha")], "no column 'answer'"),
        ((*HEAD, "note"), [(*PAIR, "clear", "alpha", "", "x")], "unknown column 'note'"),
        (HEAD, [], "no rows"),
    ],
)
def test_a_file_of_another_form_is_refused(
    engine: Engine, draft: int, tmp_path: Path, head: Sequence[str], lines: Sequence[Sequence[str]], says: str
) -> None:
    assert says in " ".join(refused(engine, draft, gold_file(tmp_path / "gold.csv", lines, head)))


@pytest.mark.databases("sqlite")
def test_a_pair_that_people_label_cannot_be_gold(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, tmp_path / "reports")
    (problem,) = refused(engine, study_id, gold_file(tmp_path / "gold.csv", [(*PAIR, "clear", "alpha", "")]))
    assert "has slots for labels, so it cannot be training as well" in problem


def test_an_answer_can_change_until_somebody_has_seen_it_and_a_reason_always(engine: Engine, tmp_path: Path) -> None:
    study_id = make_trained_study(engine, tmp_path)
    other = gold_file(tmp_path / "other.csv", [(*PAIR, "clear", "beta", "")])
    with transaction(engine) as session:
        root = session.get_one(Study, study_id).plan_root
        assert bring(session, study_id, other) == (0, 1, 0)
        assert session.get_one(Study, study_id).plan_root != root
        ada = a_person(session, study_id)
        give_consent(session, ada, consent_version(CONSENT))
        seen = set()
        while (given := take(session, ada)) and given.purpose == "training":
            seen.add(given.item_id)
            given.status = "submitted"
            session.flush()
    assert len(seen) == 3
    (problem,) = refused(engine, study_id, gold_file(tmp_path / "again.csv", [(*PAIR, "clear", "alpha", "")]))
    assert "they can no longer change, only their reasons can" in problem
    (problem,) = refused(engine, study_id, other, "attention")
    assert "they can no longer change" in problem
    with transaction(engine) as session:
        assert bring(session, study_id, gold_file(tmp_path / "why.csv", [(*PAIR, "clear", "beta", "it is shorter")])) == (0, 1, 0)  # fmt: skip


@pytest.mark.parametrize(
    ("protocol", "good", "bad", "says"),
    [
        (RATING, ("tides", "alpha", "", "deep", "62.50", ""), ("tides", "alpha", "", "clear", "11", ""), "not a score from 0 to 10"),
        (BESIDE, ("tides", "alpha", "", "clear", "7", ""), ("tides", "alpha", "beta", "clear", "7", ""), "name system_a alone"),
        (PROBES, ("tides", "", "", "", "part", ""), ("tides", "", "", "", "half", ""), "'half' is not an answer this study allows"),
    ],
    ids=["rating", "beside", "probe"],
)  # fmt: skip
def test_scores_and_probes_have_agreed_answers_too(
    engine: Engine, tmp_path: Path, protocol: str, good: tuple[str, ...], bad: tuple[str, ...], says: str
) -> None:
    with transaction(engine) as session:
        study = init_study(session, "small", protocol, 7)
        root = with_reference(tmp_path / "reports")
        import_reports(session, local_admin(study), read_folder(root), layout="folder", source="here")
        head: tuple[str, ...] = HEAD
        if protocol == PROBES:
            add_probes(session, study)
            key = session.scalars(select(Item.probe_key).order_by(Item.id)).all()
            topic = session.scalars(select(Item).order_by(Item.id)).first()
            assert topic is not None
            head, good, bad = (*HEAD, "probe"), (*good, key[0] or ""), (*bad, key[0] or "")
            name = session.get_one(Topic, topic.topic_id).key
            good, bad = (name, *good[1:]), (name, *bad[1:])
        assert bring(session, study.id, gold_file(tmp_path / "good.csv", [good], head)) == (1, 0, 0)
        assert bring(session, study.id, gold_file(tmp_path / "good.csv", [good], head)) == (0, 0, 1)
        (item,) = session.scalars(select(Item).where(Item.purpose == "training"))
        assert item.gold is not None
        assert [one["answer"] for one in item.gold.values()] == [{"62.50": "62.5"}.get(good[4], good[4])]
        assert (item.reference_id is not None) == (protocol == BESIDE)
        plan = make_plan(session, local_admin(study), design="all", per_topic=None, overlap=1)
        apply_plan(session, local_admin(study), plan)
        assert session.scalars(select(Assignment.id).where(Assignment.item_id == item.id)).all() == []
    assert says in refused(engine, study.id, gold_file(tmp_path / "bad.csv", [bad], head))[0]


@pytest.mark.databases("sqlite")
def test_only_an_admin_brings_gold_and_only_for_the_two_uses(engine: Engine, draft: int, tmp_path: Path) -> None:
    path = gold_file(tmp_path / "gold.csv", AGREED)
    with transaction(engine) as session:
        with pytest.raises(AnnotationError, match="choose training or attention"):
            bring(session, draft, path, "labels")
        with pytest.raises(AnnotationError, match="needs the role admin"):
            import_gold(session, a_person(session, draft), path, "training")


@pytest.mark.parametrize(
    ("gold", "left", "shown"),
    [
        ("A", "A", "left"),
        ("A", "B", "right"),
        ("B", "B", "left"),
        ("B", "A", "right"),
        ("tie", "B", "tie"),
        ("7", None, "7"),
    ],
)
def test_an_agreed_answer_is_told_in_the_words_of_the_page(gold: str, left: str | None, shown: str) -> None:
    assert as_shown(gold, left) == shown


@pytest.mark.parametrize(
    ("reason", "left", "told"),
    [
        ("{A} cites more than {B}", "A", "The left report cites more than the right report"),
        ("{A} cites more than {B}", "B", "The right report cites more than the left report"),
        ("the sources of {A} are old", None, "the sources of this report are old"),
    ],
)
def test_a_reason_never_names_a_system_and_turns_with_the_sides(reason: str, left: str | None, told: str) -> None:
    assert told_reason(reason, left) == told
