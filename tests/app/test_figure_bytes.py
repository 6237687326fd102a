"""Every byte that an annotator's browser gets of a report with figures, and who gets none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from sqlalchemy import Engine

from app.settings import settings
from tests.app.visiting import ORIGIN, Site, first_page
from tests.pictured_study import SHOWN, write_pictured
from tests.small_study import make_study

TELLING = re.compile(
    rb"chart|wide\.png|nobody who may|matplotlib|alpha|beta|gamma|EXIF|XMP |ICCP|Software", re.IGNORECASE
)


def test_pictures_come_to_whom_the_item_is_and_no_byte_of_them_says_whose_they_are(
    engine_here: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CALIPERS_BASE_URL", ORIGIN)
    settings.cache_clear()
    site = Site(make_study(engine_here, write_pictured(tmp_path / "reports"), protocol=SHOWN, name="pictured"))
    ada, bob = site.signed_in("Ada"), site.signed_in("Bob")
    page = first_page(ada)
    html = "".join(pane["html"] for pane in page["panes"])
    addresses = re.findall(r'<img src="([^"]+)"', html)
    assert len(set(addresses)) == 4
    assert "11.7 m" in html
    assert not TELLING.search(html.encode()), "nor the text around them"
    for address in addresses:
        reply = ada.get(address)
        assert (reply.status_code, reply.headers["content-type"]) == (200, "image/webp")
        assert reply.headers["cache-control"] == "private, no-store"
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert not TELLING.search(reply.content)
        assert reply.content[12:16] in (b"VP8 ", b"VP8L"), "one chunk, which is the pixels"
        assert (bob.get(address).status_code, site.visitor().get(address).status_code) == (404, 401)
