"""The judge screens say what the rows say: how judges stand, in words too, and where they and people differ."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import streamlit as st
from sqlalchemy import Engine, delete, select
from streamlit.testing.v1 import AppTest

from annotation.facts.judge_facts import ImportedCost, imported_costs
from annotation.judges.asking import client
from annotation.judges.planning.requests import end_request, keep_judges, next_request, request_run
from annotation.judges.reviewing.judge_standings import are_at_work, judge_runs
from annotation.participation.standing import withdraw
from annotation.people.principals import local_admin
from annotation.people.sign_ins import sign_out
from app.screens import leaving
from app.screens.study import judges
from app.screens.study.judge_tables import standing_table
from db.connect import reading, transaction
from db.judge_tables import JudgeRequest
from db.tables import Study
from tests.annotation.judges.judged_study import Stub, judgments
from tests.annotation.result_trees import bring_results, labels_file
from tests.app.drawing import drawn, evaluator, page, shown
from tests.disputed_study import SYSTEMS, judge, make_disputed
from tests.small_study import make_study


def judges_page(engine: Engine, study: int) -> AppTest:
    def run(principal, cookie):  # type: ignore[no-untyped-def]  # Streamlit runs this as a file of its own
        from app.screens.study import judges

        judges.show(principal, cookie)

    return drawn(AppTest.from_function(run, args=evaluator(engine, study), default_timeout=60).run())


def disagreements_page(engine: Engine, study: int) -> AppTest:
    return page(engine, study, "disagreements")


AT = "http://127.0.0.1:8123/v1"
ELSEWHERE = f'[[judge]]\nname = "mini"\nmodel = "openai/mini"\nmax_cost = 1.0\napi_base = "{AT}"\n'


def test_no_judge_yet_is_a_screen_with_the_next_command(engine_here: Engine, tmp_path: Path) -> None:
    study = make_disputed(engine_here, tmp_path / "reports", judged=False)
    words = shown(judges_page(engine_here, study))
    assert "No judge has run yet" in words
    assert "calipers judge run disputed --judges judges.toml" in words
    eva, _ = evaluator(engine_here, study)
    with transaction(engine_here) as session:
        row = session.get_one(Study, study)
        assert not are_at_work(session, row)
        keep_judges(session, local_admin(row), ELSEWHERE)
        request_run(session, eva, ["mini"])
        assert are_at_work(session, row), "so that the page draws itself anew until a worker took it up"
    assert "Nothing to compare yet" in shown(disagreements_page(engine_here, study))


def test_an_always_first_judge_is_said_to_be_one(engine_here: Engine, tmp_path: Path) -> None:
    study = make_disputed(engine_here, tmp_path / "reports")
    words = shown(judges_page(engine_here, study))
    # two items, two orders, two criteria
    assert "picks the report shown first in 100 % of 8 decisive answers; swap consistency 0." in words
    assert words.count("picks the report") == 1  # steady decided nothing
    assert "2 judges have made all 8 calls" in words
    assert "Nothing went wrong" in words
    assert "still to be made" not in words


def test_open_calls_are_counted_with_the_command_that_makes_them(engine_here: Engine, tmp_path: Path) -> None:
    study = make_disputed(engine_here, tmp_path / "reports", judged=False)
    judge(engine_here, study, "mini", Stub(lambda text, number: judgments(text, "first")), limit=1)
    words = shown(judges_page(engine_here, study))
    assert "mini has made 1 of 4 calls" in words
    assert "3 calls are still to be made" in words
    assert "calipers judge resume disputed --judges judges.toml" in words


def test_imported_judges_made_no_call_here_and_cannot_be_asked(engine_here: Engine, tmp_path: Path) -> None:
    study = make_study(engine_here, tmp_path / "reports")
    bring_results(engine_here, study, labels_file(tmp_path / "labels.csv", [{}]), "labels")
    screen = judges_page(engine_here, study)
    words = shown(screen)
    assert "mini has imported answers and made no call here; 1 of 1 answers are usable" in words
    assert "its prompt and settings are not known here" in words
    assert "No call was made here; what went wrong where the answers were made is not known" in words
    assert "every reply was read" not in words
    assert [button.label for button in screen.button] == []


def test_what_an_imported_judge_cost_is_shown_as_imported_unless_an_answer_does_not_say(
    engine_here: Engine, tmp_path: Path
) -> None:
    study = make_study(engine_here, tmp_path / "reports")
    said = {"cost_usd": "0.25", "seconds": "2"}
    rows = [said, said | {"criterion": "deep"}, {"rater_id": "maxi", "cost_usd": "", "seconds": "3"}]
    bring_results(engine_here, study, labels_file(tmp_path / "labels.csv", rows), "labels")
    with reading(engine_here) as session:
        found = imported_costs(session, session.get_one(Study, study))
        runs = judge_runs(session, local_admin(session.get_one(Study, study)))
    assert found == {"mini": ImportedCost(0.5, 4.0), "maxi": ImportedCost(None, 3.0)}  # a pass: both its criteria
    html = standing_table(runs, {}, found)
    assert '0.5000<small class="c-under">imported' in html
    assert '4.0<small class="c-under">imported' in html
    assert '3.0<small class="c-under">imported' in html
    assert html.count('class="c-under">imported') == 5  # and under each name
    one = runs.standings[0]
    more = replace(one, money=replace(one.money, beside={"align": None, "padding": 0.0258}))
    html = standing_table(replace(runs, standings=(more,)), {}, {})
    assert "+ – for align<br>+ 0.0258 for padding" in html, "a line each, or the column takes the table's width"


def test_a_page_that_refreshes_itself_stops_for_whoever_signed_out(
    engine_here: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    principal, cookie = evaluator(engine_here, make_disputed(engine_here, tmp_path / "reports", judged=False))
    with transaction(engine_here) as session:
        sign_out(session, cookie)

    def to_the_shell() -> None:
        raise InterruptedError

    monkeypatch.setattr(st, "rerun", to_the_shell)
    with pytest.raises(InterruptedError):
        judges.draw_now(principal, cookie, {}, {}, True)


def test_disagreements_are_filtered_and_walked_through(engine_here: Engine, tmp_path: Path) -> None:
    study = make_disputed(engine_here, tmp_path / "reports")
    screen = disagreements_page(engine_here, study)
    assert "8 of 8 questions are answered differently by a judge and an annotator: 4 hard" in shown(screen)
    assert [box.label for box in screen.selectbox] == ["Judge", "Criterion", "System", "Kind"]  # one category only
    assert [button.label for button in screen.button] == ["Previous", "Next", *map(str, range(1, 9))]
    drawn(screen.button(key="next").click().run())
    assert "2 of 8" in shown(screen)
    drawn(screen.selectbox(key="kind").select("soft").run())
    assert "A soft difference in 4 of 8 questions" in shown(screen)  # of all that were asked, of any kind
    assert "1 of 4" in shown(screen)  # a filter starts at the first again
    drawn(screen.button(key="go_3").click().run())
    assert "4 of 4" in shown(screen)
    assert screen.button(key="next").disabled
    drawn(screen.selectbox(key="judge").select("always-first").run())
    assert "Take a filter away" in shown(screen)
    assert "No soft difference among 4 questions" in shown(screen)


def test_a_blind_study_names_no_system_beside_an_answer(engine_here: Engine, tmp_path: Path) -> None:
    study = make_disputed(engine_here, tmp_path / "reports", blind_until="closed")
    screen = disagreements_page(engine_here, study)
    assert [box.label for box in screen.selectbox] == ["Judge", "Criterion", "Kind"]
    assert not any(name in shown(screen) for name in (*SYSTEMS, "Ada", "Ben"))
    assert "annotator-01" in shown(screen)


def test_a_run_is_asked_for_only_after_its_cost_was_shown_and_no_model_library_is_needed(
    engine_here: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = make_disputed(engine_here, tmp_path / "reports", judged=False)
    monkeypatch.setattr(client, "library", lambda: pytest.fail("litellm was started in the app's process"))
    judge(engine_here, study, "mini", Stub(lambda text, number: judgments(text, "first")), limit=1)
    screen = judges_page(engine_here, study)
    assert [button.label for button in screen.button] == ["Pause mini", "Estimate"]
    drawn(screen.button(key="pause_mini").click().run())
    assert "stopped: paused by hand" in shown(screen)
    assert "3 calls are still to be made, and no worker makes them while they are paused." in shown(screen)
    drawn(screen.button(key="pause_mini").click().run())
    assert "paused" not in shown(screen)
    assert requested(engine_here) == [["mini"]], "to go on is to ask a worker"
    with transaction(engine_here) as session:
        session.execute(delete(JudgeRequest))
    drawn(screen.run())
    drawn(screen.button(key="estimate").click().run())
    assert "mini would make 3 calls (3 planned before), likely USD 0.00" in shown(screen)
    assert [button.label for button in screen.button] == ["Pause mini", "Estimate", "Ask for these 3 calls", "Not now"]
    assert requested(engine_here) == []
    drawn(screen.button(key="not_now").click().run())
    assert [button.label for button in screen.button] == ["Pause mini", "Estimate"]
    assert requested(engine_here) == []
    drawn(screen.button(key="estimate").click().run())
    drawn(screen.button(key="ask").click().run())
    assert requested(engine_here) == [["mini"]]
    assert "asked for and not finished: mini" in shown(screen)
    assert "calipers judge resume disputed --judges judges.toml --wait" in shown(screen)
    assert [button.label for button in screen.button] == ["Pause mini"], "once is enough"
    with transaction(engine_here) as session:  # a worker is told its address
        keep_judges(session, local_admin(session.get_one(Study, study)), ELSEWHERE)
    assert f"resume disputed --from-app --wait --api-base={AT}</code>" in shown(drawn(screen.run()))
    taken = next_request(engine_here, study, ["mini"])
    assert taken is not None
    end_request(engine_here, taken, {"mini": "judge 'mini': the environment variable A_KEY is not set; export it"})
    drawn(screen.run())
    assert (
        "mini was asked for and not run: judge &#x27;mini&#x27;: the environment variable A_KEY is not set; "
        in shown(screen)
    )
    drawn(screen.button(key="estimate").click().run())
    drawn(screen.button(key="ask").click().run())
    assert "A_KEY" not in shown(screen)
    assert requested(engine_here) == [["mini"], ["mini"]]
    monkeypatch.setattr(leaving, "send_away", lambda *_: None)  # a button acts before its page looks who is there
    with transaction(engine_here) as session:
        withdraw(session, local_admin(session.get_one(Study, study)), "Eva")
    drawn(screen.button(key="pause_mini").click().run())
    assert "paused" not in shown(screen), "whoever was taken out does nothing from a page left open"


def test_where_nothing_is_missing_nothing_can_be_asked_for(engine_here: Engine, tmp_path: Path) -> None:
    screen = judges_page(engine_here, make_disputed(engine_here, tmp_path / "reports"))
    drawn(screen.button(key="estimate").click().run())
    assert "Nothing is missing: a run of always-first would make no calls" in shown(screen)
    assert [button.label for button in screen.button] == ["Estimate", "Not now"]
    drawn(screen.selectbox(key="judge_to_run").select("steady").run())
    assert "Nothing is missing" not in shown(screen), "an estimate is of the judge that is chosen"


def test_a_prompt_is_read_by_judge_item_and_call(engine_here: Engine, tmp_path: Path) -> None:
    study = make_disputed(engine_here, tmp_path / "reports", judged=False)
    judge(
        engine_here, study, "mini", Stub(lambda text, number: judgments(text, "first")), limit=1, more="concurrency = 1"
    )
    screen = judges_page(engine_here, study)
    call = screen.selectbox[-1]
    assert call.options == ["pass 1 · 2 criteria · done", "pass 2 · 2 criteria · not sent yet"]
    assert "You compare two research reports" not in shown(screen), "no prompt is read before it is asked for"
    drawn(call.select_index(0).run())
    assert "proved by sha256" in shown(screen)
    drawn(screen.selectbox[-1].select_index(1).run())
    assert "as it will be sent" in shown(screen)
    assert "You compare two research reports" in shown(screen)
    assert not any(name in shown(screen) for name in SYSTEMS)


def requested(engine: Engine) -> list[list[str]]:
    with reading(engine) as session:
        return list(session.scalars(select(JudgeRequest.judges).order_by(JudgeRequest.id)))
