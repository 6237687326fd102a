"""What every figure promises on paper: nothing leaves the page, no words touch, all text is 8 points."""

from __future__ import annotations

from typing import Any

import numpy as np

from exports.plots.theme import themed


def texts_of(figure: Any) -> list[Any]:
    """The words that are drawn."""
    canvas = figure.canvas
    with themed():
        canvas.draw_without_rendering()
    found = (one for one in canvas.findobj() if hasattr(one, "get_fontsize") and one.get_visible())
    return [one for one in found if one.get_text().strip()]


def assert_readable(figure: Any, width: float, tallest: float = 9.0) -> None:
    """`width` and `tallest` in inches."""
    size, page, texts = figure.canvas.get_size_inches(), figure.canvas.bbox, texts_of(figure)
    assert size[0] == width
    assert size[1] <= tallest
    assert {text.get_fontsize() for text in texts} == {8.0}
    with themed():
        # one for all words: each new one begins a figure anew
        renderer = figure.canvas._get_renderer()
        boxes = np.array([text.get_window_extent(renderer).extents for text in texts])
    left, low, right, top = boxes.T
    outside = (left < -0.5) | (low < -0.5) | (right > page.width + 0.5) | (top > page.height + 0.5)
    assert [text for text, out in zip(texts, outside, strict=True) if out] == [], figure.name
    assert (left < right).all()
    assert (low < top).all()
    # half a pixel may be shared
    beside = (right[:, None] - 0.5 <= left + 0.5) | (top[:, None] - 0.5 <= low + 0.5)
    touching = np.argwhere(np.triu(~(beside | beside.T), 1))
    assert [(texts[one], texts[other]) for one, other in touching] == [], figure.name
