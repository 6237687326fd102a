"""Whoever looks reads times on their own clock, or is told that they are UTC."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from app.screens import look

NOON = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("zone", "told"),
    [
        ("Europe/Berlin", "2026-07-01 14:00"),  # in summer
        ("Asia/Kathmandu", "2026-07-01 17:45"),
        ("UTC", "2026-07-01 12:00"),
        (None, "2026-07-01 12:00 UTC"),
        ("Atlantis/Reef", "2026-07-01 12:00 UTC"),
        ("../../etc/passwd", "2026-07-01 12:00 UTC"),
        ("America", "2026-07-01 12:00 UTC"),  # a folder
        ("a\0b", "2026-07-01 12:00 UTC"),
    ],
)
def test_a_time_is_that_of_the_readers_browser(monkeypatch: pytest.MonkeyPatch, zone: str | None, told: str) -> None:
    monkeypatch.setattr(look.st, "context", SimpleNamespace(timezone=zone))
    assert look.local_time(NOON) == told
