"""The words of many texts as numbers, equal for equal words: what is compared are numbers."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from calibration.reading.columns import Codes

WORDS = 3  # to a shingle; a text with fewer is one word
BREAK = 32
# of each byte its lower case, and a space for what is in no word; a text with bytes beyond ASCII is read otherwise
PLAIN = np.full(256, BREAK, np.uint8)
for _byte in map(ord, "0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"):
    PLAIN[_byte] = ord(chr(_byte).lower())
Numbers = npt.NDArray[np.int64]


def words_of(text: str) -> list[str]:
    """Lower case, without punctuation; of a text that is shorter than a shingle all of it as one."""
    words = re.findall(r"\w+", text.lower())
    return words if len(words) >= WORDS else [" ".join(words) or text.strip()]


class WordNumbers(dict[str, int]):
    """A number for each word, from 1, in the order in which they are first asked for."""

    def __missing__(self, word: str) -> int:
        self[word] = number = len(self) + 1
        return number

    def of(self, texts: pd.Series[str]) -> tuple[Numbers, Codes]:
        """The numbers of `words_of` each text, one text after the other, and how many words each has.

        Plain texts are cut and looked up all at once, five times as fast as one by one.
        """
        offsets, data = _bytes_of(texts)
        word, size = self._plain(offsets, data)
        beyond = np.searchsorted(offsets, np.flatnonzero(data >= 128), side="right") - 1
        slow = size < WORDS
        slow[beyond] = True
        others = [words_of(text) for text in texts[slow]]
        final = size.copy()
        final[slow] = [len(words) for words in others]
        flat, is_slow = np.empty(final.sum(), np.int64), np.repeat(slow, final)
        flat[~is_slow] = word[~np.repeat(slow, size)]
        flat[is_slow] = [self[one] for words in others for one in words]
        return flat, final

    def _plain(self, offsets: Codes, data: npt.NDArray[np.uint8]) -> tuple[Numbers, Codes]:
        import pyarrow as pa

        letter = PLAIN[data]
        inside = letter != BREAK
        begins = np.zeros(len(data) + 1, bool)  # one more: the last texts may be empty
        begins[offsets] = True
        first = inside & begins[:-1]
        first[1:] |= inside[1:] & ~inside[:-1]
        start = np.flatnonzero(first)
        place = np.concatenate([np.cumsum(inside)[start] - 1, [np.count_nonzero(inside)]])
        buffers = [None, pa.py_buffer(place.astype(np.int64)), pa.py_buffer(letter[inside])]
        code = pa.Array.from_buffers(pa.large_string(), len(start), buffers).dictionary_encode()
        number = np.array([self[one] for one in code.dictionary.to_pylist()], np.int64)
        return number[code.indices.to_numpy()], np.diff(np.searchsorted(start, offsets))


def _bytes_of(texts: pd.Series[str]) -> tuple[Codes, npt.NDArray[np.uint8]]:
    """Where each text begins in the bytes of all, shape (texts + 1,), and these bytes."""
    import pyarrow as pa

    made: Any = pa.array(texts, pa.large_string())
    whole = made.combine_chunks() if isinstance(made, pa.ChunkedArray) else made
    _, where, data = whole.buffers()
    offsets = np.frombuffer(where, np.int64)[whole.offset : whole.offset + len(whole) + 1].astype(np.intp)
    held = np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8)
    return offsets - offsets[0], held[offsets[0] : offsets[-1]]
