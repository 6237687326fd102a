"""`calipers show FILE`: the evaluator's pages of any labels file, with no study, no account and no database."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from app.command_line import run
from app.results.shown_file import calibrated_file, of_file, one_of_file, shown_file
from benchmarks.disagreement_kinds import planted_study
from tests.app.drawing import FEW, drawn, shown
from tests.app.drawing import file_page as page
from tests.calibration.studies import made_pairs, made_ratings

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("choice", "agreement", "reliability", "bias", "ranking", "disagreements", "paper", "planner")
SAID = {
    "choice": "mini", "agreement": "agree", "reliability": "left-out annotator", "bias": "biases looked for",
    "ranking": "is first", "disagreements": "are answered differently", "paper": "Download the paper pack",
    "planner": "It takes",
}  # fmt: skip


@pytest.fixture(autouse=True)
def no_database(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever opens one fails."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a labels file needs no database")

    monkeypatch.setattr("app.settings.open_database", refuse)
    from app.settings import database

    database.cache_clear()


@pytest.mark.parametrize("name", PAGES)
def test_every_page_of_a_file_stands_and_says_what_it_is_of(name: str) -> None:
    words = shown(page(name, ROOT / "docs" / "labels.csv"))
    assert "labels.csv" in words
    assert SAID[name] in words
    assert "/progress" not in words, "a page that a file has not"


def test_the_pages_are_the_evaluators_without_those_about_work() -> None:
    def listed(path):  # type: ignore[no-untyped-def]  # Streamlit runs this as a file of its own
        import streamlit as st

        from app.results.shown_file import shown_file
        from app.screens.evaluator import file_pages

        st.text(" ".join(page.title.lower() for group in file_pages(shown_file(path)).values() for page in group))

    screen = drawn(AppTest.from_function(listed, args=(str(ROOT / "docs" / "labels.csv"),), default_timeout=60).run())
    assert screen.text[0].value.split() == list(PAGES)


def test_the_numbers_are_those_of_calibrate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "labels.csv"
    made_pairs().to_csv(path, index=False)
    assert run(["calibrate", str(path), "--resamples", "99", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    report = of_file("report", shown_file(str(path), "", FEW))
    assert [one["value"] for one in told["estimates"]] == pytest.approx(
        [None if one.value != one.value else one.value for one in report.estimates]
    )


def test_who_is_a_person_is_said_to_the_pages_the_plan_and_the_list_as_to_calibrate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, said = tmp_path / "votes.csv", ("--people", "Anna,Björn")
    rows = [f"q{n},t{n},{'AB'[n % 2]},{'AAB'[n % 3]},{'AB'[n % 2]}" for n in range(14)]
    path.write_text("\n".join(["item_id,cluster_id,Anna,Björn,gpt-4o", *rows]))
    listing = ["export", "people-items", str(path), "--judge", "gpt-4o", "--error", ".3"]
    listing += ["--out", str(tmp_path / "i.csv")]
    for words in (["show", str(path), "--no-browser"], ["plan", str(path)], listing):
        assert run(words) == 1
        assert "people or judges: Anna, Björn; name those that are people" in capsys.readouterr().err
    typed = (["cluster_id=item_id"], [], ["Anna,Björn"], [], "", "", "")  # --map as --people
    assert of_file("judges", shown_file(str(path), "", FEW, json.dumps(typed))) == ["gpt-4o"]
    assert [run([*words, *said]) for words in (["plan", str(path)], listing)] == [0, 0]


def test_a_file_that_is_written_anew_is_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    frame = made_pairs()
    frame.to_csv(path, index=False)
    before = calibrated_file(shown_file(str(path), "", FEW))
    assert calibrated_file(shown_file(str(path), "", FEW)) is before
    frame[frame["item_id"] != frame["item_id"].iloc[0]].to_csv(path, index=False)
    assert calibrated_file(shown_file(str(path), "", FEW)).report.labels.items == before.report.labels.items - 1


def test_a_disagreement_shows_the_answers_and_reasons_that_the_file_has(tmp_path: Path) -> None:
    frame = pd.read_csv(ROOT / "docs" / "labels.csv").assign(rationale="because <b>so</b>")
    path = tmp_path / "labels.csv"
    frame.to_csv(path, index=False)
    line = of_file("disagreements", shown_file(str(path), "", FEW)).iloc[0]
    one = one_of_file(shown_file(str(path), "", FEW), line["judge"], line["item_id"], line["criterion"])
    assert {given.rater for given in one.people} == {"ana", "ben", "caro"}
    assert {given.swapped for given in one.judge} == {False, True}
    assert {given.choice for given in (*one.judge, *one.people)} == {"A", "B"}
    words = shown(page("disagreements", path))
    assert "because &lt;b&gt;so" in words
    assert "not the texts" in words


def test_scores_and_people_alone_are_shown_too(tmp_path: Path) -> None:
    scores, people = tmp_path / "scores.csv", tmp_path / "people.csv"
    made_ratings().to_csv(scores, index=False)
    odd = [*map(str, [*range(1, 11, 2), *range(2, 11, 2)])]  # 1, 3, … 9, 2, 4, …: what lies 1 apart is far
    soft = [
        of_file("disagreements", shown_file(str(scores), "", chosen))["kind"].eq("soft").sum()
        for chosen in (FEW, json.dumps({**json.loads(FEW), "scales": {"quality": odd}}))
    ]
    assert soft[0] != soft[1], "neighbours are those of the scale that is declared"
    pairs = made_pairs()
    pairs[pairs["rater_kind"] == "human"].to_csv(people, index=False)
    assert "No system can be ranked" in shown(page("ranking", scores))
    assert "No judge can be chosen yet" in shown(page("choice", people))
    assert "Nothing to compare yet" in shown(page("disagreements", people))


@pytest.mark.parametrize(
    ("text", "said"),
    [("item_id,label\n1,A\n", "missing|no column"), ("", "empty")],
    ids=["columns", "empty"],
)
def test_what_cannot_be_shown_is_refused_in_the_terminal(
    text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "labels.csv"
    path.write_text(text)
    assert run(["show", str(path), "--no-browser", "--port", str(a_port())]) == 1
    told = capsys.readouterr().err
    assert any(one in told for one in said.split("|")), told


def a_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@pytest.mark.slow
def test_one_command_serves_it_on_this_machine_alone(tmp_path: Path) -> None:
    port = a_port()
    (tmp_path / "labels.csv").write_bytes((ROOT / "docs" / "labels.csv").read_bytes())
    command = [sys.executable, "-m", "calipers", "show", "labels.csv", "--port", str(port), "--no-browser"]
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as server:
        try:
            assert answered(f"http://127.0.0.1:{port}/") == 200
            assert [path.name for path in tmp_path.iterdir()] == ["labels.csv"], "nothing is stored"
        finally:
            server.kill()  # Streamlit loses a SIGTERM that comes before it has wholly started


def answered(address: str) -> int:
    """The status once a server answers there; 0 after a minute without."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            with urllib.request.urlopen(address, timeout=5) as reply:
                return int(reply.status)
        except OSError:
            time.sleep(0.5)
    return 0


def test_disagreements_say_why_with_what_to_do_and_show_those_of_one_reason(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    planted_study("order", 1, repeats=1).to_csv(path, index=False)
    screen = page("disagreements", path)
    words = shown(screen)
    assert "Why judge and the annotators differ, most often: it follows the order of the two, in " in words
    assert "comparisons over 40 topics" in words
    assert "Ask in both orders, and let unequal answers be a tie." in words
    drawn(screen.selectbox(key="why").select("order").run())
    of_order = of_file("kinds", shown_file(str(path), "", FEW), "judge").by_question["kind"].eq("order").sum()
    assert f"{of_order} of {of_order} questions are answered differently" in shown(screen)
