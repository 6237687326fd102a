"""What people and judge read: the same bytes, whole, with their headings, and without traces of what was taken out."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import pytest
from sqlalchemy import Engine, select

from annotation.citations import strip_citations
from annotation.importing.reports.wlc import read_wlc
from annotation.importing.reports.write import import_reports
from annotation.labelling import save, submit
from annotation.leaks.blinding_audit import find_residue
from annotation.people.principals import local_admin
from annotation.planning.slots import apply_plan, make_plan
from annotation.studies import init_study
from annotation.work.claiming import take
from annotation.work.page import assignment_page
from db.connect import reading, transaction
from db.tables import Assignment, Item, Label, Report
from tests.annotation.judges.judged_study import Stub, judgments, run_stub
from tests.annotation.judges.test_ratings_and_probes import answering
from tests.annotation.layout_trees import put
from tests.small_study import PROBES, PROTOCOL, RATING, a_person, answer, answer_all, make_study, source_of, uuids

ARTICLE = "# Tidal power\n\nPower from tides. [1]\n\n## History\n\nMills came first.\n\n## Today\n\nTurbines.\n"
FLAT = "Tidal power Power from tides. History Mills came first. Today Turbines."  # as their JSON has it


def wlc_tree(root: Path) -> Path:
    """One article of a system and of people; the system's JSON has lost its headings."""
    agencies = {"tongyi": {"name": "Tongyi", "description": "", "has_citations": True, "enabled": True}}
    put(root / "test_data/agencies.json", json.dumps({"version": "1", "agencies": agencies}))
    put(root / "test_data/tongyi/md_data/Tidal_power.md", ARTICLE)
    pages = {"query": {"pages": {"1": {"title": "Tidal power", "extract": FLAT, "statements": []}}}}
    put(root / "test_data/tongyi/json_data/Tidal_power.json", json.dumps(pages))
    put(root / "wiki_data/cleaned_data/article/Tidal_power.md", ARTICLE.replace("Mills", "Water mills"))
    entry = {"id": 1, "title": "Tidal_power", "url": "https://example.org", "question": "Write on tidal power."}
    put(root / "wiki_data/ga_sample.json", json.dumps([entry]))
    put(root / "wiki_data/ga_sample.csv", "title,url,category\nTidal_power,https://example.org,Engineering\n")
    return root


def test_people_and_judge_read_the_same_markdown_with_its_headings_and_never_the_flattened_json(
    engine: Engine, tmp_path: Path
) -> None:
    with transaction(engine) as session:
        study = init_study(session, "small", PROTOCOL, 7)
        admin = local_admin(study)
        import_reports(session, admin, read_wlc(wlc_tree(tmp_path / "wlc")), layout="wlc", source="here")
        apply_plan(session, admin, make_plan(session, admin, design="reference", per_topic=None, overlap=1))
        study.status, key = "open", study.id
    with reading(engine) as session:
        shown = session.scalars(select(Report.shown_text).where(Report.study_id == key)).all()
        assert len(shown) == 2
        assert all(text.count("\n## ") >= 2 and FLAT not in text for text in shown)
    stub = Stub(lambda text, number: judgments(text, "first"))
    run_stub(engine, key, stub)
    prompts = [request["messages"][1]["content"] for request in stub.requests]
    assert prompts
    assert all(text in prompt for prompt in prompts for text in shown), "byte for byte what is shown"
    with transaction(engine) as session:
        person = a_person(session, key)
        taken = take(session, person)
        assert taken is not None
        page = assignment_page(session, person, taken.aid)
        submit(session, person, taken.aid, page["page"], next(uuids), answer_all(session, person, taken.aid))
    with reading(engine) as session:
        stamps = session.execute(select(Label.left_sha256, Label.right_sha256)).all()
        assert {frozenset(stamp) for stamp in stamps} == {
            frozenset(session.scalars(select(Report.shown_sha256).where(Report.study_id == key)))
        }


LONG_REPORT = (
    "# Tides\n\n" + "".join(f"Sentence {number} says something else. " for number in range(2000)) + "The end.\n"
)
LONG_SOURCE = "".join(f"Line {number} of the source. " for number in range(1200)) + "Only the last line decides.\n"


def test_a_report_of_60000_characters_reaches_the_judge_whole(engine: Engine, tmp_path: Path) -> None:
    """Theirs is cut at 50,000 without a word."""
    assert len(LONG_REPORT) > 60_000
    put(tmp_path / "reports/alpha/tides.md", LONG_REPORT)
    study = make_study(engine, tmp_path / "reports", protocol=RATING)
    stub = Stub(answering("score", lambda code, text: 7))
    run_stub(engine, study, stub)
    with reading(engine) as session:
        (shown,) = session.scalars(select(Report.shown_text))
    assert shown.endswith("The end.\n")
    assert [shown in request["messages"][1]["content"] for request in stub.requests] == [True]


def test_a_source_of_25000_characters_reaches_the_judge_whole(engine: Engine, tmp_path: Path) -> None:
    """Theirs is cut at 20,000, so that a claim on the last page is unsupported."""
    assert len(LONG_SOURCE) > 25_000
    put(tmp_path / "reports/alpha/tides.md", ARTICLE)
    study = make_study(
        engine, tmp_path / "reports", protocol=PROBES.replace('context = "report"', 'context = "sources"')
    )
    with transaction(engine) as session:
        for item in session.scalars(select(Item).where(Item.study_id == study)):
            item.source = source_of(session, study, LONG_SOURCE)
    stub = Stub(answering("label", lambda code, text: "full"))
    run_stub(engine, study, stub)
    assert stub.requests
    assert all(LONG_SOURCE.strip() in request["messages"][1]["content"] for request in stub.requests)


@pytest.mark.parametrize(
    ("report", "expected"),
    [
        ("Output rose in 2019 [3] .\n\n## References\n\n[3] https://example.org/a\n", "Output rose in 2019."),
        ("It grew.[[1]](https://example.org/a)[[2]](https://example.org/b) Then it fell.\n", "It grew. Then it fell."),
        ("It grew [1], [2].\n\n### Sources\n\n1. https://example.org/a\n2. https://example.org/b\n", "It grew."),
        ("It grew [[1]), [10]] and fell.\n\n## References\n\n[1] https://a.example\n[10] https://b.example\n", "It grew and fell."),
    ],
)  # fmt: skip
def test_what_a_plain_deletion_of_brackets_leaves_behind_is_gone(report: str, expected: str) -> None:
    text = strip_citations(report).text
    assert text.strip() == expected
    assert find_residue(text, "report", "system") == ()


def test_the_order_is_drawn_for_each_of_three_people_and_not_once_for_the_pair(engine: Engine, tmp_path: Path) -> None:
    study = make_study(engine, tmp_path / "reports", overlap=3)
    with reading(engine) as session:
        lefts: dict[int, set[str | None]] = defaultdict(set)
        for item, left in session.execute(
            select(Assignment.item_id, Assignment.left).where(Assignment.study_id == study)
        ):
            lefts[item].add(left)
    assert len(lefts) == 9
    assert sum(seen == {"A", "B"} for seen in lefts.values()) > 4, "theirs: none"


def test_the_losing_report_is_still_there_and_the_first_answer_with_the_second(engine: Engine, tmp_path: Path) -> None:
    """Theirs deletes the loser's file, which is the label."""
    study = make_study(engine, tmp_path / "reports")
    with transaction(engine) as session:
        person = a_person(session, study)
        taken = take(session, person)
        assert taken is not None
        answer_all(session, person, taken.aid, "left")
        page = assignment_page(session, person, taken.aid)
        save(session, person, [answer(page, "clear", "right", seq=9, base_rev=1)])
    with reading(engine) as session:
        said = session.scalars(select(Label.choice).where(Label.assignment_id.is_not(None)).order_by(Label.id)).all()
        assert said.count("left") == 2
        assert said[-1] == "right"
        assert all(session.scalars(select(Report.shown_text != "").where(Report.study_id == study)))
