"""`calipers invite` and `calipers people`: links for many at once, people moved by name, and files with names in them."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine
from typer.testing import CliRunner, Result

from annotation.errors import AnnotationError
from annotation.people.principals import Principal
from annotation.people.sign_ins import sign_in
from app.command_line import app
from app.screens.evaluator import evaluator_pages
from db.connect import transaction
from tests.small_study import make_study


@pytest.fixture
def study_id(engine_here: Engine, tmp_path: Path) -> int:
    return make_study(engine_here, tmp_path / "reports", overlap=2)


def run(*words: str, exit_code: int = 0) -> Result:
    done = CliRunner().invoke(app, list(words))
    if isinstance(done.exception, AnnotationError):
        raise done.exception
    assert done.exit_code == exit_code, done.output
    return done


def printed(*words: str) -> Any:
    return json.loads(run(*words, "--json").stdout)


def test_one_name_prints_one_bare_link_and_several_print_one_each(study_id: int, engine_here: Engine) -> None:
    alone = run("invite", "small", "Ada").stdout.split()
    assert len(alone) == 1
    assert "/invite/" in alone[0]
    lines = run("invite", "small", "Ben", "Cy", "Ben", "--role", "adjudicator").stdout.splitlines()
    assert [line.split("  ")[1] for line in lines] == ["Ben", "Cy"]
    made = printed("invite", "small", "Ada", "Dee", "--new-link")
    assert [(one["name"], one["role"]) for one in made] == [("Ada", "annotator"), ("Dee", "annotator")]
    old, new = alone[0].rsplit("/", 1)[1], made[0]["link"].rsplit("/", 1)[1]
    with transaction(engine_here) as session:
        assert sign_in(session, old, "127.0.0.1") is None
        assert sign_in(session, new, "127.0.0.1") is not None


def test_links_for_mailing_stand_in_a_new_file_and_where_it_cannot_be_written_nobody_is_invited(
    study_id: int, tmp_path: Path
) -> None:
    out = tmp_path / "links.csv"
    said = run("invite", "small", "Ada", "=cmd|x", "--out", str(out)).stdout
    assert "keep it apart" in said
    assert "/invite/" not in said
    with out.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["name"] for row in rows] == ["Ada", "'=cmd|x"]
    assert all(row["link"] in row["text"] and row["subject"] == "Invitation: A small study" for row in rows)
    with pytest.raises(AnnotationError, match="exists already"):
        run("invite", "small", "Zoe", "--out", str(out))
    assert "Zoe" not in {one["name"] for one in printed("people", "small")}


def test_an_open_link_is_made_listed_and_withdrawn(study_id: int) -> None:
    made = printed("invite", "small", "--open-link", "--places", "3", "--quota", "2")
    assert (made["places"], made["quota"], "?" in made["link"]) == (3, 2, False)
    assert "?participant=ID" in run("invite", "small", "--open-link", "--places", "1").stdout
    run("people", "small", "--revoke-link", "1")
    assert [one["state"] for one in printed("people", "small", "--open-links")] == ["withdrawn", "working"]
    run("invite", "small", "Ada", "--open-link", exit_code=2)
    run("invite", "small", exit_code=2)
    with pytest.raises(AnnotationError, match="1 to 1000000 places"):
        run("invite", "small", "--open-link")


def test_people_are_moved_by_name_and_the_list_says_how_they_stand(study_id: int) -> None:
    run("invite", "small", "Ada", "Ben", "Cy")

    def statuses(*words: str) -> dict[str, str]:
        return {one["name"]: one["status"] for one in printed("people", "small", *words)}

    assert statuses("--pause", "Ada", "--withdraw", "Ben") == {"Ada": "paused", "Ben": "withdrawn", "Cy": "active"}
    assert statuses("--resume", "Ada")["Ada"] == "active"
    quota = {one["name"]: one["quota"] for one in printed("people", "small", "--quota", "equal")}
    assert quota == {"Ada": 9, "Ben": None, "Cy": 9}  # 18 slots for the two who are there
    quota = {one["name"]: one["quota"] for one in printed("people", "small", "--quota", "4", "--name", "Cy")}
    assert quota == {"Ada": 9, "Ben": None, "Cy": 4}
    assert all(one["quota"] is None for one in printed("people", "small", "--quota", "none"))
    run("people", "small", "--quota", "many", exit_code=2)
    run("people", "small", "--quota", "equal", "--name", "Cy", exit_code=2)
    with pytest.raises(AnnotationError, match="needs a reason"):
        run("people", "small", "--void", "Cy")
    assert "0 slots of 'Cy' are open again" in run("people", "small", "--void", "Cy", "--reason", "asked for it").stderr
    with pytest.raises(AnnotationError, match="nobody called 'Zoe'"):
        run("people", "small", "--pause", "Zoe")


def test_what_to_pay_is_a_file_of_its_own_and_json_of_unrounded_numbers(study_id: int, tmp_path: Path) -> None:
    run("invite", "small", "Ada")
    out = tmp_path / "pay.csv"
    done = run("people", "small", "--pay", str(out), "--json")
    assert json.loads(done.stdout)[0] | {"rate": 0.0} == {
        "name": "Ada", "pseudonym": "annotator-01", "role": "annotator", "items": 0, "active_h": 0.0, "wall_h": 0.0,
        "rate": 0.0, "currency": "USD", "amount": 0.0,
    }  # fmt: skip
    assert "keep it apart" in done.stderr
    assert out.read_text().startswith("name,pseudonym,role,items,active_hours")


@pytest.mark.parametrize("role", ["evaluator", "admin"])
def test_only_an_admin_has_the_page_of_names(role: str, study_id: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streamlit.Page", lambda show, title, **kinds: title)
    assert ("People" in evaluator_pages(Principal(study_id, role), "a cookie")["Study"]) == (role == "admin")


def test_what_is_stored_about_a_person_is_printed_and_names_are_deleted_one_or_all(study_id: int) -> None:
    run("invite", "small", "Ada", "Ben")
    assert json.loads(run("people", "small", "--record", "Ada").stdout)["person"][0]["handle"] == "Ada"
    erased = run("people", "small", "--erase", "Ada", "--keep-names", "90").stdout
    assert ("Ada" in erased, "annotator-01 (name deleted)" in erased, "Ben" in erased) == (False, True, True)
    with pytest.raises(AnnotationError, match="close 'small' first"):
        run("people", "small", "--delete-names")
    run("close", "small")
    assert "1 name deleted" in run("people", "small", "--delete-names", "--keep-names", "none").stderr
    run("people", "small", "--keep-names", "soon", exit_code=2)
