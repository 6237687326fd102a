"""Who was recognised: asked after an item, kept apart from labels, and told beside chance."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, func, select

from annotation.errors import AnnotationError
from annotation.labelling import save, submit
from annotation.labels.entries import GuessEntry, read_entry
from annotation.offline.packets import reserve_packet
from annotation.people.principals import local_admin
from annotation.protocol import parse_protocol
from annotation.studies import not_yet_active
from annotation.work.claiming import take
from annotation.work.guesses import Guess, guesses_of, kinds_asked
from annotation.work.own_work import own_work
from annotation.work.page import assignment_page
from app.results.guessed import _recognised, recognised
from db.connect import reading, transaction
from db.tables import Event, Label, Study
from plain.wording import speaking
from tests.exports.toy import toy_estimate
from tests.small_study import PROTOCOL, RATING, SYSTEMS, TOPICS, a_person, answer_all, make_study, write_reports

ASKING = PROTOCOL.replace("[study]", "[study]\nguess_system = true")
FAMILIES = {"alpha": "Acme", "beta": "Bolt", "gamma": ""}


def folder(root: Path, families: dict[str, str] = FAMILIES, topics: tuple[str, ...] = TOPICS) -> Path:
    """Two machines of two makers, and a reference that a person wrote."""
    write_reports(root, topics)
    rows = "".join(f"{name},{name},{str(name == 'gamma').lower()},{families[name]}\n" for name in SYSTEMS)
    (root / "systems.csv").write_text(f"system,public_name,is_reference,family\n{rows}", encoding="utf-8")
    return root


def guess(page: dict[str, Any], uuid: str, **said: str) -> GuessEntry:
    entry = read_entry({"kind": "guess", "aid": page["aid"], "page": page["page"], "client_uuid": uuid, **said})
    assert isinstance(entry, GuessEntry)
    return entry


@pytest.mark.databases("sqlite")
def test_a_guess_comes_after_the_item_is_handed_in_and_changes_no_label(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, folder(tmp_path), protocol=ASKING)
    with transaction(engine) as session:
        study, ada = session.get_one(Study, study_id), a_person(session, study_id)
        work = take(session, ada)
        assert work is not None
        page = assignment_page(session, ada, work.aid)
        assert page["guess"] == {"kinds": ["Acme", "Bolt", "person"], "sides": ["left", "right"]}
        submit(session, ada, work.aid, page["page"], "submit-1", answer_all(session, ada, work.aid))
        labels = session.scalar(select(func.count()).select_from(Label))
        first, again = guess(page, "guess-01", left="Acme"), guess(page, "guess-02", left="", right="person")
        assert save(session, ada, [first, first, again]).refused == []
        assert [one.said for one in guesses_of(session, study)] == ["", "person"]  # the newest of each side
        assert session.scalar(select(func.count()).select_from(Label)) == labels
        refused = save(session, ada, [guess(page, "guess-03", left="Cray")]).refused
        assert [one["code"] for one in refused] == ["invalid"]
        assert not [remark for item in own_work(session, ada).items for remark in item.remarks]
        assert session.scalar(select(func.count()).select_from(Event).where(Event.what == "guess")) == 2


@pytest.mark.databases("sqlite")
@pytest.mark.parametrize(
    ("protocol", "sides"), [(ASKING, 2), (RATING.replace("[study]", "[study]\nguess_system = true"), 1)]
)
def test_each_report_that_is_judged_may_be_named_by_its_side(
    engine: Engine, tmp_path: Path, protocol: str, sides: int
) -> None:
    study_id = make_study(engine, folder(tmp_path), protocol=protocol)
    with transaction(engine) as session:
        study, ada = session.get_one(Study, study_id), a_person(session, study_id)
        while (work := take(session, ada)) is not None:
            page = assignment_page(session, ada, work.aid)
            submit(
                session,
                ada,
                work.aid,
                page["page"],
                f"submit-{work.id}",
                answer_all(session, ada, work.aid, "left" if sides == 2 else "3"),
            )
            save(session, ada, [guess(page, f"guess-{work.id:04d}", **dict.fromkeys(page["guess"]["sides"], "person"))])
        said = list(guesses_of(session, study))
        assert len(said) == 9 * sides
        assert sum(one.is_right for one in said) * 3 == len(said)  # one of three systems is a person
        found = recognised(session, study)
        assert (found.reports, found.named, found.right.value) == (len(said), len(said), pytest.approx(1 / 3))
        assert found.above.value == pytest.approx(0)
        assert (
            f"annotators answered for {len(said)} reports and named a kind for {len(said)}, 33\u00a0%" in found.sentence
        )


def test_without_the_setting_nothing_is_asked_or_taken(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, folder(tmp_path))
    with transaction(engine) as session:
        ada = a_person(session, study_id)
        work = take(session, ada)
        assert work is not None
        page = assignment_page(session, ada, work.aid)
        assert page["guess"] is None
        assert kinds_asked(session, session.get_one(Study, study_id)) == ()
        assert save(session, ada, [guess(page, "guess-01", left="Acme")]).refused[0]["code"] == "invalid"
        assert recognised(session, session.get_one(Study, study_id)).sentence == ""


@pytest.mark.databases("sqlite")
@pytest.mark.parametrize(
    ("families", "says"),
    [({**FAMILIES, "beta": ""}, "beta has none"), (dict.fromkeys(SYSTEMS, "Acme"), "all have the same")],
)
def test_a_study_that_asks_for_kinds_opens_only_where_each_system_has_one(
    engine: Engine, tmp_path: Path, families: dict[str, str], says: str
) -> None:
    with pytest.raises(AnnotationError, match=says):
        make_study(engine, folder(tmp_path, families), protocol=ASKING)
    assert not_yet_active(parse_protocol(ASKING)) == []


AGREED = toy_estimate("percent_agreement", "", 0.7, 0.6, 0.8), toy_estimate("percent_agreement", "", 0.6, 0.5, 0.7)


def said(n: int, kind: str, named: str, topic: str) -> list[Guess]:
    return [Guess("r1", f"item-{topic}-{k}", topic, named, kind) for k in range(n)]


def test_rightly_named_is_told_above_what_the_same_names_would_reach_by_chance() -> None:
    guesses = [
        *(said(3, "Acme", "Acme", "a") + said(1, "Bolt", "Acme", "a") + said(4, "Bolt", "", "a")),
        *(said(2, "Acme", "Acme", "b") + said(2, "Bolt", "Acme", "b") + said(4, "Acme", "", "b")),
    ]
    found = _recognised(guesses, AGREED)
    assert (found.reports, found.named, found.named_items) == (16, 8, 5)
    assert found.right.value == pytest.approx(5 / 8)
    assert found.above.value == pytest.approx(5 / 8 - 9 / 16)  # 9 of 16 reports are Acme's
    assert found.above.low < 0 < found.above.high
    assert "+6 points [" in found.sentence
    assert found.sentence.endswith(
        "; agreement .70\u00a0[.60,\u00a0.80] among annotators on all items, and agreement .60\u00a0[.50,\u00a0.70] without the "
        "5 items in which somebody named one."
    )
    with speaking("zh_CN"):
        assert found.sentence.endswith("除去有人指出类别的 5 个条目后的一致性 .60\u00a0[.50,\u00a0.70]。")
    nobody = _recognised(said(4, "Acme", "", "a"), AGREED)
    assert nobody.sentence.endswith("answered for 4 reports and named a kind for 0.")


@pytest.mark.databases("sqlite")
def test_agreement_is_told_with_and_without_the_items_in_which_somebody_named_a_kind(
    engine: Engine, tmp_path: Path
) -> None:
    study_id = make_study(engine, folder(tmp_path), protocol=ASKING, overlap=2)
    with transaction(engine) as session:
        people = [a_person(session, study_id, name) for name in ("Ada", "Ben")]
        for turn in range(9):
            for number, person in enumerate(people):
                work = take(session, person)
                if work is None:
                    continue
                page = assignment_page(session, person, work.aid)
                # they disagree on the first three of their items alone, and one of them names a kind there
                choice = "left" if (turn >= 3) == (work.left == "A") or (turn < 3 and number) else "right"
                submit(
                    session,
                    person,
                    work.aid,
                    page["page"],
                    f"submit-{work.id}",
                    answer_all(session, person, work.aid, choice),
                )
                if turn < 3:
                    save(session, person, [guess(page, f"guess-{work.id:04d}", left="Acme")])
    with reading(engine) as session:
        told = recognised(session, session.get_one(Study, study_id))
    assert all(told.agreement)
    assert told.agreement[0] != told.agreement[1]


@pytest.mark.databases("sqlite")
def test_packets_do_not_ask(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, folder(tmp_path), protocol=ASKING)
    with transaction(engine) as session:
        study = session.get_one(Study, study_id)
        a_person(session, study_id)
        made = reserve_packet(session, local_admin(study), "Ada", 2)
        assert len(made.data["items"]) == 2
        assert not [item for item in made.data["items"] if "guess" in item]
