"""Sums that a study's result files hold themselves, made anew of the answers in the same files."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotation.errors import ImportingError
from annotation.files import rows
from app.reproducing.public_files import files_below
from app.reproducing.standing import OwnSum
from calibration.systems.shares import counted_share
from plain.counting import counted

Sum = tuple[float, float]  # how many, of how many
Content = Mapping[str, Any]


@dataclass(frozen=True)
class Share:
    """A share that each file of a kind states, and the answers that it is made of."""

    what: str
    pattern: str
    stated: Callable[[Content], Sum]
    answers: Callable[[Content], Sequence[str]]
    counted_as: str


def _writing(content: Content) -> list[str]:
    return [entry["winner"] for entries in content["details"].values() for entry in entries]


def _verified(name: str) -> Callable[[Content], list[str]]:
    return lambda content: [entry["verify"]["verdict"] for entry in content[name]]


def _cited(content: Content) -> list[str]:
    return [entry["verdict"] for entry in content["results"]]


def _of(part: str, whole: str, *path: str) -> Callable[[Content], Sum]:
    def stated(content: Content) -> Sum:
        for name in path:
            content = content[name]
        return float(content[part]), float(content[whole])

    return stated


SHARES: Mapping[str, tuple[Share, ...]] = {
    "wlc": (
        Share("writing: criteria that the agent wins", "*_writing.json",
              _of("gen_wins", "total", "aggregate", "overall"), _writing, "gen"),
        Share("facts: Wikipedia's facts that are covered", "*_verifiability.json",
              _of("wiki_covered_by_gen", "num_gt_sentences"), _verified("coverage_alignments"), "consistent"),
        Share("facts: the agent's statements that contradict Wikipedia", "*_verifiability.json",
              _of("gen_conflict_with_wiki", "num_gen_sentences"), _verified("alignments"), "inconsistent"),
        Share("citations: statements that their source supports", "*_citation.json",
              _of("support", "evaluated_statements"), _cited, "support"),
        Share("citations: statements that their source contradicts", "*_citation.json",
              _of("conflict", "evaluated_statements"), _cited, "conflict"),
    ),
}  # fmt: skip


def own_sums(study: str, folder: Path) -> list[OwnSum]:
    """Each share that result files below the folder state, over all of them; none where there are no such files."""
    return [found for share in SHARES.get(study, ()) for found in _sum(share, folder)]


def _sum(share: Share, folder: Path) -> Iterator[OwnSum]:
    """A file that is of another shape is no such file, and its answers are imported, or refused, elsewhere."""
    stated: list[Sum] = []
    ours: dict[str, list[Sum]] = {}  # by topic: files of one agent each are called like their topics
    for name, content in _contents(share, folder):
        try:
            sums, answers = share.stated(content), share.answers(content)
        except (KeyError, TypeError, ValueError):
            continue
        stated.append(sums)
        ours.setdefault(name, []).append((float(answers.count(share.counted_as)), float(len(answers))))
    parts, wholes = ([sum(one[place] for one in own) for own in ours.values()] for place in (0, 1))
    if sum(of for _, of in stated) and sum(wholes):
        what = f"{share.what} ({counted(len(stated), 'file')})"
        printed = sum(part for part, _ in stated) / sum(of for _, of in stated)
        yield OwnSum(what, printed, counted_share(share.what, "", parts, wholes))


def _contents(share: Share, folder: Path) -> Iterator[tuple[str, Content]]:
    """The name of each file, and what it holds."""
    for path, shown in files_below(folder, share.pattern):
        with suppress(ImportingError):
            content = rows.read_json(path, shown, "utf-8")
            if isinstance(content, dict):
                yield path.name, content
