"""A packet filled in by hand, as its own page would fill it: for tests of what comes back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from annotation.offline.ballot_format import signature
from annotation.offline.packets import PacketFile
from plain.hashes import canonical
from tests.small_study import uuids


class Filling:
    """The packet `made`, and the ballot so far. `signer`: what a page signs with instead."""

    def __init__(self, made: PacketFile | None = None, signer: dict[str, str] | None = None) -> None:
        self.pages: list[dict[str, Any]] = made.data["items"] if made else []
        self.signer = signer or (
            {"packet_id": made.packet_id, "packet_sha256": made.sha256, "secret": made.secret} if made else {}
        )
        self.entries: list[dict[str, Any]] = []
        self.seq = 0

    def answer(self, page: dict[str, Any], criterion: str, choice: str | None = "left", **changes: Any) -> None:
        self.seq += 1
        self.entries.append(
            {
                "kind": "label", "aid": page["aid"], "page": page["page"], "criterion": criterion, "choice": choice,
                "rationale": "because of that", "evidence": [], "confidence": None, "client_uuid": next(uuids),
                "writer": self.signer["packet_id"], "seq": self.seq, "base_rev": 0,
                "client_ts": "2026-11-20T10:00:00.000Z",
            } | changes
        )  # fmt: skip

    def fill(self, page: dict[str, Any], choice: str = "left", submit: bool = True) -> None:
        for criterion in page["criteria"]:
            self.answer(page, criterion["id"], choice)
        if submit:
            self.note(page, "submit")

    def note(self, page: dict[str, Any], kind: str, **fields: Any) -> None:
        self.entries.append(
            {"kind": kind, "aid": page["aid"], "page": page["page"], "client_uuid": next(uuids), **fields}
        )

    def ballot(self, entries: Sequence[dict[str, Any]] | None = None, **changes: Any) -> bytes:
        content = {
            "format": "calipers-ballot/1", "packet_id": self.signer["packet_id"],
            "packet_sha256": self.signer["packet_sha256"], "made_at": "2026-11-20T12:00:00.000Z",
            "entries": list(self.entries if entries is None else entries),
        } | changes  # fmt: skip
        return canonical({**content, "hmac": signature(self.signer["secret"], content)})
