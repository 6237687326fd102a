"""Which texts are nearly the same: Jaccard similarity of their sets of three words in a row (Broder 1997)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse

from calibration.columns import Codes
from calibration.joining import Mask

WORDS = 3  # to a shingle
ALIKE = 0.8  # Jaccard similarity of shingles from which two texts are near-identical
ROOM = 2**21 - 1  # different words of which every three have a number of their own; beyond, 63 bits of a hash
AT_ONCE = 50_000  # texts, or pairs of them, in memory


def numbered(texts: pd.Series[str]) -> npt.NDArray[np.uint64]:
    """A number for each text, 64 bits of a hash: the same for the same bytes."""
    parts = (texts.iloc[start : start + AT_ONCE].to_numpy(dtype=object) for start in range(0, len(texts), AT_ONCE))
    made = [pd.util.hash_array(part, categorize=False) for part in parts]
    return np.concatenate([np.zeros(0, np.uint64), *made])


def shingles(text: str) -> set[str]:
    """Sets of three words in a row, lower case, without punctuation; a shorter text is one shingle."""
    words = _words(text)
    return {" ".join(words[at : at + WORDS]) for at in range(max(1, len(words) - WORDS + 1))}


def _words(text: str) -> list[str]:
    """The words of a text; of one that is shorter than a shingle, all of it as one."""
    words = re.findall(r"\w+", text.lower())
    return words if len(words) >= WORDS else [" ".join(words) or text.strip()]


class Shingler:
    """Numbers the shingles of any texts, the same ones alike: what it returned earlier can be set beside the new."""

    def __init__(self) -> None:
        self._number: dict[str, int] = {}

    def of(self, texts: Iterable[str]) -> sparse.csr_array:
        """Which shingles each text has, shape (texts, all shingles there could ever be); rows are sorted."""
        flat, sizes = list[int](), list[int]()
        for text in texts:
            words = _words(text)
            flat += [self._number.setdefault(word, len(self._number) + 1) for word in words]
            sizes.append(len(words))
        word, size = np.array(flat, dtype=np.int64), np.array(sizes, dtype=np.int64)
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
        return made


def alike_rows(one: sparse.csr_array, two: sparse.csr_array) -> Mask:
    """Whether each text of `one` is near-identical to that of `two` in the same row."""
    shared = np.diff(one.multiply(two).indptr)
    return _alike(shared, np.diff(one.indptr), np.diff(two.indptr))


def alike_pairs(one: sparse.csr_array, two: sparse.csr_array, row: Codes, column: Codes) -> Mask:
    """Whether text `row` of `one` and text `column` of `two` are near-identical, for each pair of the two arrays."""
    parts = [slice(start, start + AT_ONCE) for start in range(0, len(row), AT_ONCE)]
    return np.concatenate([np.zeros(0, bool), *(alike_rows(one[row[part]], two[column[part]]) for part in parts)])


def alike_of_all(one: sparse.csr_array, two: sparse.csr_array) -> tuple[Codes, Codes]:
    """Row in `one` and row in `two` of all near-identical texts, of every one with every other."""
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
