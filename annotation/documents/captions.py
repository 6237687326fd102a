"""A figure and the `Figure 3: …` below it, which speaks for it where it is not shown."""

import re
from collections.abc import Iterable, Iterator

from annotation.documents.document_tree import NO_ATTRIBUTES, Element, element, text_of

CAPTION = re.compile(  # in the languages of `source_lists.reference_headings`
    r"(?:fig(?:ures?|uras?|uur|\.)?|abb(?:ildung|\.)?|ill(?:ustration|\.)|chart|photo|image|rys(?:unek|\.)|рис(?:унок|\.)"
    r"|şekil|hình|الشكل|شكل|איור|चित्र|图|圖|図|그림)\s*\.?\s*[\d٠-٩]",
    re.IGNORECASE,
)


def captioned(blocks: Iterable[Element]) -> Iterator[Element]:
    """Each picture without words of its own and the caption below it as one."""
    figure: Element | None = None
    for block in blocks:
        is_caption = block["t"] == "Para" and CAPTION.match(text_of(block["c"])) is not None
        if figure and is_caption:
            yield element("Figure", [NO_ATTRIBUTES, [None, [block]], [figure]])
            figure = None
            continue
        if figure:
            yield figure
        is_figure = block["t"] == "Para" and [one["t"] for one in block["c"]] == ["Image"] and not text_of(block)
        figure = block if is_figure else None
        if not is_figure:
            yield block
    if figure:
        yield figure
