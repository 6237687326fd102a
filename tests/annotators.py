"""Simulated annotators who work through our routes, each with a cookie and a rhythm of their own."""

from __future__ import annotations

import asyncio
import json
import random
import time
import uuid
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from annotation.sign_ins import csrf_token


@dataclass
class Tally:
    """What a crowd of annotators saw, in milliseconds and bytes of content."""

    saves: list[float] = field(default_factory=list)
    nexts: list[float] = field(default_factory=list)
    bytes_up_and_down: list[int] = field(default_factory=list)
    acked: set[str] = field(default_factory=set)
    errors: int = 0


async def sign_in(link: str) -> str:
    """The cookie that an invite link gives."""
    async with aiohttp.ClientSession() as http, http.get(link, allow_redirects=False) as reply:
        return reply.cookies["calipers"].value


class Annotator:
    """One person at work over HTTP: `open` takes an item and reads its page, `work` answers until time is up."""

    def __init__(self, http: aiohttp.ClientSession, address: str, cookie: str, tally: Tally) -> None:
        self.http, self.address, self.tally = http, address, tally
        self.headers = {"Cookie": f"calipers={cookie}", "Origin": address, "X-Calipers-Token": csrf_token(cookie)}
        self.draw = random.Random(cookie)
        self.page: dict[str, Any] | None = None

    async def open(self, wait: float) -> None:
        """Come within `wait` seconds, take an item and read it."""
        await asyncio.sleep(self.draw.uniform(0, wait))
        started = time.monotonic()
        await self._read((await self._post("/api/take", {}))["next"], started)

    async def work(self, pause: float, ends: float) -> None:
        """Answer and submit, a label every `pause` seconds, until `ends` or nothing is left."""
        while page := self.page:
            revs: dict[str, int] = {}
            for code in (criterion["id"] for criterion in page["criteria"]):
                await asyncio.sleep(self.draw.uniform(0.5, 1.5) * pause)
                if time.monotonic() > ends:
                    return
                revs |= await self._save(answer(page, code, self.draw))
            started = time.monotonic()
            submit = {"aid": page["aid"], "page": page["page"], "outcome": "submit", "revs": revs}
            reply = await self._post("/api/submit", submit | {"client_uuid": uuid.uuid4().hex})
            await self._read(reply.get("next"), started)

    async def _read(self, aid: str | None, started: float) -> None:
        self.page = None
        if aid is None:
            return
        async with self.http.get(f"{self.address}/api/assignment/{aid}", headers=self.headers) as reply:
            self.page = await reply.json()
        self.tally.nexts.append(1e3 * (time.monotonic() - started))

    async def _save(self, entry: dict[str, Any]) -> dict[str, int]:
        started = time.monotonic()
        reply = await self._post("/api/labels", {"entries": [entry]})
        self.tally.saves.append(1e3 * (time.monotonic() - started))
        self.tally.bytes_up_and_down.append(len(json.dumps(entry)) + len(json.dumps(reply)))
        self.tally.errors += len(reply["refused"])
        self.tally.acked |= {ack["client_uuid"] for ack in reply["acks"]}
        return {entry["criterion"]: reply["acks"][0]["rev"]} if reply["acks"] else {}

    async def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        async with self.http.post(f"{self.address}{path}", json=body, headers=self.headers) as reply:
            self.tally.errors += reply.status != 200
            return dict(await reply.json())


def answer(page: dict[str, Any], criterion: str, draw: random.Random) -> dict[str, Any]:
    return {
        "kind": "label", "aid": page["aid"], "page": page["page"], "criterion": criterion,
        "choice": draw.choice(["left", "right", "tie"]), "rationale": "it says where its figures come from " * 3,
        "evidence": [], "confidence": None, "client_uuid": uuid.uuid4().hex, "writer": "load-test", "seq": 1,
        "base_rev": 0, "client_ts": "2026-11-20T10:00:00+00:00",
    }  # fmt: skip
