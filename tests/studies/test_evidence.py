"""The files of a task lie beside each report on it: for people and judges the same text, whose hash is on each label."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PIL import Image
from sqlalchemy import select, update

from annotation.documents.shown_files import shown_file
from annotation.errors import AnnotationError, ImportingError
from annotation.facts.label_rows import label_rows
from annotation.facts.study_facts import study_facts
from annotation.importing.reports.evidence import read_evidence
from annotation.items.shown import shown_of_item
from annotation.judges.planning.calls import labelled_pairs
from annotation.offline.ballot_format import rater_of
from annotation.people.principals import local_admin
from annotation.protocol import read_protocol
from annotation.shown_texts.overrides import edit_text
from annotation.studies import protocol_of
from annotation.texts.figures import figure_names
from annotation.work.guesses import kinds_asked, refuse_unknown_kinds
from annotation.work.page import picture_of_assignment
from db.connect import reading, transaction
from db.people_tables import Enrollment
from db.tables import Assignment, Item, Label, Report, Study, System
from tests.annotation.layout_trees import json_lines, put
from tests.studies.desk import Desk

REPORT = "# Tides\n\nThe report of {} says that tides rise, and how far the harbour may be trusted in spring.\n"
FOUND = {"title": "Gauge", "url": "https://a.org", "content": "The gauge stood at 4 m."}


def task_tree(root: Path) -> Path:
    put(root / "query.jsonl", json_lines({"id": task, "query": f"Tides of {task}?"} for task in ("001", "002")))
    for task in ("001", "002"):
        for system in ("alpha", "beta"):
            put(root / f"results/{system}/{task}/final_report.md", REPORT.format(f"{system} on {task}"))
    put(root / "datasets_en/001/notes.md", "The harbour silts up.\n")
    put(root / "datasets_en/001/levels.csv", "month,level\nMay,4|5\n")
    put(root / "datasets_en/001/useful_search.jsonl", json_lines([FOUND]))
    put(root / "datasets_en/001/long_128k.txt", "far too long")
    Image.new("RGB", (300, 200), "navy").save(root / "datasets_en/001/map [1].png")
    (root / "datasets_en/001/torn.png").write_bytes(b"\x89PNG\r\n")
    return root


def test_what_a_task_brings_is_beside_every_report_on_it_and_on_each_label(desk: Desk) -> None:
    task_tree(desk.folder / "dr3")
    desk("init", "dr3", "--protocol", "dr3_total", "--seed", "7")
    desk("import", "reports", "dr3", "--layout", "dr3_eval", "--study", "dr3")
    told = desk("import", "evidence", "dr3", "--study", "dr3", "--leave-out", "*128k*")
    assert "topics without evidence 1: 002" in told
    assert "pictures that are named and not shown 1: datasets_en/001/torn.png" in told
    desk("invite", "dr3", "Ana", "Bo")
    plan = json.loads(desk("pairs", "dr3", "--overlap", "2", "--apply", "--json"))
    assert plan["reports"] == 4, "the evidence is rated by nobody"
    assert plan["words"] < 300, "and is looked up, not read from end to end"
    desk("open", "dr3")
    desk("packet", "dr3", "Ana", "--items", "4", "--out", "ana.html")
    put(desk.folder / "judges.toml", '[[judge]]\nname = "mini"\nmodel = "openai/gpt-4.1-mini"\n')
    page, asked = (desk.folder / "ana.html").read_text(), desk("judge", "preview", "dr3", "--judges", "judges.toml")
    assert page.count("data:image/webp;base64,") == 2, "the map, beside each report of the task"
    assert "datasets_en" not in page, "as a report's figure it has no name of its file's"
    for text in (page, asked):
        assert all(
            said in text
            for said in (
                "The harbour silts up.",
                "The gauge stood at 4 m.",
                "torn.png: it is a picture",
                "map (1).png, a picture",
            )
        )
        assert "far too long" not in text
    desk.everybody_answers("dr3", lambda task: "50")
    with reading(desk.engine) as session:
        own = select(Report.shown_sha256).join(System, System.id == Report.system_id).where(System.is_reference)
        evidence, stamps = session.scalar(own), session.scalars(select(Label.right_sha256)).all()
    assert {stamp for stamp in stamps if stamp} == {evidence}
    assert sum(stamp == evidence for stamp in stamps) == 2 * 5, "two reports on the task with files, five scores each"
    with reading(desk.engine) as session:
        text = session.scalar(select(Report.shown_text).where(Report.shown_sha256 == evidence))
        (name,) = figure_names(text or "")  # made of its pixels, and under the labels' hash
        seen = session.scalars(select(Assignment).join(Label).where(Label.right_sha256 == evidence)).first()
        assert seen is not None
        own = select(Enrollment).where(Enrollment.rater_id == seen.rater_id, Enrollment.study_id == seen.study_id)
        rater = rater_of(session, session.scalars(own).one())
        assert picture_of_assignment(session, rater, seen.aid, name)[8:12] == b"WEBP", "from our own address"
    put(desk.folder / "sees.toml", '[[judge]]\nname = "sees"\nmodel = "openai/gpt-4.1-mini"\nimages = true\n')
    assert "![figure](figures/" in desk("judge", "preview", "dr3", "--judges", "sees.toml")
    late = desk("import", "evidence", "dr3", "--study", "dr3", "--new-version", "--leave-out", "*128k*")
    assert "0 new, 1 unchanged" in late


@pytest.mark.slow
def test_evidence_is_no_system_where_systems_are_recognised_counted_or_guessed_and_may_stand_beside_a_reference(
    desk: Desk,
) -> None:
    task_tree(desk.folder / "dr3")
    put(
        desk.folder / "dr3_total.toml", read_protocol("dr3_total")[1].replace("[study]", "[study]\nguess_system = true")
    )
    desk("init", "dr3", "--protocol", "dr3_total.toml", "--seed", "7")
    desk("import", "reports", "dr3", "--layout", "dr3_eval", "--study", "dr3")
    desk("import", "evidence", "dr3", "--study", "dr3")
    audit = json.loads(desk("audit", "dr3", "--json"))
    assert (audit["systems"], audit["chance"], [one["system"] for one in audit["removed"]]) == (
        2, 0.5, ["alpha", "beta"],
    )  # fmt: skip
    with transaction(desk.engine) as session:
        study = session.scalars(select(Study)).one()
        session.execute(update(System).where(~System.is_reference).values(family="Acme"))
        with pytest.raises(AnnotationError, match="all have the same"):
            refuse_unknown_kinds(session, study)
        session.execute(update(System).where(System.key == "beta").values(family="Bolt", is_reference=True))
        assert kinds_asked(session, study) == ("Acme", "Bolt")
    put(
        desk.folder / "gold.csv",
        "topic,system_a,system_b,criterion,answer,reason\n001,beta,,IR,50,half of it is there\n",
    )
    desk("import", "gold", "gold.csv", "--study", "dr3", "--use", "training")
    plan = json.loads(desk("pairs", "dr3", "--overlap", "1", "--apply", "--json"))
    assert plan["reports"] == 3, "a reference is rated too, beside the evidence; one report is for training"
    with reading(desk.engine) as session:
        facts = study_facts(session, session.scalars(select(Study)).one())
        assert (facts["reports"], facts["systems"], facts["reference_systems"]) == (3, 2, 1)
        beside = (
            select(System.key).join(Report, Report.system_id == System.id).join(Item, Item.reference_id == Report.id)
        )
        assert set(session.scalars(beside.where(Item.purpose == "training"))) == {"calipers-evidence"}


@pytest.mark.slow
def test_a_picture_that_two_tasks_bring_or_a_file_names_is_nobodys_logo(desk: Desk) -> None:
    root = task_tree(desk.folder / "dr3")
    put(root / "datasets_en/002/notes.md", "As before: ![the map](../001/map%20[1].png) and ![gone](gone.png)\n")
    text = read_protocol("dr3_total")[1].replace("strip_citations = false", 'images = "show"')
    put(desk.folder / "shown.toml", text.replace('"dr3_total"', '"shown"'))
    desk("init", "dr3", "--protocol", "shown.toml", "--seed", "7")
    desk("import", "reports", "dr3", "--layout", "dr3_eval", "--study", "dr3")
    told = desk("import", "evidence", "dr3", "--study", "dr3")
    assert "pictures that are named and not shown 2: datasets_en/001/torn.png, datasets_en/002/gone.png" in told
    with reading(desk.engine) as session:
        texts = session.scalars(select(Report.shown_text).join(System).where(System.is_reference)).all()
    assert len({name for text in texts for name in figure_names(text)}) == 1, "one picture, on both tasks"
    desk("pairs", "dr3", "--overlap", "1", "--apply")
    desk("open", "dr3")


PAIRS = """format = "calipers-protocol/1"
name = "pairs_with_files"
title = "Which report is better, beside the task's files"
task_type = "pairwise_choice"
task = "Which report is better?"
answers = {paired_view = "evidence"}
[[criterion]]
id = "better"
label = "Better"
text = "Which report does more with the files?"
"""


def test_two_reports_are_compared_beside_what_their_task_brings_by_people_and_judges(desk: Desk) -> None:
    task_tree(desk.folder / "dr3")
    put(desk.folder / "pairs_with_files.toml", PAIRS)
    desk("init", "both", "--protocol", "pairs_with_files.toml", "--seed", "7")
    desk("import", "reports", "dr3", "--layout", "dr3_eval", "--study", "both")
    desk("import", "evidence", "dr3", "--study", "both", "--leave-out", "*128k*")
    put(
        desk.folder / "gold.csv", "topic,system_a,system_b,criterion,answer,reason\n002,alpha,beta,better,alpha,clear\n"
    )
    desk("import", "gold", "gold.csv", "--study", "both", "--use", "training")
    desk("invite", "both", "Ana", "Bo")
    plan = json.loads(desk("pairs", "both", "--design", "all", "--overlap", "2", "--apply", "--json"))
    assert (plan["pairs"], plan["words"] < 300) == (1, True), "files are looked up"
    desk("open", "both")
    desk("packet", "both", "Ana", "--items", "1", "--out", "ana.html")
    page = (desk.folder / "ana.html").read_text()
    assert [said in page for said in ("The harbour silts up.", "calipers-evidence")] == [True, False]
    assert page.count("data:image/webp;base64,") == 1
    own = "{{ topic }}\n{{ first_report }}\n{{ second_report }}\n{{ task }}\n{{ criteria }}"
    put(desk.folder / "own.txt", own)
    judge = '[[judge]]\nname = "mini"\nmodel = "openai/gpt-4.1-mini"\norder = "both"\n'
    put(desk.folder / "own.toml", judge + 'prompt = "own.txt"\n')
    refused = desk("judge", "preview", "both", "--judges", "own.toml", exit_code=1)
    assert "the model is not sent the evidence whole, as people read it; put {{ evidence }}" in refused
    put(desk.folder / "own.txt", f"{own}\n{{{{ evidence }}}}")
    for words in ("", 'prompt = "paraphrased"\n'):
        put(desk.folder / "judges.toml", judge + words)
        asked = desk("judge", "preview", "both", "--judges", "judges.toml")
        assert (asked.count("The harbour silts up."), asked.count("<evidence-")) == (1, 2), "said where, and there"
        first, second, files = (asked.index(f"\n<{tag}-") for tag in ("report-first", "report-second", "evidence"))
        assert first < second < files < asked.index("The harbour silts up.")
    assert "The harbour silts up." in desk("judge", "preview", "both", "--judges", "own.toml")
    with reading(desk.engine) as session:
        study = session.scalars(select(Study)).one()
        (pair,) = labelled_pairs(session, study)
        assert (pair.is_pair, pair.names, len({*pair.sha256})) == (True, ("Left", "Right", "Evidence"), 3)
        item = session.get_one(Item, pair.item_id)
        for left in ("A", "B"):
            shown = shown_of_item(session, protocol_of(study), item, left)
            mirrored = pair.sha256 if left == "A" else (*pair.sha256[1::-1], pair.sha256[2])
            assert tuple(one.shown_sha256 for one in shown) == mirrored
        assert study_facts(session, study)["reports"] == 2
    assert desk.everybody_answers("both", lambda task: "left") == 1, "the packet has the other's"
    desk("close", "both")
    with transaction(desk.engine) as session:
        study = session.scalars(select(Study)).one()
        (label,) = label_rows(session, study)
        assert label["brought_sha256"] == pair.sha256[2]
        files = session.scalars(select(Report.id).where(Report.shown_sha256 == pair.sha256[2])).one()
        with pytest.raises(AnnotationError, match="labels stand on this text"):
            edit_text(session, local_admin(study), files, "Other words.", "a slip")


def test_evidence_that_comes_after_the_items_or_to_a_study_that_shows_none_is_refused(desk: Desk) -> None:
    task_tree(desk.folder / "dr3")
    desk("init", "dr3", "--protocol", "dr3_total")
    desk("import", "reports", "dr3", "--layout", "dr3_eval", "--study", "dr3")
    assert "no folder is called like a topic" in desk(
        "import", "evidence", "dr3/results", "--study", "dr3", exit_code=1
    )
    desk("pairs", "dr3", "--apply")
    assert "has items already" in desk("import", "evidence", "dr3", "--study", "dr3", exit_code=1)
    desk("init", "depth", "--protocol", "dr3_depth")
    assert "shows no evidence" in desk("import", "evidence", "dr3", "--study", "depth", exit_code=1)


@pytest.mark.parametrize(
    ("name", "held", "shown"),
    [
        ("a.md", "**bold**", "**bold**"),
        ("a.csv", 'x,y\n"a|b","c\nd"\n', "| x | y |\n| --- | --- |\n| a\\|b | c d |"),
        ("a.tsv", "x\ty\n1\t2\n", "| x | y |\n| --- | --- |\n| 1 | 2 |"),
        ("a.jsonl", '{"title": "T", "content": "C"}\n{"text": "D"}\n', "### T\n\nC\n\n### 2\n\nD"),
        ("a.json", '{"k": "```"}', '````\n{"k": "```"}\n````'),
        ("a.py", "print(1)\n", "```\nprint(1)\n```"),
        ("a.PNG", "x", "*a.PNG: it is a picture, and is not shown here.*"),
    ],
)
def test_a_file_is_shown_as_markdown_whole(tmp_path: Path, name: str, held: str, shown: str) -> None:
    assert shown_file(put(tmp_path / name, held), name) == shown


@pytest.mark.parametrize(
    ("held", "shown", "unseen"),
    [
        ("![c](a.png)", "![c](x/a.png)", ""),
        ("![c](b.png)", "![c](x/b.png)", "1: x/b.png"),
        ("![c](%2Fetc%2Fb.png)", "![c](%2Fetc%2Fb.png)", "1: %2Fetc%2Fb.png"),
        (f"![c]({'b' * 300}.png)", f"![c]({'b' * 300}.png)", f"1: {'b' * 80}"),
        ("![c](a.png?raw=true)", "![c](a.png?raw=true)", "1: a.png?raw=true"),
        ("```\n![c](a.png)\n```\n`![c](a.png)`", "```\n![c](a.png)\n```\n`![c](a.png)`", ""),
    ],
)
def test_a_picture_that_a_file_names_is_found_below_the_folder_or_told(
    tmp_path: Path, held: str, shown: str, unseen: str
) -> None:
    put(tmp_path / "x/notes.md", held)
    Image.new("RGB", (300, 200), "navy").save(tmp_path / "x/a.png")
    parsed = read_evidence(tmp_path, {"x"})
    assert (f"\n\n{shown}\n" in parsed.reports[0].text, parsed.problems) == (True, ())
    assert [str(note).endswith(unseen) for note in parsed.notes] == ([True] if unseen else [])


def test_bytes_that_are_no_text_are_named_and_a_text_that_cannot_be_read_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir(parents=True)
    (tmp_path / "x" / "core.bin").write_bytes(b"\xff\xfe\x00\xd8")
    (tmp_path / "x" / "notes.txt").write_bytes(b"\xff\xfe\x00\xd8")
    parsed = read_evidence(tmp_path, {"x", "y"})
    assert "core.bin: it is no text, and is not shown here." in parsed.reports[0].text
    assert len(parsed.problems) == 1
    with pytest.raises(ImportingError, match="no folder is called like a topic"):
        read_evidence(tmp_path, {"z"})
