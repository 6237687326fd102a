"""Links that stand apart from the text: a labelled sentence of their own, or a row at the end of a line."""

import pytest

from annotation.citations import strip_citations

A, B, C = "[Tide log](https://a.example/t)", "[Board](https://b.example)", "[Moss 9](https://c.example/9)"


def shown(markdown: str) -> str:
    return strip_citations(markdown).text


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        (f"Ships left. Source: {A}. Fog came.", "Ships left. Fog came."),
        (f"Ships left. Sources: {A}, {B} and {C}. Fog came.", "Ships left. Fog came."),
        (f"Ships left. **Sources:** {A}; {B}.", "Ships left."),
        (f"船离港。来源：{A}。雾起。", "船离港。雾起。"),
        (f"船离港。来源：{A}、{B}、{C}。", "船离港。"),
        (f"“船离港。”来源：{A}、{B}。\n\n雾起。", "“船离港。”\n\n雾起。"),
        (f"船離港。出典：{A}。霧が出た。", "船離港。霧が出た。"),
    ],
)
def test_a_label_and_its_links_go_where_they_are_a_sentence(marked: str, plain: str) -> None:
    assert shown(marked) == plain


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        (f"- Moss 3 (#61, *C*) {A}; {B}; {C}\n- Fog", "- Moss 3 (#61, *C*)\n- Fog"),
        (f"The bar silted up {A}; {B}.", "The bar silted up."),
        (f"Tolls rose by 8% {A} {B}.", "Tolls rose by 8%."),
        (f"| Toll | 8% {A}  {B} |", "| Toll | 8% |"),
        (f"| Toll | `T8` {A} {B} |", "| Toll | `T8` |"),
        (f"The key is `T8`. {A} {B}\n\nFog.", "The key is `T8`.\n\nFog."),
    ],
)
def test_links_side_by_side_or_joined_by_semicolons_go_at_the_end_of_a_line_or_cell(marked: str, plain: str) -> None:
    assert shown(marked) == plain


@pytest.mark.parametrize(
    ("linked", "words"),
    [
        (f"The board has two sources: {A}, {B}. They differ.", "The board has two sources: Tide log, Board. They differ."),
        (f"资料来源有二：{A}、{B}。", "资料来源有二：Tide log、Board。"),
        (f"Ships left. Source: {A} of the port.", "Ships left. Source: Tide log of the port."),
        (f"They keep records such as {A}; {B}", "They keep records such as Tide log; Board"),
        (f"The records are {A}; {B}.", "The records are Tide log; Board."),
        (f"Records: {A}; {B}; {C}", "Records: Tide log; Board; Moss 9"),
        (f"Fog {A}; {B} came.", "Fog Tide log; Board came."),
    ],
)  # fmt: skip
def test_links_that_a_sentence_needs_keep_their_words(linked: str, words: str) -> None:
    assert shown(linked) == words
