"""Signs that few reports hold, found in one look at bytes: as characters they share bytes with letters."""

import re
from typing import NamedTuple

_PRIVATE_BYTES = re.compile(rb"\xef[\x80-\xa3]")


class RareSigns(NamedTuple):
    """Which kinds of signs a text may hold; False says that it, and whatever is left of it, has none."""

    superscripts: bool  # digits: ¹²³, U+2070 to U+2079
    private_use: bool  # U+E000 to U+F8FF


def rare_signs(text: str) -> RareSigns:
    """The kinds that `text` may hold."""
    if text.isascii():
        return RareSigns(superscripts=False, private_use=False)
    encoded = text.encode("utf-8", "surrogatepass")
    return RareSigns(
        superscripts="¹" in text
        or "²" in text
        or "³" in text
        or (b"\x81" in encoded and b"\xe2\x81" in encoded),  # one byte is found far faster than two
        private_use=b"\xee" in encoded or (b"\xef" in encoded and _PRIVATE_BYTES.search(encoded) is not None),
    )
