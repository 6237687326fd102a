"""No secret and nothing that anybody wrote is in a log line or in the text of an error, whatever level is logged."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update
from typer.testing import CliRunner

from annotation.people.links import invite, open_link
from annotation.people.principals import local_admin
from annotation.people.sign_ins import csrf_token
from app.command_line import app
from app.settings import database, settings
from db.connect import transaction
from db.people_tables import Rater
from db.tables import Study
from tests.browser.conftest import Server
from tests.security.raw import Reply, ask, run_page, signed_in, socket
from tests.small_study import PROTOCOL, make_study

pytestmark = pytest.mark.slow

KEY = "zkey-of-the-server-4711"
NAME, MAIL = "Zname Quorlax", "zmail@quorlax.test"
REPORT, RATIONALE, COMMENT = "zreport-plim", "zrationale-brenth", "zcomment-vimmo"
FAULT, PROTOCOL_FAULT = "zfault-of-the-database", "zprotocol-that-broke"
WRITTEN = (KEY, NAME, MAIL, REPORT, RATIONALE, COMMENT, FAULT, PROTOCOL_FAULT)


@pytest.fixture(scope="module")
def talkative(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Everything logged that can be: each query is a slow one, and Streamlit's own log as well."""
    server = Server(
        tmp_path_factory.mktemp("talkative"),
        settings={
            "CALIPERS_LOG_LEVEL": "DEBUG", "STREAMLIT_LOGGER_LEVEL": "debug", "CALIPERS_ADMIN_TOKEN": KEY,
            "CALIPERS_SLOW_QUERY_MS": "0.0001", "STREAMLIT_SERVER_COOKIE_SECRET": f"{KEY}-of-cookies",
        },
    )  # fmt: skip
    server.start()
    yield server
    if server.process is not None and server.process.poll() is None:
        server.stop()
    server.engine.dispose()


def reports(root: Path) -> Path:
    for system in ("alpha", "beta"):
        (root / system).mkdir(parents=True)
        for topic in ("one", "two"):
            (root / system / f"{topic}.md").write_text(f"# {topic}\n\n{REPORT} of {system}. " + "It rises. " * 40)
    return root


class Person:
    """Somebody with a terminal and a cookie, who keeps what they are told."""

    def __init__(self, server: Server, cookie: str) -> None:
        self.server, self.cookie, self.told = server, cookie, []  # type: tuple[Any, str, list[Reply]]

    def say(self, method: str, path: str, body: Any = None, **headers: str) -> Reply:
        own = {"Cookie": f"calipers={self.cookie}", "Origin": self.server.address, "Content-Type": "application/json"}
        content = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        token = {"X-Calipers-Token": csrf_token(self.cookie)}
        self.told.append(ask(self.server, method, path, content, **(own | token | headers)))
        return self.told[-1]


def test_no_line_of_the_log_holds_a_secret_or_a_word_that_somebody_wrote(talkative: Server, tmp_path: Path) -> None:
    study_id = make_study(talkative.engine, reports(tmp_path / "r"), overlap=3, name=uuid.uuid4().hex)
    with transaction(talkative.engine) as session:
        admin = local_admin(session.get_one(Study, study_id))
        token, crowd = invite(session, admin, NAME, "annotator"), open_link(session, admin, 5)
    secrets = [KEY, token, crowd]
    ada = Person(talkative, ask(talkative, "GET", f"/invite/{token}").cookie)
    eve = Person(talkative, signed_in(talkative, study_id, f"{NAME} the other", "admin"))
    guest = Person(talkative, ask(talkative, "GET", f"/invite/{crowd}?participant={MAIL}").cookie)
    own = ask(talkative, "GET", f"/invite/{KEY}")
    assert all(one.cookie for one in (ada, eve, guest, own)), "everybody is in"
    secrets += [
        one for cookie in (ada.cookie, eve.cookie, guest.cookie, own.cookie) for one in (cookie, csrf_token(cookie))
    ]

    aid = json.loads(ada.say("POST", "/api/take", {}).body)["next"]
    page = json.loads(ada.say("GET", f"/api/assignment/{aid}").body)["page"]
    entry = {
        "kind": "label", "aid": aid, "page": page, "criterion": "clear", "choice": "left", "rationale": RATIONALE,
        "evidence": [], "confidence": None, "client_uuid": uuid.uuid4().hex, "writer": "writer-1", "seq": 1, "base_rev": 0,
        "client_ts": "",
    }  # fmt: skip
    remark = {"kind": "comment", "aid": aid, "page": page, "text": COMMENT, "client_uuid": uuid.uuid4().hex}
    assert json.loads(ada.say("POST", "/api/labels", {"entries": [entry, remark]}).body)["refused"] == []
    for wrong in ({"entries": [entry | {"choice": RATIONALE, "seq": 2}]}, RATIONALE.encode(), {"entries": RATIONALE}):
        ada.say("POST", "/api/labels", wrong)
    for path in (
        f"/invite/{token}x",
        f"/invite/{crowd}",
        f"/invite/{crowd}?participant=%7B{MAIL}",
        f"/api/history/{token}",
    ):
        guest.say("GET", path)
    guest.say("POST", "/api/labels", {"entries": [entry]})
    guest.say("GET", "/metrics", Authorization=f"Bearer {KEY}x")
    for person in (ada, eve, guest):
        with socket(talkative, person.cookie) as line:
            assert run_page(line)

    break_what_is_stored(talkative, study_id)
    entry |= {"client_uuid": uuid.uuid4().hex, "seq": 5}
    assert ada.say("POST", "/api/labels", {"entries": [entry]}).status == 503
    with transaction(talkative.engine) as session:
        session.execute(update(Study).values(protocol_text=f"{PROTOCOL_FAULT} = ["))
        session.execute(update(Rater).values(handle=NAME))
    assert ada.say("POST", "/api/take", {}).status == 400  # a protocol that cannot be read is said to be so
    with socket(talkative, ada.cookie) as line:
        run_page(line)

    log = talkative.log.read_text(encoding="utf-8")
    for event in ('"request"', "slow query", "failed"):
        assert event in log, "the log of this run does hold something"
    assert [word for word in (*secrets, *WRITTEN) if word in log] == []
    assert "parameters:" not in log
    bodies = "\n".join(
        one.body.decode("utf-8", "replace") for person in (ada, eve, guest) for one in person.told if one.status >= 400
    )
    assert [word for word in (*secrets, NAME, MAIL, REPORT, FAULT, PROTOCOL_FAULT) if word in bodies] == []
    assert "Traceback" not in bodies


def break_what_is_stored(server: Server, study_id: int) -> None:
    """A database that refuses every label, and says why in words of its own."""
    line = sqlite3.connect(server.url.removeprefix("sqlite:///"), timeout=20)
    line.execute(f"CREATE TRIGGER broken BEFORE INSERT ON labels BEGIN SELECT RAISE(ABORT, '{FAULT}'); END")
    line.commit()
    line.close()


def test_an_exception_is_logged_by_type_and_place_in_every_library(tmp_path: Path) -> None:
    program = (
        "import logging; from app.logs import tell_no_words, write_logs\n"
        "write_logs('DEBUG'); tell_no_words(); tell_no_words(); logging.basicConfig(level='DEBUG')\n"
        "try:\n    raise ValueError('zsecret %s') from KeyError('zsecret')\n"
        "except ValueError as error:\n"
        "    logging.getLogger('uvicorn.error').error('Exception in %s application', 'ASGI', exc_info=error)\n"
        "    logging.getLogger('calipers').exception('said', extra={'error_id': 'x'})\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2]
    )
    assert "zsecret" not in ran.stderr
    assert "Exception in ASGI application: ValueError <string>:4" in ran.stderr
    assert json.loads(next(line for line in ran.stderr.splitlines() if line.startswith("{")))["error_id"] == "x"


def forget_settings() -> None:
    """Another test may have left a database of its own open."""
    settings.cache_clear()
    database.cache_clear()


def test_a_judge_worker_writes_no_key_and_no_text_into_its_logs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run against a fake provider that fails in every way it can, with every log as loud as ours can be made."""
    url, key = f"sqlite:///{tmp_path}/calipers.db", "zkey-of-the-provider-0815"
    environment = os.environ | {
        "CALIPERS_DATABASE_URL": url, "CALIPERS_LOG_LEVEL": "DEBUG", "ZPROVIDER_KEY": key, "PYTHONUNBUFFERED": "1",
    }  # fmt: skip

    def run(*commands: list[str]) -> str:
        """One process for all of them: to load what calls a provider takes most of its time."""
        program = (
            "from annotation.judges.running import work\nwork.back_off_s = lambda tries, luck: 0.0\n"  # nothing is told of it
            f"from app.command_line import app\nfor words in {commands}:\n    app(words, standalone_mode=False)"
        )
        ran = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, env=environment,
            cwd=Path(__file__).parents[2], timeout=120, check=False,
        )  # fmt: skip
        return ran.stdout + ran.stderr

    from db.connect import open_database
    from db.migrations import upgrade

    upgrade(url)
    engine = open_database(url)
    make_study(engine, reports(tmp_path / "r"), protocol=PROTOCOL, name="judged")
    engine.dispose()
    fake = subprocess.Popen(
        [
            sys.executable, str(Path(__file__).parents[1] / "fake_llm.py"), "--port", "0", "--p-429", "0.2", "--p-500", "0.3",
            "--p-malformed", "0.3", "--p-drop", "0.1", "--retry-after-ms", "1",
        ],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert fake.stdout is not None
        address = fake.stdout.readline().split()[-1]
        judges = tmp_path / "judges.toml"
        judges.write_text(
            f'[[judge]]\nname = "mini"\nmodel = "openai/fake-acc-0.85"\napi_base = "{address}"\n'
            'api_key_env = "ZPROVIDER_KEY"\nprice = {input = 0.1, output = 0.2}\nmax_cost = 5.0\n'
        )
        of_judges = ["judged", "--judges", str(judges)]
        said = run(["judge", "run", *of_judges, "--concurrency", "2"], ["judge", "check", *of_judges])
    finally:
        fake.terminate()
        fake.wait(timeout=10)
    monkeypatch.setenv("CALIPERS_DATABASE_URL", url)
    forget_settings()
    made = CliRunner().invoke(app, ["judge", "status", "judged"], catch_exceptions=False)  # what was stored of it
    forget_settings()
    said += made.output
    assert made.exit_code == 0
    assert "mini" in said, "it ran"
    assert [word for word in (key, REPORT) if word in said] == []
