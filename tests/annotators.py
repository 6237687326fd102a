"""Simulated annotators who work through our routes, each with a cookie and a rhythm of their own.

A request without an answer is sent again as the page's outbox does: the same body with the same `client_uuid`, after
half a second, doubling to eight.
"""

from __future__ import annotations

import asyncio
import json
import math
import random
import ssl
import time
import uuid
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import aiohttp
from sqlalchemy import select
from sqlalchemy.orm import Session

from annotation.people.sign_ins import csrf_token
from db.people_tables import Rater
from db.tables import LIVE, Assignment, Event, Label

TIMEOUT = aiohttp.ClientTimeout(total=8)
FIRST_RETRY_S, LAST_RETRY_S = 0.5, 8.0
GRACE_S = 10.0  # what is under way when time is up may still be answered


@dataclass
class Tally:
    """What a crowd of annotators saw, in milliseconds and bytes of content."""

    saves: list[float] = field(default_factory=list)  # from the first try to the acknowledgement
    begun: list[float] = field(default_factory=list)  # `time.monotonic()` at the first try of each of them
    nexts: list[float] = field(default_factory=list)
    bytes_up_and_down: list[int] = field(default_factory=list)
    acked: set[str] = field(default_factory=set)  # client_uuids of labels
    handed_in: set[str] = field(default_factory=set)  # aids
    retries: int = 0
    given_up: int = 0  # requests without an answer when time was up
    errors: int = 0  # refusals: what the page would show and not send again

    def broken(self, session: Session, study_id: int) -> dict[str, int]:
        """What was acknowledged and is not stored, and what is stored twice; each answers each question once."""
        mine = Assignment.study_id == study_id
        labels = session.execute(
            select(Label.client_uuid, Label.assignment_id, Label.criterion_id).join(Assignment).where(mine)
        ).all()
        submitted = session.scalars(select(Assignment.aid).where(mine, Assignment.status == "submitted")).all()
        submits = session.scalars(select(Event.data).where(Event.study_id == study_id, Event.what == "submit"))
        slot = Assignment.item_id, Assignment.purpose, Assignment.slot_no, Assignment.pass_no
        live = (
            select(*slot)
            .join(Rater, Rater.id == Assignment.rater_id)
            .where(mine, Assignment.status.in_(LIVE), Rater.kind == "human")
        )
        slots = session.execute(live).all()
        return {
            "labels lost": len(self.acked - {uuid for uuid, *_ in labels}),
            "labels doubled": repeated((assignment, criterion) for _, assignment, criterion in labels),
            "hand-ins lost": len(self.handed_in - set(submitted)),
            "hand-ins doubled": repeated(data["assignment"] for data in submits),
            "slots given out twice": repeated(map(tuple, slots)),
        }


def repeated(values: Any) -> int:
    """How many of them came before."""
    return sum(count - 1 for count in Counter(values).values())


async def sign_in(link: str, trusting: ssl.SSLContext | bool = True) -> str:
    """The cookie that an invite link gives; `trusting`: a certificate of a test's own."""
    async with aiohttp.ClientSession() as http, http.get(link, allow_redirects=False, ssl=trusting) as reply:
        return reply.cookies["calipers"].value


class Annotator:
    """One person at work over HTTP: `open` takes an item and reads its page, `work` answers until time is up.

    `loses`: the share of answers that never reach this person, who then sends the request again.
    """

    def __init__(
        self, http: aiohttp.ClientSession, address: str, cookie: str, tally: Tally, loses: float = 0.0
    ) -> None:
        self.http, self.address, self.tally, self.loses = http, address, tally, loses
        self.headers = {"Cookie": f"calipers={cookie}", "Origin": address, "X-Calipers-Token": csrf_token(cookie)}
        self.draw = random.Random(cookie)
        self.page: dict[str, Any] = {}
        self.revs: dict[str, int] = {}  # of the answers to this page
        self.ends = math.inf

    async def open(self, wait: float, *, amid: bool = False) -> None:
        """Come within `wait` seconds, take an item and read it.

        `amid`: answer some of its questions in one request, as many as chance says: then not all of a crowd begin an
        item at once and hand it in together.
        """
        await asyncio.sleep(self.draw.uniform(0, wait))
        started = time.monotonic()
        await self._read(await self._ask("/api/take", {}), started)
        if amid and self.page:
            codes = [criterion["id"] for criterion in self.page["criteria"]]
            entries = [answer(self.page, code, self.draw) for code in codes[: self.draw.randrange(len(codes))]]
            acks = (await self._ask("/api/labels", {"entries": entries})).get("acks", [])
            self.tally.acked |= {ack["client_uuid"] for ack in acks}
            self.revs = {entry["criterion"]: ack["rev"] for entry, ack in zip(entries, acks, strict=True)}

    async def work(self, pause: float, ends: float) -> None:
        """Answer and submit, a label every `pause` seconds, until `ends` or nothing is left."""
        self.ends = ends
        while page := self.page:
            for code in (one["id"] for one in page["criteria"] if one["id"] not in self.revs):
                await asyncio.sleep(self.draw.uniform(0.5, 1.5) * pause)
                if time.monotonic() > self.ends:
                    return
                self.revs |= await self.save(answer(page, code, self.draw))
            started = time.monotonic()
            submit = {"aid": page["aid"], "page": page["page"], "outcome": "submit", "revs": self.revs}
            reply = await self._ask("/api/submit", submit | {"client_uuid": uuid.uuid4().hex})
            if "next" in reply:
                self.tally.handed_in.add(page["aid"])
            await self._read(reply, started)

    async def _read(self, reply: dict[str, Any], started: float) -> None:
        """The page of the item that `reply` names, which comes with the reply to a hand-in."""
        self.page, self.revs = {}, {}
        if reply.get("next") is None:
            return
        self.page = reply.get("item") or await self._ask(f"/api/assignment/{reply['next']}")
        self.tally.nexts.append(1e3 * (time.monotonic() - started))

    async def save(self, entry: dict[str, Any]) -> dict[str, int]:
        """Send one answer until it is acknowledged; its criterion's revision."""
        started = time.monotonic()
        reply = await self._ask("/api/labels", {"entries": [entry]})
        acks = reply.get("acks", [])
        self.tally.errors += len(reply.get("refused", []))
        if not acks:
            return {}
        self.tally.begun.append(started)
        self.tally.saves.append(1e3 * (time.monotonic() - started))
        self.tally.bytes_up_and_down.append(len(json.dumps(entry)) + len(json.dumps(reply)))
        self.tally.acked.add(entry["client_uuid"])
        return {entry["criterion"]: acks[0]["rev"]}

    async def _ask(self, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """The answer to this request, sent until there is one; nothing where time is up before."""
        wait = FIRST_RETRY_S
        while True:
            try:
                status, reply = await self._send(path, body)
                if status < 500 and status != 429:
                    if self.draw.random() >= self.loses:
                        self.tally.errors += status != 200
                        return reply
                    wait = 0.0
            except (aiohttp.ClientError, TimeoutError):
                pass  # no connection, or none any more
            if time.monotonic() > self.ends + GRACE_S:
                self.tally.given_up += 1
                return {}
            self.tally.retries += 1
            await asyncio.sleep(wait)
            wait = min(LAST_RETRY_S, 2 * wait or FIRST_RETRY_S)

    async def _send(self, path: str, body: dict[str, Any] | None) -> tuple[int, dict[str, Any]]:
        method = "GET" if body is None else "POST"
        address = f"{self.address}{path}"
        async with self.http.request(method, address, json=body, headers=self.headers, timeout=TIMEOUT) as reply:
            is_ours = reply.content_type == "application/json"  # a proxy's own page of trouble is none
            return reply.status, dict(await reply.json()) if is_ours else {}


def answer(page: dict[str, Any], criterion: str, draw: random.Random) -> dict[str, Any]:
    return {
        "kind": "label", "aid": page["aid"], "page": page["page"], "criterion": criterion,
        "choice": draw.choice(["left", "right", "tie"]), "rationale": "it says where its figures come from " * 3,
        "evidence": [], "confidence": None, "client_uuid": uuid.uuid4().hex, "writer": "load-test", "seq": 1,
        "base_rev": 0, "client_ts": "2026-11-20T10:00:00+00:00",
    }  # fmt: skip
