"""Chromium, and Firefox and WebKit as Debian ships them, behind one small driver, so that a test is written once.

Playwright knows the first alone; the others take WebDriver's actions of keys and pointer, over BiDi and over HTTP.
Functions are run in the page with `calipers` naming the annotator's page (`.calipers`), null where there is none.
"""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import signal
import subprocess
import time
import urllib.request
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserType, Page
from playwright.sync_api import Error as PlaywrightError
from websockets.sync.client import ClientConnection, connect

from tests import conftest
from tests.browser.conftest import FLAGS
from tests.browser.driving import PATIENCE, VIEWPORT
from tests.machines.proxy import free_port

NAMED = {
    "Enter": "\ue007",
    "Escape": "\ue00c",
    "Control": "\ue009",
    "Shift": "\ue008",
    "Alt": "\ue00a",
    "ArrowDown": "\ue015",
    "PageDown": "\ue00f",
}
CALLED = """(function () {
    const host = [...document.querySelectorAll('*')].find((one) => one.shadowRoot?.querySelector('.calipers'));
    const calipers = host?.shadowRoot.querySelector('.calipers') ?? null;
    return JSON.stringify((%s)(...%s) ?? null);
})()"""
PARTS = (
    "[document.body, ...[...document.querySelectorAll('*')].flatMap((one) => [...(one.shadowRoot?.children ?? [])])]"
)
SEEN = f"(words) => {PARTS}.some((part) => part.innerText?.toLowerCase().includes(words.toLowerCase()))"
TRIES = 9
TOOLBAR = 40  # px that MiniBrowser's takes at most; as it comes, it is never under 447 wide
SMALL = "* { min-width: 0; padding: 0; font-size: 1px; }"
MINI_BROWSER = "/usr/lib/*/webkit2gtk-4.*/MiniBrowser"


class Engine(ABC):
    """One window with one tab."""

    process: subprocess.Popen[bytes]  # with a group of its own

    @abstractmethod
    def goto(self, address: str) -> None:
        """Returns when the document was read."""

    @abstractmethod
    def evaluate(self, expression: str) -> Any:
        """The value of an expression in the page."""

    @abstractmethod
    def press(self, *chords: str) -> None:
        """One key after the other; `Control+Enter` holds the first."""

    @abstractmethod
    def drag(self, start: tuple[float, float], end: tuple[float, float] | None = None) -> None:
        """The mouse is pressed at one place of the window and let go at another, or at the same."""

    @abstractmethod
    def resize(self, width: int, height: int) -> None:
        """What the page has of the window, in CSS pixels."""

    @abstractmethod
    def forget(self) -> None:
        """Nobody is signed in any more."""

    @abstractmethod
    def picture(self) -> bytes:
        """What is on screen, as PNG."""

    def kill(self) -> None:
        """The browser and all that it started, at once."""
        ended(self.process, signal.SIGKILL)

    def run(self, function: str, *arguments: Any) -> Any:
        """What this function gives in the page."""
        return json.loads(self.evaluate(CALLED % (function, json.dumps(arguments))))

    def until(self, function: str, *arguments: Any) -> Any:
        """What this function gives, once it is something true; a page that is just being left has nothing to say."""
        ends = time.monotonic() + PATIENCE
        while True:
            try:
                if found := self.run(function, *arguments):
                    return found
            except EngineError:
                pass
            assert time.monotonic() < ends, f"did not come true in time: {function}"
            time.sleep(0.05)

    def see(self, words: str) -> None:
        """Until these words are on the page."""
        self.until(SEEN, words)

    def ready(self) -> None:
        """The item is on screen, and keys act."""
        self.until("() => calipers?.dataset.ready === 'true'")

    def type(self, text: str) -> None:
        """Letter by letter, with their keys."""
        self.press(*text)

    def dictate(self, text: str) -> None:
        """Word after word into what has the focus, without any keydown."""
        for word in re.findall(r"\S+\s*", text):
            self.run("(word) => { document.execCommand('insertText', false, word); }", word)

    def click(self, selector: str, named: str = "") -> None:
        """In the middle of the first that is seen and so begins by its name or its text, once it stands still with nothing
        over it and the app is at rest: what Streamlit draws while its script runs moves, and loses a click.
        """
        stands = """(selector, named) => {
            const all = [document, calipers].flatMap((part) => [...(part?.querySelectorAll(selector) ?? [])]);
            const is = (one) => one.checkVisibility() && (one.ariaLabel ?? one.textContent).trim().startsWith(named);
            const found = all.find(is);
            found?.scrollIntoView({ block: 'nearest' });
            const { left, top, width, height } = found?.getBoundingClientRect() ?? {};
            const place = [left + width / 2, top + height / 2];
            const before = window.placeBefore;
            window.placeBefore = found && { found, place };
            const app = document.querySelector('[data-testid=stApp]');
            const isStill = found && found === before?.found && `${place}` === `${before.place}`;
            const isAtRest = !app || app.dataset.testScriptState === 'notRunning';
            return isStill && isAtRest && found.contains(found.getRootNode().elementFromPoint(...place)) && place;
        }"""
        self.drag(self.until(stands, selector, named))


class EngineError(Exception):
    """What a browser answers in the place of a value."""


class Chromium(Engine):
    """Playwright's page."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def goto(self, address: str) -> None:
        self.page.goto(address, wait_until="domcontentloaded")

    def evaluate(self, expression: str) -> Any:
        try:
            return self.page.evaluate(expression)
        except PlaywrightError as problem:
            raise EngineError(str(problem)) from problem

    def press(self, *chords: str) -> None:
        for chord in chords:
            self.page.keyboard.press(chord)

    def drag(self, start: tuple[float, float], end: tuple[float, float] | None = None) -> None:
        self.page.mouse.move(*start)
        self.page.mouse.down()
        self.page.mouse.move(*(end or start))
        self.page.mouse.up()

    def resize(self, width: int, height: int) -> None:
        self.page.set_viewport_size({"width": width, "height": height})

    def forget(self) -> None:
        self.page.context.clear_cookies()

    def picture(self) -> bytes:
        return self.page.screenshot()


class Driven(Engine):
    """One that takes WebDriver's actions."""

    @abstractmethod
    def perform(self, source: Mapping[str, Any]) -> None:
        """Actions of one source of input, as WebDriver describes them."""

    def press(self, *chords: str) -> None:
        steps = []
        for chord in chords:
            keys = [NAMED.get(key, key) for key in chord.split("+")]
            steps += [{"type": "keyDown", "value": key} for key in keys]
            steps += [{"type": "keyUp", "value": key} for key in reversed(keys)]
        self.perform({"type": "key", "id": "keyboard", "actions": steps})

    def drag(self, start: tuple[float, float], end: tuple[float, float] | None = None) -> None:
        ways = [{"type": "pointerMove", "x": round(x), "y": round(y)} for x, y in (start, end or start)]
        down, up = ({"type": kind, "button": 0} for kind in ("pointerDown", "pointerUp"))
        steps = [ways[0], down, ways[1], up]
        self.perform({"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": steps})


class Firefox(Driven):
    """Speaks WebDriver BiDi itself, over a websocket."""

    def __init__(self, socket: ClientConnection, *, sized: bool = True) -> None:
        self.socket, self.asked = socket, 0
        self.send("session.new", capabilities={})
        self.tab = self.send("browsingContext.getTree")["contexts"][0]["context"]
        if sized:
            self.resize(**VIEWPORT)

    def send(self, method: str, **parameters: Any) -> Any:
        self.asked += 1
        self.socket.send(json.dumps({"id": self.asked, "method": method, "params": parameters}))
        while True:
            reply = json.loads(self.socket.recv(timeout=PATIENCE))
            if reply.get("id") == self.asked:
                if reply["type"] == "error":
                    raise EngineError(reply["message"])
                return reply["result"]

    def goto(self, address: str) -> None:
        self.send("browsingContext.navigate", context=self.tab, url=address, wait="interactive")

    def evaluate(self, expression: str) -> Any:
        target = {"context": self.tab}
        found = self.send("script.evaluate", expression=expression, target=target, awaitPromise=False)
        if found["type"] != "success":
            raise EngineError(found["exceptionDetails"]["text"])
        return found["result"].get("value")

    def perform(self, source: Mapping[str, Any]) -> None:
        self.send("input.performActions", context=self.tab, actions=[source])

    def resize(self, width: int, height: int) -> None:
        self.send("browsingContext.setViewport", context=self.tab, viewport={"width": width, "height": height})

    def forget(self) -> None:
        self.send("storage.deleteCookies")

    def picture(self) -> bytes:
        return base64.b64decode(self.send("browsingContext.captureScreenshot", context=self.tab)["data"])


class WebKit(Driven):
    """WebKitGTK's small browser behind its WebDriver, on a screen in memory."""

    def __init__(self, address: str, browser: str) -> None:
        self.session = f"{address}/session"
        asked = {"webkitgtk:browserOptions": {"binary": browser, "args": ["--automation"]}}
        self.session += f"/{self.send('', capabilities={'alwaysMatch': asked})['sessionId']}"
        self.resize(**VIEWPORT)

    def send(self, path: str, tries: int = 1, **body: Any) -> Any:
        return self.asked(urllib.request.Request(self.session + path, json.dumps(body).encode()), tries)

    def asked(self, request: urllib.request.Request, tries: int) -> Any:
        """The driver never answers some of what it is asked while a page comes: `tries` of what may be asked again."""
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE / tries) as reply:
                return json.load(reply)["value"]
        except urllib.request.HTTPError as problem:
            raise EngineError(problem.read().decode()) from problem
        except TimeoutError:
            if tries == 1:
                raise
            return self.asked(request, tries - 1)

    def goto(self, address: str) -> None:
        self.send("/url", url=address)

    def evaluate(self, expression: str) -> Any:
        return self.send("/execute/sync", TRIES, script=f"return {expression}", args=[])

    def perform(self, source: Mapping[str, Any]) -> None:
        self.send("/actions", actions=[source])

    def resize(self, width: int, height: int) -> None:
        self.send("/window/rect", x=0, y=0, width=width, height=height + TOOLBAR)

    def forget(self) -> None:
        self.asked(urllib.request.Request(f"{self.session}/cookie", method="DELETE"), TRIES)

    def picture(self) -> bytes:
        return base64.b64decode(self.asked(urllib.request.Request(f"{self.session}/screenshot"), TRIES))


@contextmanager
def chromium(kind: BrowserType, home: Path) -> Iterator[Engine]:
    """A Chromium that keeps what it keeps in `home`, in the hands of Playwright."""
    command = conftest.chromium()
    assert command is not None
    with ExitStack() as ends:
        log = home / "log"
        options = [*FLAGS, "--headless", "--remote-debugging-port=0", f"--user-data-dir={home}"]
        process = started(ends, [command, *options, "about:blank"], log=log, start_new_session=True)
        engine = Chromium(kind.connect_over_cdp(said(log, r"listening on (ws://\S+)")).contexts[0].pages[0])
        engine.process = process
        engine.resize(**VIEWPORT)
        yield engine


@contextmanager
def firefox(home: Path) -> Iterator[Engine]:
    """A Firefox that keeps what it keeps in `home`."""
    command = shutil.which("firefox-esr") or shutil.which("firefox")
    assert command is not None
    with ExitStack() as ends:
        log = home / "log"
        options = ["--headless", "--remote-debugging-port", "0", "--profile", str(home)]
        process = started(ends, [command, *options, "about:blank"], log=log, start_new_session=True)
        address = said(log, r"listening on (ws://\S+)")
        engine = Firefox(ends.enter_context(connect(f"{address}/session", max_size=None)))
        engine.process = process
        yield engine


@contextmanager
def webkit(home: Path) -> Iterator[Engine]:
    """A WebKit on a screen of its own. Under automation it keeps nothing once its process is gone."""
    (home / "gtk-3.0").mkdir(exist_ok=True)
    (home / "gtk-3.0" / "gtk.css").write_text(SMALL, "utf-8")
    with ExitStack() as ends:
        read, write = os.pipe()
        size = f"{VIEWPORT['width']}x{VIEWPORT['height'] + TOOLBAR}x24"
        started(ends, ["Xvfb", "-displayfd", str(write), "-screen", "0", size, "-nolisten", "tcp"], pass_fds=(write,))
        os.close(write)
        with open(read, encoding="ascii") as display:
            screen = f":{display.readline().strip()}"
        own = {
            "DISPLAY": screen, "GDK_BACKEND": "x11", "HOME": str(home), "XDG_RUNTIME_DIR": str(home),
            "XDG_CONFIG_HOME": str(home),
            "LIBGL_ALWAYS_SOFTWARE": "1", "WEBKIT_DISABLE_DMABUF_RENDERER": "1",
            "WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS": "1",  # root has no sandbox, as in Chromium
        }  # fmt: skip
        port = free_port()
        process = started(ends, ["WebKitWebDriver", f"--port={port}"], env=os.environ | own, start_new_session=True)
        address = f"http://127.0.0.1:{port}"
        answers(f"{address}/status")
        engine = WebKit(address, str(next(Path("/").glob(MINI_BROWSER[1:]))))
        engine.process = process
        yield engine


def started(ends: ExitStack, command: list[str], log: Path | None = None, **options: Any) -> subprocess.Popen[bytes]:
    """A process until the block ends, with all that it starts where it has a session of its own; Orca bears none."""
    output = ends.enter_context(log.open("wb")) if log else subprocess.DEVNULL
    process = subprocess.Popen(command, stdout=output, stderr=output, **options)
    if options.get("start_new_session"):
        ends.callback(killed, process.pid)  # what outlived the first of its session
    ends.enter_context(process)
    ends.callback(ended, process, signal.SIGTERM)
    return process


def ended(process: subprocess.Popen[bytes], by: int) -> None:
    with suppress(ProcessLookupError):
        if os.getpgid(process.pid) == process.pid:
            os.killpg(process.pid, by)
        else:
            process.send_signal(by)


def killed(group: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def said(log: Path, pattern: str) -> str:
    """What a process writes to its log, once it does."""
    return waited(lambda: (found := re.search(pattern, log.read_text("utf-8", "replace"))) and found[1])


def answers(address: str) -> None:
    """Once something answers there."""

    def asked() -> bool:
        try:
            with urllib.request.urlopen(address, timeout=1):
                return True
        except OSError:
            return False

    waited(asked)


def waited(condition: Callable[[], Any]) -> Any:
    ends = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < ends, "did not come true in time"
        time.sleep(0.05)
    return found
