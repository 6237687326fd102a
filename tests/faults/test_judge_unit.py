"""What docs/deployment starts beside the app: the judge's unit file as it is written, and all of compose.yaml at once."""

from __future__ import annotations

import asyncio
import json
import math
import shlex
import signal
import ssl
import subprocess
from collections.abc import Mapping
from pathlib import Path

import aiohttp
import pytest

from db.connect import open_database
from tests import small_study
from tests.annotation.judges.conftest import Fake
from tests.annotation.judges.judged_study import PRICE, call_states, make_study
from tests.annotators import Annotator, Tally, sign_in
from tests.faults.crowd import calipers, prove
from tests.machines.proxy import Proxy, free_port, site_before, with_tls
from tests.machines.test_deployment import COMPOSE, INSTALLED, answer, environment, setting, started, unit, until


def judges(folder: Path, fake: Fake) -> str:
    """A judges.toml of one judge, whom the fake provider answers for."""
    judge = f'[[judge]]\nname = "j"\nmodel = "openai/fake"\napi_base = "{fake.base}"\n{PRICE}\n'
    (folder / "judges.toml").write_text(judge, encoding="utf-8")
    return str(folder / "judges.toml")


def test_the_judge_unit_works_through_its_study_and_ends_when_asked(
    url: str, tmp_path: Path, fake: Fake, processes: list[subprocess.Popen[bytes]]
) -> None:
    engine = open_database(url)
    make_study(engine, 3)
    judges(tmp_path, fake)
    text = unit("calipers-judge@.service", i="small", etc=str(tmp_path))
    settings = environment(url, 1)
    words = shlex.split(setting(text, "ExecStart"))
    run = [*words[:2], "run", *words[3:-1], "--limit", "1"]  # plans, as a person does once
    subprocess.run(run, env=settings, cwd=tmp_path, check=False, capture_output=True, timeout=180)
    process = started(text, settings, tmp_path / "state")
    processes.append(process)
    until(lambda: call_states(engine) == {"done": 6}, process)
    until(lambda: "waiting for requests" in (tmp_path / "state" / "log").read_text(), process)
    process.send_signal(signal.SIGTERM)
    assert str(process.wait(timeout=60)) == setting(text, "SuccessExitStatus")
    assert fake.stats()["dup_billed"] == 0
    engine.dispose()


@pytest.mark.nginx
def test_all_parts_of_compose_work_together_and_when_one_app_dies_the_other_serves_its_annotator(
    url: str, tmp_path: Path, fake: Fake, processes: list[subprocess.Popen[bytes]], request: pytest.FixtureRequest
) -> None:
    """By the commands of the file, since no container can be started where the tests run."""
    engine, secure = open_database(url), free_port()
    study = small_study.make_study(engine, tmp_path / "reports")
    address = f"https://localhost:{secure}"
    settings = environment(url, secure) | {"CALIPERS_BASE_URL": address}
    ports = {"8501": str(free_port()), "8502": str(free_port())}
    places = ports | {"calipers": str(INSTALLED / "calipers"), "${STUDY:-mystudy}": "small"}
    places["/etc/calipers/judges.toml"] = judges(tmp_path, fake)
    calipers(url, "judge", "run", "small", "--judges", places["/etc/calipers/judges.toml"], "--limit", "1")
    at_work = {}
    for name, service in COMPOSE["services"].items():
        if "command" in service:
            words = [places.get(word, word) for word in service["command"]]
            at_work[words[-1]] = process = started(f"ExecStart={shlex.join(words)}", settings, tmp_path / name)
            processes.append(process)
    for port in ports.values():
        until(lambda port=port: answer(f"http://127.0.0.1:{port}/ready") == 200, at_work[port])
    proxy = Proxy(
        tmp_path, with_tls(site_before(list(map(int, ports.values())), tmp_path), tmp_path, free_port(), secure)
    )
    request.addfinalizer(proxy.stop)
    proxy.start()
    link = calipers(url, "invite", "small", "Ada", settings={"CALIPERS_BASE_URL": address}).stdout.split()[-1]
    tally, log = Tally(), tmp_path / "calipers.log"
    dead = asyncio.run(annotated(address, link, tally, tmp_path, at_work))
    later = {json.loads(line)["process"].split(":")[-1] for line in log.read_text().splitlines()[-3:]}
    assert later == set(ports.values()) - {dead}, "who was with the one goes on at the other"
    assert (len(tally.handed_in), len(tally.acked)) == (9, 18)
    until(lambda: set(call_states(engine)) == {"done"}, at_work["--wait"])
    assert fake.stats()["dup_billed"] == 0
    prove(url, engine, study, tally, tmp_path)
    engine.dispose()


async def annotated(
    address: str, link: str, tally: Tally, folder: Path, at_work: Mapping[str, subprocess.Popen[bytes]]
) -> str:
    """All items by one person over https; the port of the process that served them, killed after the first item."""
    trusting = ssl.create_default_context(cafile=folder / "fullchain.pem")
    cookie = await sign_in(link, trusting)
    async with (
        asyncio.timeout(240),
        aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=trusting), cookie_jar=aiohttp.DummyCookieJar()
        ) as http,
    ):
        ada = Annotator(http, address, cookie, tally)
        await ada.open(0)
        working = asyncio.create_task(ada.work(0.2, math.inf))
        while not tally.handed_in:
            await asyncio.sleep(0.01)
        port = str(json.loads((folder / "calipers.log").read_text().splitlines()[-1])["process"].split(":")[-1])
        at_work[port].kill()
        await working
    return port
