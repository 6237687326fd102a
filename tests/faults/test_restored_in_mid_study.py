"""A backup taken while people work, the database lost later, the backup restored: the doctor names the lost tail."""

from __future__ import annotations

import json
import random
import signal
import urllib.error
import urllib.request
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import select

from db.connect import reading
from db.tables import Label
from tests.annotation.judges.conftest import Fake
from tests.annotation.judges.judged_study import make_study
from tests.browser.conftest import Server
from tests.faults.conftest import Database
from tests.faults.crowd import Crowd, a_study, at_work, calipers, cookies_of, prove
from tests.faults.judging import Judging

LOST = "what was acknowledged is stored"


def restored(url: str, file: Path, folder: Path) -> str:
    """The address of a new database of the same kind, with what the backup holds."""
    new = f"sqlite:///{folder}/restored.db"
    if url.startswith("postgresql"):
        new = f"{url.rpartition('/')[0]}/restored"
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("CREATE DATABASE restored")
    done = calipers(new, "restore", str(file))
    assert done.returncode == 0, done.stdout + done.stderr
    return new


def test_after_a_restore_exactly_what_came_after_the_backup_is_missing_and_the_work_goes_on(
    server: Server, draw: random.Random, tmp_path: Path
) -> None:
    study, file = a_study(server.engine), tmp_path / "monday.calipers"
    with at_work(server, study) as crowd:
        crowd.more(draw.randint(20, 120))
        before = set(crowd.tally.acked)
        backup = calipers(server.url, "backup", str(file))
        assert backup.returncode == 0, backup.stdout + backup.stderr
        crowd.more(draw.randint(20, 80))
    server.stop(signal.SIGKILL)

    new = Database(restored(server.url, file, tmp_path))
    with reading(new.engine) as session:
        stored = set(session.scalars(select(Label.client_uuid)))
    acknowledged = tmp_path / "all"
    acknowledged.write_text("\n".join(crowd.tally.acked))
    doctor = calipers(new.url, "doctor", "--acknowledged", str(acknowledged), "--json")
    (fault,) = json.loads(doctor.stdout)["faults"]
    assert (doctor.returncode, fault["rule"]) == (1, LOST), "the tail is named, and nothing else is wrong"
    assert set(fault["first"]) == crowd.tally.acked - stored
    assert not set(fault["first"]) & before, "nothing that was acknowledged before the backup is missing"

    (tmp_path / "again").mkdir()
    again = Server(tmp_path / "again", new.url)
    again.start()
    request = urllib.request.Request(
        f"{again.address}/api/history/x", headers={"Cookie": f"calipers={crowd.cookies[0]}"}
    )
    with pytest.raises(urllib.error.HTTPError, match="404"):  # and not 401: who was signed in still is
        urllib.request.urlopen(request)
    people = Crowd([again.address], cookies_of(again, study, called="newcomer"))
    people.start()
    people.more(40)
    tally = people.end()
    again.stop()
    again.engine.dispose()
    tally.acked |= crowd.tally.acked - set(fault["first"])
    prove(new.url, new.engine, study, tally, tmp_path)
    new.engine.dispose()


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_after_a_restore_the_doctor_names_every_reply_that_was_paid_for_after_the_backup(
    database: Database, fake: Fake, draw: random.Random, tmp_path: Path
) -> None:
    fake.reset(latency_ms=40.0)
    make_study(database.engine, 40)
    judging, file = Judging(database.url, database.engine, fake, tmp_path), tmp_path / "monday.calipers"
    run = judging.start()
    judging.until_billed(draw.randint(20, 50), run)
    assert calipers(database.url, "backup", str(file)).returncode == 0
    assert run.wait(timeout=240) == 0, judging.said()
    judging.prove()

    (tmp_path / "again").mkdir()
    new = Database(restored(database.url, file, tmp_path))
    anew = Judging(new.url, new.engine, fake, tmp_path / "again")
    anew.finish()
    bill = tmp_path / "bill.jsonl"
    bill.write_text("".join(f"{json.dumps(line)}\n" for line in fake.bill()))
    doctor = json.loads(calipers(new.url, "doctor", "--provider", str(bill), "--json").stdout)
    provider = doctor["provider"]
    assert provider["stored"] == 80
    assert provider["unstored"] == fake.stats()["billed"] - 80
    lost = provider["unstored"] - provider["unknown"]
    assert [fault["places"] for fault in doctor["faults"]] == [lost] * (lost > 0)
    new.engine.dispose()
