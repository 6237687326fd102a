"""docs/deployment/nginx.conf, as a real nginx reads it, before two processes on one Postgres.

The whole role matrix, the whole blinding proof and the hostile reports behind it stand beside this file; what the file
says without a process of ours in tests/machines/test_nginx_file.py.
"""

from __future__ import annotations

import gzip
import http.client
import json
import re
import secrets
import time
from collections import Counter
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext
from websockets.sync.client import connect

from annotation.people.sign_ins import csrf_token
from tests.browser.blinded import blind_study
from tests.browser.conftest import Server
from tests.machines.fleet import Fleet
from tests.small_study import make_study

pytestmark = pytest.mark.nginx


def ask(
    server: Server, path: str, cookie: str = "", body: bytes | None = None, source: str = "127.0.0.1", **headers: str
) -> tuple[int, bytes, dict[str, str]]:
    """Status, body and headers (lower case) of one request on a connection of its own."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30, source_address=(source, 0))
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    if cookie:
        sent["Cookie"] = f"calipers={cookie}"
    if body is not None:
        sent |= {"Origin": server.address, "Content-Type": "application/json", "X-Calipers-Token": csrf_token(cookie)}
    connection.request("GET" if body is None else "POST", path, body, sent)
    reply = connection.getresponse()
    found = reply.status, reply.read(), {name.lower(): value for name, value in reply.getheaders()}
    connection.close()
    return found


def logged(fleet: Fleet) -> Iterator[tuple[str, str]]:
    """Path and the last process asked, of every request that nginx logged."""
    for line in (fleet.folder / "calipers.log").read_text().splitlines():
        one = json.loads(line)
        yield one["path"], one["process"].split(", ")[-1]


def processes_of(fleet: Fleet, path: str, at_least: int = 1) -> Counter[str]:
    """How often each process was asked for this path; nginx logs a request after its last byte."""
    deadline = time.monotonic() + 10
    while True:
        found = Counter(process for one, process in logged(fleet) if one == path)
        if found.total() >= at_least:
            return found
        assert time.monotonic() < deadline, f"{found} after ten seconds"


def test_an_item_reads_the_same_at_both_processes_names_nothing_and_a_sign_in_ends_at_both(
    fleet: Fleet, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The first of this file: its study gives every later row a number that stands nowhere else."""
    blind = blind_study(fleet, tmp_path_factory.mktemp("zpath-hovel"))
    cookie = sign_in(fleet, fleet.link(blind.study_id, "Dan"))
    aid = json.loads(ask(fleet, "/api/take", cookie, b"{}")[1])["next"]
    pages = [ask(server, f"/api/assignment/{aid}", cookie)[:2] for server in fleet.servers]
    assert [status for status, _ in pages] == [200, 200]
    assert pages[0] == pages[1]
    assert not [word for word in blind.sentinels if word.casefold() in pages[0][1].decode().casefold()]
    stranger = sign_in(fleet, fleet.link(blind.study_id, "Eli"))
    assert [ask(server, f"/api/assignment/{aid}", stranger)[0] for server in fleet.servers] == [404, 404]
    assert ask(fleet, "/api/logout", cookie, b"{}")[0] == 200
    assert [ask(server, f"/api/assignment/{aid}", cookie)[0] for server in fleet.servers] == [401, 401]


def test_everybody_stays_with_one_process_and_both_have_work(fleet: Fleet) -> None:
    people = {secrets.token_urlsafe(32): f"/api/assignment/{number:032x}" for number in range(64)}
    for _ in range(3):
        for cookie, path in people.items():
            assert ask(fleet, path, cookie)[0] == 401
    of_each = [processes_of(fleet, path, 3) for path in people.values()]
    assert {tuple(found.values()) for found in of_each} == {(3,)}, "never two processes for one person"
    shares = Counter(process for found in of_each for process in found)
    assert sorted(shares) == sorted(f"127.0.0.1:{server.port}" for server in fleet.servers)
    assert min(shares.values()) >= 10, f"{shares}: 64 coins fall worse than 10 to 54 once in a hundred million times"


def test_a_page_and_its_websocket_meet_at_the_same_process(fleet: Fleet) -> None:
    for number in range(6):
        cookie, path = secrets.token_urlsafe(32), f"/api/assignment/{100 + number:032x}"
        before = len([one for one, _ in logged(fleet) if one == "/_stcore/stream"])
        with connect(
            f"{fleet.address.replace('http', 'ws')}/_stcore/stream", origin=fleet.address,
            additional_headers={"Cookie": f"calipers={cookie}"}, subprotocols=["streamlit"],
        ):  # fmt: skip
            pass
        processes_of(fleet, "/_stcore/stream", before + 1)
        at = [process for one, process in logged(fleet) if one == "/_stcore/stream"][before]
        ask(fleet, path, cookie)
        assert [at] == list(processes_of(fleet, path))


def test_before_a_sign_in_the_address_decides(fleet: Fleet) -> None:
    for n in range(2, 6):
        path = f"/api/assignment/{200 + n:032x}"
        for _ in range(3):
            ask(fleet, path, source=f"127.0.0.{n}")
        assert len(processes_of(fleet, path, 3)) == 1


def test_who_is_with_a_process_that_died_is_answered_by_the_other_and_comes_back(fleet: Fleet) -> None:
    cookies = at_home(fleet, 0)
    fleet.kill(0)
    for number, cookie in enumerate(cookies):
        path = f"/api/assignment/{300 + number:032x}"
        status, body, _ = ask(fleet, path, cookie, source="127.0.0.9")
        assert (status, json.loads(body)["code"]) == (401, "signed_out")
        assert list(processes_of(fleet, path)) == [f"127.0.0.1:{fleet.servers[1].port}"]
        assert ask(fleet, "/api/take", cookie, b"{}")[0] == 401, "a POST that could not be sent is sent to the other"
    fleet.start_one(0)
    deadline, number = time.monotonic() + 20, 400
    while True:
        path = f"/api/assignment/{number:032x}"
        ask(fleet, path, cookies[number % 8])
        if f"127.0.0.1:{fleet.servers[0].port}" in processes_of(fleet, path):
            break
        assert time.monotonic() < deadline
        number += 1


def test_an_invitation_is_in_no_log_even_when_everything_is_down(fleet: Fleet, tmp_path: Path) -> None:
    study = make_study(fleet.engine, tmp_path / "reports")
    link = fleet.link(study, "Ada")
    token = link.rsplit("/", 1)[1]
    assert ask(fleet, f"/invite/{token}?participant=worker-77")[0] == 303
    for number in range(2):
        fleet.kill(number)
    assert ask(fleet, f"/invite/{token}?participant=worker-77")[0] == 502
    assert ask(fleet, "/health")[0] == 502
    for number in range(2):
        fleet.start_one(number)
    deadline = time.monotonic() + 20
    while ask(fleet, "/health")[0] != 200:  # the proxy asks a process that failed again after ten seconds
        assert time.monotonic() < deadline
        time.sleep(0.2)
    logs = [path for path in fleet.folder.rglob("*") if path.is_file() and path.suffix == ".log"]
    written = {path.name: path.read_text() for path in logs}
    assert "GET /health" in written["calipers-error.log"]
    assert "while connecting to upstream" in written["calipers-error.log"]
    for name, text in written.items():
        assert token not in text, name
        assert "worker-77" not in text, name


def test_a_client_cannot_say_where_it_comes_from(fleet: Fleet) -> None:
    """Ten wrong links from one address are enough, whatever the requests claim."""
    told = [
        ask(fleet, f"/invite/wrong-{number}", source="127.0.0.7", X_Forwarded_For=f"10.1.2.{number}")[0]
        for number in range(12)
    ]
    assert told == [404] * 10 + [429] * 2
    assert ask(fleet, "/invite/wrong", source="127.0.0.8", X_Forwarded_For="127.0.0.7")[0] == 404


@pytest.mark.parametrize("path", ["/metrics", "/_stcore/metrics"])
def test_what_is_for_the_owner_is_not_there(fleet: Fleet, path: str) -> None:
    assert ask(fleet, path)[0] == 404
    assert processes_of(fleet, path).keys() == {""}, "no process was asked"


def test_pages_and_scripts_travel_compressed_and_a_body_too_large_ends_at_the_proxy(fleet: Fleet) -> None:
    _, page, headers = ask(fleet, "/", Accept_Encoding="gzip")
    assert headers["content-encoding"] == "gzip"
    assert "script-src 'self'" in headers["content-security-policy"]
    (script,) = re.findall(r'<script type="module" crossorigin src="\./(.*?)"', gzip.decompress(page).decode())
    assert ask(fleet, f"/{script}", Accept_Encoding="gzip")[2]["content-encoding"] == "gzip"
    assert ask(fleet, "/api/labels", "nobody", b"x" * (300 << 10))[0] == 413
    assert ask(fleet, "/api/labels", "nobody", b"x" * (2 << 20))[0] == 413
    assert processes_of(fleet, "/api/labels", 2)[""] == 1


@pytest.mark.browser
def test_a_download_is_found_at_whichever_process_made_it(fleet: Fleet, warm: BrowserContext, tmp_path: Path) -> None:
    """As when the process of somebody's open page was away for a moment, or their cookie was renewed."""
    study = make_study(fleet.engine, tmp_path / "reports", name="paid")
    page = warm.new_page()
    page.goto(fleet.link(study, "Boss", "admin"))
    page.goto(f"{fleet.address}/people")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the pay file").click()
    place = download.value.url.removeprefix(fleet.address)
    (cookie,) = [one["value"] for one in warm.cookies() if one["name"] == "calipers"]
    page.close()
    alone = sorted(ask(server, place, cookie)[0] for server in fleet.servers)
    assert alone == [200, 404], "it lies with one of them"
    others = [sign_in(fleet, fleet.link(study, f"Boss {number}", "admin")) for number in range(8)]
    assert {ask(fleet, place, other)[0] for other in others} == {200}
    assert len(processes_of(fleet, place, 8)) >= 1
    assert ask(fleet, "/media/nothing.csv", cookie)[0] == 404


def at_home(fleet: Fleet, n: int, people: int = 8) -> list[str]:
    """Cookies of people whom the proxy sends to process `n`; of random ones none may be, once in some hundred runs."""
    found: list[str] = []
    for number in count(5000):
        cookie, path = secrets.token_urlsafe(32), f"/api/assignment/{number:032x}"
        ask(fleet, path, cookie)
        if list(processes_of(fleet, path)) == [f"127.0.0.1:{fleet.servers[n].port}"]:
            found.append(cookie)
        if len(found) == people:
            return found
    raise AssertionError("numbers ended")


def sign_in(fleet: Fleet, link: str) -> str:
    cookie = ask(fleet, link.removeprefix(fleet.address))[2]["set-cookie"]
    return cookie.split("=", 1)[1].split(";")[0]
