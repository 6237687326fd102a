"""Sums that a study's result files hold themselves, made anew of the answers in the same files."""

from collections.abc import Callable, Iterator, Mapping
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
    """A share that each file of a kind states, and what its answers come to: by topic, from its name and content."""

    what: str
    pattern: str
    stated: Callable[[Content], Sum]
    made: Callable[[str, Content], Mapping[str, Sum]]


def _counted(answers: Callable[[Content], list[str]], counted_as: str) -> Callable[[str, Content], Mapping[str, Sum]]:
    """Of a file that is called like its topic."""

    def made(name: str, content: Content) -> Mapping[str, Sum]:
        found = answers(content)
        return {name: (float(found.count(counted_as)), float(len(found)))}

    return made


def _writing(content: Content) -> list[str]:
    return [entry["winner"] for entries in content["details"].values() for entry in entries]


def _verified(name: str) -> Callable[[Content], list[str]]:
    return lambda content: [entry["verify"]["verdict"] for entry in content[name]]


def _verdicts(content: Content) -> list[str]:
    return [entry["verdict"] for entry in content["results"]]


def _of(part: str, whole: str, *path: str) -> Callable[[Content], Sum]:
    def stated(content: Content) -> Sum:
        for name in path:
            content = content[name]
        return float(content[part]), float(content[whole])

    return stated


def _recall(content: Content) -> Sum:
    return sum(float(one["score"]) for one in content.values()), float(len(content))


def _citing(_: str, content: Content) -> Mapping[str, Sum]:
    """Of each report the share of its claims that cite a page; as theirs, 0 where none was found."""

    def share(claims: Any) -> float:
        if not isinstance(claims, dict) or not claims:
            return 0.0
        return sum(bool(claim["urls"]) for claim in claims.values()) / len(claims)

    return {query: (share(one["detailed"]), 1.0) for query, one in content.items()}


SHARES: Mapping[str, tuple[Share, ...]] = {
    "wlc": (
        Share("writing: criteria that the agent wins", "*_writing.json",
              _of("gen_wins", "total", "aggregate", "overall"), _counted(_writing, "gen")),
        Share("facts: Wikipedia's facts that are covered", "*_verifiability.json",
              _of("wiki_covered_by_gen", "num_gt_sentences"), _counted(_verified("coverage_alignments"), "consistent")),
        Share("facts: the agent's statements that contradict Wikipedia", "*_verifiability.json",
              _of("gen_conflict_with_wiki", "num_gen_sentences"), _counted(_verified("alignments"), "inconsistent")),
        Share("citations: statements that their source supports", "*_citation.json",
              _of("support", "evaluated_statements"), _counted(_verdicts, "support")),
        Share("citations: statements that their source contradicts", "*_citation.json",
              _of("conflict", "evaluated_statements"), _counted(_verdicts, "conflict")),
    ),
    "deepresearchgym": (
        Share("citations: recall by its own extraction, claims of a report that cite a page, mean over reports",
              "evaluation_results_citation_recall_*.json", _recall, _citing),
    ),
}  # fmt: skip


def own_sums(study: str, folder: Path) -> list[OwnSum]:
    """Each share that result files below the folder state, over all of them; none where there are no such files."""
    return [found for share in SHARES.get(study, ()) for found in _sum(share, folder)]


def _sum(share: Share, folder: Path) -> Iterator[OwnSum]:
    """A file that is of another shape is no such file, and its answers are imported, or refused, elsewhere."""
    stated: list[Sum] = []
    ours: dict[str, list[Sum]] = {}  # by topic, of one agent or of several
    for name, content in _contents(share, folder):
        try:
            sums, made = share.stated(content), share.made(name, content)
        except (AttributeError, KeyError, TypeError, ValueError):
            continue
        stated.append(sums)
        for topic, own in made.items():
            ours.setdefault(topic, []).append(own)
    parts, wholes = ([sum(one[place] for one in own) for own in ours.values()] for place in (0, 1))
    if sum(of for _, of in stated) and sum(wholes):
        on = f" on {counted(len(ours), 'topic')}" * (len(ours) < len(stated))  # two evaluations of one, or two agents
        what = f"{share.what} ({counted(len(stated), 'file')}{on})"
        printed = sum(part for part, _ in stated) / sum(of for _, of in stated)
        yield OwnSum(what, printed, counted_share(share.what, "", parts, wholes))


def _contents(share: Share, folder: Path) -> Iterator[tuple[str, Content]]:
    """The name of each file, and what it holds."""
    for path, shown in files_below(folder, share.pattern):
        with suppress(ImportingError):
            content = rows.read_json(path, shown, "utf-8")
            if isinstance(content, dict):
                yield path.name, content
