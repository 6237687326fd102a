"""What one tab sends and receives, in bytes as they travel: HTTP with its headers, and the frames of its websocket."""

from __future__ import annotations

import base64
from collections import Counter
from typing import Any

from playwright.sync_api import BrowserContext, Page

TEXT = 1  # the opcode of a frame that holds text; all others come in base64


class Wire:
    """Counts from when it is made, or from `begin`. Frames are counted as what they hold: the app does not compress
    them (`deflates` says whether a server offered to).
    """

    def __init__(self, context: BrowserContext, page: Page) -> None:
        self.protocol = context.new_cdp_session(page)
        self.addresses: dict[str, str] = {}
        self.deflates = False
        self.begin()
        for event, told in (
            ("requestWillBeSent", self._asked),
            ("loadingFinished", self._finished),
            ("webSocketFrameReceived", self._framed),
            ("webSocketFrameSent", self._framed),
            ("webSocketHandshakeResponseReceived", self._shaken),
        ):
            self.protocol.on(f"Network.{event}", told)
        self.protocol.send("Network.enable")

    def begin(self) -> None:
        """Forget what was counted."""
        self.by_path: Counter[str] = Counter()
        self.frames = 0

    @property
    def http(self) -> int:
        """Bytes of replies, 0 for what the browser had kept."""
        return self.by_path.total()

    @property
    def all(self) -> int:
        """HTTP and frames."""
        return self.http + self.frames

    def slow(self, latency_ms: float, bytes_a_second: float) -> None:
        """A bad network from now on: `latency_ms` for every request and its reply together."""
        speeds = {"downloadThroughput": bytes_a_second, "uploadThroughput": bytes_a_second}
        self.protocol.send("Network.emulateNetworkConditions", {"offline": False, "latency": latency_ms, **speeds})

    def _asked(self, event: Any) -> None:
        self.addresses[event["requestId"]] = event["request"]["url"].split("?")[0]

    def _finished(self, event: Any) -> None:
        self.by_path[self.addresses.get(event["requestId"], "")] += int(event["encodedDataLength"])

    def _framed(self, event: Any) -> None:
        frame = event["response"]
        held = frame["payloadData"]
        self.frames += len(held.encode()) if frame["opcode"] == TEXT else len(base64.b64decode(held))

    def _shaken(self, event: Any) -> None:
        named = {name.lower(): value for name, value in event["response"]["headers"].items()}
        self.deflates = "sec-websocket-extensions" in named
