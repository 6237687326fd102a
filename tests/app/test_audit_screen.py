"""The audit page: acts by pseudonym, newest first, without secrets and without raters' own work."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Engine, select
from streamlit.testing.v1 import AppTest

from annotation.participation.audit_trail import in_words, list_acts
from annotation.participation.standing import pause
from annotation.people.links import invite, open_link
from annotation.people.principals import Principal, local_admin
from annotation.people.sign_ins import end_sign_in, open_sign_ins, sign_in, who
from annotation.work.claiming import take
from app.screens.study.audit import as_csv
from db.connect import reading, transaction
from db.tables import Event, Study
from tests.app.drawing import drawn, html_of
from tests.small_study import a_person, make_study


def run(cookie):  # type: ignore[no-untyped-def]  # Streamlit runs this as a file of its own
    from annotation.people.sign_ins import who
    from app.screens.study import audit
    from app.settings import database
    from db.connect import reading

    with reading(database()) as session:
        principal = who(session, cookie)
    audit.show(principal, cookie)


def signed_in(engine: Engine, study_id: int, name: str, role: str) -> tuple[Principal, str]:
    with transaction(engine) as session:
        cookie = sign_in(session, invite(session, local_admin(session.get_one(Study, study_id)), name, role), "::1")
        principal = who(session, cookie)
    assert cookie is not None
    assert principal is not None
    return principal, cookie


def test_acts_are_told_by_pseudonym_and_a_secret_of_the_trail_is_not(engine_here: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine_here, tmp_path)
    root, cookie = signed_in(engine_here, study_id, "Root", "admin")
    with transaction(engine_here) as session:
        assert take(session, a_person(session, study_id, "Ben")) is not None
        open_link(session, root, places=3)
        pause(session, root, "Ben")
    with reading(engine_here) as session:
        key = session.scalars(select(Event.data).where(Event.what == "participant_key")).one()["key"]
        acts = list_acts(session, root)
    newest = acts[0]
    assert (newest.who, newest.what, newest.facts) == (
        "admin-01", "pause", "enrollment annotator-01, old active, new paused",
    )  # fmt: skip
    assert {"init", "import", "pairs", "status", "invite", "sign_in", "open_link"} <= {act.what for act in acts}
    assert not {"take", "submit", "participant_key"} & {act.what for act in acts}
    assert acts[-1].who == "calipers"
    page = "".join(html_of(drawn(AppTest.from_function(run, args=(cookie,), default_timeout=60).run())))
    for text in (page, as_csv(acts)):
        assert "enrollment annotator-01, old active, new paused" in text
        assert key not in text
        assert "Ben" not in text


def test_facts_are_short_and_what_is_nothing_is_left_out() -> None:
    assert in_words({"old": "x" * 500, "nothing": None, "new_link": False}) == f"old {'x' * 119}…, new link no"
    told = in_words({"judges": ["mini", "max"], "share": 2 / 3, "amount": {"total": 3, "per_topic": None}})
    assert told == "judges mini; max, share 0.6667, amount (total 3)"


def test_an_admin_sees_who_is_signed_in_and_ends_one_browser(engine_here: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine_here, tmp_path)
    root, _ = signed_in(engine_here, study_id, "Root", "admin")
    (_, first), (_, second) = (signed_in(engine_here, study_id, "Ada", "annotator") for _ in range(2))
    with transaction(engine_here) as session:
        found = open_sign_ins(session, root)
        assert [one.name for one in found] == ["Ada", "Ada", "Root"]
        end_sign_in(session, root, found[0].id)
        assert (who(session, second), who(session, first) is None) == (None, False)
        assert [one.name for one in open_sign_ins(session, root)] == ["Ada", "Root"]
