"""A table of probes becomes items: whole texts, about the right reports, changed only while nobody has begun."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine, event, select, update
from sqlalchemy.orm import Session

from annotation.errors import AnnotationError, ImportingError
from annotation.importing.claims.probe_records import ProbeOptions
from annotation.importing.claims.probes_table import read_probe_table
from annotation.importing.claims.probes_write import import_probes
from annotation.importing.reports.folder import read_folder
from annotation.importing.reports.write import import_reports
from annotation.labelling import submit
from annotation.people.principals import Principal, local_admin
from annotation.planning.plan_root import plan_roots, study_plan
from annotation.planning.slots import apply_plan, make_plan
from annotation.studies import newest_act
from annotation.verdicts import load_verdicts
from annotation.work.claiming import take
from annotation.work.open_and_close import move_study
from annotation.work.page import assignment_page
from db.connect import open_database, reading, transaction
from db.tables import Event, Import, Item, Source, Study
from tests.annotation.layout_trees import everything, put
from tests.annotation.probe_trees import SOURCES, bring_probes, items_of, study_of, table
from tests.small_study import PROTOCOL, a_person, answer_all, uuids

ROOT = Path(__file__).resolve().parents[3]
KINDS = ("csv", "jsonl", "json", "parquet")
ROWS = [
    {"probe_id": "k1", "topic": "tides", "text": "It rises.", "system": "", "tag": "user"},
    {"probe_id": "k2", "topic": "tides", "text": "It falls.", "system": "alpha", "tag": "sandbox"},
]
LONG = "潮汐每天涨落两次，\n“因为”地球转动。\t" * 2_500  # 50,000 characters and more
whole_texts = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), min_size=1, max_size=60).filter(
    lambda said: said.strip() and not said.startswith("\ufeff")
)


def written(path: Path, rows: list[dict[str, str]]) -> Path:
    if path.suffix == ".csv":
        return put(path, table(rows))
    if path.suffix == ".jsonl":
        return put(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    if path.suffix == ".json":
        return put(path, json.dumps(rows))
    pd.DataFrame(rows).to_parquet(path)
    return path


@given(
    st.lists(st.tuples(whole_texts, st.one_of(st.just(""), whole_texts)), min_size=1, max_size=5),
    st.sampled_from(KINDS),
)
def test_texts_and_passages_come_back_whole_from_every_kind_of_table(said: list[tuple[str, str]], kind: str) -> None:
    rows = [
        {"probe_id": str(number), "topic": "tides", "text": text, "context": context}
        for number, (text, context) in enumerate(said)
    ]
    with tempfile.TemporaryDirectory() as folder:
        parsed = read_probe_table(written(Path(folder) / f"claims.{kind}", rows), ProbeOptions(kind="claim"))
    assert parsed.problems == ()
    assert [(probe.text, probe.context) for probe in parsed.probes] == said


@pytest.mark.databases("sqlite")
@pytest.mark.parametrize("kind", KINDS)
def test_a_long_text_is_never_cut(engine: Engine, tmp_path: Path, kind: str) -> None:
    study = study_of(engine, tmp_path / "reports", SOURCES)
    rows = [{"probe_id": "1", "topic": "tides", "text": LONG, "context": LONG * 6}]
    bring_probes(engine, study, written(tmp_path / f"claims.{kind}", rows))
    (item,) = items_of(engine, study).values()
    assert (item.probe, item.context) == (LONG, LONG * 6)


def test_a_probe_without_a_system_is_about_every_report_of_its_topic_and_with_one_about_its_own(
    engine: Engine, tmp_path: Path
) -> None:
    study = study_of(engine, tmp_path / "reports", systems=("alpha", "beta", "gamma"), empty=("gamma/tides",))
    report = bring_probes(engine, study, put(tmp_path / "claims.csv", table(ROWS)))
    assert set(items_of(engine, study)) == {("tides", "alpha", "k1"), ("tides", "beta", "k1"), ("tides", "alpha", "k2")}
    assert (report.probes, report.items, report.topics, report.reports, report.new) == (2, 3, 1, 2, 3)
    assert report.tags == {"sandbox": 1, "user": 2}
    assert report.lines()[0] == "table: 2 probes (claim) on 1 topic, about 2 reports: 3 items, 3 new, 0 unchanged"
    with reading(engine) as session:
        stored = session.scalars(select(Import).where(Import.kind == "probes")).one()
        assert (stored.layout, stored.source, stored.report["new"]) == ("table", "claims.csv", 3)
        assert session.scalars(select(Event.data).where(Event.what == "import_probes")).one()["new"] == 3


@pytest.mark.databases("sqlite")
def test_with_sources_alone_a_probe_without_a_system_is_one_item_and_missing_passages_are_told(
    engine: Engine, tmp_path: Path
) -> None:
    study = study_of(engine, tmp_path / "reports", SOURCES)
    put(tmp_path / "sources/页 1.txt", "Zeile eins\r\nzwei")
    rows = [
        {"probe_id": "1", "topic": "tides", "text": "One.", "system": "", "context": "", "source": "sources/页 1.txt"},
        {"probe_id": "2", "topic": "tides", "text": "Two.", "system": "beta", "context": "A passage.", "source": ""},
        {"probe_id": "3", "topic": "tides", "text": "Three.", "system": "", "context": "", "source": ""},
    ]
    report = bring_probes(engine, study, put(tmp_path / "claims.csv", table(rows)))
    found = {key: item.context for key, item in items_of(engine, study).items()}
    assert found == {
        ("tides", "", "1"): "Zeile eins\nzwei", ("tides", "beta", "2"): "A passage.", ("tides", "", "3"): None,
    }  # fmt: skip
    assert (report.without_report, report.without_context) == (2, 1)
    assert "without source passages: raters see the probe alone 1" in report.lines()


def test_passages_are_stored_once_and_those_that_an_older_calipers_kept_with_each_probe_read_alike(
    engine: Engine, tmp_path: Path
) -> None:
    study = study_of(engine, tmp_path / "reports", SOURCES)
    rows = [{"probe_id": str(n), "topic": "tides", "text": f"It is {n}.", "context": LONG * (n < 4)} for n in range(5)]
    file = put(tmp_path / "claims.csv", table(rows))
    bring_probes(engine, study, file)
    shown = {key: item.context for key, item in items_of(engine, study).items()}
    assert [*shown.values()] == [LONG] * 4 + [None]
    with transaction(engine) as session:
        assert session.scalars(select(Source.text)).all() == [LONG]
        plan = study_plan(session, session.get_one(Study, study))
        # as the last release wrote them, before and beside this one
        session.execute(update(Item).values(own_context=LONG, source_id=None).where(Item.probe_key < "2"))
        assert study_plan(session, session.get_one(Study, study)) == plan
    assert {key: item.context for key, item in items_of(engine, study).items()} == shown
    assert bring_probes(engine, study, file).unchanged == 5
    with reading(engine) as session:
        assert session.scalars(select(Item.context).order_by(Item.id)).all() == [LONG] * 4 + [None]
    bring_probes(engine, study, put(file, table([row | {"context": "Another."} for row in rows])), replace=True)
    with reading(engine) as session:
        stored = session.execute(select(Item.context, Item.own_context, Item.source_id).order_by(Item.id)).all()
        assert [*stored] == [("Another.", None, 2)] * 5


@pytest.mark.databases("sqlite")
def test_importing_again_changes_nothing_and_leaves_no_trace(engine: Engine, tmp_path: Path) -> None:
    study = study_of(engine, tmp_path / "reports")
    path = put(tmp_path / "claims.csv", table(ROWS))
    bring_probes(engine, study, path)
    before = everything(engine)
    again = bring_probes(engine, study, path)
    assert (again.new, again.unchanged, again.replaced) == (0, 3, 0)
    assert everything(engine) == before


def opened(engine: Engine, study_id: int) -> None:
    with transaction(engine) as session:
        study = session.get_one(Study, study_id)
        admin = local_admin(study)
        apply_plan(session, admin, make_plan(session, admin, overlap=1))
        move_study(session, study, "open")


def hand_in(session: Session, person: Principal, aid: str) -> None:
    page = assignment_page(session, person, aid)["page"]
    submit(session, person, aid, page, next(uuids), answer_all(session, person, aid, "part"), onward=False)


def test_a_changed_probe_is_taken_only_on_request_and_never_once_somebody_has_begun(
    engine: Engine, tmp_path: Path
) -> None:
    study = study_of(engine, tmp_path / "reports")
    path = put(tmp_path / "claims.csv", table(ROWS))
    bring_probes(engine, study, path)
    opened(engine, study)
    put(path, table([ROWS[0], ROWS[1] | {"text": "It falls twice."}]))
    with pytest.raises(ImportingError, match=r"claims\.csv:3: probe 'k2' about 'alpha' differs .* pass --replace"):
        bring_probes(engine, study, path)
    report = bring_probes(engine, study, path, replace=True)
    assert (report.new, report.unchanged, report.replaced) == (0, 2, 1)
    assert items_of(engine, study)["tides", "alpha", "k2"].probe == "It falls twice."
    with reading(engine) as session:
        assert len(plan_roots(session, session.get_one(Study, study))) == 2  # the plan says what will be asked
    with transaction(engine) as session:
        ada = a_person(session, study)
        while (taken := take(session, ada)) is not None:
            hand_in(session, ada, taken.aid)
    put(path, table([ROWS[0] | {"tag": "files"}, ROWS[1] | {"text": "It stays."}]))
    before = everything(engine)
    with pytest.raises(ImportingError) as caught:
        bring_probes(engine, study, path, replace=True)
    assert [problem.split(";")[0] for problem in caught.value.problems] == [
        "claims.csv:3: probe 'k2' about 'alpha' differs from what stands, and people or judges have begun to label it"
    ]
    assert everything(engine) == before
    put(path, table([ROWS[0] | {"tag": "files"}]))
    bring_probes(engine, study, path, replace=True)  # a tag is not shown to anybody
    assert items_of(engine, study)["tides", "beta", "k1"].tag == "files"


@pytest.mark.databases("sqlite")
def test_a_probe_that_is_taken_at_that_moment_is_not_changed(engine: Engine, tmp_path: Path) -> None:
    study = study_of(engine, tmp_path / "reports")
    bring_probes(engine, study, put(tmp_path / "claims.csv", table(ROWS)))
    opened(engine, study)
    changed = put(tmp_path / "changed.csv", table([row | {"text": "It stays."} for row in ROWS]))
    with ThreadPoolExecutor(1) as pool:
        with transaction(engine) as session:
            assert take(session, a_person(session, study)) is not None
            coming = pool.submit(bring_probes, engine, study, changed, replace=True)
        with pytest.raises(ImportingError, match="people or judges have begun to label it"):
            coming.result()
    assert "It stays." not in {item.probe for item in items_of(engine, study).values()}


def test_a_true_answer_is_kept_with_its_probe_and_reaches_nobody(engine: Engine, tmp_path: Path) -> None:
    study = study_of(engine, tmp_path / "reports")
    path = put(tmp_path / "claims.csv", table([row | {"gold": "full"} for row in ROWS]))
    without = put(tmp_path / "without.csv", table(ROWS))
    bring_probes(engine, study, without)
    opened(engine, study)
    with reading(engine) as session:
        before = session.get_one(Study, study)
        root, act = before.plan_root, newest_act(session, before)
    report = bring_probes(engine, study, path, replace=True)
    assert (report.gold, report.replaced) == (3, 3)
    assert "with a true answer, which is shown to nobody 3" in report.lines()
    with transaction(engine) as session:
        assert session.get_one(Study, study).plan_root == root  # raters are asked the same
        assert newest_act(session, session.get_one(Study, study)) > act  # numbers kept from before are not of this
        ada = a_person(session, study)
        taken = take(session, ada)
        assert taken is not None
        page = json.dumps(assignment_page(session, ada, taken.aid))
        assert "gold" not in page
        assert '"answer": "full"' not in page
        hand_in(session, ada, taken.aid)
        verdicts = load_verdicts(session, session.get_one(Study, study))
        assert list(verdicts.label) == ["part"]
        assert "gold" not in verdicts.columns
    assert items_of(engine, study)["tides", "alpha", "k2"].gold == {"supported": {"answer": "full", "reason": ""}}


def test_probes_enter_neither_a_study_of_pairs_nor_a_locked_one(engine: Engine, tmp_path: Path) -> None:
    path = put(tmp_path / "claims.csv", table(ROWS))
    study = study_of(engine, tmp_path / "reports")
    with transaction(engine) as session:
        session.get_one(Study, study).status = "locked"
    with pytest.raises(AnnotationError, match="study 'small' is locked"):
        bring_probes(engine, study, path)
    with transaction(engine) as session:
        row = session.get_one(Study, study)
        row.status, row.protocol_text = "draft", PROTOCOL
    parsed = read_probe_table(path, ProbeOptions(kind="claim"))
    with (
        transaction(engine) as session,
        pytest.raises(AnnotationError, match="is a pairwise_choice; probes are for probe_label"),
    ):
        import_probes(session, local_admin(session.get_one(Study, study)), parsed, layout="table", source="x")


class PowerCut(Exception):
    pass


def inserts(engine: Engine, study: int, path: Path, stop_at: int | None) -> int:
    """Imports `path`; raises PowerCut before INSERT or UPDATE number `stop_at`. Returns how many there were."""
    seen = 0

    def count(_connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        nonlocal seen
        if statement.startswith(("INSERT", "UPDATE")):
            seen += 1
            if seen == stop_at:
                raise PowerCut(statement.split("(")[0])

    event.listen(engine, "before_cursor_execute", count)
    try:
        bring_probes(engine, study, path, replace=True)
    finally:
        event.remove(engine, "before_cursor_execute", count)
    return seen


@pytest.mark.databases("sqlite")
def test_an_error_before_any_insert_leaves_every_row_of_every_table_as_it_was(engine: Engine, tmp_path: Path) -> None:
    study = study_of(engine, tmp_path / "reports")
    path = put(tmp_path / "claims.csv", table(ROWS))
    bring_probes(engine, study, path)
    opened(engine, study)
    before = everything(engine)
    put(path, table([*ROWS, ROWS[0] | {"probe_id": "k3"}, ROWS[1] | {"probe_id": "k4"}, ROWS[1] | {"topic": "bread"}]))
    stop_at = 0
    while True:
        stop_at += 1
        try:
            made = inserts(engine, study, path, stop_at)
        except PowerCut:
            assert everything(engine) == before
            continue
        break
    assert made == stop_at - 1 >= 4  # the import, its items, the audit events, the plan's root
    assert len(everything(engine)["items"]) == len(before["items"]) + 4


DIES = """
import os, sys
from pathlib import Path
from sqlalchemy import event
from db.connect import open_database
from tests.annotation.probe_trees import bring_probes

engine = open_database(sys.argv[1])

def die(connection, cursor, statement, *rest):
    if statement.startswith("INSERT INTO events"):
        cursor.execute("SELECT count(*) FROM items")
        print("items written", cursor.fetchone()[0], flush=True)
        os._exit(9)

event.listen(engine, "before_cursor_execute", die)
bring_probes(engine, int(sys.argv[2]), Path(sys.argv[3]))
"""


@pytest.mark.databases("sqlite")
def test_a_process_that_dies_after_writing_the_items_leaves_none(database_url: str, tmp_path: Path) -> None:
    engine = open_database(database_url)
    study = study_of(engine, tmp_path / "reports")
    path = put(tmp_path / "claims.csv", table(ROWS))
    before = everything(engine)
    engine.dispose()
    died = subprocess.run(
        [sys.executable, "-c", DIES, database_url, str(study), str(path)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (died.returncode, died.stdout) == (9, "items written 3\n"), died.stderr
    assert everything(engine) == before
    assert bring_probes(engine, study, path).new == 3
    engine.dispose()


@pytest.mark.databases("sqlite")
def test_a_probe_that_names_its_system_is_told(engine: Engine, tmp_path: Path) -> None:
    study = study_of(engine, tmp_path / "reports", systems=("alpha", "Gemini 2.5"))
    rows = [ROWS[0], ROWS[0] | {"probe_id": "k3", "text": "As Gemini 2.5, I found tides."}]
    report = bring_probes(engine, study, put(tmp_path / "claims.csv", table(rows)))
    assert report.telling == ("claims.csv:3",)
    assert "may say who wrote the report, and are shown as they are: 1 (claims.csv:3)" in report.lines()


@pytest.mark.databases("sqlite")
def test_probes_follow_a_report_to_its_new_version(engine: Engine, tmp_path: Path) -> None:
    study = study_of(engine, tmp_path / "reports")
    path = put(tmp_path / "claims.csv", table(ROWS))
    bring_probes(engine, study, path)
    before = items_of(engine, study)
    put(tmp_path / "reports/alpha/tides.md", "Another text on tides. " * 20)
    with transaction(engine) as session:
        admin = local_admin(session.get_one(Study, study))
        parsed = read_folder(tmp_path / "reports")
        import_reports(session, admin, parsed, layout="folder", source="here", new_version=True)
    assert set(items_of(engine, study)) == {("tides", "beta", "k1")}  # nobody had begun the others
    report = bring_probes(engine, study, path)
    assert (report.new, report.unchanged) == (2, 1)
    after = items_of(engine, study)
    assert after.keys() == before.keys()
    assert after["tides", "alpha", "k1"].report_a_id != before["tides", "alpha", "k1"].report_a_id


def test_many_probes_are_one_import_with_their_progress(engine: Engine, tmp_path: Path) -> None:
    study = study_of(engine, tmp_path / "reports")
    rows = [{"probe_id": f"p{number}", "topic": "tides", "text": f"Claim {number}."} for number in range(601)]
    report = bring_probes(engine, study, put(tmp_path / "claims.csv", table(rows)))
    assert report.new == 1202
    with reading(engine) as session:
        assert len(session.scalars(select(Item.id)).all()) == 1202
