"""Quoted passages are stored as they were shown, counted once and for all, and never cost anybody an answer."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine, select, update

from annotation.errors import AnnotationError
from annotation.labelling import save, submit
from annotation.labels.entries import QUOTE_MAX, SPANS_MAX, Span, read_entry
from annotation.labels.evidence import check_span, code_point, plain_text, spans_for_page, utf16_unit
from annotation.verdicts import labels_csv, load_verdicts
from annotation.work.claiming import take
from annotation.work.page import assignment_page
from calibration.calibrate import calibrate
from calibration.results import CalibrationSettings
from calipers.label_files import read_labels
from db.connect import reading, transaction
from db.tables import Assignment, Label, Report, Study
from tests.small_study import a_person, answer, make_study

TEXTS = st.lists(st.sampled_from("ab \n\r😀🌊👩\u200d🔬漢字潮e\u0301\u202e\ufeff") | st.characters(exclude_categories=["Cs"])).map("".join)  # fmt: skip


def units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("# One\n\nTwo *three*.", "One\nTwo three.\n"),
        ("a < b & c, &amp;lt; and `<b>`", "a < b & c, &lt; and <b>\n"),
        ("one\r\ntwo\r\n\r\nthree", "one\ntwo\nthree\n"),
        ("- one\n- two", "\none\ntwo\n\n"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "\n\n\na\nb\n\n\n\n\n1\n2\n\n\n\n"),
        ("```\n\n  x\n```", "\n  x\n\n"),
        ("潮汐 🌊 cafe\u0301", "潮汐 🌊 cafe\u0301\n"),
        ("", ""),
    ],
)
def test_the_plain_text_of_a_report_is_that_of_its_pane(markdown: str, text: str) -> None:
    assert (
        plain_text(markdown) == text
    )  # each as Chromium gives it; tests/browser/test_counted_alike.py asks it for many more


@pytest.mark.parametrize(
    ("text", "unit", "index"),
    [
        ("abc", 2, 2),
        ("😀b", 2, 1),  # an emoji is two units
        ("😀b", 1, 0),  # inside it is its start
        ("😀b", 9, 2),  # beyond the text is its end
        ("e\u0301x", 2, 2),  # a combining mark is one of its own
        ("漢字", 1, 1),
        ("", 5, 0),
    ],
)
def test_units_of_the_browser_become_code_points(text: str, unit: int, index: int) -> None:
    assert code_point(text, unit) == index


@given(TEXTS, st.data())
def test_counting_there_and_back_changes_nothing(text: str, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(text)))
    assert code_point(text, utf16_unit(text, index)) == index
    unit = data.draw(st.integers(0, 2 * len(text) + 5))
    assert utf16_unit(text, code_point(text, unit)) <= unit


@given(TEXTS, st.data())
def test_whatever_is_selected_in_a_text_is_verified_there(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 100)))
    quote = text[start:end]
    if not quote.replace("\0", ""):
        return
    span = Span(side="left", start=units(text[:start]), end=units(text[:end]), quote=quote)
    checked = check_span(text, "hash", span)
    assert (checked.start, checked.end) == (start, end)
    assert checked.verified is ("\0" not in quote)  # no report holds one
    assert (checked.side, checked.quote, checked.sha256) == ("left", span.quote, "hash")


@pytest.mark.parametrize(
    ("start", "end", "quote"),
    [(0, 5, "water"), (4, 9, "wates"), (4, 8, "water"), (9, 4, "water"), (1000, 1005, "water"), (4, 9, "\ud83d")],
)
def test_a_mismatch_keeps_the_quote_unverified(start: int, end: int, quote: str) -> None:
    checked = check_span("The water rises.", "hash", Span(side="left", start=start, end=end, quote=quote))
    assert not checked.verified
    assert checked.quote == quote.replace("\ud83d", "?")


def test_a_quote_of_a_text_that_was_replaced_is_no_longer_verified() -> None:
    stored = {"side": "left", "start": 1, "end": 2, "quote": "b", "verified": True, "sha256": "old"}
    assert [one["verified"] for one in spans_for_page({"left": ("abc", "old")}, [stored])] == [True]
    assert [one["verified"] for one in spans_for_page({"left": ("abc", "new")}, [stored])] == [False]
    assert [one["verified"] for one in spans_for_page({}, [stored])] == [False]


def spans_of(page: dict, *passages: str) -> list[dict]:
    """Spans as a browser sends them, each on the side whose text has the passage first."""
    spans = []
    for passage in passages:
        side, text = next(
            (side, text) for side, text in (("left", page["left"]), ("right", page["right"])) if passage in text
        )
        start = units(text[: text.index(passage)])
        spans.append({"side": side, "start": start, "end": start + units(passage), "quote": passage})
    return spans


def start(engine: Engine, root: Path, left: str = "A") -> tuple:
    study_id = make_study(engine, root)
    with transaction(engine) as session:
        ada = a_person(session, study_id)
        session.execute(update(Assignment).where(Assignment.left == left).values(priority=1))
        session.execute(
            update(Report).values(
                shown_text="# 🌊 Tides\n\nBy system " + Report.shown_sha256 + ", the 潮 rises 😀 twice."
            )
        )
        assignment = take(session, ada)
        assert assignment is not None
        page = assignment_page(session, ada, assignment.aid)
        texts = {pane["side"]: plain_text_of(pane["html"]) for pane in page["panes"]}
        return study_id, ada, page | texts, assignment


def plain_text_of(html: str) -> str:
    return html.replace("<h3>", "").replace("</h3>", "").replace("<p>", "").replace("</p>", "")


@pytest.mark.databases("sqlite")
def test_spans_are_stored_in_code_points_and_return_in_the_browsers_units(engine: Engine, tmp_path: Path) -> None:
    _, ada, page, assignment = start(engine, tmp_path)
    sent = spans_of(page, "rises 😀 twice", "🌊 Tides")
    sent[1]["side"] = "right"
    wrong = {"side": "right", "start": 3, "end": 8, "quote": "never said"}
    with transaction(engine) as session:
        saved = save(session, ada, [answer(page, "clear", "left", evidence=[*sent, wrong])])
        assert saved.refused == []
    with reading(engine) as session:
        (label,) = session.scalars(select(Label))
        first, second, third = label.evidence
        assert page["left"][first["start"] : first["end"]] == "rises 😀 twice"
        assert first["end"] - first["start"] == 13  # code points; the browser counts 14
        assert (first["sha256"], second["sha256"]) == (label.left_sha256, label.right_sha256)
        assert [one["verified"] for one in label.evidence] == [True, True, False]
        assert third["quote"] == "never said"
        again = assignment_page(session, ada, assignment.aid)
    returned = again["answers"]["clear"]["evidence"]
    assert [{name: one[name] for name in ("side", "start", "end", "quote")} for one in returned] == [*sent, wrong]
    assert "sha256" not in json.dumps(again)


def test_the_stored_answer_of_a_conflict_brings_its_quotes(engine: Engine, tmp_path: Path) -> None:
    _, ada, page, _ = start(engine, tmp_path)
    sent = spans_of(page, "🌊 Tides")
    with transaction(engine) as session:
        save(session, ada, [answer(page, "clear", "left", evidence=sent)])
    with transaction(engine) as session:
        saved = save(session, ada, [answer(page, "clear", "right", writer="writer-2")])
    assert saved.refused[0]["current"]["evidence"] == [sent[0] | {"verified": True}]


@pytest.mark.parametrize(
    ("evidence", "says"),
    [
        ([{"side": "left", "start": 0, "end": 1, "quote": "x"}] * (SPANS_MAX + 1), "evidence"),
        ([{"side": "left", "start": 0, "end": 1, "quote": "x" * (QUOTE_MAX + 1)}], "evidence.0.quote"),
        ([{"side": "A", "start": 0, "end": 1, "quote": "x"}], "evidence.0.side"),
        ([{"side": "left", "start": -1, "end": 1, "quote": "x"}], "evidence.0.start"),
        ([{"side": "left", "start": 0, "end": 1, "quote": "x", "verified": True}], "evidence.0.verified"),
        ([{"side": "left", "start": 0, "end": 1, "quote": ""}], "evidence.0.quote"),
        ([{"side": "left", "start": 0, "end": 1, "quote": 7}], "evidence.0.quote"),
    ],
)
def test_what_no_page_of_ours_sends_is_refused_by_field(evidence: list, says: str) -> None:
    raw = {"kind": "label", "aid": "a" * 32, "page": "b" * 32, "criterion": "c", "choice": None, "writer": "w" * 16,
           "seq": 1, "client_uuid": "u" * 16, "evidence": evidence}  # fmt: skip
    with pytest.raises(AnnotationError, match=says):
        read_entry(raw)


@pytest.mark.databases("sqlite")
@pytest.mark.parametrize("left", ["A", "B"])
def test_exported_quotes_name_the_report_and_not_the_side(engine: Engine, tmp_path: Path, left: str) -> None:
    study_id, ada, page, assignment = start(engine, tmp_path, left)
    sent = spans_of(page, "rises", "🌊 Tides")
    sent[1]["side"] = "right"
    with transaction(engine) as session:
        save(session, ada, [answer(page, "clear", "left", evidence=sent), answer(page, "deep", "tie")])
        submit(session, ada, assignment.aid, page["page"], "submit-00001", {"clear": 1, "deep": 1})
    with reading(engine) as session:
        verdicts = load_verdicts(session, session.get_one(Study, study_id)).set_index("criterion")
    quoted = json.loads(verdicts.loc["clear", "evidence"])
    right = "B" if left == "A" else "A"
    assert [one["report"] for one in quoted] == [left, right]
    assert verdicts.loc["clear", "label"] == left
    assert [page["left"], page["right"]][0][quoted[0]["start"] : quoted[0]["end"]] == "rises"
    assert set(quoted[0]) == {"report", "start", "end", "quote", "verified", "sha256"}
    assert verdicts.loc["deep", "evidence"] == ""


def test_a_labels_file_with_quotes_is_calibrated_as_without(tmp_path: Path) -> None:
    rows = [
        {"item_id": f"i{n}", "rater_id": rater, "rater_kind": "human", "criterion": "c", "label": "AB"[(n + k) % 7 > 2],
         "cluster_id": f"t{n // 2}", "rationale": "=1+1", "evidence": json.dumps([{"report": "A", "quote": "=1+1"}])}
        for n in range(12) for k, rater in enumerate(("p", "q"))
    ]  # fmt: skip
    table = pd.DataFrame(rows).assign(system_a="", system_b="", category="")
    path = tmp_path / "labels.csv"
    path.write_text(labels_csv(table), encoding="utf-8")
    cells = [cell for line in path.read_text(encoding="utf-8").splitlines()[1:] for cell in line.split(",")]
    assert not any(cell.strip('"').startswith(("=", "+", "-", "@")) for cell in cells)
    read = read_labels(path)
    assert json.loads(read.loc[0, "evidence"]) == [{"report": "A", "quote": "=1+1"}]
    with_quotes = calibrate(read, CalibrationSettings(resamples=99))
    without = calibrate(read.drop(columns="evidence"), CalibrationSettings(resamples=99))
    assert with_quotes == without
