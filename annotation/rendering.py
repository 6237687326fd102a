"""Shown Markdown to safe HTML: no link, no script, no image but those that are kept, nothing from outside."""

import hashlib
import importlib.metadata
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import unescape
from html.parser import HTMLParser
from threading import Lock
from typing import Any

import nh3
from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererProtocol
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from annotation.formulas import mathml
from annotation.texts.figures import KEPT
from annotation.texts.spans import math_zones

TAGS = set(
    "p br hr h3 h4 h5 h6 ul ol li blockquote pre code em strong s table thead tbody tr th td span img".split()  # noqa: SIM905  (a line of words)
)
HEADINGS = {"h3", "h4", "h5", "h6"}
VOID = {"br", "hr", "img"}
ATTRIBUTES = {"th": {"style"}, "td": {"style"}, "ol": {"start"}, "img": {"src", "alt"}}
RENDERER_VERSION = "5/" + "/".join(
    importlib.metadata.version(name) for name in ("markdown-it-py", "nh3", "latex2mathml")
)
FORMULA = re.compile(r"<span>([^<]*)</span>")
DEEPEST = 200  # levels of lists and quotes; what lies deeper than the preset's 20 would vanish without a mark
# reports that stay rendered, packed, by their sha256: bounded so that a long study does not fill memory. To render one
# costs more than all else of a page, and twenty people at work are at as many places of a study
RENDERED = 2_000
CACHED = 64  # reports of which something else is kept
_rendered: dict[bytes, bytes] = {}
_rendering = Lock()


def render_report(markdown: str) -> str:
    """HTML of a report as raters see it: headings from h3 down (the page owns h1 and h2), alt text for images.

    A picture that is kept has its name as `src`, `figures/NAME.webp`: whoever serves the page says where that is.
    """
    key = hashlib.sha256(markdown.encode("utf-8", "surrogatepass")).digest()
    packed = _rendered.get(key) or zlib.compress(_render(markdown).encode("utf-8", "surrogatepass"), 1)
    with _rendering:
        _rendered.pop(key, None)
        _rendered[key] = packed  # last, as the last one asked for
        while len(_rendered) > RENDERED:
            del _rendered[next(iter(_rendered))]
    return zlib.decompress(packed).decode("utf-8", "surrogatepass")


def _render(markdown: str) -> str:
    return nh3.clean(
        _parser().render(markdown), tags=TAGS, attributes=ATTRIBUTES, filter_style_properties={"text-align"},
        link_rel=None, clean_content_tags=set(),
    )  # fmt: skip


def formulas_of(html: str) -> dict[str, str]:
    """The MathML of each formula in the HTML of `render_report`, by its source as the page's text has it."""
    found = {unescape(source) for source in FORMULA.findall(html)}
    return {source: drawn for source in sorted(found) if (drawn := mathml(source))}


@dataclass(frozen=True)
class Block:
    """One top-level element of a rendered report: its tag, and its text as the browser's `textContent` has it."""

    tag: str
    text: str

    @property
    def is_heading(self) -> bool:
        return self.tag in HEADINGS


def report_blocks(markdown: str) -> tuple[Block, ...]:
    """The blocks of a report in the order of the children of its element on the page; none for an empty report."""
    reader = _Blocks()
    reader.feed(render_report(markdown))
    reader.close()
    return tuple(Block(tag, "".join(parts)) for tag, parts in reader.blocks)


class _Blocks(HTMLParser):
    """Reads what nh3 wrote, where every element but br and hr is closed."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.blocks: list[tuple[str, list[str]]] = []
        self.depth = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self.depth == 0:
            self.blocks.append((tag, []))
        if tag not in VOID:
            self.depth += 1

    def handle_endtag(self, tag: str) -> None:
        self.depth -= 1

    def handle_data(self, data: str) -> None:
        if self.depth:
            self.blocks[-1][1].append(data)


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": DEEPEST}).enable(["table", "strikethrough"])
    # a definition `[1]: url` would disappear from the page and turn `[1]` into a link
    parser.disable("reference")
    parser.inline.ruler.before("escape", "mathematics", _mathematics)
    parser.add_render_rule("image", _image)
    parser.core.ruler.push("lower_headings", _lower_headings)
    parser.core.ruler.push("no_empty_heads", _no_empty_heads)
    return parser


def _mathematics(state: StateInline, silent: bool) -> bool:
    r"""A formula is left as it was written, as judges read it: in `$a*b\,c*d$` nothing is emphasis or an escape.

    One that can be drawn is in a `span`, which nothing else is.
    """
    end = _ends_of_formulas(state.src).get(state.pos) if state.src[state.pos] in "$\\" else None
    if end is None or end > state.posMax:
        return False
    if not silent:
        source = state.src[state.pos : end]
        is_drawn = mathml(source) is not None
        if is_drawn:
            state.push("formula_open", "span", 1)
        state.push("text", "", 0).content = source
        if is_drawn:
            state.push("formula_close", "span", -1)
    state.pos = end
    return True


@lru_cache(maxsize=1)  # one paragraph is asked for at each of its signs
def _ends_of_formulas(text: str) -> dict[int, int]:
    return dict(math_zones(text))


def _image(renderer: RendererProtocol, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    source = str(tokens[index].attrs["src"])
    if KEPT.fullmatch(f"![{tokens[index].content}]({source})"):
        return f'<img src="{source}" alt="">'  # its caption stands beside it
    return escapeHtml(tokens[index].content)


def _lower_headings(state: Any) -> None:
    for token in state.tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(max(int(token.tag[1]) + 1, 3), 6)}"


def _no_empty_heads(state: Any) -> None:
    """The corner of a table, or a column that nobody named, is a plain cell: screen readers would say an empty head."""
    for opens, words, closes in zip(state.tokens, state.tokens[1:], state.tokens[2:], strict=False):
        if opens.type == "th_open" and not any(part.content.strip() for part in words.children or ()):
            opens.tag = closes.tag = "td"
