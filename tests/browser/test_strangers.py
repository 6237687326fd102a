"""Strangers read, overwrite and download nothing: nobody signed in, somebody else, and somebody of another study."""

from __future__ import annotations

import http.client
import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from annotation.people.sign_ins import csrf_token
from db.connect import reading
from db.tables import Assignment, Event, Label
from tests.small_study import make_study, write_reports

pytestmark = pytest.mark.browser

WORDS = "a rationale that is nobody else's business"
FILES = (
    "calipers.db", "app/static/calipers.db", "static/../calipers.db", "static/%2e%2e/%2e%2e/calipers.db", "media/calipers.db",
    "component/calipers_annotate/../../calipers.db", "..%2f..%2fcalipers.db", "server.log", ".streamlit/config.toml", "app/main.py",
    "_stcore/upload_file/a/b", "exports/labels.csv", "labels.csv", "docs", "openapi.json",
)  # fmt: skip


@dataclass
class Visitor:
    """Plain HTTP, as somebody with a terminal does it: paths are sent as they are written."""

    server: Any
    cookie: str = ""

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, str]:
        line = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=20)
        own = {"Origin": self.server.address, "Content-Type": "application/json"}
        if self.cookie:
            own |= {"Cookie": f"calipers={self.cookie}", "X-Calipers-Token": csrf_token(self.cookie)}
        line.request(method, path, json.dumps(body) if body is not None else None, own | headers)
        answer = line.getresponse()
        text = answer.read().decode("utf-8", "replace")
        line.close()
        return answer.status, text

    def sign_in(self, link: str) -> Visitor:
        line = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=20)
        line.request("GET", link.removeprefix(self.server.address))
        cookie = line.getresponse().headers["Set-Cookie"]
        line.close()
        return Visitor(self.server, cookie.split("calipers=")[1].split(";")[0])


@dataclass
class Work:
    ada: Visitor
    aid: str
    page: str
    study_id: int

    def entry(self, **changes: Any) -> dict[str, Any]:
        return {"kind": "label", "aid": self.aid, "page": self.page, "criterion": "clear", "choice": "left", "rationale": WORDS,
                "evidence": [], "confidence": None, "client_uuid": uuid.uuid4().hex, "writer": "writer-of-ada", "seq": 1,
                "base_rev": 0, "client_ts": ""} | changes  # fmt: skip


@pytest.fixture(scope="module")
def work(server: Any, tmp_path_factory: pytest.TempPathFactory) -> Work:
    """Ada's item with one answer stored."""
    root = write_reports(tmp_path_factory.mktemp("reports"))
    study_id = make_study(server.engine, root, overlap=3, name=uuid.uuid4().hex)
    ada = Visitor(server).sign_in(server.link(study_id, "Ada"))
    aid = json.loads(ada.ask("POST", "/api/take", {})[1])["next"]
    work = Work(ada, aid, json.loads(ada.ask("GET", f"/api/assignment/{aid}")[1])["page"], study_id)
    assert json.loads(ada.ask("POST", "/api/labels", {"entries": [work.entry()]})[1])["refused"] == []
    return work


def nobody(server: Any, work: Work, tmp: Path) -> Visitor:
    return Visitor(server)


def a_made_up_cookie(server: Any, work: Work, tmp: Path) -> Visitor:
    return Visitor(server, "a" * 43)


def another_annotator(server: Any, work: Work, tmp: Path) -> Visitor:
    return Visitor(server).sign_in(server.link(work.study_id, "Bea"))


def somebody_of_another_study(server: Any, work: Work, tmp: Path) -> Visitor:
    other = make_study(server.engine, write_reports(tmp), overlap=3, name=uuid.uuid4().hex)
    return Visitor(server).sign_in(server.link(other, "Ada"))


def an_evaluator(server: Any, work: Work, tmp: Path) -> Visitor:
    return Visitor(server).sign_in(server.link(work.study_id, "Eve", "evaluator"))


def stored(server: Any, work: Work) -> tuple[Any, ...]:
    """All that Ada's work is, in the database."""
    with reading(server.engine) as session:
        mine = session.scalars(select(Assignment).where(Assignment.aid == work.aid)).one()
        labels = session.execute(
            select(Label.choice, Label.rationale, Label.revision).where(Label.assignment_id == mine.id)
        ).all()
        events = session.scalars(select(Event.id).where(Event.assignment_id == mine.id)).all()
        return mine.status, mine.rev, mine.place, mine.rater_id, labels, events


@pytest.mark.parametrize(
    "stranger", [nobody, a_made_up_cookie, another_annotator, somebody_of_another_study, an_evaluator]
)
def test_strangers_read_overwrite_and_download_nothing(
    server: Any, work: Work, tmp_path: Path, stranger: Callable[..., Visitor]
) -> None:
    visitor, before = stranger(server, work, tmp_path), stored(server, work)
    answers = [visitor.ask("GET", f"/api/{what}/{work.aid}") for what in ("assignment", "history")]
    unknown = [visitor.ask("GET", f"/api/{what}/{'f' * 32}") for what in ("assignment", "history")]
    assert answers == unknown, "foreign work is not told apart from work that is not there"
    assert {status for status, _ in answers} <= {401, 404}

    writer = {"writer": "writer-of-ada", "seq": 9}
    entries = [
        work.entry(choice="right", rationale="overwritten", **writer), work.entry(choice=None, rationale="", base_rev=1),
        {"kind": "comment", "aid": work.aid, "page": work.page, "text": "mine now", "client_uuid": uuid.uuid4().hex},
        {"kind": "place", "aid": work.aid, "page": work.page, "place": {"left": 1}, "client_uuid": uuid.uuid4().hex},
    ]  # fmt: skip
    status, text = visitor.ask("POST", "/api/labels", {"entries": entries})
    assert status == 401 or json.loads(text)["acks"] == []
    for outcome in ("submit", "skip", "reopen"):
        body = {"aid": work.aid, "page": work.page, "outcome": outcome, "reason": "mine", "client_uuid": uuid.uuid4().hex, "revs": {"clear": 1}}  # fmt: skip
        answers.append(visitor.ask("POST", "/api/submit", body))
        assert answers[-1][0] in (401, 404)
    assert stored(server, work) == before

    answers += [visitor.ask(method, f"/{path}") for path in FILES for method in ("GET", "PUT", "DELETE")]
    told = "\n".join([text, *(said for _, said in answers)])
    for secret in (WORDS, "writer-of-ada", "SQLite format 3", "[server]", "calipers_annotate("):
        assert secret not in told


@pytest.mark.parametrize(
    "forged", [{"Origin": "https://evil.test"}, {"X-Calipers-Token": "0" * 64}, {"Content-Type": "text/plain"}], ids=str
)
def test_a_page_of_somebody_else_cannot_write_with_adas_cookie(server: Any, work: Work, forged: dict[str, str]) -> None:
    before = stored(server, work)
    entry = work.entry(choice="right", seq=10)
    status, _ = work.ada.ask("POST", "/api/labels", {"entries": [entry]}, **forged)
    assert status in (403, 422)
    assert stored(server, work) == before


def test_who_may_write_does(server: Any, work: Work) -> None:
    """The counterpart, without which the refusals above would show nothing."""
    assert work.ada.ask("GET", f"/api/assignment/{work.aid}")[0] == 200
    assert json.loads(work.ada.ask("POST", "/api/labels", {"entries": [work.entry(choice="right", seq=11)]})[1])["acks"]
    assert stored(server, work)[4][-1][0] == "right"
