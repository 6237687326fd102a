"""What a document holds and its tree does not: words, however ordered, and formulas."""

import re
from collections import Counter
from collections.abc import Iterator
from functools import reduce
from itertools import groupby
from typing import Any

from annotation.documents.document_tree import Element, elements_in
from annotation.texts.scripts import UNITS

JOINED = {"Emph", "Strong", "Underline", "SmallCaps", "Strikeout", "Superscript", "Subscript", "Span", "Link", "Cite"}
SIGN = re.compile("[A-Za-z0-9]")


def formulas_heard(signs: str, blocks: Element) -> int:
    """How many formulas a tree has, less one where letters or digits among the `signs` of all of them are in none."""
    heard = [one["c"][1] for one in elements_in(blocks) if one["t"] == "Math"]
    missing = Counter(SIGN.findall(signs)) - Counter(SIGN.findall("".join(heard)))
    return len(heard) - bool(missing)


def unread(said: str, tree: Element) -> tuple[int, str]:
    """How many words of a document are not in its tree, however ordered, and how the longest row of them begins."""
    heard = Counter(one[0] for one in UNITS.finditer("".join(_spoken([tree["meta"], tree["blocks"]]))))
    missing = Counter[str]()
    for word in (one[0] for one in UNITS.finditer(said)):
        if heard[word]:
            heard[word] -= 1
        else:
            missing[word] += 1
    count, longest = missing.total(), ""
    for is_missing, row in groupby(UNITS.finditer(said) if missing else (), key=lambda one: one[0] in missing):
        start, end = reduce(lambda span, one: (min(span[0], one.start()), one.end()), row, (len(said), 0))
        words = said[start:end] if is_missing else ""
        if heard[joined := "".join(UNITS.findall(words[:100]))]:  # the tree has them as one word
            heard[joined] -= 1
            count -= len(UNITS.findall(words))
        else:
            longest = max(longest, words, key=len)
    return count, " ".join(longest[:100].split()[:6])


def _spoken(found: Any) -> Iterator[str]:
    """The text of a tree; words of two blocks are apart."""
    if isinstance(found, list):
        for one in found:
            yield from _spoken(one)
    elif isinstance(found, dict) and "t" in found:
        kind, content = found["t"], found.get("c")
        if kind in ("Str", "MetaString", "Code", "CodeBlock"):
            yield str(content[1] if isinstance(content, list) else content)
        else:
            between = "" if kind in JOINED else " "
            yield between
            yield from _spoken(content)
            yield between
    elif isinstance(found, dict):
        yield from _spoken([*found.values()])
