"""Everything that reaches an annotator's browser, by channel: what the blinding proof searches for names."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from google.protobuf.message import DecodeError
from playwright.sync_api import APIResponse, BrowserContext, Page, Response
from playwright.sync_api import Error as PlaywrightError
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.browser.driving import new_tab
from tests.security.raw import run_page, socket

# text, attributes, values of fields and comments of every node, into open shadow roots
DOM = """() => {
    const said = { text: [], attribute: [] };
    const walk = (node) => {
        if (node instanceof Element) {
            for (const { name, value } of node.attributes) said.attribute.push(`${name}=${value}`);
            if ('value' in node) said.text.push(String(node.value));
        } else if (node.data) said.text.push(node.data);
        if (node.shadowRoot) walk(node.shadowRoot);
        for (const child of node.childNodes) walk(child);
    };
    walk(document);
    return said;
}"""
LIBRARY = "/static/"  # files of Streamlit, the same on every machine
STORED = "() => JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie, history.state, window.name])"


class Capture:
    """Bodies, headers, frames, DOM, title, addresses, storage, console and downloads of one context's tab."""

    def __init__(self, context: BrowserContext) -> None:
        self.seen: dict[str, list[str]] = defaultdict(list)
        self.context = context
        self.tabs: list[Page] = []

    def tab(self) -> Page:
        """A tab that is listened to, until `close`."""
        page = new_tab(self.context)
        self.tabs.append(page)
        page.on("response", self.response)
        page.on("console", lambda message: self.seen["console"].append(message.text))
        page.on("pageerror", lambda error: self.seen["console"].append(str(error)))
        page.on("websocket", self._socket)
        return page

    def close(self) -> None:
        for page in self.tabs:
            page.close()

    def _socket(self, socket: Any) -> None:
        socket.on("framereceived", self._frame)
        socket.on("framesent", self._frame)

    def _frame(self, frame: bytes | str) -> None:
        raw = frame if isinstance(frame, bytes) else frame.encode()
        self.seen["frame bytes"].append(raw.decode("latin-1"))
        message = ForwardMsg()
        try:
            message.ParseFromString(raw)
        except DecodeError:
            return
        self.seen["frame decoded"].append(str(message))

    def spoken(self, server: Any, **asked: str) -> None:
        """What a page of the one who is signed in says over its websocket, without the browser; see `run_page`."""
        [cookie] = [one["value"] for one in self.context.cookies() if one["name"] == "calipers"]  # type: ignore[typeddict-item]
        with socket(server, cookie) as line:
            for message in run_page(line, **asked):
                self._frame(message.SerializeToString())

    def response(self, response: Response | APIResponse) -> None:
        """Status line, headers and body of one answer."""
        self.seen["url"].append(unquote(response.url))
        self.seen["header"].append(json.dumps(response.headers))
        if isinstance(response, Response) and LIBRARY in response.url:
            return
        with suppress(PlaywrightError):  # a redirect has none, and a page that is left takes its last ones along
            self.seen["body"].append(response.body().decode("utf-8", "replace"))

    def look(self, page: Page) -> None:
        """The page as it stands now."""
        page.wait_for_timeout(50)  # frames are handed over only inside Playwright's own calls
        said = page.evaluate(DOM)
        self.seen["text"].append("\n".join(said["text"]))
        self.seen["attribute"].append("\n".join(said["attribute"]))
        self.seen["title"].append(page.title())
        self.seen["url"].append(unquote(page.url))
        self.seen["storage"].append(page.evaluate(STORED))
        self.seen["cookie"].append(json.dumps(self.context.cookies(), default=str))

    def downloaded(self, download: Any) -> None:
        self.seen["download"].append(download.suggested_filename)
        self.seen["download"].append(Path(download.path()).read_text(encoding="utf-8"))

    def found(self, sentinels: Iterable[str]) -> set[tuple[str, str]]:
        """(channel, sentinel) of every one that was seen, in any case."""
        everything = {channel: "\n".join(texts).casefold() for channel, texts in self.seen.items()}
        return {
            (channel, sentinel)
            for sentinel in sentinels
            for channel, text in everything.items()
            if sentinel.casefold() in text
        }
