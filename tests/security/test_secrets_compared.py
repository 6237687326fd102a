"""Every secret that is sent in is compared in constant time, or looked up by a hash that its sender cannot steer."""

from __future__ import annotations

import ast
import hmac
import json
import re
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from annotation.offline.ballot_format import rescue_signer, signature
from annotation.offline.ballots import import_ballot
from annotation.people.principals import local_admin
from app.settings import settings
from db.connect import reading, transaction
from db.people_tables import Invite, OpenLink, SignIn
from db.tables import Study
from tests.app.visiting import Site, post

ROOT = Path(__file__).resolve().parents[2]
KEY = "the-servers-own-key"
LOOKED_AT = {"page", "token"}  # which text a page shows, known to whoever reads it
SECRET = re.compile(r"(^|_)(token|secret|hmac|signature|password|digest|cookie|csrf)s?$")


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[bytes, bytes]]]:
    """Both sides of every comparison in constant time."""
    seen: list[tuple[bytes, bytes]] = []
    usual = hmac.compare_digest

    def noting(one: Any, other: Any) -> bool:
        seen.append((bytes(one), bytes(other)))
        return usual(one, other)

    monkeypatch.setattr(hmac, "compare_digest", noting)
    monkeypatch.setattr(secrets, "compare_digest", noting)
    monkeypatch.setenv("CALIPERS_ADMIN_TOKEN", KEY)
    settings.cache_clear()
    yield seen
    settings.cache_clear()


@pytest.mark.parametrize("sent", ["", "0" * 64, "é", KEY[:-1], "x" * 10_000])
def test_the_servers_key_and_the_token_of_a_page_are_compared_whole(site: Site, compared: Any, sent: str) -> None:
    client = site.signed_in()
    compared.clear()
    assert post(client, "/api/take", {}, **{"X-Calipers-Token": sent.encode("utf-8")}).status_code == 403  # type: ignore[arg-type]
    assert len(compared) == 1
    compared.clear()
    client.get(f"/invite/{sent or 'x'}")
    assert KEY.encode() in {side for both in compared for side in both}
    compared.clear()
    assert client.get("/metrics", headers={"Authorization": f"Bearer {sent}".encode()}).status_code == 404  # type: ignore[dict-item]
    assert len(compared) == 1


@pytest.mark.parametrize("forged", ["0" * 64, "", "é" * 8])
def test_the_seal_of_a_ballot_is_compared_whole(site: Site, compared: Any, forged: str) -> None:
    client = site.signed_in("Ada")
    signer = rescue_signer(client.cookies["calipers"])
    content = {
        "format": "calipers-ballot/1", "packet_id": signer["packet_id"], "packet_sha256": "", "made_at": "2026-11-21T10:00:00Z",
        "entries": [],
    }  # fmt: skip
    compared.clear()
    with transaction(site.engine) as session:
        admin = local_admin(session.get_one(Study, site.study_id))
        outcome = import_ballot(session, admin, json.dumps(content | {"hmac": forged}).encode())
    assert outcome.rater == "", "nobody's"
    true = signature(signer["secret"], content)
    assert any(true.encode() in both for both in compared)


def test_what_is_looked_up_is_a_hash(site: Site) -> None:
    """Of a token of which a sender knows nothing, so that how long a search takes tells nothing about it."""
    site.signed_in()
    with reading(site.engine) as session:
        for column in (Invite.token_sha256, OpenLink.token_sha256, SignIn.cookie_sha256):
            assert all(re.fullmatch("[0-9a-f]{64}", one) for one in session.scalars(select(column)))


def test_no_secret_is_compared_by_equality_anywhere() -> None:
    """Over the syntax tree of every file: a name that sounds like a secret beside == or != outside of a query."""
    found = []
    for folder in ("app", "annotation", "db"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Compare) and any(isinstance(op, ast.Eq | ast.NotEq) for op in node.ops):
                    sides = [node.left, *node.comparators]
                    if any(isinstance(one, ast.Constant) for one in sides):
                        continue
                    names = {_name(one) for one in sides}
                    if any(map(SECRET.search, names)) and names != LOOKED_AT:
                        found.append(f"{path.relative_to(ROOT).as_posix()}:{node.lineno} {sorted(names)}")
    assert found == []


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
