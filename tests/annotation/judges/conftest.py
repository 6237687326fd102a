"""A fake provider that bills: one process for all tests, on a free port, ended by its own handle."""

from __future__ import annotations

import json
import ssl
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from annotation.judges.asking.client import library
from db.connect import open_database
from tests.migrated import new_sqlite

FAKE = Path(__file__).resolve().parents[2] / "fake_llm.py"
QUIET = {
    **{f"p_{fault}": 0.0 for fault in ("429", "500", "malformed", "truncate", "wrongcount", "refusal", "drop", "hang")},
    "latency_ms": 5.0, "jitter": 0.0, "rps": 0.0, "retry_after": 1.0, "retry_after_ms": 0, "cached_share": 0.0,
    "reasoning_tokens": 0, "refusal_field": False, "batch_s": 0.0, "batch_ends": "completed", "batch_create": "ok",
    "batch_create_s": 0.0, "batch_listing": 1, "keep_prompts": False,
}  # fmt: skip


class Fake:
    """The provider as a test sees it: its address, its settings, its bill."""

    def __init__(self, base: str, ledger: Path) -> None:
        self.base, self._ledger, self._before = base, ledger, 0

    def reset(self, **settings: Any) -> None:
        self._get("/config", json.dumps({**QUIET, **settings}).encode())
        self._get("/reset", b"{}")
        self._before = len(self._ledger.read_text().splitlines())

    def set(self, **settings: Any) -> None:
        """Change settings and forget nothing."""
        self._get("/config", json.dumps(settings).encode())

    def stats(self) -> dict[str, Any]:
        return dict(self._get("/stats"))

    def bill(self) -> list[dict[str, Any]]:
        """What it would charge since the last reset: one line per reply."""
        return [json.loads(line) for line in self._ledger.read_text().splitlines()[self._before :]]

    def prompts(self) -> list[dict[str, str]]:
        """Model, text and reply of each prompt that it answered since it was told to `keep_prompts`."""
        return list(self._get("/prompts"))

    def batches(self) -> list[dict[str, Any]]:
        """Its batches, the newest first."""
        return list(self._get("/v1/batches?limit=100")["data"])

    def file(self, name: str) -> bytes:
        """A file that it was given, or made."""
        return self._read(f"/v1/files/{name}/content")

    def _get(self, path: str, body: bytes | None = None) -> Any:
        return json.loads(self._read(path, body))

    def _read(self, path: str, body: bytes | None = None) -> bytes:
        with urllib.request.urlopen(self.base.removesuffix("/v1") + path, body, timeout=10) as reply:
            return bytes(reply.read())


@pytest.fixture(autouse=True)
def journals_of_postgres(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside a database that is no file there is no place for them: they are kept in the user's own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture(scope="session")
def fake_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fake]:
    library()  # before the first module: what stays for good is left out when garbage is looked for
    ledger = tmp_path_factory.mktemp("fake") / "ledger.jsonl"
    command = [sys.executable, str(FAKE), "--port", "0", "--latency-ms", "5", "--ledger", str(ledger)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield Fake(process.stdout.readline().split()[1], ledger)
        process.terminate()


@pytest.fixture(scope="module", autouse=True)
def certificates_are_read_once() -> Iterator[None]:
    """Every client that litellm makes reads all there are, though the fake provider shows none."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ssl, "create_default_context", cache(ssl.create_default_context))
        yield


@pytest.fixture
def fake(fake_process: Fake) -> Fake:
    fake_process.reset()
    return fake_process


@pytest.fixture
def sqlite(tmp_path: Path) -> Iterator[Engine]:
    """One database is enough where the provider is what is tested."""
    engine = open_database(new_sqlite(tmp_path / "calipers.db"))
    yield engine
    engine.dispose()
