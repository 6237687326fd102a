"""Which texts are nearly the same: Jaccard similarity of their sets of three words in a row (Broder 1997).

The words of all texts are numbers, equal for equal words, and only numbers are compared.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse

from calibration.arithmetic.columns import Codes
from calibration.study.joining import Mask

ALIKE = 0.8  # Jaccard similarity of shingles from which two texts are near-identical
ROOM = 2**21 - 1  # different words of which every three have a number of their own; beyond, 63 bits of a hash
MIXED = np.uint64(0x9E3779B97F4A7C15)  # shingles that differ little get other marks
MANY_PAIRS = 2_000_000  # of texts that share a rare shingle: beyond, products of whole sets take less memory
AT_ONCE = 50_000  # texts, or pairs of them, in memory


def numbered(texts: pd.Series[str]) -> npt.NDArray[np.uint64]:
    """A number for each text, 64 bits of a hash: the same for the same bytes."""
    parts = (texts.iloc[start : start + AT_ONCE].to_numpy(dtype=object) for start in range(0, len(texts), AT_ONCE))
    made = [pd.util.hash_array(part, categorize=False) for part in parts]
    return np.concatenate([np.zeros(0, np.uint64), *made])


def shingles(text: str) -> set[str]:
    """Sets of three words in a row, lower case, without punctuation; a shorter text is one shingle."""
    words = words_of(text)
    return {" ".join(words[at : at + WORDS]) for at in range(max(1, len(words) - WORDS + 1))}


@dataclass(frozen=True)
class Shingled:
    """Which shingles each of some texts has. `marks`: 64 bits of which every shingle sets one, shape (texts,)."""

    sets: sparse.csr_array  # shape (texts, all shingles there could ever be); rows are sorted
    marks: npt.NDArray[np.uint64]

    @cached_property
    def sizes(self) -> Codes:
        """How many shingles each text has."""
        return np.diff(self.sets.indptr).astype(np.intp)

    @cached_property
    def counted(self) -> tuple[Codes, Codes]:
        """Every shingle there is, in order, and in how many of the texts."""
        found, count = np.unique(self.sets.indices, return_counts=True)
        return found.astype(np.intp), count

    @cached_property
    def rare_first(self) -> tuple[Codes, Codes]:
        """The rare shingles of each text, as `rare_shingles` has them, in order; and the text of each."""
        text, shingle = self.rare_shingles(self)
        order = np.argsort(shingle, kind="stable")
        return shingle[order], text[order]

    def rare_shingles(self, others: Shingled) -> tuple[Codes, Codes]:
        """Text and shingle of those in each text that are rarest in `others`.

        So many that a near-identical text has one of them among its own: of n shingles at least ALIKE n are shared, so
        that no n - ALIKE n + 1 are all of one text alone (prefix filtering, Chaudhuri 2006).
        """
        known, count = others.counted
        shingle, text = self.sets.indices, np.repeat(np.arange(len(self.sizes)), self.sizes)
        place = np.minimum(np.searchsorted(known, shingle), max(0, len(known) - 1))
        often = np.where(known[place] == shingle, count[place], 0) if len(known) else np.zeros(len(shingle), np.intp)
        order = np.lexsort((shingle, often, text))
        rank = np.arange(len(order)) - np.repeat(self.sets.indptr[:-1], self.sizes)
        kept = order[rank < np.repeat(self.sizes - np.ceil(ALIKE * self.sizes - 1e-9) + 1, self.sizes)]
        return text[kept], shingle[kept].astype(np.intp)

    def only(self, rows: Codes) -> Shingled:
        """Some of the texts."""
        return Shingled(self.sets[rows], self.marks[rows])


class Shingler:
    """Numbers the shingles of any texts, the same ones alike: what it returned earlier can be set beside the new."""

    def __init__(self) -> None:
        self._numbers = WordNumbers()

    def of(self, texts: Sequence[str] | pd.Series[str]) -> Shingled:
        """The shingles of each text."""
        given = texts if isinstance(texts, pd.Series) else pd.Series(texts, dtype="str")
        found = [self._part(given.iloc[start : start + AT_ONCE]) for start in range(0, len(given), AT_ONCE)]
        if len(found) == 1:
            return found[0]
        nothing: Any = sparse.csr_array((0, np.iinfo(np.int64).max), dtype=np.int8)
        sets = sparse.vstack([one.sets for one in found], format="csr") if found else nothing
        return Shingled(sets, np.concatenate([np.zeros(0, np.uint64), *(one.marks for one in found)]))

    def _part(self, texts: pd.Series[str]) -> Shingled:
        word, size = self._numbers.of(texts)
        last = np.cumsum(size)
        place = np.arange(len(word)) - np.repeat(last - size, size)
        third = np.flatnonzero((place >= WORDS - 1) | (np.repeat(size, size) == 1))
        one, two = (np.where(place[third] >= back, word[np.maximum(third - back, 0)], 0) for back in (2, 1))
        shingle = ((one * ROOM + two) * ROOM + word[third]) & np.iinfo(np.int64).max
        starts = np.concatenate([[0], np.cumsum(np.maximum(1, size - WORDS + 1))])
        shape = len(size), np.iinfo(np.int64).max
        made = sparse.csr_array((np.ones(len(shingle), dtype=np.int8), shingle, starts), shape=shape)
        made.sum_duplicates()
        made.data[:] = 1
        bits = np.uint64(1) << (made.indices.astype(np.uint64) * MIXED >> np.uint64(58))
        return Shingled(made, np.bitwise_or.reduceat(bits, made.indptr[:-1]))


def alike_rows(one: sparse.csr_array, two: sparse.csr_array) -> Mask:
    """Whether each text of `one` is near-identical to that of `two` in the same row."""
    shared = np.diff(one.multiply(two).indptr)
    return _alike(shared, np.diff(one.indptr), np.diff(two.indptr))


def alike_pairs(first: Shingled, second: Shingled, row: Codes, column: Codes) -> Mask:
    """Whether text `row` of `first` and text `column` of `second` are near-identical, pair by pair of the arrays."""
    out = np.zeros(len(row), dtype=bool)
    may = np.flatnonzero(_may_be_alike(first, second, row, column))
    for start in range(0, len(may), AT_ONCE):
        part = may[start : start + AT_ONCE]
        out[part] = alike_rows(first.sets[row[part]], second.sets[column[part]])
    return out


def _may_be_alike(first: Shingled, second: Shingled, row: Codes, column: Codes) -> Mask:
    """False where too many marks differ: every one of them is a shingle that only one of the two texts has, and of
    near-identical texts with a and b shingles no more than (a + b)(1 - ALIKE) / (1 + ALIKE) are."""
    differ = np.bitwise_count(first.marks[row] ^ second.marks[column])
    most = (first.sizes[row] + second.sizes[column]) * ((1 - ALIKE) / (1 + ALIKE))
    return np.asarray(differ <= most + 1e-6)


def alike_of_all(first: Shingled, second: Shingled) -> tuple[Codes, Codes]:
    """Row in `first` and row in `second` of all near-identical texts, of every one with every other."""
    text, shingle = first.rare_shingles(second)
    known, where = second.rare_first
    begin, end = np.searchsorted(known, shingle), np.searchsorted(known, shingle, side="right")
    count = end - begin
    if count.sum() > MANY_PAIRS:  # a few phrases for all texts: the sets are then multiplied at once
        return _alike_of_products(first, second)
    column = where[np.arange(count.sum()) - np.repeat(np.cumsum(count) - count - begin, count)]
    row, column = np.divmod(np.unique(np.repeat(text, count) * len(second.sizes) + column), max(1, len(second.sizes)))
    kept = alike_pairs(first, second, row, column)
    return row[kept], column[kept]


def _alike_of_products(first: Shingled, second: Shingled) -> tuple[Codes, Codes]:
    one, two = first.sets, second.sets
    seen, place = np.unique(np.concatenate([one.indices, two.indices]), return_inverse=True)
    mine, theirs = (
        sparse.csr_array((np.ones(len(own)), own, part.indptr), shape=(part.shape[0], len(seen)))
        for part, own in ((one, place[: one.nnz]), (two, place[one.nnz :]))
    )
    shared = (mine @ theirs.T).tocoo()
    row, column = shared.coords
    kept = _alike(shared.data, np.diff(one.indptr)[row], np.diff(two.indptr)[column])
    return row[kept].astype(np.intp), column[kept].astype(np.intp)


def _alike(shared: npt.NDArray[Any], one: npt.NDArray[Any], two: npt.NDArray[Any]) -> Mask:
    return np.asarray(shared >= ALIKE * (one + two - shared) - 1e-9)


WORDS = 3  # to a shingle; a text with fewer is one word
BREAK = 32
# of each byte its lower case, and a space for what is in no word; a text with bytes beyond ASCII is read otherwise
PLAIN = bytes(
    ord(chr(byte).lower()) if byte < 128 and (chr(byte).isalnum() or chr(byte) == "_") else BREAK for byte in range(256)
)
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

        letter = np.frombuffer(data.tobytes().translate(PLAIN), np.uint8)
        inside = letter != BREAK
        begins = np.zeros(len(data) + 1, bool)  # one more: the last texts may be empty
        begins[offsets] = True
        first, last = inside & begins[:-1], inside & begins[1:]
        first[1:] |= inside[1:] & ~inside[:-1]
        last[:-1] |= inside[:-1] & ~inside[1:]
        start = np.flatnonzero(first)
        place = np.concatenate([[0], np.cumsum(np.flatnonzero(last) + 1 - start)])
        buffers = [None, pa.py_buffer(place), pa.py_buffer(letter[inside])]
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
