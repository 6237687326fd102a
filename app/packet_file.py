"""A packet as one HTML file that needs no network and may use none."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

from annotation.packets import PacketFile
from app.component import PACKET_SCRIPT, PACKET_STYLE

# what could end a script element early, begin a comment in it, or end a line of an old script
ESCAPED = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


def packet_html(packet: PacketFile) -> str:
    """The whole file. The script is allowed by its hash; whatever else a report might smuggle in does not run."""
    known = {"data": packet.data, "sha256": packet.sha256, "secret": packet.secret}
    digest = base64.b64encode(hashlib.sha256(PACKET_SCRIPT.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; connect-src 'none'; "
        "form-action 'none'; base-uri 'none'"
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>calipers packet</title>
<style>{PACKET_STYLE}</style>
</head>
<body>
<noscript>This packet needs JavaScript, which this browser has switched off.</noscript>
<script type="application/json" id="packet">{inline_json(known)}</script>
<script type="module">{PACKET_SCRIPT}</script>
</body>
</html>
"""


def inline_json(value: Any) -> str:
    """JSON that stands in a script element as it is, whatever its texts say."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).translate(ESCAPED)
