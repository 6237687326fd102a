"""A packet as one HTML file that needs no network and may use none."""

from __future__ import annotations

import base64
import hashlib

from annotation.offline.packets import PacketFile
from app.component import PACKET_SCRIPT, PACKET_STYLE
from app.texts import inline_json, texts_for


def packet_html(packet: PacketFile) -> str:
    """The whole file. The script is allowed by its hash; whatever else a report might smuggle in does not run."""
    known = {"data": packet.data, "sha256": packet.sha256, "secret": packet.secret}
    words = texts_for(packet.data["language"])
    digest = base64.b64encode(hashlib.sha256(PACKET_SCRIPT.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; connect-src 'none'; "
        "form-action 'none'; base-uri 'none'"
    )
    return f"""<!doctype html>
<html lang="{words.language}" dir="{words.dir}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{words.tell("screens.packet.title")}</title>
<style>{PACKET_STYLE}</style>
</head>
<body>
<noscript>{words.tell("screens.packet.no_script")}</noscript>
<script type="application/json" id="packet">{inline_json(known)}</script>
<script type="module">{PACKET_SCRIPT}</script>
</body>
</html>
"""
