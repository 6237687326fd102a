"""Cards of sources that a chat page's clipboard leaves: icon, site, title, and what a screen reader is told of them."""

import time

import pytest

from annotation.citations import strip_citations

REPORT = "# Quay\n\nThe quay silted up and the ships left in May.\n\n"
ICON = "![](https://icons.example/favicon?url=https://www.brill.example/&size=256)"
LABELS = [
    "Opens in a new window", "Wird in einem neuen Fenster geöffnet", "S'ouvre dans une nouvelle fenêtre",
    "Se abre en una ventana nueva", "Se abrirá en una ventana nueva", "Si apre in una nuova finestra",
    "Abre em uma nova janela", "Yeni pencerede açılır", "在新窗口中打开", "在新視窗中開啟", "新しいウィンドウで開く", "새 창에서 열기",
]  # fmt: skip


def shown(cards: str) -> str:
    text = strip_citations(f"{REPORT}{cards}").text
    assert strip_citations(text).text == text
    return text.removeprefix(REPORT.rstrip()).strip()


CARDS = [
    "[\n\n{icon}\n\n{site}\n\n{title}\n\n{label}](https://www.{site}/log)",
    "[\n\n{site}\n\n{title}\n\n{label}](https://{site}/log)",
    "[{icon}{site}{title} {label} ](https://{site}/log)",
    "[**{site}**{title}{label}](https://www.{site}/log)",
    "[{site}\n\n{title}\n\n{label}](https://{site}/log)",
    "[{icon}{label}](https://{site}/log)",
    "[{label}](https://{site}/log)",
    "[{site}](https://{site}/log)\n\n[{title}](https://{site}/log)\n\n[{label}](https://{site}/log)\n\n",
    "[**{site}**](https://{site}/log)  \n[{title}](https://{site}/log)  \n[{label}](https://{site}/log)\n\n",
    "{site}\n{title}\n{label}\n",
    "{site}\n\n{title}\n\n{label}\n\n",
    "{site}\n{label}\n",
    "{site}{title}{label}\n",
    "- [**{site}** {title} {label}](https://{site}/log)\n",
]


@pytest.mark.parametrize("label", LABELS)
def test_cards_go_whole(label: str) -> None:
    sites = {"brill.example": "Tide tables | Log", "docs.moss.example": "[2026] Ice - Moss"}
    for card in CARDS:
        cards = "".join(card.format(icon=ICON, site=s, title=t, label=label) for s, t in sites.items())
        assert shown(cards) == "", card
        assert shown(f"{cards}\n\n## Outlook\n\nFog may come.") == "## Outlook\n\nFog may come.", card


@pytest.mark.parametrize(
    "heading",
    [
        "Sources used in the report", "Sources read but not used in the report", "## Sources used in the report",
        "Im Bericht verwendete Quellen", "レポートに使用されているソース", "**Sources**",
    ],
)  # fmt: skip
def test_the_line_above_that_announces_them_goes_too(heading: str) -> None:
    plain = "brill.example\nTide tables\nOpens in a new window\nOpens in a new window\n"
    linked = f"\n[{ICON}moss.exampleIce Opens in a new window](https://moss.example/1)\n"
    assert shown(f"{heading}\n{plain}") == ""
    assert shown(f"{heading}\n{linked}") == ""


def test_a_list_of_sites_and_titles_is_a_list_of_sources() -> None:
    entries = "- **brill.example**: Tide tables\n- **docs.moss.example.org**: Ice - Moss\n"
    assert (
        shown(f"## Sources used in the report\n\n{entries}\n## Sources read but not used in the report\n\n{entries}")
        == ""
    )


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (
            "The [tide tables在新窗口中打开](https://a.example/log) say so.",
            "The tide tables say so.",
        ),
        ("It rose [01:13在新視窗中開啟](https://a.example/watch?t=73) in May.", "It rose in May."),
        (
            "See [the board (opens in a new window)](https://b.example) first.",
            "See the board (opens in a new window) first.",
        ),
        ("Press it. The log opens in a new window\nand stays.", "Press it. The log opens in a new window\nand stays."),
        ("The sources of heat are\n\n[\nsun and wind\n](https://a.example/x)\n\nand ice.", "The sources of heat are\n\nsun and wind\n\nand ice."),
        ("The sites:\nbrill.example\nmoss.example\nice.example\nThey stay.", "The sites:\nbrill.example\nmoss.example\nice.example\nThey stay."),
    ],
)  # fmt: skip
def test_words_of_the_report_stay(text: str, left: str) -> None:
    assert strip_citations(text).text == left


@pytest.mark.parametrize(
    "unit",
    ["[\n", "[a", "[[a][a]", "[\na.b\nOpens in a new window", "Opens in a new window\n", "[a](https://a.example)\n", "![](", "a."],
)  # fmt: skip
def test_time_is_linear_in_broken_cards(unit: str) -> None:
    text = "[\nOpens in a new window\n" + unit * (60_000 // len(unit))
    started = time.process_time()
    strip_citations(text)
    assert time.process_time() - started < 1.0
