"""Layout `wlc` of probes: facts of the Wikipedia articles, and the agents' statements with the pages they cite."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from annotation.errors import ImportingError
from annotation.files.decoding import as_text, collecting, nfc, plain
from annotation.files.folders import as_file_name
from annotation.files.rows import read_json
from annotation.importing.claims import probe_records
from annotation.importing.reports.wlc import ENDING, FACTS
from annotation.passages import nearest

KINDS = {"fact": f"{FACTS}/TITLE{ENDING}", "statement": "test_data/SYSTEM/json_data/TITLE.json"}
TEXTS = ("fact", "statement")  # where a text stands: of statements with and without what they cite
MARK = re.compile(r"\[(\d+)\]")
NEAREST = 10  # statements of a report that stand beside a fact


def read_wlc_probes(root: Path, options: probe_records.ProbeOptions) -> probe_records.ParsedProbes:
    """Facts about every report but the reference, or the statements of each agent, as the protocol asks."""
    kind = "statement" if options.kind == "claim" else options.kind
    probe_records.refuse_kind("wlc", options, KINDS | {"claim": KINDS["statement"]})
    return _facts(root, options) if kind == "fact" else _statements(root, options)


def _facts(root: Path, options: probe_records.ProbeOptions) -> probe_records.ParsedProbes:
    """With source passages: the report's statements most like the fact, which is what their judge was shown."""
    files = sorted((root / FACTS).glob(f"[!.]*{ENDING}"))
    if not files:
        raise ImportingError(f"{root}: no facts found; expected files like {FACTS}/TITLE{ENDING}")
    problems: list[str] = []
    said = _said_by_report(root, options, problems) if options.needs_sources else {}
    probes: list[probe_records.ProbeRecord] = []
    without = []
    for path in files:
        shown = path.relative_to(root).as_posix()
        topic = nfc(path.name[: -len(ENDING)])
        with collecting(problems):
            facts = _of_article(path, shown, topic, options)
            without += [] if facts else [topic]
            if options.needs_sources:
                probes += _beside_statements(facts, said.get(as_file_name(topic), {}))
            else:
                probes += facts
    passages = f"source passages: the {NEAREST} statements of the report most like the fact, by TF-IDF"
    notes = [passages] if options.needs_sources else []
    notes += [f"articles without facts {len(without)} ({', '.join(without[:20])})"] if without else []
    return probe_records.ParsedProbes(tuple(probes), tuple(problems), tuple(notes), exceeds=True)


def _of_article(
    path: Path, shown: str, topic: str, options: probe_records.ProbeOptions
) -> list[probe_records.ProbeRecord]:
    """The facts of one article, numbered as they are there."""
    entries = read_json(path, shown, options.encoding)
    if not isinstance(entries, list):
        raise ImportingError(f"{shown}: not a list of statements; restore the file")
    return [
        probe_records.ProbeRecord(
            where, str(number), topic, options.system, _entry_text(entry, where), spares_references=True
        )
        for number, entry in enumerate(entries, start=1)
        for where in [f"{shown}: entry {number}"]
    ]  # fmt: skip


def _said_by_report(
    root: Path, options: probe_records.ProbeOptions, problems: list[str]
) -> dict[str, dict[str, list[str]]]:
    """Topic, as files name it, to system to its statements."""
    found: dict[str, dict[str, list[str]]] = defaultdict(dict)
    for path, shown, topic, system in _articles(root, options):
        with collecting(problems):
            found[as_file_name(topic)][system] = [said.text for said in _said(path, shown, options.encoding)]
    return found


def _beside_statements(
    facts: Sequence[probe_records.ProbeRecord], said: Mapping[str, list[str]]
) -> Iterator[probe_records.ProbeRecord]:
    """Each fact with what every report says that is most like it."""
    for system, statements in said.items():
        places = nearest([fact.text for fact in facts], statements, NEAREST)
        for fact, chosen in zip(facts, places, strict=True):
            context = _listed([statements[place] for place in chosen])
            yield replace(fact, system=system, context=context, spares_references=False)


@dataclass(frozen=True)
class Said:
    """One statement of an article: its number there, and the address and the fetched text of what it cites, by mark."""

    number: int
    text: str
    cited: Mapping[str, str]
    fetched: Mapping[str, str]


def _statements(root: Path, options: probe_records.ProbeOptions) -> probe_records.ParsedProbes:
    """One probe for each statement and page it cites; a statement that cites nothing is none.

    The page's text is what the tree keeps under `citation_contents`; one that `--sources` lists goes before it.
    """
    listed = (
        probe_records.Pages(options.sources, options.encoding) if options.sources and options.needs_sources else None
    )
    problems: list[str] = []
    probes: list[probe_records.ProbeRecord] = []
    missing: dict[str, None] = {}
    uncited = unknown = 0
    for path, shown, topic, system in _articles(root, options):
        with collecting(problems):
            for said in _said(path, shown, options.encoding):
                uncited += not said.cited
                for mark, url in said.cited.items():
                    unknown += not url
                    own = listed.text(url) if listed and url else ""
                    context = (own or said.fetched.get(mark, "")) if options.needs_sources else ""
                    missing |= {url: None} if url and options.needs_sources and not context else {}
                    where, key = f"{shown}: statement {said.number}", f"{said.number}-{mark}"
                    probes.append(probe_records.ProbeRecord(where, key, topic, system, said.text, context))
    if options.needs_sources and listed is None and probes and not any(probe.context for probe in probes):
        probe_records.pages_of(
            None, "the statements"
        )  # refuses: nobody could tell whether a source supports a statement
    notes = [f"statements that cite nothing, left out {uncited}"] if uncited else []
    notes += [f"citations whose address is not listed {unknown}"] if unknown else []
    notes += probe_records.not_fetched(missing)
    return probe_records.ParsedProbes(tuple(probes), tuple(problems), tuple(notes), exceeds=True)


def cited_by_statement(root: Path) -> dict[tuple[str, str], list[list[str]]]:
    """By topic, as files name it, and system: the addresses that each statement cites, of those that cite any.

    A file that is broken is told of where its statements come in, and has none here.
    """
    found: dict[tuple[str, str], list[list[str]]] = {}
    for path, shown, topic, system in _articles(root, probe_records.ProbeOptions()):
        with collecting([]):
            said = _said(path, shown, "utf-8")
            cited = ([url for url in one.cited.values() if url] for one in said)
            found[as_file_name(topic), system] = [urls for urls in cited if urls]
    return found


def _articles(root: Path, options: probe_records.ProbeOptions) -> list[tuple[Path, str, str, str]]:
    """path, name, topic and system of every json_data file; only its statements are read, never its text."""
    files = sorted((root / "test_data").glob("*/json_data/[!.]*.json"))
    wanted = [path for path in files if options.system in ("", nfc(path.parts[-3]))]
    if not wanted:
        raise ImportingError(f"{root}: no statements of agents found; expected files like {KINDS['statement']}")
    return [
        (path, path.relative_to(root).as_posix(), nfc(path.name.removesuffix(".json")), nfc(path.parts[-3]))
        for path in wanted
    ]


def _said(path: Path, shown: str, encoding: str) -> list[Said]:
    """Every statement of an article with what it cites."""
    content = read_json(path, shown, encoding)
    query = content.get("query") if isinstance(content, dict) else None
    held = query.get("pages") if isinstance(query, dict) else None
    pages = list(held.values()) if isinstance(held, dict) else []
    if not pages or not all(isinstance(page, dict) for page in pages):
        raise ImportingError(f"{shown}: no page under query.pages; restore the file")
    found: list[Said] = []
    for page in pages:
        entries = page.get("statements") or []
        listed, contents = page.get("citation_urls") or {}, page.get("citation_contents") or {}
        if not isinstance(entries, list) or not isinstance(listed, dict) or not isinstance(contents, dict):
            raise ImportingError(
                f"{shown}: no list 'statements', or no table 'citation_urls' or 'citation_contents'; restore the file"
            )
        addresses = {mark: as_text(url) or "" for mark, url in listed.items()}
        texts = {mark: _fetched(kept) for mark, kept in contents.items()}
        by_address = {url: texts[mark] for mark, url in addresses.items() if texts.get(mark)}
        for entry in entries:
            text = _entry_text(entry, f"{shown}: statement {len(found) + 1}")
            cited = _cited(entry, text, addresses)
            fetched = {mark: texts.get(mark) or by_address.get(url, "") for mark, url in cited.items()}
            found.append(Said(len(found) + 1, text, cited, fetched))
    return found


def _fetched(kept: Any) -> str:
    """A page as the tree keeps it; empty where it could not be fetched. What no database takes is U+FFFD."""
    content = kept.get("content") if isinstance(kept, dict) else None
    text = plain(content) if isinstance(content, str) else ""
    return text.replace("\0", "\ufffd").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _cited(entry: Any, text: str, listed: Mapping[str, str]) -> dict[str, str]:
    """Mark -> address of what a statement cites: the numbers of `ref_idx`, then the addresses of `url` beyond them.

    A statement that is text alone cites by the marks in it. An address without a number is `u1`, `u2` …, the first time
    that it is there.
    """
    if not isinstance(entry, dict):
        return {number: listed.get(number, "") for number in MARK.findall(text)}
    numbers = [mark for one in _several(entry.get("ref_idx")) if (mark := one.strip("[] "))]
    addresses = _several(entry.get("url"))
    together = dict(zip(numbers, addresses, strict=True)) if len(numbers) == len(addresses) else {}
    cited = {number: listed.get(number) or together.get(number, "") for number in numbers}
    known = {*cited.values()}
    beyond = {url: f"u{addresses.index(url) + 1}" for url in addresses if url not in known}
    return cited | {mark: url for url, mark in beyond.items()}


def _several(value: Any) -> list[str]:
    """One value or a list of them, as text, without what is empty."""
    return [text for one in (value if isinstance(value, list) else [value]) if (text := as_text(one))]


def _entry_text(entry: Any, where: str) -> str:
    named = next((name for name in TEXTS if isinstance(entry, dict) and name in entry), TEXTS[-1])
    return probe_records.probe_text(where, entry.get(named) if isinstance(entry, dict) else entry, repr(named))


def _listed(statements: list[str]) -> str:
    return "\n".join(f"- {' '.join(text.split())}" for text in statements)
