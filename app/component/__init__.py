"""The annotator's page: one Streamlit component, plain files, no build step."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st

from app.texts import as_script

# One module scope: Streamlit loads the script from a blob: URL, where relative imports cannot work.
PARTS = (
    "telling.js",
    "elements.js",
    "kept.js",
    "outbox.js",
    "turn.js",
    "leftovers.js",
    "hmac.js",
    "ballot.js",
    "rescue.js",
    "clock.js",
    "preferences.js",
    "highlights.js",
    "alike.js",
    "reading.js",
    "outline.js",
    "find.js",
    "list.js",
    "radios.js",
    "scores.js",
    "both.js",
    "probes.js",
    "versions.js",
    "quoting.js",
    "history.js",
    "others.js",
    "rule.js",
    "training.js",
    "form.js",
    "answers.js",
    "saying.js",
    "header.js",
    "dialogs.js",
    "keys.js",
    "arriving.js",
    "leaving.js",
    "ending.js",
    "page.js",
    "annotate.js",
)
# beside them in a packet, which has no server
OFFLINE = ("desk.js", "packet_bar.js", "offline.js")
_FOLDER = Path(__file__).parent


def _joined(*parts: str) -> str:
    return "\n".join((_FOLDER / part).read_text(encoding="utf-8") for part in parts)


SCRIPT = f"{as_script()}\n{_joined(*PARTS)}"
STYLES = ("header", "annotate", "reading", "sheets", "quoting", "others", "tasks", "both", "training", "scripts")
STYLE = _joined(*(f"{name}.css" for name in STYLES))

SCRIPTS = _joined("scripts.css")  # fonts by language, for Python's own pages as well

PACKET_SCRIPT = f"{SCRIPT}\n{_joined(*OFFLINE)}"
PACKET_STYLE = f"{STYLE}\n{_joined('packet.css')}"

_mount = st.components.v2.component("calipers_annotate", css=STYLE, js=SCRIPT)
_mount_sign_out = st.components.v2.component(
    "calipers_sign_out",
    css=(_FOLDER / "sign_out.css").read_text(encoding="utf-8"),
    js=f"{as_script()}\n"
    + _joined("telling.js", "elements.js", "kept.js", "outbox.js", "hmac.js", "ballot.js", "rescue.js", "sign_out.js"),
)


def annotate(data: dict[str, Any], key: str) -> None:
    """Show the annotator's page over the whole window.

    `data`: `{aid, csrf, person, rescue, language, position: {done, of}, finished, study: {title, simulated}}`, where
    `rescue` signs what is downloaded unsaved (annotation/offline/ballot_signing.py), `language` is the study's, and
    optionally `links: [{text, back, href}]`, other pages for its menu and as the next step (the first of them when all
    is done), and `note`, a sentence said once with the first item. Reports and answers are fetched by the page itself,
    because `data` is sent again with every rerun. `key` keeps one page over reruns; without it `data` would be part of
    its identity.
    """
    _mount(key=key, data=data)


def sign_out(data: dict[str, Any], key: str) -> None:
    """The button "Log out" in the upper right corner, which asks first where answers are unsaved.

    `data`: `{csrf, person, rescue, language}`.
    """
    _mount_sign_out(key=key, data=data)
