"""Somebody is taken out of a study in mid-pair: what their page is told, and what becomes of their answers and slots."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session
from starlette.testclient import TestClient

from annotation.facts.soundness import find_faults
from annotation.participation.standing import pause, resume, void_work, withdraw
from annotation.people.links import revoke
from annotation.people.principals import Principal, local_admin
from annotation.verdicts import load_verdicts
from db.connect import reading, transaction
from db.tables import LIVE, Assignment, Label, Study
from tests.app.visiting import Site, first_page, post
from tests.small_study import answer

SIGNED_OUT = "you are signed out; open your invitation link again"
WENT_BACK = "this work went back to the pool; your text is kept here, but not stored"


@dataclass
class AtWork:
    """Ada in mid-pair: one answer is stored, the other waits in her browser."""

    site: Site
    client: TestClient
    page: dict[str, Any]
    slots: Counter[tuple[int, int, str | None]]

    @property
    def waiting(self) -> dict[str, Any]:
        return {"entries": [answer(self.page, "deep", "right", client_uuid="waiting-1").model_dump()]}

    def submit(self, revs: dict[str, int], outcome: str = "submit") -> Any:
        body = {"aid": self.page["aid"], "page": self.page["page"], "outcome": outcome, "revs": revs}
        return post(self.client, "/api/submit", body | {"client_uuid": f"{outcome}-by-ada"})

    def do(self, act: Callable[..., Any], *words: str) -> Any:
        with transaction(self.site.engine) as session:
            return act(session, local_admin(session.get_one(Study, self.site.study_id)), "Ada", *words)

    def work(self) -> Assignment:
        with reading(self.site.engine) as session:
            return session.scalars(select(Assignment).where(Assignment.aid == self.page["aid"])).one()

    def kept(self) -> list[str | None]:
        """Choices stored for her item, oldest first."""
        with reading(self.site.engine) as session:
            return list(
                session.scalars(select(Label.choice).where(Label.assignment_id == self.work().id).order_by(Label.id))
            )


def live_slots(site: Site) -> Counter[tuple[int, int, str | None]]:
    """(item, slot, left) of every slot that is open, in work or done."""
    rows = select(Assignment.item_id, Assignment.slot_no, Assignment.left).where(Assignment.status.in_(LIVE))
    with reading(site.engine) as session:
        return Counter(map(tuple, session.execute(rows)))


@pytest.fixture
def ada(site: Site) -> AtWork:
    slots = live_slots(site)
    client = site.signed_in()
    page = first_page(client)
    assert post(client, "/api/labels", {"entries": [answer(page, "clear", "left").model_dump()]}).json()["acks"]
    return AtWork(site, client, page, slots)


def test_with_her_links_withdrawn_she_is_told_to_open_one_and_a_new_one_brings_back_page_and_text(ada: AtWork) -> None:
    ada.do(revoke)
    for reply in (
        post(ada.client, "/api/labels", ada.waiting), post(ada.client, "/api/take", {}),
        ada.client.get(f"/api/assignment/{ada.page['aid']}"), ada.submit({"clear": 1}),
    ):  # fmt: skip
        assert (reply.status_code, reply.json()) == (401, {"code": "signed_out", "text": SIGNED_OUT})
    assert (ada.work().status, ada.kept()) == ("taken", ["left"])
    again = ada.site.signed_in()
    assert post(again, "/api/take", {}).json()["next"] == ada.page["aid"]
    for _ in range(2):
        assert post(again, "/api/labels", ada.waiting).json()["acks"][0]["rev"] == 1
    assert ada.kept() == ["left", "right"]
    assert live_slots(ada.site) == ada.slots


def test_paused_she_finishes_what_she_has_and_gets_nothing_new_until_she_is_resumed(ada: AtWork) -> None:
    ada.do(pause)
    assert post(ada.client, "/api/take", {}).json()["next"] == ada.page["aid"]
    assert post(ada.client, "/api/labels", ada.waiting).json()["acks"]
    done = ada.submit({"clear": 1, "deep": 1})
    assert (done.status_code, done.json()["next"]) == (200, None)
    ada.do(resume)
    assert post(ada.client, "/api/take", {}).json()["next"] not in (None, ada.page["aid"])
    assert live_slots(ada.site) == ada.slots


def test_withdrawn_she_is_signed_out_her_slot_is_open_once_and_her_answer_stays_in_the_history(ada: AtWork) -> None:
    for _ in range(2):
        ada.do(withdraw)
        for reply in (post(ada.client, "/api/labels", ada.waiting), ada.submit({"clear": 1}), ada.submit({}, "skip")):
            assert (reply.status_code, reply.json()) == (401, {"code": "signed_out", "text": SIGNED_OUT})
        assert (ada.work().status, ada.work().returned, ada.kept()) == ("returned", "withdrawn", ["left"])
        assert live_slots(ada.site) == ada.slots, "one replacement, in the same order"
    assert finished_by_others(ada) == {"right"}


def test_voided_in_mid_pair_her_page_is_told_and_nothing_of_hers_counts(ada: AtWork) -> None:
    for _ in range(2):
        ada.do(void_work, "answers without reading")
        refused = post(ada.client, "/api/labels", ada.waiting)
        assert refused.status_code == 200
        assert refused.json() == {
            "acks": [], "refused": [{"client_uuid": "waiting-1", "code": "returned", "text": WENT_BACK}],
        }  # fmt: skip
        submitted = ada.submit({"clear": 1})
        assert (submitted.status_code, submitted.json()) == (409, {"code": "returned", "text": WENT_BACK})
        assert (ada.work().status, ada.kept()) == ("void", ["left"])
        assert ada.client.get(f"/api/assignment/{ada.page['aid']}").json()["status"] == "void"
        assert live_slots(ada.site) == ada.slots
    assert finished_by_others(ada) == {"right"}


def test_what_she_handed_in_before_stays_when_she_leaves_and_goes_when_it_is_voided(ada: AtWork) -> None:
    assert post(ada.client, "/api/labels", ada.waiting).json()["acks"]
    assert ada.submit({"clear": 1, "deep": 1}).status_code == 200
    ada.do(withdraw)
    assert len(verdicts(ada)) == 2
    ada.do(void_work, "not her own work")
    assert len(verdicts(ada)) == 0
    assert ada.kept() == ["left", "right"]
    assert live_slots(ada.site) == ada.slots


def test_a_save_that_meets_the_withdrawal_is_stored_before_it_or_refused_after_it(ada: AtWork) -> None:
    with ThreadPoolExecutor(2) as threads:
        save = threads.submit(post, ada.client, "/api/labels", ada.waiting)
        leave = threads.submit(ada.do, withdraw)
        leave.result()
        reply = save.result()
    was_stored = reply.status_code == 200 and bool(reply.json()["acks"])
    assert ada.kept() == (["left", "right"] if was_stored else ["left"])
    assert ada.work().status == "returned"
    assert live_slots(ada.site) == ada.slots


def test_a_save_that_waits_for_a_withdrawal_under_way_is_refused(ada: AtWork) -> None:
    with ThreadPoolExecutor(1) as thread:

        def withdraw_while_she_saves(session: Session, admin: Principal, name: str) -> Any:
            withdraw(session, admin, name)
            return thread.submit(post, ada.client, "/api/labels", ada.waiting)

        reply = ada.do(withdraw_while_she_saves).result()
    assert reply.status_code == 401 or [line["code"] for line in reply.json()["refused"]] == ["returned"]
    assert ada.kept() == ["left"]
    assert live_slots(ada.site) == ada.slots


def finished_by_others(ada: AtWork) -> set[str]:
    """Bea and Cid do all there is, always "right"; the choices of all submitted work."""
    for name in ("Bea", "Cid"):
        client = ada.site.signed_in(name)
        while aid := post(client, "/api/take", {}).json()["next"]:
            page = client.get(f"/api/assignment/{aid}").json()
            entries = [answer(page, code, "right").model_dump() for code in ("clear", "deep")]
            assert post(client, "/api/labels", {"entries": entries}).json()["refused"] == []
            body = {"aid": aid, "page": page["page"], "outcome": "submit", "revs": {"clear": 1, "deep": 1}}
            assert post(client, "/api/submit", body | {"client_uuid": aid}).status_code == 200
    assert len(verdicts(ada)) == 2 * ada.slots.total(), "two criteria a slot, each once"
    with reading(ada.site.engine) as session:
        assert find_faults(session) == []
        given = select(Label.choice).join(Assignment, Assignment.id == Label.assignment_id)
        return {str(choice) for choice in session.scalars(given.where(Assignment.status == "submitted"))}


def verdicts(ada: AtWork) -> Any:
    with reading(ada.site.engine) as session:
        return load_verdicts(session, session.get_one(Study, ada.site.study_id))
