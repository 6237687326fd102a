"""`calipers packet` and `calipers import ballots`: work leaves as one file and comes back as another."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from sqlalchemy import Engine
from typer.testing import CliRunner, Result

from annotation.offline.packets import PacketFile
from app.command_line import app
from db.connect import transaction
from tests.ballot_filling import Filling
from tests.small_study import a_person, make_study


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


def made_of(file: Path) -> PacketFile:
    """What the file itself says of its packet."""
    found = re.search(r'<script type="application/json" id="packet">(.*?)</script>', file.read_text("utf-8"), re.S)
    assert found
    known: dict[str, Any] = json.loads(found[1])
    return PacketFile(known["data"]["packet_id"], "", known["data"], known["sha256"], known["secret"])


def test_a_packet_goes_out_comes_back_is_listed_and_can_be_withdrawn(engine_here: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine_here, tmp_path / "reports")
    with transaction(engine_here) as session:
        a_person(session, study_id)
    out = tmp_path / "ada.html"
    made = run("packet", "small", "Ada", "--items", "2", "--out", out, "--json")
    assert made.exit_code == 0, made.output
    told = json.loads(made.output)
    packet = made_of(out)
    assert (told["packet"], told["sha256"], told["items"]) == (packet.packet_id, packet.sha256, 2)
    assert run("packet", "small", "Ada", "--items", "2", "--out", out).exit_code == 2, "no packet is written over"
    assert run("packet", "small", "Ada").exit_code == 2

    filling = Filling(packet)
    filling.fill(filling.pages[0])
    first, second = tmp_path / "b.json", tmp_path / "a.json"
    first.write_bytes(filling.ballot())
    filling.answer(filling.pages[0], "deep", "tie")
    filling.note(filling.pages[0], "submit")
    second.write_bytes(filling.ballot([*filling.entries[:1], *filling.entries[3:]], made_at="2026-11-20T13:00:00.000Z"))
    done = run("import", "ballots", second, first, "--study", "small", "--json")
    assert done.exit_code == 0, done.output
    older, newer = json.loads(done.output)["ballots"]
    assert (older["file"], newer["file"]) == (str(first), str(second)), "the older ballot first"
    assert older["counts"] == {"stored": 3, "already there": 0, "stale": 0, "refused": 0}
    assert newer["counts"] == {"stored": 2, "already there": 1, "stale": 0, "refused": 0}

    [row] = json.loads(run("packet", "small", "--list", "--json").output)
    assert (row["name"], row["items"], row["handed_in"], row["withdrawn"]) == ("Ada", 2, 1, False)
    assert "items back in the pool: 1" in run("packet", "small", "--withdraw", packet.packet_id).output
    late = run("import", "ballots", first, "--study", "small")
    assert late.exit_code == 1
    assert "the packet was withdrawn" in late.output
    assert re.search(r"annotator-01|b\.json", late.output)


def test_a_file_that_is_no_ballot_holds_up_no_other(engine_here: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine_here, tmp_path / "reports")
    with transaction(engine_here) as session:
        a_person(session, study_id)
    run("packet", "small", "Ada", "--items", "1", "--out", tmp_path / "p.html")
    filling = Filling(made_of(tmp_path / "p.html"))
    filling.answer(filling.pages[0], "clear")
    (tmp_path / "good.json").write_bytes(filling.ballot())
    (tmp_path / "bad.json").write_text("{}")
    done = run("import", "ballots", tmp_path / "bad.json", tmp_path / "good.json", "--study", "small")
    assert done.exit_code == 1
    assert "bad.json: this is no ballot" in done.output
    assert "half filled: 1 criteria still need something" in done.output
