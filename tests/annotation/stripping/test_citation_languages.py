"""Marks of other languages, other brackets and other tools than the common ones."""

import pytest

from annotation.citations import strip_citations

LIST = """

## References

[1] https://example.org/harbour
[2] Ito, K. Wharves and tides. https://example.org/wharves
[3] https://example.net/cranes
[4] https://example.com/pilots
[5] https://example.com/dredging
† https://example.com/signs
‡ https://example.com/more
"""


def shown(markdown: str) -> str:
    return strip_citations(markdown).text


NUMBERED = """

## References

1. Ito, K. (2004). Wharves and tides. *Harbour Journal*, 3.
2. Moss, A. https://example.org/silt
3. Okafor, N. (2011). Cranes. Tide Press.
"""


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        ("Ito et al. (1), *Moss et al.* (3) left (1, 3). Fog came (2).\n\nTolls (2) rose (1) as *et al.* (2) or _et al_. (2) say.",
         "Ito et al., *Moss et al.* left. Fog came.\n\nTolls (2) rose (1) as *et al.* or _et al_. say."),
        ("Ito et al. (1) left. Fog came (2).", "Ito et al. (1) left. Fog came (2)."),
        ("Ships left {1}. Fog came {2}{3}. Tolls rose {1}.", "Ships left. Fog came. Tolls rose."),
        ("Ships left (1). Fog (2) is (3) thick. Two.", "Ships left (1). Fog (2) is (3) thick. Two."),
        ("There were cooks (2), pilots (3), and divers (1).", "There were cooks (2), pilots (3), and divers (1)."),
        ("Ships left [1]. See step (1), step (2) and (3).", "Ships left. See step (1), step (2) and (3)."),
        ("Ships left¹ ³ and fog came². Tolls rose.", "Ships left and fog came. Tolls rose."),
        (r"Ships left in 1843\.1 Fog came later\.2 Depth is 2\.5 m.", r"Ships left in 1843\. Fog came later\. Depth is 2\.5 m."),
    ],
)  # fmt: skip
def test_numbers_without_square_brackets(marked: str, plain: str) -> None:
    assert shown(marked + NUMBERED).rstrip() == plain


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        ("Schiffe liefen aus [1, S. 14].", "Schiffe liefen aus."),
        ("Корабли ушли [2, с. 45].", "Корабли ушли."),
        ("Schiffe liefen aus (vgl. [3]).", "Schiffe liefen aus."),
        ("Le navi partirono (cfr. [3]).", "Le navi partirono."),
        ("Les navires partent (voir [Port](https://example.org/a)).", "Les navires partent."),
        ("Schiffe liefen aus (Quelle: [Hafen](https://example.org/a)).", "Schiffe liefen aus."),
        ("غادرت السفن [2]، ثم عادت [1، 3].", "غادرت السفن، ثم عادت."),
        ("船が去った（出典：港湾局）。", "船が去った。"),
        ("Ships left (Source: Harbour Board, 2023).", "Ships left."),
        ("Ships left (Ref. 4), then fog (refs 1–3).", "Ships left, then fog."),
        ("Ships left [(Harbour Board)](https://example.org/a), then fog.", "Ships left, then fog."),
        ("Ships left [Port](https://example.org/a) [Quay](https://example.org/b).", "Ships left."),
        ("Ships left [Read more →](https://example.org/a).", "Ships left."),
        ("Ships left【citation:4】.", "Ships left."),
        (r"Ships left~\citep[p.~3]{ito2004}.", "Ships left."),
        ("Ships left [see @ito2004, p. 3].", "Ships left."),
        ("Ships left ^[Ito, Harbour Journal 2004.].", "Ships left."),
        ("Fog came.\n\n*Sources: [1] Harbour Board; [3] Cranes Ltd*", "Fog came."),
        ("Fog came.\n\n*Source: Harbour Board, 2023*", "Fog came."),
        # a mark goes whole or not at all, and not where a note of the report's own begins with it
        (
            "A †1931 quay†† fell.††,† Fog†‡, ice<sup>†,‡</sup> and<sup>*,†</sup> the †mole<sup>†</sup>,<sup>‡</sup>.",
            "A †1931 quay†† fell.††,† Fog, ice and<sup>*,†</sup> the †mole.",
        ),
        ("Fog‡ | 3.4† |\n\n*Note.* †p < .05\n\nIce†‡.", "Fog | 3.4† |\n\n*Note.* †p < .05\n\nIce†‡."),
        ("Fog came.\n\n🔗 Read more: https://example.org/fog", "Fog came."),
    ],
)
def test_marks_of_other_languages_and_tools(marked: str, plain: str) -> None:
    assert shown(marked + LIST).rstrip() == plain


def test_links_alone_in_a_source_column_go_with_their_words() -> None:
    row = "| port | Source |\n|---|---|\n| Brill | {} |\n| Veere | toll books |"
    assert shown(row.format("[Board](https://example.org/a)")).replace(" ", "") == row.format("").replace(" ", "")


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        ("A rose.[^1_1][^1_2]\n\n[^1_1]: https://example.org/a\n\n[^1_2]: https://example.org/b\n", "A rose."),
        (
            "每年需重新接种［1－2］。后来[1～2]。\n\n## 参考文献\n[1] https://example.org/a\n[2] https://example.org/b\n",
            "每年需重新接种。后来。",
        ),
        (
            "He names it.[2]:\u2060 14 More[1]: 7–9, too.\n\n## References\n[1] https://example.org/a\n[2] https://example.org/b\n",
            "He names it. More, too.",
        ),
        (
            "Surveys (ENADID 2018) count 3%.\n\n## Key Citations\n- [ENADID 2018 results](https://example.org/a)\n",
            "Surveys (ENADID 2018) count 3%.",
        ),
        ("It takes yearsciteturn9news2turn4search0.", "It takes years."),
        ("the gridciteturn1view0 is old", "the grid is old"),
        ("So it isfileciteturn0file1. More.", "So it is. More."),
        (
            "It pays.[1]\n\nDer BGH (Urteil, Rz. [14]) und Rn. [15].\n\n## Quellen\n\n[1] https://example.org/a\n",
            "It pays.\n\nDer BGH (Urteil, Rz. [14]) und Rn. [15].",
        ),
    ],
)
def test_notations_found_in_reports_nobody_had_looked_at(markdown: str, shown: str) -> None:
    assert strip_citations(markdown).text.strip() == shown
