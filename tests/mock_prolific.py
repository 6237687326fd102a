"""A crowd platform as Prolific's API reference (v1, read in November 2026) describes it, strict about its formats.

A study has an address with placeholders, places, a reward and completion codes. Whoever joins has one submission: its id
is what the address calls SESSION_ID, and whoever returns it may join anew. Where the address is secured, a token signed
for it says the same. A completion code that is not the study's is NOCODE. Approval takes submission ids
that await review; a bonus takes `<submission or participant id>,<amount>` of whoever took part, amounts in decimals.
"""

from __future__ import annotations

import csv
import io
import re
import secrets
import time
from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal
from threading import Lock
from typing import Any
from urllib.parse import parse_qs, urlsplit

from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey

ID = re.compile(r"[0-9a-f]{24}")
AMOUNT = re.compile(r"[0-9]+\.[0-9]{2}")
HEADS = ("Submission id", "Participant id", "Status", "Completion code")


def new_id() -> str:
    return secrets.token_hex(12)


@dataclass
class Submission:
    id: str
    participant: str
    status: str = "ACTIVE"
    code: str = ""


@dataclass
class Prolific:
    address: str
    places: int
    reward: Decimal
    codes: dict[str, str]  # code -> the status that it leads to
    study: str = field(default_factory=new_id)
    workspace: str = ""  # where it is given, addresses are secured
    key: RSAKey = field(default_factory=lambda: RSAKey.generate_key(2048, {"kid": "one", "use": "sig", "alg": "RS256"}))
    submissions: dict[str, Submission] = field(default_factory=dict)
    paid: Counter[str] = field(default_factory=Counter)  # participant -> cents
    lock: Lock = field(default_factory=Lock)

    def join(self, participant: str) -> str | None:
        """The address at which this participant is sent to the study; None where all places are reserved."""
        with self.lock:
            mine = [one for one in self.submissions.values() if one.participant == participant]
            if any(one.status != "RETURNED" for one in mine):
                return self.link(next(one for one in mine if one.status != "RETURNED"))
            if sum(one.status != "RETURNED" for one in self.submissions.values()) >= self.places:
                return None
            made = Submission(new_id(), participant)
            self.submissions[made.id] = made
            return self.link(made)

    def link(self, submission: Submission) -> str:
        names = {"PROLIFIC_PID": submission.participant, "STUDY_ID": self.study, "SESSION_ID": submission.id}
        address = re.sub(r"\{\{%(\w+)%\}\}", lambda name: names[name[1]], self.address)
        return f"{address}&prolific_token={self.signed(address, names)}" if self.workspace else address

    def signed(self, address: str, names: dict[str, str], **claims: Any) -> str:
        told = {"workspace_id": self.workspace, **names}
        at = int(time.time())
        said = {
            "iss": "https://www.prolific.com",
            "aud": address,
            "sub": names["SESSION_ID"],
            "iat": at,
            "exp": at + 60,
        }
        return jwt.encode({"alg": "RS256", "kid": "one"}, {**said, "prolific": told, **claims}, self.key)

    def keys(self) -> dict[str, Any]:
        return dict(KeySet([self.key]).as_dict(private=False))

    def of(self, participant: str) -> Submission:
        """The newest one."""
        return [one for one in self.submissions.values() if one.participant == participant][-1]

    def land(self, participant: str, address: str) -> None:
        """What a signed-in participant's browser asks of the platform at the end."""
        parts = urlsplit(address)
        assert (parts.scheme, parts.netloc, parts.path) == ("https", "app.prolific.com", "/submissions/complete"), (
            address
        )
        (code,) = parse_qs(parts.query)["cc"]
        with self.lock:
            mine = self.of(participant)
            assert mine.status != "RETURNED"
            mine.status, mine.code = self.codes.get(code, "AWAITING REVIEW"), code if code in self.codes else "NOCODE"

    def leave(self, participant: str) -> None:
        self.of(participant).status = "RETURNED"

    def export(self) -> str:
        out = io.StringIO()
        writer = csv.writer(out)
        writer.writerow(HEADS)
        writer.writerows((one.id, one.participant, one.status, one.code) for one in self.submissions.values())
        return out.getvalue()

    def approve(self, text: str) -> None:
        for line in text.splitlines():
            assert ID.fullmatch(line), line
            submission = self.submissions[line]
            assert submission.status == "AWAITING REVIEW", submission
            submission.status = "APPROVED"
            self.paid[submission.participant] += int(self.reward * 100)

    def bonus(self, text: str) -> None:
        for line in text.splitlines():
            who, amount = line.split(",")
            assert ID.fullmatch(who), line
            assert AMOUNT.fullmatch(amount), line
            self.paid[self.submissions[who].participant if who in self.submissions else who] += int(
                Decimal(amount) * 100
            )
