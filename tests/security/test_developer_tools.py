"""An annotator who sends by hand whatever a page could send learns and changes nothing more.

The browser is left out: its websocket is spoken directly, with every address, page, widget, fragment and file that an
admin's own pages were seen to use.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from google.protobuf.message import Message
from sqlalchemy import select
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import ClientConnection

from annotation.people.sign_ins import csrf_token
from db.connect import reading
from db.people_tables import Enrollment, Invite, Rater
from db.tables import Assignment, Event, Label
from tests.browser.blinded import Blind, blind_study
from tests.security.raw import ask, run_page, sent, signed_in, socket

pytestmark = pytest.mark.slow

OTHERS = {"Zbea Quorlax": "annotator", "Zadj Brenthor": "adjudicator", "Zeva Vimmo": "evaluator", "Zadm Plim": "admin"}
RATIONALE = "zrationale-of-bea is nobody's business"


@dataclass
class Seen:
    """What an admin's pages told the browser about themselves."""

    pages: dict[str, str] = field(default_factory=dict)  # path -> hash
    widgets: set[str] = field(default_factory=set)
    fragments: set[str] = field(default_factory=set)
    files: set[str] = field(default_factory=set)
    session: str = ""
    text: str = ""

    def read(self, messages: Iterable[ForwardMsg]) -> None:
        for one in messages:
            self.text += str(one)
            for name, value in strings(one):
                if name in ("id", "element_id") and value.startswith("$$"):
                    self.widgets.add(value)
                elif name == "fragment_id" and value:
                    self.fragments.add(value)
                elif name == "deferred_file_id" and value:
                    self.files.add(value)
                elif name == "session_id":
                    self.session = value


def strings(message: Message) -> Iterator[tuple[str, str]]:
    """(name, value) of every text in a message, at any depth."""
    for one, value in message.ListFields():
        for each in value if one.is_repeated else [value]:
            if isinstance(each, Message):
                yield from strings(each)
            elif isinstance(each, str):
                yield one.name, each


@dataclass
class Tried:
    server: Any
    blind: Blind
    ada: str  # her cookie
    admin: str
    aid: str
    seen: Seen

    def hidden(self) -> set[str]:
        """Everything that is not Ada's to know, as words."""
        with reading(self.server.engine) as session:
            mine = select(Assignment.aid).where(Assignment.study_id == self.blind.study_id, Assignment.aid != self.aid)
            aids = set(session.scalars(mine))
            people = session.execute(
                select(Rater.opaque_id, Enrollment.pseudonym, Rater.handle)
                .join(Enrollment, Enrollment.rater_id == Rater.id)
                .where(Enrollment.study_id == self.blind.study_id, Rater.handle != "Ada")
            ).all()
        words = {word for person in people for word in person} | aids
        return words | set(self.blind.sentinels) | {RATIONALE, self.admin, csrf_token(self.admin)}

    def found(self, said: str) -> list[str]:
        folded = said.casefold()
        return sorted(word for word in self.hidden() if word.casefold() in folded)


def take(server: Any, cookie: str) -> str:
    headers = {"Cookie": f"calipers={cookie}", "Origin": server.address, "X-Calipers-Token": csrf_token(cookie)}
    reply = ask(server, "POST", "/api/take", b"{}", **headers, Content_Type="application/json")
    return str(json.loads(reply.body)["next"])


def label(server: Any, cookie: str, aid: str) -> None:
    headers = {"Cookie": f"calipers={cookie}", "Origin": server.address, "X-Calipers-Token": csrf_token(cookie)}
    page = json.loads(ask(server, "GET", f"/api/assignment/{aid}", **headers).body)["page"]
    entry = {
        "kind": "label", "aid": aid, "page": page, "criterion": "clear", "choice": "left", "rationale": RATIONALE,
        "evidence": [], "confidence": None, "client_uuid": uuid.uuid4().hex, "writer": "writer-1", "seq": 1, "base_rev": 0,
        "client_ts": "",
    }  # fmt: skip
    body = json.dumps({"entries": [entry]}).encode()
    assert json.loads(ask(server, "POST", "/api/labels", body, **headers, Content_Type="application/json").body)["acks"]


@pytest.fixture(scope="module")
def tried(server: Any, tmp_path_factory: pytest.TempPathFactory) -> Tried:
    """Ada and Bea at work, and an admin who has looked at every page of theirs."""
    root = tmp_path_factory.mktemp("zpath-hovel")
    blind = blind_study(server, root)
    cookies = {name: signed_in(server, blind.study_id, name, role) for name, role in OTHERS.items()}
    ada = ask(server, "GET", blind.token.removeprefix(server.address)).cookie
    aid = take(server, ada)
    label(server, cookies["Zbea Quorlax"], take(server, cookies["Zbea Quorlax"]))
    admin, seen = cookies["Zadm Plim"], Seen()
    with socket(server, admin) as line:
        first = run_page(line)
        seen.read(first)
        pages = [one.navigation.app_pages for one in first if one.WhichOneof("type") == "navigation"][-1]
        seen.pages = {one.url_pathname: one.page_script_hash for one in pages}
        for page in seen.pages.values():
            seen.read(run_page(line, page))
    return Tried(server, blind, ada, admin, aid, seen)


def stored(tried: Tried) -> list[Any]:
    """What an admin's widgets would change."""
    study = tried.blind.study_id
    with reading(tried.server.engine) as session:
        people = session.execute(
            select(Enrollment.id, Enrollment.status, Enrollment.quota, Enrollment.role).where(
                Enrollment.study_id == study
            )
        ).all()
        links = session.execute(select(Invite.id, Invite.revoked_at)).all()
        audits = session.scalars(select(Event.id).where(Event.study_id == study, Event.kind == "audit")).all()
        work = session.execute(select(Assignment.aid, Assignment.status).where(Assignment.study_id == study)).all()
        return [
            sorted(people),
            sorted(links, key=str),
            sorted(audits),
            sorted(work),
            list(session.scalars(select(Label.id))),
        ]


def test_the_admins_pages_do_hold_what_is_looked_for(tried: Tried) -> None:
    """Without which finding nothing would show nothing."""
    assert {"people", "progress", "paper", "disputes"} <= set(tried.seen.pages)
    assert len(tried.seen.widgets) > 10
    assert tried.seen.files
    found = tried.found(tried.seen.text)
    assert {"Zbea Quorlax", "annotator-02"} & set(found)


def asking(line: ClientConnection, **state: Any) -> str:
    message = BackMsg()
    for name, value in state.items():
        setattr(message.rerun_script, name, value)
    if not state:
        message.rerun_script.SetInParent()
    return "".join(map(str, sent(line, message)))


def test_no_page_fragment_address_or_widget_of_others_answers_an_annotator(tried: Tried) -> None:
    before, said = stored(tried), ""
    with reading(tried.server.engine) as session:
        others = list(session.scalars(select(Assignment.aid).where(Assignment.aid != tried.aid).limit(2)))
    with socket(tried.server, tried.ada) as line:
        said += asking(line)
        for path, page in tried.seen.pages.items():
            said += asking(line, page_script_hash=page, page_name=path)
        for path in ("people", "paper"):  # as typed by hand, before any hash is known
            said += asking(line, page_name=path)
        for aid in others:
            said += asking(line, query_string=f"open={aid}")
        for query in ("open=' OR 1=1 --", "page=people", "role=admin", "study=1", "embed=true", "open=" + "x" * 5000):
            said += asking(line, query_string=query)
        for fragment in (*tried.seen.fragments, "none"):  # of another page there is none, and no answer
            message = BackMsg()
            message.rerun_script.fragment_id = fragment
            line.send(message.SerializeToString())
        said += asking(line)
    assert tried.found(said) == []
    assert stored(tried) == before


def test_pressing_every_widget_of_an_admins_pages_changes_nothing(tried: Tried) -> None:
    before, said = stored(tried), ""
    with socket(tried.server, tried.ada) as line:
        asking(line)
        for page in (tried.seen.pages["people"], ""):
            message = BackMsg()
            message.rerun_script.page_script_hash = page
            for widget in sorted(tried.seen.widgets):
                message.rerun_script.widget_states.widgets.add(id=widget, trigger_value=True)
                if "area" in widget or "text" in widget:
                    message.rerun_script.widget_states.widgets[-1].string_value = "Mallory"
            said += "".join(map(str, sent(line, message)))
    assert tried.found(said) == []
    assert stored(tried) == before


def test_a_file_that_an_admin_could_download_is_not_there_for_an_annotator(tried: Tried) -> None:
    with socket(tried.server, tried.admin) as admins:
        seen = Seen()
        seen.read(run_page(admins, tried.seen.pages["people"]))
        assert seen.files
        with socket(tried.server, tried.ada) as line:
            session = Seen()
            session.read(run_page(line))
            for file in seen.files:
                for pretended in (session.session, seen.session):
                    asked = BackMsg()
                    asked.backend_operation_request.session_id = pretended
                    asked.backend_operation_request.request_id = "one"
                    asked.backend_operation_request.deferred_file.file_id = file
                    line.send(asked.SerializeToString())
                    answer = str(ForwardMsg.FromString(line.recv(timeout=20)))  # type: ignore[arg-type]
                    assert tried.found(answer) == []
                    for path in (word for word in answer.split('"') if word.startswith("/media/")):
                        reply = ask(tried.server, "GET", path, Cookie=f"calipers={tried.ada}")
                        assert (reply.status, reply.body) == (404, b"not found")


@pytest.mark.parametrize("while_open", [True, False])
def test_the_session_of_an_admins_page_gives_its_taker_nothing(tried: Tried, while_open: bool) -> None:
    """Streamlit lets a page that lost its line go on by the number of its session; who asks is looked up all the same."""
    admins = socket(tried.server, tried.admin)
    seen = Seen()
    seen.read(run_page(admins, tried.seen.pages["people"]))
    if not while_open:
        admins.close()
    with socket(tried.server, tried.ada, session=seen.session) as line:
        said = asking(line) + asking(line, page_script_hash=tried.seen.pages["people"])
    admins.close()
    assert tried.found(said) == []


def test_no_number_of_work_answers_but_ones_own(tried: Tried) -> None:
    """Every item that is open, taken by others, or still to come."""
    with reading(tried.server.engine) as session:
        aids = list(session.scalars(select(Assignment.aid).where(Assignment.study_id == tried.blind.study_id)))
    assert len(aids) > 5
    replies = {
        aid: [ask(tried.server, "GET", f"/api/{what}/{aid}", Cookie=f"calipers={tried.ada}") for what in ("assignment", "history")]
        for aid in aids
    }  # fmt: skip
    assert [aid for aid, (page, _) in replies.items() if page.status == 200] == [tried.aid]
    assert {one.status for aid, both in replies.items() if aid != tried.aid for one in both} == {404}
    told = "".join(one.body.decode() for both in replies.values() for one in both)
    assert tried.found(told) == []
