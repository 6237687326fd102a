"""The annotator's page: one Streamlit component, plain files, no build step; and a packet, which is one HTML file."""

import base64
import hashlib
from pathlib import Path
from typing import Any

import streamlit as st

from annotation.offline.ballot_format import rescue_signer
from annotation.offline.packets import PacketFile
from annotation.people.principals import Principal
from annotation.people.sign_ins import csrf_token
from app.component.files import ComponentFile, ModuleFile
from app.texts import ENGLISH, Texts, as_json, catalogues, inline_json, texts_for

# One module scope: one file to fetch, and a packet has no server to fetch more from.
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
    "scrolling.js",
    "outline.js",
    "bookmarks.js",
    "find.js",
    "formulas.js",
    "enlarging.js",
    "list.js",
    "radios.js",
    "scores.js",
    "both.js",
    "probes.js",
    "versions.js",
    "quoting.js",
    "history.js",
    "earlier.js",
    "undo.js",
    "others.js",
    "rule.js",
    "training.js",
    "notices.js",
    "form.js",
    "answers.js",
    "whose.js",
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


TOLD = f"const TEXTS = {as_json(ENGLISH)};\n"  # other languages are files of their own
SCRIPT = f"{TOLD}{_joined(*PARTS)}"
STYLES = ("header", "annotate", "reading", "sheets", "quoting", "others", "tasks", "both", "training", "scripts")
STYLE = _joined(*(f"{name}.css" for name in STYLES))

SCRIPTS = _joined("scripts.css")  # fonts by language, for Python's own pages as well

PACKET_STYLE = f"{STYLE}\n{_joined('packet.css')}"

ANNOTATE = ComponentFile("annotate", SCRIPT, STYLE)
SIGN_OUT = ComponentFile(
    "sign_out",
    TOLD
    + _joined("telling.js", "elements.js", "kept.js", "outbox.js", "hmac.js", "ballot.js", "rescue.js", "sign_out.js"),
    _joined("sign_out.css"),
)
WORDS = {tag: ModuleFile(f"words-{tag}", f"export default {as_json(tag)};") for tag in catalogues() if tag != ENGLISH}
TRYING = ModuleFile(
    "trying", f"const TEXTS = {as_json(*catalogues())};\n{_joined(*PARTS, *OFFLINE[:-1], 'trying.js', *OFFLINE[-1:])}"
)
FILES: dict[str, ModuleFile] = {file.name: file for file in (ANNOTATE, SIGN_OUT, TRYING, *WORDS.values())}

_mount = st.components.v2.component("calipers_annotate", js=ANNOTATE.loader)
_mount_sign_out = st.components.v2.component("calipers_sign_out", js=SIGN_OUT.loader)
_mount_language = st.components.v2.component(
    "calipers_language", js="export default ({ data }) => void (document.documentElement.lang = data);"
)


def annotate(data: dict[str, Any], key: str) -> None:
    """Show the annotator's page over the whole window.

    `data`: that of `signed_in`, of which `rescue` signs what is downloaded unsaved, and `{aid, name, position: {done,
    of}, finished, study: {title, simulated}}`, of which `name` is the person's own, and optionally `links: [{text,
    back, href}]`, other pages for its menu and as the next step (the first of them when all is done), `code` or `back`,
    a crowd platform's completion code or the way back to it, and `note`, a sentence said once with the first item.
    Reports and answers are fetched by the page itself, because `data` is sent again with every rerun. `key` keeps one
    page over reruns; without it `data` would be part of its identity.
    """
    _mount(key=key, data=with_words(data))


def signed_in(principal: Principal, cookie: str, language: str) -> dict[str, Any]:
    """What either page knows of who is signed in; `language` is the study's."""
    return {
        "csrf": csrf_token(cookie), "person": principal.opaque_id, "rescue": rescue_signer(cookie), "language": language
    }  # fmt: skip


def sign_out(principal: Principal, cookie: str, language: str) -> None:
    """The button "Log out" in the upper right corner, which asks first where answers are unsaved."""
    _mount_sign_out(key="sign_out", data=with_words(signed_in(principal, cookie, language)))


def name_language(tag: str) -> None:
    """Say which language the whole document is in, which screen readers pronounce it by; Streamlit says English."""
    _mount_language(key="document_language", data=tag)


def with_words(data: dict[str, Any]) -> dict[str, Any]:
    """Add where the words of the page's language are, unless they are English, which the component has."""
    words = WORDS.get(texts_for(data["language"]).language)
    return data if words is None else data | {"words": words.address}


def packet_html(packet: PacketFile) -> str:
    """A packet as one HTML file that needs no network and may use none.

    The script is allowed by its hash; whatever else a report might smuggle in does not run. It holds the words of the
    study's language and English ones.
    """
    known = {"data": packet.data, "sha256": packet.sha256, "secret": packet.secret}
    words = texts_for(packet.data["language"])
    told = f"const TEXTS = {as_json(*sorted({ENGLISH, words.language}))};\n"
    script = f"{told}{_joined(*PARTS, *OFFLINE)}"
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:; "
        "connect-src 'none'; form-action 'none'; base-uri 'none'"
    )
    head = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    return _file_html(words, known, head, f'<script type="module">{script}</script>')


def trying_html(data: dict[str, Any]) -> str:
    """The same page for whoever writes a protocol, in a frame of our own: its script comes from this server.

    `data`: a packet's, with `opens`: item, or first for what is read before it.
    """
    run = f'<script type="module" src="{TRYING.address}"></script>'
    without_bar = "<style>.calipers.in-packet { grid-template-rows: var(--head) minmax(0, 1fr) !important; }</style>"
    known = {"data": data, "sha256": "", "secret": ""}
    return _file_html(texts_for(data["language"]), known, without_bar, run)


def _file_html(words: Texts, known: dict[str, Any], head: str, run: str) -> str:
    return f"""<!doctype html>
<html lang="{words.language}" dir="{words.dir}">
<head>
<meta charset="utf-8">
{head}
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{words.tell("screens.packet.title")}</title>
<style>{PACKET_STYLE}</style>
</head>
<body>
<noscript>{words.tell("screens.packet.no_script")}</noscript>
<script type="application/json" id="packet">{inline_json(known)}</script>
{run}
</body>
</html>
"""
