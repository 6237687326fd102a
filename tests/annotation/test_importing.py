"""Reports come in whole or not at all, and every refusal names the file, the line or the topic, and the remedy."""

from __future__ import annotations

import json
import shutil
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy import Engine, select

from annotation.errors import ImportingError
from annotation.importing.reports.folder import read_folder
from annotation.importing.reports.import_report import ImportReport
from annotation.importing.reports.wlc import read_wlc
from annotation.importing.reports.write import import_reports
from annotation.people.principals import local_admin
from annotation.shown_texts.overrides import restore_passage
from annotation.studies import init_study
from db.connect import reading, transaction
from db.tables import Report, Study, System, Topic
from db.types import Record
from tests.annotation.layout_trees import put
from tests.small_study import PROTOCOL, report_text, write_reports

SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "wlc_sample"
LONG = "Tides rise and fall twice a day, because the Earth turns under two bulges of water. " * 5


def bring_in(engine: Engine, root: Path, reader: Callable = read_folder, **options: bool) -> ImportReport:
    with transaction(engine) as session:
        study = init_study(session, "small", PROTOCOL, 7)
        return import_reports(session, local_admin(study), reader(root), layout="x", source=str(root), **options)


def rows(engine: Engine) -> dict[str, int]:
    with reading(engine) as session:
        return {
            table.name: session.scalar(select(sa.func.count()).select_from(table)) or 0
            for table in Record.metadata.sorted_tables
        }


def write_wlc(root: Path, topics: tuple[str, ...] = ("Tidal_power", "Vorlesungen_im_19._Jahrhundert")) -> Path:
    agencies = {
        "atlas": {"name": "Atlas"},
        "beta_v1.5": {"name": "Beta", "enabled": True},
        "old": {"name": "Old", "enabled": False},
    }
    (root / "test_data").mkdir(parents=True)
    (root / "test_data" / "agencies.json").write_text(json.dumps({"version": "1", "agencies": agencies}))
    for folder in ("test_data/atlas/md_data", "test_data/beta_v1.5/md_data", "wiki_data/cleaned_data/article"):
        (root / folder).mkdir(parents=True)
        for topic in topics:
            (root / folder / f"{topic}.md").write_text(f"# {topic}\n\n{LONG} {folder}\n", encoding="utf-8")
    (root / "wiki_data" / "ga_sample.json").write_text(
        json.dumps([{"id": 7, "title": topics[0], "question": "Write about tides."}])
    )
    (root / "wiki_data" / "ga_sample.csv").write_text(
        "title,url,external_links,category\n" + "".join(f"{t},u,007,Nature\n" for t in topics)
    )
    return root


@pytest.mark.databases("sqlite")
def test_a_folder_tree_comes_in(engine: Engine, tmp_path: Path) -> None:
    outcome = bring_in(engine, write_reports(tmp_path))
    assert (outcome.topics, outcome.systems, outcome.reports, outcome.new) == (3, 3, 9, 9)
    with reading(engine) as session:
        report = session.scalars(select(Report).order_by(Report.id)).first()
        assert report is not None
        assert report.original_text == report_text("alpha", "bread")
        assert report.original == report.original_text.encode()
        assert "[1]" not in report.shown_text
        assert "It rises twice a day." in report.shown_text
        assert report.shown_text.startswith("# bread\n\n")  # the topic's title, as every report on it has
        assert report.stripper_version
        assert report.canonical_version.endswith("/canonical")
        assert report.changes == {"title": 1}
        assert report.flags == []


def test_topics_and_systems_files_give_titles_and_references(engine: Engine, tmp_path: Path) -> None:
    write_reports(tmp_path, ("007", "null"), ("alpha", "beta"))
    (tmp_path / "topics.csv").write_text(
        'topic,title,prompt,category,language,views\n007,"Bond, James",Who?,Film,en,1e5\nnull,Null,,Maths,de,NA\n'
    )
    (tmp_path / "systems.csv").write_text("system,public_name,is_reference\nalpha,Alpha Co,false\nbeta,Editors,true\n")
    bring_in(engine, tmp_path)
    with reading(engine) as session:
        topic = session.scalars(select(Topic).where(Topic.key == "007")).one()
        assert (topic.title, topic.prompt, topic.features) == ("Bond, James", "Who?", {"views": "1e5"})
        assert session.scalars(select(System.is_reference).order_by(System.key)).all() == [False, True]


def test_a_wiki_live_challenge_tree_comes_in(engine: Engine, tmp_path: Path) -> None:
    outcome = bring_in(engine, write_wlc(tmp_path / "wlc"), read_wlc)
    assert (outcome.topics, outcome.systems, outcome.references, outcome.new) == (2, 3, 1, 6)
    assert outcome.disabled == ("old",)
    with reading(engine) as session:
        assert session.scalars(select(System.key).order_by(System.key)).all() == ["atlas", "beta_v1.5", "wikipedia"]
        topic = session.scalars(select(Topic).where(Topic.key == "Tidal_power")).one()
        assert (topic.title, topic.category, topic.prompt) == ("Tidal power", "Nature", "Write about tides.")
        assert topic.features["external_links"] == "007"


@pytest.mark.databases("sqlite")
def test_names_match_in_either_unicode_form_and_windows_files_keep_their_bytes(engine: Engine, tmp_path: Path) -> None:
    name = "Café"
    write_reports(tmp_path, (), ("alpha", "beta"))
    (tmp_path / "alpha" / f"{unicodedata.normalize('NFD', name)}.md").write_bytes(
        b"\xef\xbb\xbf" + f"# C\r\n\r\n{LONG}".encode()
    )
    (tmp_path / "beta" / f"{unicodedata.normalize('NFC', name)}.md").write_text(LONG)
    outcome = bring_in(engine, tmp_path)
    assert (outcome.topics, outcome.nfd_names, outcome.bom, outcome.crlf) == (1, 1, 1, 1)
    with reading(engine) as session:
        report = session.scalars(select(Report).order_by(Report.id)).first()
        assert report is not None
        assert report.original.startswith(b"\xef\xbb\xbf")
        assert report.original_text.startswith("# C\n\n")


def test_importing_again_changes_nothing_and_a_changed_report_is_a_new_version(engine: Engine, tmp_path: Path) -> None:
    write_reports(tmp_path)
    bring_in(engine, tmp_path)
    assert (bring_in(engine, tmp_path).new, bring_in(engine, tmp_path).unchanged) == (0, 9)
    (tmp_path / "alpha" / "tides.md").write_text(LONG)
    with pytest.raises(ImportingError, match=r"alpha/tides\.md: differs .* pass --new-version"):
        bring_in(engine, tmp_path)
    assert bring_in(engine, tmp_path, new_version=True).new_versions == 1
    with reading(engine) as session:
        versions = select(Report.version).join(Topic, Topic.id == Report.topic_id).where(Topic.key == "tides")
        assert sorted(session.scalars(versions)) == [1, 1, 1, 2]


def break_empty(root: Path) -> None:
    (root / "alpha" / "tides.md").write_text(" \n\n")


def break_encoding(root: Path) -> None:
    (root / "alpha" / "tides.md").write_bytes(b"line one\nit\x92s broken")


def break_nul(root: Path) -> None:
    (root / "alpha" / "tides.md").write_bytes(b"a\nb\0c")


def break_duplicate(root: Path) -> None:
    (root / "alpha" / "tides.txt").write_text("a second one")


def break_missing(root: Path) -> None:
    (root / "beta" / "noise.md").unlink()


def break_topic_twice(root: Path) -> None:
    (root / "topics.csv").write_text("topic,title\ntides,T\nbread,B\nnoise,N\ntides,Again\n")


def break_topic_unknown(root: Path) -> None:
    (root / "topics.csv").write_text("topic,title\ntides,T\nbread,B\n")


def break_column(root: Path) -> None:
    (root / "topics.csv").write_text("name,title\ntides,T\n")


def break_row(root: Path) -> None:
    (root / "topics.csv").write_text("topic,title\ntides,T\nbread\nnoise,N\n")


def break_quote(root: Path) -> None:
    (root / "topics.csv").write_text('topic,title\ntides,T\nbread,"B\nnoise,N\n')


def break_system_unknown(root: Path) -> None:
    (root / "systems.csv").write_text("system,public_name\nalpha,A\nbeta,B\n")


def break_system_column(root: Path) -> None:
    (root / "systems.csv").write_text("system,reference\nalpha,\nbeta,\ngamma,yes\n")


def break_only_citations(root: Path) -> None:
    (root / "alpha" / "tides.md").write_text("[1] https://example.org/a\n\n[2] https://example.org/b\n")


def break_with_a_list(root: Path) -> None:
    """As one published article is: a heading and sources, nothing that anybody could read."""
    listed = "".join(f"\\#\\[https://example.org/{n} Page {n}]\n\n" for n in range(90))
    (root / "alpha" / "tides.md").write_text(f"# Tides\n\n## References\n\n{listed}")


@pytest.mark.databases("sqlite")
@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (break_empty, r"^alpha/tides\.md: holds no text; add the report, remove the file, or pass --allow-empty"),
        (
            break_encoding,
            r"^alpha/tides\.md:2: byte 0x92 at 11 is not UTF-8; re-save the file as UTF-8 or pass --encoding",
        ),
        (break_nul, r"^alpha/tides\.md:2: holds a NUL character"),
        (
            break_duplicate,
            r"^alpha/tides\.txt: a second report by system 'alpha' on topic 'tides' \(the first is alpha/tides\.md\); remove one",
        ),
        (break_missing, r"^beta: no report for 1 of 3 topics \(noise\); add them or pass --allow-missing"),
        (break_topic_twice, r"^topics\.csv:5: topic 'tides' appears twice \(first at line 2\); remove one"),
        (break_topic_unknown, r"noise\.md: topic 'noise' is not in topics\.csv; add it there or rename the file"),
        (break_column, r"^topics\.csv:1: no column 'topic' \(found: name, title\); add it"),
        (break_row, r"^topics\.csv:3: not as many values as columns"),
        (break_quote, r"^topics\.csv:\d: not CSV .* the file may be cut off"),
        (break_system_unknown, r"^gamma: this folder is not in systems\.csv"),
        (break_system_column, r"^systems\.csv:1: no column is called 'reference' \(known: system, public_name, is_ref"),
        (
            break_only_citations,
            r"^alpha/tides\.md: nothing is left once citations are stripped; .* or pass --allow-empty",
        ),
        (break_with_a_list, r"^alpha/tides\.md: nothing is left once citations are stripped"),
    ],
)
def test_what_is_wrong_is_refused_in_one_sentence_and_leaves_nothing(
    engine: Engine, tmp_path: Path, damage: Callable, says: str
) -> None:
    root = write_reports(tmp_path / "reports")
    bring_in(engine, write_reports(tmp_path / "before", ("older",)))
    before = rows(engine)
    damage(root)
    with pytest.raises(ImportingError, match=says):
        bring_in(engine, root)
    assert rows(engine) == before


def test_every_problem_is_named_at_once_and_before_the_texts_are_prepared(tmp_path: Path, engine: Engine) -> None:
    root = write_reports(tmp_path)
    break_empty(root)
    break_missing(root)
    put(root / "beta" / "bread.md", (root / "alpha" / "bread.md").read_text())
    break_with_a_list(write_reports(tmp_path / "other"))
    shutil.copy(tmp_path / "other/alpha/tides.md", root / "gamma/noise.md")
    (root / "gamma" / "bread.md").write_bytes(b"\xff")
    prepared: list[int] = []
    with transaction(engine) as session:
        study = init_study(session, "small", PROTOCOL, 7)
        with pytest.raises(ImportingError) as caught:
            import_reports(
                session, local_admin(study), read_folder(root), layout="folder", source="x",
                progress=lambda done, _of: prepared.append(done),
            )  # fmt: skip
    assert not prepared
    beginnings = ("gamma/bread.md:1: byte", "alpha/tides.md: holds", "gamma/noise.md: nothing", "beta: no", "gamma: no")
    assert [one for one in beginnings if not any(problem.startswith(one) for problem in caught.value.problems)] == []
    assert len(caught.value.problems) == len(beginnings)  # the unreadable report is missing too


@pytest.mark.databases("sqlite")
@pytest.mark.parametrize("damage", [break_empty, break_only_citations, break_with_a_list])
def test_an_empty_report_can_come_in_as_empty_and_never_enters_an_item(
    engine: Engine, tmp_path: Path, damage: Callable
) -> None:
    root = write_reports(tmp_path)
    damage(root)
    assert bring_in(engine, root, allow_empty=True).empty == ("alpha/tides.md",)
    from annotation.planning.planned_items import candidates

    with reading(engine) as session:
        offered = candidates(session, session.scalars(select(Study)).one())
    assert len(offered) == 8
    assert ("tides", "alpha") not in {(c.topic, c.system) for c in offered}


def test_a_report_that_was_empty_enters_items_once_its_sources_are_put_back(engine: Engine, tmp_path: Path) -> None:
    root = write_reports(tmp_path)
    break_with_a_list(root)
    bring_in(engine, root, allow_empty=True)
    with transaction(engine) as session:
        admin = local_admin(session.scalars(select(Study)).one())
        report = session.scalars(select(Report).where(Report.status == "empty")).one()
        restore_passage(session, admin, report.id, 0, len(report.original_text), "the list is the report")
        assert report.status == "ready"


@pytest.mark.databases("sqlite")
def test_agencies_without_a_folder_are_missing_like_any_reports(engine: Engine, tmp_path: Path) -> None:
    root = write_wlc(tmp_path / "wlc")
    shutil.rmtree(root / "test_data" / "beta_v1.5")
    with pytest.raises(ImportingError) as caught:
        bring_in(engine, root, read_wlc)
    assert [problem.partition(";")[0] for problem in caught.value.problems] == [
        "beta_v1.5: no report for 2 of 2 topics (Tidal_power, Vorlesungen_im_19._Jahrhundert)"
    ]
    report = bring_in(engine, root, read_wlc, allow_missing=True)
    assert "agencies without a folder 1 (beta_v1.5)" in report.notes
    shutil.rmtree(root / "test_data" / "atlas")
    assert "of any agency" in read_wlc(root).problems[0]


@pytest.mark.databases("sqlite")
@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda root: (root / "test_data" / "agencies.json").write_text('{"agencies": {'), r"test_data/agencies\.json:1: not JSON .* cut off"),
        (lambda root: (root / "test_data" / "agencies.json").write_text("[]"), r"no table 'agencies'"),
        (lambda root: (root / "test_data" / "atlas" / "md_data" / "Other.md").write_text(LONG), r"no Wikipedia article for topic 'Other'"),
        (lambda root: (root / "test_data" / "agencies.json").unlink(), r"test_data/agencies\.json: not under"),
    ],
)  # fmt: skip
def test_a_damaged_wiki_live_challenge_tree_is_refused(
    engine: Engine, tmp_path: Path, damage: Callable, says: str
) -> None:
    root = write_wlc(tmp_path / "wlc")
    damage(root)
    with pytest.raises(ImportingError, match=says):
        bring_in(engine, root, read_wlc)
    assert rows(engine)["reports"] == 0


if SHARED.is_dir():

    @pytest.mark.databases("sqlite")
    def test_the_whole_sample_of_the_wiki_live_challenge_comes_in(engine: Engine) -> None:
        outcome = bring_in(engine, SHARED, read_wlc)
        assert (outcome.topics, outcome.systems, outcome.references, outcome.reports) == (12, 12, 1, 144)
        assert (outcome.new, outcome.empty, outcome.missing, outcome.bom) == (144, (), {}, 0)


def test_a_new_version_takes_items_nobody_has_begun_out_of_work_and_leaves_the_others(
    engine: Engine, tmp_path: Path
) -> None:
    from annotation.planning.slots import apply_plan, make_plan
    from annotation.work.claiming import take
    from db.tables import Item
    from tests.small_study import a_person, make_study

    study_id = make_study(engine, tmp_path)
    with transaction(engine) as session:
        begun = take(session, a_person(session, study_id))
        assert begun is not None
        study = session.get_one(Study, study_id)
        for path in (tmp_path / "alpha").iterdir():
            path.write_text(path.read_text() + "\nOne more sentence.\n")
        parsed = read_folder(tmp_path)
        import_reports(session, local_admin(study), parsed, layout="x", source="x", new_version=True)
        retired = session.scalars(select(Item.id).where(Item.excluded_at.is_not(None))).all()
        with_alpha = 6  # two pairs on each of three topics
        shows_alpha = begun.item_id not in retired and len(retired) == with_alpha - 1
        assert shows_alpha or len(retired) == with_alpha
        apply_plan(
            session, local_admin(study), make_plan(session, local_admin(study), design="all", per_topic=None, overlap=1)
        )
        assert session.scalar(sa.select(sa.func.count()).where(Item.excluded_at.is_(None))) >= 9
