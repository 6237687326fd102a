"""The admin's Crowd page: a link with what to paste where, who came, and a settlement looked at before it is noted."""

from __future__ import annotations

import itertools
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import Engine, select
from streamlit.runtime.scriptrunner_utils import script_requests, script_run_context
from streamlit.testing.v1 import AppTest

from annotation.labelling import submit
from annotation.people.links import find_open_link, invite, open_link
from annotation.people.platforms import PLATFORMS, to_paste
from annotation.people.principals import Principal, local_admin
from annotation.people.sign_ins import sign_in
from annotation.people.visits import enter
from annotation.work.claiming import take
from annotation.work.page import assignment_page
from app.results import quality
from db.connect import reading, transaction
from db.people_tables import Enrollment
from db.tables import Assignment, Event, Study
from db.types import now
from tests.app.drawing import drawn, html_of
from tests.app.test_crowd import PAID
from tests.small_study import answer_all, make_study


def run(cookie):  # type: ignore[no-untyped-def]  # Streamlit runs this as a file of its own
    from annotation.people.sign_ins import who
    from app.screens.study import crowd
    from app.settings import database
    from db.connect import reading

    with reading(database()) as session:
        principal = who(session, cookie)
    crowd.show(principal, cookie)


def came_and_did_one_item(engine: Engine, study_id: int, token: str) -> None:
    with transaction(engine) as session:
        link = find_open_link(session, token)
        assert link is not None
        door = enter(session, link, token, "p1", "here", "v1")
        person = session.get_one(Enrollment, door.enrollment_id)
        who = Principal(study_id, "annotator", person.rater_id, person.id)
        mine = take(session, who)
        assert mine is not None
        shown = assignment_page(session, who, mine.aid)
        submit(session, who, mine.aid, shown["page"], f"submit-{mine.aid}", answer_all(session, who, mine.aid))


def test_a_link_goes_out_and_a_settlement_is_looked_at_before_it_is_noted(
    engine_here: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study_id = make_study(engine_here, tmp_path, protocol=PAID)
    with transaction(engine_here) as session:
        cookie = sign_in(
            session, invite(session, local_admin(session.get_one(Study, study_id)), "Root", "admin"), "::1"
        )
    screen = drawn(AppTest.from_function(run, args=(cookie,), default_timeout=60).run())
    assert "Nobody has come from a crowd platform yet." in "".join(html_of(screen))
    screen.number_input(key="link_quota").set_value(1)
    screen.text_input(key="crowd_completed").set_value("https://evil.example/x")
    drawn(screen.button(key="people_open_link").click().run())
    assert "needs a code of letters and digits, or an address of https://app.prolific.com" in "".join(html_of(screen))
    screen.text_input(key="crowd_completed").set_value("DONE1")
    drawn(screen.button(key="people_open_link").click().run())
    told = "".join(html_of(screen))
    address = told.split("What is the URL of your study?</th><td><code>")[1].split("</code>")[0].replace("&amp;", "&")
    assert address.endswith("?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}")
    came_and_did_one_item(engine_here, study_id, address.split("/invite/")[1].split("?")[0])
    drawn(screen.button(key="crowd_link_done").click().run())
    told = "".join(html_of(screen))
    assert ("1 came from a crowd platform: 1 completed." in told, "/invite/" in told) == (True, False)

    def settlements() -> int:
        with reading(engine_here) as session:
            return len(session.scalars(select(Event).where(Event.what == "settle")).all())

    upload = screen.file_uploader(key="crowd_list")
    upload.set_value(("list.csv", b"Submission id,Participant id\nv1,p1\n", "text/csv")).run()
    assert screen.button(key="crowd_look").disabled, "a reward that nobody typed is none"
    screen.number_input(key="crowd_reward").set_value(0.0).run()
    drawn(screen.button(key="crowd_look").click().run())
    assert "list.csv: no column status of Prolific&#x27;s list" in "".join(html_of(screen))
    listed = b"Submission id,Participant id,Status\nv1,p1,AWAITING REVIEW\nv2,p2,AWAITING REVIEW\n"
    screen.file_uploader(key="crowd_list").set_value(("list.csv", listed, "text/csv")).run()
    drawn(screen.button(key="crowd_look").click().run())
    told = "".join(html_of(screen))
    assert "1 of 2 submissions to approve, 0 bonuses of GBP 0.00 in all, 1 to look at." in told
    assert "on the platform&#x27;s list, and never came here" in told
    assert (settlements(), "Download approve.txt" in {one.label for one in screen.get("download_button")}) == (0, False)
    screen.button(key="crowd_settle").click()
    pressed, settled = screen._tree.get_widget_states(), quality.settled

    def pressed_again(*asked, **how):  # type: ignore[no-untyped-def]
        found, context = settled(*asked, **how), script_run_context.get_script_run_ctx()
        assert context is not None
        assert context.script_requests is not None
        context.script_requests.request_rerun(script_requests.RerunData(widget_states=pressed))
        return found

    with monkeypatch.context() as impatient:
        impatient.setattr(quality, "settled", pressed_again)
        drawn(screen.run())
    assert (settlements(), "Settlement 1 is noted." in "".join(html_of(screen))) == (1, True)
    assert {one.label for one in screen.get("download_button")} == {
        f"Download {name}" for name in ("approve.txt", "bonus.csv", "look.csv")
    }
    drawn(screen.button(key="crowd_done").click().run())
    drawn(screen.button(key="people_revoke_open_link").click().run())
    assert "withdrawn" in "".join(html_of(screen))


def test_a_long_time_is_paid_once_it_is_accepted_on_the_page(engine_here: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine_here, tmp_path, protocol=PAID)
    with transaction(engine_here) as session:
        admin = local_admin(session.get_one(Study, study_id))
        cookie, token = sign_in(session, invite(session, admin, "Root", "admin"), "::1"), open_link(session, admin, 9, 1, "prolific")  # fmt: skip
    came_and_did_one_item(engine_here, study_id, token)
    with transaction(engine_here) as session:
        mine = session.scalars(select(Assignment).where(Assignment.submitted_at.is_not(None))).one()
        mine.taken_at = begin = now() - timedelta(hours=20)
        steps = [begin + timedelta(minutes=6 * n) for n in range(201)]
        spent = [
            {"criterion": None, "start": a.isoformat(), "end": b.isoformat()} for a, b in itertools.pairwise(steps)
        ]
        session.add(Event(study_id=study_id, rater_id=mine.rater_id, assignment_id=mine.id, kind="activity", what="intervals", data={"intervals": spent}, client_ts=now().isoformat()))  # fmt: skip
    screen = drawn(AppTest.from_function(run, args=(cookie,), default_timeout=60).run())
    listed = b"Submission id,Participant id,Status\nv1,p1,AWAITING REVIEW\n"
    screen.file_uploader(key="crowd_list").set_value(("list.csv", listed, "text/csv")).run()
    screen.number_input(key="crowd_reward").set_value(1.0).run()
    drawn(screen.button(key="crowd_look").click().run())
    assert "0 bonuses of GBP 0.00 in all, 1 to look at." in "".join(html_of(screen))
    drawn(screen.multiselect(key="crowd_accepted").select("p1").run())
    assert "1 bonus of GBP 239.0" in "".join(html_of(screen))
    drawn(screen.multiselect(key="crowd_accepted").unselect("p1").run())
    assert "0 bonuses of GBP 0.00" in "".join(html_of(screen))
    drawn(screen.multiselect(key="crowd_accepted").select("p1").run())
    drawn(screen.button(key="crowd_settle").click().run())
    assert "Settlement 1 is noted." in "".join(html_of(screen))
    with reading(engine_here) as session:
        (line,) = session.scalars(select(Event.data).where(Event.what == "settle")).all()
    assert (line["accepted"], [*line["bonus"]]) == (["annotator-01"], ["annotator-01"])


def test_what_goes_into_each_field_of_a_platform_is_told_with_the_address() -> None:
    link = "https://calipers.example.org/invite/TOKEN"
    for name in ("", *PLATFORMS):
        pasted = to_paste(name, link)
        assert sum(link in said for _, said in pasted) == 1, name
        assert not any("{link}" in said for _, said in pasted), name
