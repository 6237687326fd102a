"""Which signs of footnotes (`†`, `‡`) are citations: those that the list of sources has before its entries."""

import re
from collections.abc import Iterator, Set

from annotation.texts.spans import Span

_RUN = r"[†‡](?:[,;]?[ ]?[†‡])*+"  # `†`, `††`, `†‡`, `†, ‡`
_RAISED = rf"<sup>{_RUN}</sup>"
# a mark, raised by its tag or behind a word; what else is raised is passed over whole: `*,†` has a sign of no list
_MARK = re.compile(
    rf"({_RAISED}(?:[,;]?[ ]?{_RAISED})*+)|<sup>[^<>\n]{{0,40}}</sup>"
    rf"|(?<=[\w.,;:!?)\]\"”’*])(?<![†‡][,;])({_RUN})(?!\w)"
)
_SIGN = re.compile(r"†+|‡+")
# before words of its own, below a table or in a cell: `† p < .05`, `*Note.* ‡p < .01`
_EXPLAINED = re.compile(
    r"(?:^[ \t>*_-]*|\|[ \t*_]*|(?:[:;]|\bnotes?\.)[*_]{0,3}[ \t][*_]{0,3})"
    r"(?:<sup>)?([†‡]{1,3})(?:</sup>)?(?:[ \t]+(?=[^\s|])|(?=[^\W\d]))",
    re.IGNORECASE | re.MULTILINE,
)


def find_signs(text: str, labels: Set[str]) -> Iterator[Span]:
    """Marks all of whose signs are `labels` of the list, and none of which a note of the report's own explains."""
    listed = {label for label in labels if label[0] in "†‡"}
    if not listed:
        return
    listed -= {match[1] for match in _EXPLAINED.finditer(text)}
    for match in _MARK.finditer(text):
        signs = _SIGN.findall(match[1] or match[2] or "")
        if signs and listed.issuperset(signs):
            yield Span(match.start(), match.end(), "superscript")
