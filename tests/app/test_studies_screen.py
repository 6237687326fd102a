"""Home: one person's studies, another one made by them, and a browser that goes from one to the other."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session
from streamlit.testing.v1 import AppTest

from annotation.errors import AnnotationError, ImportingError
from annotation.participation import own_studies, standing
from annotation.people.links import invite, revoke
from annotation.people.principals import Principal, local_admin
from annotation.people.sign_ins import acting, sign_in, sign_out_person, who
from annotation.protocol import Scale, parse_protocol, read_protocol, shipped_protocols
from annotation.studies import init_study, protocol_of
from app.component import TRYING
from app.demo import preview
from app.screens.study import protocol_form
from app.settings import settings
from db.connect import reading, transaction
from db.tables import Event, Study
from tests.app.drawing import drawn, html_of
from tests.app.test_setting_up import pressed, run, said
from tests.small_study import PROTOCOL, make_study


@pytest.fixture
def olga(engine_here: Engine) -> tuple[Principal, str]:
    """The admin of the study `mine`, beside which there is one of somebody else, and her cookie."""
    with transaction(engine_here) as session:
        init_study(session, "foreign", PROTOCOL, 7)
        token = invite(session, local_admin(init_study(session, "mine", PROTOCOL, 7)), "Olga", "admin")
        cookie = sign_in(session, token, "::1")
        found = who(session, cookie)
    assert cookie is not None
    assert found is not None
    return found, cookie


def made(engine: Engine, olga: Principal, name: str = "second") -> int:
    with transaction(engine) as session:
        return own_studies.make_study(session, olga, name, PROTOCOL, 7)[0].id


def of(engine: Engine, name: str) -> int:
    with reading(engine) as session:
        return session.scalars(select(Study.id).where(Study.name == name)).one()


def test_a_study_is_made_on_the_page_and_one_begins_in_it(
    engine_here: Engine, olga: tuple[Principal, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, cookie = olga
    monkeypatch.setenv("CALIPERS_BACKUP_FOLDER", str(tmp_path / "kept"))
    settings.cache_clear()
    screen = AppTest.from_function(run, args=(cookie, "studies"), default_timeout=60).run()
    assert "You take part in 1 study." in said(screen)
    assert "No backup has been made yet" in said(screen)
    assert "foreign" not in said(screen)
    screen.text_input(key="study_name").set_value("mine").run()
    assert "there is a study called &#x27;mine&#x27;" in said(pressed(screen, "study_make"))
    screen.text_area(key="protocol_text").set_value("format = 1").run()
    assert "To mend" in said(screen)
    assert screen.button(key="study_make").disabled
    screen.text_area(key="protocol_text").set_value(read_protocol("quick_start")[1]).run()
    screen.text_input(key="study_name").set_value("second").run()
    pressed(screen, "study_make")
    assert "Copy your link to it now" in said(screen)
    pressed(screen, f"study_go_{of(engine_here, 'second')}")
    with reading(engine_here) as session:
        there = who(session, cookie)
        acts = session.execute(
            select(Event.what, Event.rater_id).where(Event.study_id == of(engine_here, "second"))
        ).all()
    assert there is not None
    assert (there.study_id, there.role) == (of(engine_here, "second"), "admin")
    assert {tuple(act) for act in acts} == {("init", there.rater_id), ("sign_in", there.rater_id)}
    again = AppTest.from_function(run, args=(cookie, "studies"), default_timeout=60).run()
    assert "You take part in 2 studies." in said(again)
    pressed(again, "study_away")
    assert "You take part in 1 study." in said(again)


def test_costs_and_hours_are_summed_over_the_studies_of_an_owner_alone(
    engine_here: Engine, olga: tuple[Principal, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, currency in (("a", "EUR"), ("b", "USD")):
        with transaction(engine_here) as session:
            paid = PROTOCOL.replace("[study]", f'[study]\npay = {{rate = 30.0, currency = "{currency}"}}')
            own_studies.make_study(session, olga[0], name, paid, 7)
    monkeypatch.setattr("app.screens.study.studies.ledger.study_cost", lambda session, study: (1.25, study.name == "a"))
    hours = SimpleNamespace(value={1: 1800.0, 2: 3600.0})
    monkeypatch.setattr("app.screens.study.studies.waiting.computed", lambda *given, **more: hours)
    shown = said(AppTest.from_function(run, args=(olga[1], "studies"), default_timeout=60).run())
    rows = [re.findall("<td>(.*?)</td>", row) for row in re.findall("<tr>(.*?)</tr>", shown) if "All together" in row]
    assert rows == [["<b>All together</b>", "<b>3.75</b>", "<b>4.5</b>", "<b>EUR 45.00, USD 45.00</b>"]]
    assert "+ 1 call of unknown cost" in shown
    assert "foreign" not in shown


def test_a_protocol_is_changed_field_by_field_and_a_refusal_says_its_place(
    engine_here: Engine, olga: tuple[Principal, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = AppTest.from_function(run, args=(olga[1],), default_timeout=60).run()
    form = "protocol_text_own/"

    def refuse(*_: str) -> str:
        raise ImportingError("no such page")

    def written(text: str) -> str:
        return said(screen.text_area(key="protocol_text_own").set_value(text).run())

    assert "&#x27;clear&#x27; appears twice" in written(PROTOCOL.replace('id = "deep"', 'id = "clear"'))
    assert "not TOML" in written("format = ")
    head, *_ = PROTOCOL.partition("[[criterion]]")
    for slip in (
        f'{head}[criterion]\nid = "a"', f'criterion = ["a"]\n{head}',
        *(PROTOCOL.replace("[study]", f"[study]\n{line}") for line in ("aids = 5", "overlap = inf")),
    ):  # fmt: skip
        assert 'role="alert"' in written(slip)
        drawn(screen).text_area(key="protocol_text_own")  # the box that holds the slip stays
    assert "To mend" not in written(PROTOCOL)
    screen.number_input(key=f"{form}study.overlap").set_value(0).run()
    assert "To mend" not in said(screen), "it has a field"
    assert 'role="alert">Input should be greater than or equal to 1 (found 0)' in said(screen)
    assert not [one for one in screen.button if one.key == "protocol_take"]
    assert "First mend: study.overlap" in said(screen), "told below all tabs, where the button stood"
    screen.number_input(key=f"{form}study.overlap").set_value(2).run()
    pressed(screen, f"{form}criterion/Down")
    pressed(screen, f"{form}criterion/Add")
    screen.text_area(key=f"{form}criterion.2.text").set_value("Which digs\ndeeper?").run()
    screen.selectbox(key=f"{form}criterion/chosen").set_value(0).run()
    screen.text_input(key=f"{form}criterion.0.label").set_value("").run()
    assert "(found &#x27;&#x27;)" in said(screen)
    pressed(screen, f"{form}criterion/Remove")
    screen.text_area(key=f"{form}study.consent").set_value("You may stop.").run()
    pressed(screen, "protocol_take")
    assert "In use as it stands here: version 2." in said(screen)
    with reading(engine_here) as session:
        study = session.get_one(Study, olga[0].study_id)
        taken = protocol_of(study)
    assert (study.protocol_version, taken.study.overlap, taken.study.consent) == (2, 2, "You may stop.")
    assert [(one.id, one.text) for one in taken.criterion] == [
        ("clear", "Which is clearer?"), ("criterion_1", "Which digs\ndeeper?")
    ]  # fmt: skip
    for one in ("study = 3", "study = [3]"):
        assert tomllib.loads(protocol_form.put(one, ("study", "overlap"), 2)) == {"study": {"overlap": 2}}
    screen.selectbox(key=f"{form}task_type").set_value("pointwise_rating").run()
    assert "To mend" not in said(screen), "keys of the other task went, and what this one needs came"
    assert parse_protocol(screen.text_area(key="protocol_text_own").value).answers.scale == Scale(min=0, max=10)
    screen.number_input(key=f"{form}answers.scale.max").set_value(0).run()
    assert "max (0) must be above min (0)" in said(screen)
    screen.number_input(key=f"{form}answers.scale.max").set_value(10).run()
    screen.selectbox(key=f"{form}answers.paired_view").set_value("reference").run()
    assert not screen.exception, "a third report is shown beside"
    monkeypatch.setattr(preview, "preview", refuse)
    screen.selectbox(key=f"{form}answers.paired_view").set_value("none").run()
    assert "no such page" in said(screen)
    assert [one for one in screen.button if one.key == "protocol_take"], "the form stays where its page cannot be made"


@pytest.mark.parametrize("name", shipped_protocols())
def test_every_protocol_can_be_tried_out_and_a_field_changes_its_own_key_alone(name: str) -> None:
    text = read_protocol(name)[1]
    html = preview.preview(text)
    assert f'<script type="module" src="{TRYING.address}">' in html
    assert '"opens":"item"' in html
    for path, value in (
        (("guidance",), "One\ntwo"), (("rationale", "required"), False), (("study", "training", "items"), 2),
        (("study", "aids"), ["undo"]), (("answers", "labels"), [{"id": "a", "text": "A"}]), (("study", "pay", "rate"), 12.5),
    ):  # fmt: skip
        before = tomllib.loads(text)
        text = protocol_form.put(text, path, value)
        wanted = before
        for step in path[:-1]:
            wanted = wanted.setdefault(step, {})
        wanted[path[-1]] = value
        assert tomllib.loads(text) == before, path


def test_a_browser_goes_to_a_study_of_the_same_person_alone(engine_here: Engine, olga: tuple[Principal, str]) -> None:
    mine, cookie = olga
    second = made(engine_here, mine)
    with transaction(engine_here) as session, pytest.raises(AnnotationError, match="no such study"):
        own_studies.go_to(session, mine, cookie, of(engine_here, "foreign"))
    with transaction(engine_here) as session:
        own_studies.go_to(session, mine, cookie, second)
        there = who(session, cookie)
        assert there is not None
        assert there.study_id == second
        with pytest.raises(AnnotationError, match="went on to another study"):
            acting(session, cookie, mine.study_id)  # what a page of the first study asks for
        assert acting(session, cookie, second) == there
        with pytest.raises(AnnotationError, match="no such study"):
            own_studies.go_to(session, mine, cookie, second)  # asked by a page that is behind


def test_a_link_that_a_co_admin_makes_leads_to_no_study_which_they_do_not_share(
    engine_here: Engine, olga: tuple[Principal, str]
) -> None:
    mine, _ = olga
    private = made(engine_here, mine)

    def there(session: Session, token: str) -> tuple[Principal, list[int]]:
        cookie = sign_in(session, token, "::1") or ""
        person = who(session, cookie)
        assert person is not None
        places = [place.study_id for place in own_studies.own_places(session, person)]
        with pytest.raises(AnnotationError, match="no such study"):
            own_studies.go_to(session, person, cookie, private)
        return person, places

    with transaction(engine_here) as session:
        first = local_admin(session.get_one(Study, mine.study_id))
        invite(session, first, "Bob", "admin")
        person, places = there(session, invite(session, first, "Olga", "admin", new_link=True))
        assert (person.rater_id, places) == (mine.rater_id, [mine.study_id])
        # nor does what is made by such a link lead on, whoever is then taken out
        trap, token = own_studies.make_study(session, person, "trap", PROTOCOL, 7)
        standing.withdraw(session, first, "Bob")
        maker, places = there(session, token)
        assert (maker.rater_id != mine.rater_id, places) == (True, [trap.id])
        for name in ("server's own key", " server's own key"):
            with pytest.raises(AnnotationError, match="runs the server"):
                invite(session, first, name, "admin")


def test_a_study_made_here_has_a_link_that_works_when_the_first_one_does_not(
    engine_here: Engine, olga: tuple[Principal, str]
) -> None:
    with transaction(engine_here) as session:
        second, token = own_studies.make_study(session, olga[0], "second", PROTOCOL, 7)
        first = local_admin(session.get_one(Study, olga[0].study_id))
        # somebody made in the browser what is newer than all that the command line made: the key leads past it
        key = who(session, sign_in(session, "k" * 32, "::1", "k" * 32))
        assert key is not None
        assert key.study_id == first.study_id
        invite(session, first, "Bob", "admin")
        standing.withdraw(session, first, "Olga")
        cookie = sign_in(session, token, "::1") or ""
        person = who(session, cookie)
        assert person is not None
        assert [place.study_id for place in own_studies.own_places(session, person)] == [second.id]


def test_links_and_sign_outs_of_one_study_end_the_browser_wherever_it_went(
    engine_here: Engine, olga: tuple[Principal, str]
) -> None:
    mine, cookie = olga
    second = made(engine_here, mine)
    with transaction(engine_here) as session:
        first = local_admin(session.get_one(Study, mine.study_id))
        own_studies.go_to(session, mine, cookie, second)
        assert who(session, cookie) is not None
        sign_out_person(session, first, "Olga")
        assert who(session, cookie) is None
        cookie = sign_in(session, invite(session, first, "Olga", "admin"), "::1") or ""
        there = who(session, cookie)
        assert there is not None
        own_studies.go_to(session, there, cookie, second)
        revoke(session, first, "Olga")
        assert who(session, cookie) is None


def test_an_annotators_link_leads_to_its_own_study_alone(engine_here: Engine, tmp_path: Path) -> None:
    study_id, other = (make_study(engine_here, tmp_path / name, name=name) for name in ("one", "other"))
    with transaction(engine_here) as session:
        for study in (other, study_id):
            token = invite(session, local_admin(session.get_one(Study, study)), "ada@lab.org", "annotator")
        cookie = sign_in(session, token, "::1") or ""
        ada = who(session, cookie)
        assert ada is not None
        assert [place.study_id for place in own_studies.own_places(session, ada)] == [study_id]
        with pytest.raises(AnnotationError, match="no such study"):
            own_studies.go_to(session, ada, cookie, other)
        with pytest.raises(AnnotationError, match="needs the role admin"):
            own_studies.make_study(session, ada, "x", PROTOCOL, 1)


def test_what_is_pressed_on_a_page_of_another_study_is_forgotten(
    engine_here: Engine, olga: tuple[Principal, str]
) -> None:
    mine, cookie = olga
    second = made(engine_here, mine)
    screen = AppTest.from_function(run, args=(cookie, "people"), default_timeout=60).run()
    drawn(screen)
    with transaction(engine_here) as session:
        own_studies.go_to(session, mine, cookie, second)
    pressed(screen, "people_pause")
    drawn(screen)
    with reading(engine_here) as session:
        assert not session.scalars(select(Event.id).where(Event.what == "pause")).all()
    assert "second" in "".join(html_of(screen))
