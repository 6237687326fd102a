"""Ballots come back: stored once, told apart entry by entry, and never as anybody else's."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, func, select

from annotation.errors import AnnotationError
from annotation.labelling import save
from annotation.offline.ballot_format import read_ballot, rescue_signer, signature
from annotation.offline.ballots import BallotOutcome, import_ballot
from annotation.offline.packets import PacketFile, reserve_packet, withdraw_packet
from annotation.participation.standing import void_work, withdraw, withdraw_consent
from annotation.people.active_time import active_seconds
from annotation.people.links import invite, revoke
from annotation.people.principals import Principal, local_admin
from annotation.people.sign_ins import sign_in, who
from annotation.work.claiming import take
from annotation.work.open_and_close import move_study
from annotation.work.page import assignment_page, own_assignment
from db.connect import reading, transaction
from db.tables import Assignment, Event, Import, Label, Study
from db.types import now
from tests.ballot_filling import Filling
from tests.small_study import PROTOCOL, a_person, answer, make_study, uuids


@dataclass
class Home:
    """Ada's packet of two items, filled in and handed in, of a study with nine items of two criteria."""

    engine: Engine
    study_id: int
    ada: Principal
    made: PacketFile
    filling: Filling

    @property
    def first(self) -> dict[str, Any]:
        page: dict[str, Any] = self.made.data["items"][0]
        return page

    @property
    def second(self) -> dict[str, Any]:
        page: dict[str, Any] = self.made.data["items"][1]
        return page

    def bring(self, raw: bytes | None = None) -> BallotOutcome:
        with transaction(self.engine) as session:
            return import_ballot(session, self.admin(session), self.filling.ballot() if raw is None else raw, "here")

    def admin(self, session: Any) -> Principal:
        return local_admin(session.get_one(Study, self.study_id))

    def rows(self) -> tuple[int, int, int]:
        with reading(self.engine) as session:
            label, event, kept = (
                session.scalar(select(func.count()).select_from(table)) for table in (Label, Event, Import)
            )
            return label or 0, event or 0, kept or 0

    def status(self, page: dict[str, Any]) -> str:
        with reading(self.engine) as session:
            return session.scalars(select(Assignment.status).where(Assignment.aid == page["aid"])).one()


@pytest.fixture
def home(engine: Engine, tmp_path: Path) -> Home:
    return at_home(engine, tmp_path)


def at_home(engine: Engine, tmp_path: Path, protocol: str = PROTOCOL) -> Home:
    study_id = make_study(engine, tmp_path, protocol=protocol)
    with transaction(engine) as session:
        ada = a_person(session, study_id)
        made = reserve_packet(session, local_admin(session.get_one(Study, study_id)), "Ada", 2)
    filling = Filling(made)
    for page in filling.pages:
        filling.fill(page)
    return Home(engine, study_id, ada, made, filling)


def told(outcome: BallotOutcome) -> list[str]:
    return [entry.outcome for entry in outcome.entries]


def test_a_whole_ballot_is_stored_as_its_persons_and_handed_in_and_twice_writes_nothing(home: Home) -> None:
    home.filling.note(home.first, "comment", text="Read at home.", client_ts="2026-11-20T10:00:00.000Z")
    outcome = home.bring()
    assert told(outcome) == ["stored"] * 7
    assert outcome.rater == "annotator-01"
    assert outcome.handed_in == [home.first["aid"], home.second["aid"]]
    assert outcome.half_filled == {}
    with reading(home.engine) as session:
        rows = session.scalars(select(Assignment).where(Assignment.status == "submitted")).all()
        assert [(row.source, row.rater_id) for row in rows] == [("packet", home.ada.rater_id)] * 2
        assert session.scalars(select(Assignment.id).where(Assignment.status == "taken")).all() == [], "nothing new"
    before = home.rows()
    again = home.bring()
    assert told(again) == ["already there"] * 7
    assert home.rows() == before


@pytest.mark.databases("sqlite")
def test_every_byte_of_a_ballot_counts(home: Home) -> None:
    raw, secret = home.filling.ballot(), home.made.secret
    ballot, signed = read_ballot(raw)
    assert signature(secret, signed) == ballot.hmac
    for place, byte in enumerate(raw):
        forged = raw[:place] + bytes([byte ^ 1]) + raw[place + 1 :]
        try:
            ballot, signed = read_ballot(forged)
        except AnnotationError:
            continue
        assert signature(secret, signed) != ballot.hmac, f"byte {place}"


@pytest.mark.databases("sqlite")
def test_only_admins_bring_ballots_and_only_ballots(home: Home) -> None:
    with pytest.raises(AnnotationError, match="admin"), transaction(home.engine) as session:
        import_ballot(session, home.ada, home.filling.ballot())
    for raw in (b"", b"{}", b"[]", b'{"format": "calipers-ballot/1"}', b"\xff\xfe", b"[" * 100_000):
        with pytest.raises(AnnotationError, match="no ballot"):
            home.bring(raw)
    assert home.rows()[0] == 0


def other_study(home: Home) -> bytes:
    with transaction(home.engine) as session:
        study = session.get_one(Study, home.study_id)
        copy = Study(name="other", protocol_text=study.protocol_text, protocol_sha256="", seed=1, status="open")
        session.add(copy)
        session.flush()
        home.study_id = copy.id
    return home.filling.ballot()


def withdrawn(home: Home) -> bytes:
    with transaction(home.engine) as session:
        withdraw_packet(session, home.admin(session), home.made.packet_id)
    return home.filling.ballot()


def left(home: Home) -> bytes:
    with transaction(home.engine) as session:
        withdraw(session, home.admin(session), "Ada")
    return home.filling.ballot()


def replanned(home: Home) -> bytes:
    with transaction(home.engine) as session:
        void_work(session, home.admin(session), "Ada", "planned anew")
    return home.filling.ballot()


def closed(home: Home) -> bytes:
    with transaction(home.engine) as session:
        move_study(session, session.get_one(Study, home.study_id), "closed")
    return home.filling.ballot()


def locked(home: Home) -> bytes:
    home.bring()
    with transaction(home.engine) as session:
        for status in ("closed", "locked"):
            move_study(session, session.get_one(Study, home.study_id), status)
    for page in home.filling.pages:
        for criterion in page["criteria"]:
            home.filling.answer(page, criterion["id"], "right")
    return home.filling.ballot(home.filling.entries[6:] + home.filling.entries[:2])


def edited(home: Home) -> bytes:
    return home.filling.ballot().replace(b'"left"', b'"tie"')


def resigned(home: Home) -> bytes:
    home.filling.signer["secret"] = "0" * 64
    return home.filling.ballot()


def beside_other_texts(home: Home) -> bytes:
    return home.filling.ballot(packet_sha256="0" * 64)


@pytest.mark.databases("sqlite")
@pytest.mark.parametrize(("make", "reason"), [
    (edited, "changed after it was saved"),
    (resigned, "changed after it was saved"),
    (beside_other_texts, "other texts"),
    (other_study, "another study's"),
    (withdrawn, "withdrawn"),
    (left, "left the study"),
    (replanned, "went back|planned anew"),
    (closed, "went back"),
    (locked, "locked"),
])  # fmt: skip
def test_a_whole_ballot_is_refused_with_one_reason_and_nothing_is_written(
    home: Home, make: Callable[[Home], bytes], reason: str
) -> None:
    raw = make(home)
    before = home.rows()
    outcome = home.bring(raw)
    assert set(told(outcome)) == {"refused"}
    assert len(outcome.entries) == 6
    assert all(re.search(reason, entry.reason) for entry in outcome.entries), outcome.entries[0].reason
    assert home.rows() == before


def wrong_entries(home: Home) -> list[tuple[dict[str, Any], str]]:
    """An entry that is refused alone, and why."""
    with transaction(home.engine) as session:
        bob = a_person(session, home.study_id, "Bob")
        other = Filling(reserve_packet(session, home.admin(session), "Bob", 1))
        mine = Filling(reserve_packet(session, home.admin(session), "Ada", 1))
    assert bob.rater_id != home.ada.rater_id
    raw = dict(home.filling.entries[0])
    return [
        (raw | {"client_uuid": next(uuids), **change}, reason)
        for change, reason in [
            ({"aid": other.pages[0]["aid"], "page": other.pages[0]["page"]}, "not this person's"),
            ({"aid": mine.pages[0]["aid"], "page": mine.pages[0]["page"]}, "not in this packet"),
            ({"aid": "f" * 32}, "no such item"),
            ({"page": home.second["page"]}, "replaced"),
            ({"criterion": "nosuch"}, "no criterion 'nosuch'"),
            ({"choice": "not_applicable", "seq": 9}, "not_applicable"),
            ({"choice": "B", "seq": 9}, "'B'"),
            ({"confidence": 3, "seq": 9}, "confidence"),
            ({"kind": "vote"}, "Input tag 'vote'"),
            ({"choice": {"left": 1}}, "choice"),
            ({"secret": "x"}, "secret"),
        ]
    ]


@pytest.mark.databases("sqlite")
def test_a_bad_entry_is_refused_alone(home: Home) -> None:
    wrong = wrong_entries(home)
    entries = home.filling.entries[:2] + home.filling.entries[3:]  # the first item is not said to be done
    outcome = home.bring(home.filling.ballot([*entries, *(entry for entry, _ in wrong), "none", None, 7]))
    reasons = [entry.reason for entry in outcome.entries if entry.outcome == "refused"]
    assert told(outcome).count("stored") == 5
    assert len(reasons) == len(wrong) + 3
    for _, reason in wrong:
        assert any(reason in one for one in reasons), (reason, reasons)
    assert home.rows()[0] == 4


UNREADABLE = [
    {"kind": "label", "aid": "\0"}, {"kind": "submit", "aid": "\ud800"}, {"kind": "label", "aid": {"a": 1}},
    {"kind": "\x1b[2J", "aid": "\x1b[31m"}, {"kind": ["label"]},
]  # fmt: skip


@pytest.mark.databases("sqlite")
def test_an_entry_that_no_database_or_terminal_can_hold_is_refused_alone_and_told_in_plain_characters(
    home: Home,
) -> None:
    outcome = home.bring(home.filling.ballot([*home.filling.entries, *UNREADABLE]))
    refused = [entry for entry in outcome.entries if entry.outcome == "refused"]
    assert (told(outcome).count("stored"), len(refused)) == (6, len(UNREADABLE))
    assert all((entry.kind + entry.aid).isprintable() for entry in refused)


@pytest.mark.databases("sqlite")
def test_a_ballot_nested_without_end_is_refused_like_any_forged_one(home: Home) -> None:
    deep = b'{"kind":"label","aid":' + b"[" * 900 + b"]" * 900 + b"}"
    raw = home.filling.ballot([]).replace(b'"entries":[]', b'"entries":[' + deep + b"]")
    assert [(entry.outcome, entry.aid) for entry in home.bring(raw).entries] == [("refused", "")]


@pytest.mark.databases("sqlite")
def test_a_half_filled_item_stays_in_work_and_is_listed(home: Home) -> None:
    filling = Filling(home.made)
    filling.answer(home.first, "clear")
    filling.answer(home.first, "deep", rationale="no")
    filling.answer(home.second, "clear", None)
    filling.note(home.second, "submit")
    outcome = home.bring(filling.ballot())
    assert told(outcome) == ["stored", "stored", "stored", "refused"]
    assert "2 of 2 criteria still need something" in outcome.entries[-1].reason
    assert outcome.half_filled == {home.first["aid"]: ["deep"], home.second["aid"]: ["clear", "deep"]}
    assert (home.status(home.first), home.status(home.second)) == ("taken", "taken")
    filling.answer(home.first, "deep")
    filling.note(home.first, "submit")
    later = home.bring(filling.ballot())
    assert told(later) == ["already there", "already there", "stored", "stored", "already there", "refused"]
    assert later.handed_in == [home.first["aid"]]


def test_a_newer_online_answer_makes_the_entry_stale_and_both_are_shown(home: Home) -> None:
    with transaction(home.engine) as session:
        page = assignment_page(session, home.ada, home.first["aid"])
        assert save(session, home.ada, [answer(page, "deep", "right", rationale="said online")]).refused == []
    outcome = home.bring()
    assert told(outcome) == ["stored", "stale", "refused", "stored", "stored", "stored"]
    stale = outcome.entries[1]
    assert stale.yours == {"choice": "left", "rationale": "because of that", "confidence": None}
    assert stale.stored == {"choice": "right", "rationale": "said online", "confidence": None}
    assert "not every answer was stored" in outcome.entries[2].reason
    assert home.status(home.first) == "taken"


@pytest.mark.databases("sqlite")
def test_a_later_ballot_takes_up_what_was_handed_in_and_an_earlier_one_changes_nothing(home: Home) -> None:
    early = home.filling.ballot(home.filling.entries[:3])
    home.filling.answer(home.first, "deep", "tie")
    late = home.filling.ballot([*home.filling.entries[:1], home.filling.entries[-1]])
    home.bring(early)
    assert told(home.bring(late)) == ["already there", "stored"]
    assert home.status(home.first) == "taken", "it was reopened, and not handed in again"
    home.filling.note(home.first, "submit")
    done = home.filling.ballot([*home.filling.entries[:1], *home.filling.entries[-2:]])
    assert told(home.bring(done)) == ["already there", "already there", "stored"]
    before = home.rows()
    changed = json.loads(early)["entries"][1] | {"client_uuid": next(uuids)}
    outcome = home.bring(home.filling.ballot([changed]))
    assert told(outcome) == ["stale"]
    assert home.rows() == before
    assert home.status(home.first) == "submitted"


@pytest.mark.databases("sqlite")
def test_time_at_home_counts_by_its_own_clock_and_says_so(home: Home) -> None:
    minute = {"criterion": "clear", "start": "2026-11-20T10:00:00.000Z", "end": "2026-11-20T10:01:00.000Z"}
    with transaction(home.engine) as session:
        own_assignment(session, home.ada, home.first["aid"]).taken_at = now().replace(year=2025)
    home.filling.note(home.first, "activity", intervals=[minute], clock="client", client_ts="2026-11-20T10:01:00.000Z")
    assert told(home.bring())[3] == "stored"
    with reading(home.engine) as session:
        study = session.get_one(Study, home.study_id)
        assert active_seconds(session, study, own_assignment(session, home.ada, home.first["aid"]))["item"] == 60
        event = session.scalars(select(Event).where(Event.kind == "activity")).one()
        assert event.data["clock"] == "client"


@pytest.mark.databases("sqlite")
def test_consent_given_in_the_packet_counts_before_any_answer(engine: Engine, tmp_path: Path) -> None:
    home = at_home(engine, tmp_path, PROTOCOL.replace("[study]", '[study]\nconsent = "Labels are published."'))
    outcome = home.bring()
    assert set(told(outcome)) == {"refused"}
    assert "has not agreed" in outcome.entries[0].reason
    agreed = {"kind": "consent", "sha256": home.made.data["consent"]["sha256"], "client_uuid": next(uuids)}
    outdated = agreed | {"sha256": "0" * 64}
    refused = home.bring(home.filling.ballot([*home.filling.entries, outdated]))
    assert set(told(refused)) == {"refused"}
    whole = home.filling.ballot([*home.filling.entries, agreed])
    assert told(home.bring(whole)) == ["stored"] * 7
    with transaction(engine) as session:
        withdraw_consent(session, home.ada)
    late = home.bring(whole)
    assert set(told(late)) == {"refused"}, "an old ballot gives nobody's consent anew"
    with pytest.raises(AnnotationError, match="consent back"), transaction(engine) as session:
        reserve_packet(session, home.admin(session), "Ada", 1)


def test_unsaved_answers_of_the_online_page_come_in_by_the_same_door(engine: Engine, tmp_path: Path) -> None:
    study_id = make_study(engine, tmp_path)
    with transaction(engine) as session:
        admin = local_admin(session.get_one(Study, study_id))
        cookie = sign_in(session, invite(session, admin, "Ada", "annotator"), "here")
        assert cookie is not None
        ada = who(session, cookie)
        assert ada is not None
        taken = take(session, ada)
        assert taken is not None
        page = assignment_page(session, ada, taken.aid)
        revoke(session, admin, "Ada")  # signed out meanwhile
    filling = Filling(signer=rescue_signer(cookie))
    filling.answer(page, "clear", writer="writer-0001")
    home = Home(engine, study_id, ada, None, filling)  # type: ignore[arg-type]
    assert told(home.bring()) == ["stored"]
    assert told(home.bring()) == ["already there"]
    forged = Filling(signer=rescue_signer(cookie) | {"secret": rescue_signer("another cookie")["secret"]})
    forged.answer(page, "deep")
    assert told(home.bring(forged.ballot())) == ["refused"]
    assert cookie not in filling.ballot().decode()
