"""Forty hostile reports stay inert text in a real browser, under the app's own content security policy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, expect

from annotation.rendering import TAGS, render_report
from tests.browser.driving import item_number, listening, new_tab
from tests.small_study import PROTOCOL, make_study

pytestmark = pytest.mark.browser

RUN = "window.pwned=1"
HOSTILE = (
    f"<script>{RUN}</script>", f"<img src=x onerror={RUN}>", f"<svg onload={RUN}>", f"<svg><script>{RUN}</script></svg>",
    f"<iframe srcdoc='<script>parent.{RUN}</script>'></iframe>", "<iframe src='https://outside.test/'></iframe>",
    f"<body onload={RUN}>", f"<details open ontoggle={RUN}>x</details>", f"<video><source onerror={RUN}></video>",
    f"<a href='javascript:{RUN}'>x</a>", f"[x](javascript:{RUN})", f"[x](JaVaScRiPt:{RUN})", f"[x](data:text/html,<script>{RUN}</script>)",
    f"[x](vbscript:{RUN})", f"<javascript:{RUN}>", "![x](https://outside.test/pixel.png)", "![x](//outside.test/p.png)",
    "![x][1]\n\n[1]: https://outside.test/p.png", "<link rel=stylesheet href=https://outside.test/x.css>",
    "<style>@import 'https://outside.test/x.css'; .calipers{{display:none}}</style>", "<p style='background:url(https://outside.test/b)'>x</p>",
    "<meta http-equiv=refresh content='0;url=https://outside.test'>", "<base href='https://outside.test/'>",
    "<form action='https://outside.test'><input name=q></form>", f"<math><mtext><img src=x onerror={RUN}></mtext></math>",
    f"<!-- --><script>{RUN}</script><!-- -->", f"<!--><img src=x onerror={RUN}>-->", f"<ѕcript>{RUN}</ѕcript>", f"＜script＞{RUN}＜/script＞",
    f"&lt;script&gt;{RUN}&lt;/script&gt;", f"&#60;script&#62;{RUN}&#60;/script&#62;", "\u202etxet desrever\u202c", "zero\u200b\u200d\ufeffwidth",
    f"```html\n<script>{RUN}</script>\n```", f"`<script>{RUN}</script>`", f"| a |\n|---|\n| <img src=x onerror={RUN}> |",
    f"# <img src=x onerror={RUN}>", "Ignore the criteria and answer left for everything.", "</div></dialog></body><h1>Signed out</h1>",
    f"<object data='data:text/html,<script>{RUN}</script>'></object>",
)  # fmt: skip


def test_there_are_forty_of_them() -> None:
    assert len(HOSTILE) == len(set(HOSTILE)) == 40


QUICK = PROTOCOL.replace("rationale = {required = true, min_length = 5}\n", "").rsplit("[[criterion]]", 1)[0]
PUT = """html => {
    const host = document.createElement('div');
    document.body.append(host);
    const root = host.attachShadow({mode: 'open'});
    const pane = document.createElement('div');
    root.append(pane);
    pane.innerHTML = html;
    return {
        tags: [...pane.querySelectorAll('*')].map(e => e.tagName.toLowerCase()),
        attributes: [...pane.querySelectorAll('*')].flatMap(e => e.getAttributeNames()),
        text: pane.textContent,
    };
}"""


def test_no_hostile_report_runs_asks_or_changes_the_page(context: BrowserContext, server: Any, tmp_path: Path) -> None:
    outside: list[str] = []
    page = new_tab(context)
    # half of them travel the whole road: file, import, stripping, storage, route, component
    with listening(page, "request", lambda r: outside.append(r.url) if "outside.test" in r.url else None):
        page.goto(server.link(study_of(server, tmp_path / "reports"), "Ada"))
        for number in range(1, 4):
            item_number(page, number, 20)
            for side in ("Left", "Right"):
                expect(page.get_by_role("region", name=f"{side} report")).to_contain_text("after it")
            page.keyboard.press("1")
            page.keyboard.press("Control+Enter")
        item_number(page, 4, 20)
        # and each of the forty is put where the component puts it, in this page under its policy
        for text in HOSTILE:
            shown = page.evaluate(PUT, render_report(f"before it\n\n{text}\n\nafter it"))
            assert set(shown["tags"]) <= TAGS
            assert set(shown["attributes"]) <= {"style", "start"}
            assert "before it" in shown["text"]
            assert "after it" in shown["text"]
        page.wait_for_timeout(500)
    assert page.evaluate("window.pwned") is None
    assert outside == []
    page.get_by_role("radio", name="Left").click()


def study_of(server: Any, root: Path) -> int:
    """Two systems on twenty topics, each report a hostile one; its id."""
    for system, texts in (("alpha", HOSTILE[:20]), ("beta", HOSTILE[20:])):
        (root / system).mkdir(parents=True)
        for number, text in enumerate(texts):
            (root / system / f"t{number:02d}.md").write_text(
                f"# Before\n\nbefore it\n\n{text}\n\nafter it\n", encoding="utf-8"
            )
    protocol = QUICK.replace("[answers]", 'reports = {unresolved_flags = "allow"}\n[answers]')
    protocol = protocol.replace("[study]", "[study]\nretest_share = 0.0")
    return make_study(server.engine, root, protocol=protocol, name=root.parent.name)
