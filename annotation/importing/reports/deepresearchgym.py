"""Layout `deepresearchgym`: one folder per system, `<id>.a` the report and `<id>.q` the query it answers."""

from pathlib import Path

from annotation.errors import ImportingError, NoReports
from annotation.files import folders, rows
from annotation.files.decoding import as_text, collecting, decode, nfc, read_bytes
from annotation.importing.reports import records
from plain.wording import Sentence, worded

ANSWER, QUESTION = ".a", ".q"


def read_deepresearchgym(root: Path, encoding: str = "utf-8") -> records.Parsed:
    """Reports under `root/reports`, or under `root` itself; topics are the queries that any system was asked.

    System names are taken whole: `X_custom` and `search-r1-custom` are systems of their own.
    """
    top = root / "reports" if (root / "reports").is_dir() else root
    problems: list[str] = []
    listed = _queries(root, encoding, problems)
    reports: list[records.ReportRecord] = []
    asked: dict[str, str] = {}
    differing: list[str] = []
    systems = []
    ignored = nfd = 0
    for folder in sorted(entry for entry in top.iterdir() if entry.is_dir() and not entry.name.startswith(".")):
        files = sorted(path for path in folder.iterdir() if path.is_file())
        read = [path for path in files if path.name.endswith((ANSWER, QUESTION)) and not path.name.startswith(".")]
        if not any(path.name.endswith(ANSWER) for path in read):
            continue  # queries, key_point and the like stand beside the systems in the public repository
        ignored += len(files) - len(read)
        system = nfc(folder.name)
        systems.append(records.SystemRecord(system, system))
        for path in read:
            shown = path.relative_to(root).as_posix()
            key = nfc(path.name[:-2])  # both suffixes have two characters; the id itself may hold dots
            with collecting(problems):
                if path.name.endswith(ANSWER):
                    nfd += key != path.name[:-2].strip()
                    asked.setdefault(key, "")
                    reports.append(records.read_report(path, shown, key, system, encoding))
                else:
                    query = decode(read_bytes(path, shown), shown, encoding).strip()
                    if query and (listed.get(key) or asked.get(key) or query).split() != query.split():
                        differing.append(shown)
                    asked[key] = asked.get(key) or query
            if listed and key not in listed:
                hint = folders.number_hint(key, listed)
                problems.append(worded(
                    "{shown}: id {key!r} is not in queries{hint}; add it there or rename the file", shown=shown,
                    key=key, hint=hint,
                ))  # fmt: skip
    if not reports and not problems:
        none = "{root}: no reports found; expected files like reports/SYSTEM/ID.a"
        if not listed:
            raise ImportingError(none, root=root)
        raise NoReports(none, [*map(_topic, listed, listed.values())], root=root)
    prompts = {key: listed.get(key) or query for key, query in asked.items()}
    return records.Parsed(
        topics=tuple(_topic(*one) for one in sorted(prompts.items())),
        systems=tuple(systems),
        reports=tuple(reports),
        problems=tuple(dict.fromkeys(problems + records.duplicate_keys(reports))),
        ignored=ignored,
        nfd_names=nfd,
        notes=_notes(root, listed, prompts, differing),
    )


def _topic(key: str, query: str) -> records.TopicRecord:
    return records.TopicRecord(key, records.title_of(query) or key, prompt=query)


def _queries(root: Path, encoding: str, problems: list[str]) -> dict[str, str]:
    """Query by id from every file of `queries`; one id may be in several samples, but never with another text."""
    found: dict[str, tuple[str, str]] = {}
    folder = root / "queries"
    for path in sorted(folder.glob("[!.]*.jsonl")):
        with collecting(problems):
            for row in rows.read_json_rows(path, path.relative_to(root).as_posix(), problems, encoding):
                key, query = nfc(as_text(row.values.get("id")) or ""), as_text(row.values.get("query")) or ""
                if not key or not query:
                    problems.append(
                        worded("{where}: no 'id' or no 'query'; fill it in or remove the line", where=row.where)
                    )
                    continue
                first = found.setdefault(key, (query, row.where))
                if first[0] != query:
                    problems.append(worded(
                        "{where}: id {key!r} has another query at {first}; remove one", where=row.where, key=key,
                        first=first[1],
                    ))  # fmt: skip
                elif first[1] != row.where and first[1].rpartition(":")[0] == row.where.rpartition(":")[0]:
                    problems.append(worded(
                        "{where}: id {key!r} appears twice (first at {first}); remove one", where=row.where, key=key,
                        first=first[1],
                    ))  # fmt: skip
    return {key: query for key, (query, _) in found.items()}


def _notes(root: Path, listed: dict[str, str], prompts: dict[str, str], differing: list[str]) -> tuple[Sentence, ...]:
    notes = []
    if unused := len(listed.keys() - prompts.keys()):
        notes.append(Sentence("queries without any report {unused}: not made topics", unused=unused))
    if unknown := [key for key, prompt in prompts.items() if not prompt]:
        notes.append(Sentence(
            "topics without a query {unknown} ({some}): the id is the title", unknown=len(unknown),
            some=", ".join(unknown[:20]),
        ))  # fmt: skip
    if differing:
        notes.append(Sentence(
            "query files that differ from the query listed {differing} ({some})", differing=len(differing),
            some=", ".join(differing[:20]),
        ))  # fmt: skip
    if points := len(list((root / "key_point").glob("*_aggregated.json"))):
        notes.append(Sentence(
            "key point files {points}: read by calipers import probes --layout deepresearchgym", points=points,
        ))  # fmt: skip
    return tuple(notes)
