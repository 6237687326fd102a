"""Formulas are drawn, wide tables keep their first column in sight, and find and quotes go on reading the source."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser.driving import new_tab
from tests.browser.test_accessibility import violations
from tests.small_study import PROTOCOL, make_study

pytestmark = [pytest.mark.browser, pytest.mark.slow]

TEXT = r"""# Tides

The height is $h = h_0 \cos(\omega t)$, which costs $5 and no more, while $\nonsense{x}$ is as it was written.

$$\sum_{i=1}^{n} \frac{a_i}{b_i} = \sqrt{c} \text{ if } \begin{cases}1 & x > 0\\0 & x \le 0\end{cases}$$

| Place | {heads} |
|---|{rules}|
| Fundy | {cells} |
"""
IN_TREE = "[...document.querySelectorAll('*')].find((e) => e.shadowRoot?.querySelector('.calipers')).shadowRoot"
SHAPE = (
    f"() => {{ const spans = [...{IN_TREE}.querySelector('.report').querySelectorAll('span')];"
    " return spans.map((span) => [span.textContent, span.shadowRoot.querySelector('slot').hidden,"
    " span.shadowRoot.firstChild.getBoundingClientRect().height, span.getBoundingClientRect().width]); }"
)


def test_formulas_are_drawn_and_found_quoted_and_spoken(context: BrowserContext, server: Any, tmp_path: Path) -> None:
    cells = [f"a long cell of column {n}" for n in range(12)]
    text = TEXT.replace("{heads}", " | ".join(f"Column {n}" for n in range(12)))
    text = text.replace("{rules}", "---|" * 11 + "---").replace("{cells}", " | ".join(cells))
    for system in ("alpha", "beta"):
        (tmp_path / "reports" / system).mkdir(parents=True)
        (tmp_path / "reports" / system / "tides.md").write_text(f"{text}\nBy {system}.\n", encoding="utf-8")
    study = make_study(server.engine, tmp_path / "reports", protocol=PROTOCOL, name=tmp_path.name)
    page = new_tab(context)
    page.goto(server.link(study, "Ada"))
    page.locator('.calipers[data-ready="true"]').wait_for()
    [inline, block] = page.evaluate(SHAPE)
    assert inline[0] == r"$h = h_{0}\cos(\omega t)$"
    assert block[2] > 2 * inline[2] > 20, "a sum with its limits is higher than a line"
    assert inline[1] is block[1] is True
    report = page.get_by_role("region", name="Left report")
    expect(report).to_contain_text(r"which costs $5 and no more, while $\nonsense{x}$ is")
    assert violations(page) == []
    column = report.get_by_role("cell", name="Fundy")
    before = column.bounding_box()
    report.locator(".scroller").evaluate("box => { box.scrollLeft = 500; }")
    assert column.bounding_box() == before, "the first column stays"
    page.keyboard.press("/")
    page.get_by_role("textbox", name="Find in both reports").fill("h_{0}")
    expect(page.get_by_role("search").get_by_role("status")).to_have_text("left 1, right 1")
    assert [hidden for _, hidden, *_ in page.evaluate(SHAPE)] == [False, True], "what is found is seen in its source"
    assert page.evaluate(SHAPE)[0][3] > 80
    page.keyboard.press("Escape")
    assert [hidden for _, hidden, *_ in page.evaluate(SHAPE)] == [True, True]
