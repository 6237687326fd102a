"""Times as the clock of whoever looks shows them."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import streamlit as st


def at(moment: datetime) -> str:
    """`2026-11-22 09:00` in the zone that the reader's browser names; `… UTC` where it names none we know."""
    zone = _zone(st.context.timezone)
    return f"{moment.astimezone(zone or UTC):%Y-%m-%d %H:%M}{'' if zone else ' UTC'}"


def _zone(name: str | None) -> tzinfo | None:
    try:
        return ZoneInfo(name) if name else None
    except (ZoneInfoNotFoundError, ValueError, OSError):  # a browser may say anything
        return None
