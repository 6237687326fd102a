"""Layout `deepresearchgym` of probes: key points of each query, and the claims whose cited pages were judged."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from annotation.errors import ImportingError
from annotation.files.decoding import as_text, collecting, nfc, read_bytes
from annotation.files.rows import read_json
from annotation.importing.claims import probe_records

POINTS, CITATIONS = "_aggregated.json", "evaluation_results_citation_*.json"
KINDS = {"key point": f"key_point/ID{POINTS}", "claim": f"SYSTEM/{CITATIONS}"}
RECALL = "evaluation_results_citation_recall_"  # another extraction, of claims without a page


def read_deepresearchgym_probes(root: Path, options: probe_records.ProbeOptions) -> probe_records.ParsedProbes:
    """Key points about every report of their query, or claims of one system's report, as the protocol asks."""
    probe_records.refuse_kind("deepresearchgym", options, KINDS)
    return _key_points(root, options) if options.kind == "key point" else _claims(root, options)


def _key_points(root: Path, options: probe_records.ProbeOptions) -> probe_records.ParsedProbes:
    folder = root / "key_point" if (root / "key_point").is_dir() else root
    problems: list[str] = []
    probes: list[probe_records.ProbeRecord] = []
    without = []
    files = [path for path in sorted(folder.glob(f"*{POINTS}")) if not path.name.startswith(".")]
    if not files:
        raise ImportingError(f"{root}: no key points found; expected files like key_point/ID{POINTS}")
    for path in files:
        shown = path.relative_to(root).as_posix()
        topic = nfc(path.name[: -len(POINTS)])
        with collecting(problems):
            points = _points(path, shown, options.encoding)
            if not points:
                without.append(topic)
            for place, point in enumerate(points, start=1):
                where = f"{shown}: key point {place}"
                if not isinstance(point, dict) or not (key := nfc(as_text(point.get("point_number")) or "")):
                    raise ImportingError(f"{where}: no 'point_number'; restore the file")
                text = probe_records.probe_text(where, point.get("point_content"), "'point_content'")
                probes.append(probe_records.ProbeRecord(where, key, topic, options.system, text))
    notes = [f"queries without key points {len(without)} ({', '.join(without[:20])})"] if without else []
    return probe_records.ParsedProbes(tuple(probes), tuple(problems), tuple(notes), exceeds=True)


def _points(path: Path, shown: str, encoding: str) -> list[Any]:
    """The file's list; none where the file is empty, as 24 of 1,000 published ones are."""
    if not read_bytes(path, shown).strip():
        return []
    content = read_json(path, shown, encoding)
    points = content.get("key_points") if isinstance(content, dict) else None
    if not isinstance(points, list):
        raise ImportingError(f"{shown}: no list 'key_points'; restore the file")
    return points


def _claims(root: Path, options: probe_records.ProbeOptions) -> probe_records.ParsedProbes:
    """Claims that a judge extracted from one report, each with the text of all pages it cites."""
    files = [path for path in sorted(root.rglob(CITATIONS)) if not path.name.startswith(RECALL)]
    if not files:
        raise ImportingError(f"{root}: no claims found; expected files like reports/SYSTEM/{CITATIONS}")
    pages = probe_records.pages_of(options.sources, "the claims", options.encoding) if options.needs_sources else None
    problems: list[str] = []
    probes: list[probe_records.ProbeRecord] = []
    without = 0
    for path in files:
        shown = path.relative_to(root).as_posix()
        with collecting(problems):
            others = [other.name for other in files if other.parent == path.parent and other != path]
            if others:
                raise ImportingError(
                    f"{shown}: each judge extracted its own claims ({', '.join(others)} lies beside it); keep one file "
                    "a system"
                )
            content = read_json(path, shown, options.encoding)
            if not isinstance(content, dict):
                raise ImportingError(f"{shown}: not an object by query id; restore the file")
            system = nfc(options.system or path.parent.resolve().name)
            for query, result in content.items():
                claims = result.get("detailed") if isinstance(result, dict) else None
                without += not isinstance(claims, dict)  # a sentence ("No URLs found in text.") or null
                if isinstance(claims, dict):
                    with collecting(problems):
                        probes += _of_query(claims, f"{shown}: {query}", nfc(query), system, pages)
    notes = [f"reports without claims {without}"] if without else []
    notes += pages.notes() if pages else []
    return probe_records.ParsedProbes(tuple(probes), tuple(problems), tuple(notes), exceeds=True)


def _of_query(
    claims: dict[str, Any], shown: str, topic: str, system: str, pages: probe_records.Pages | None
) -> Iterator[probe_records.ProbeRecord]:
    for name, claim in claims.items():
        where = f"{shown} {name}"
        if not isinstance(claim, dict):
            raise ImportingError(f"{where}: not an object with 'claim' and 'urls'; restore the file")
        urls = claim.get("urls")
        if not isinstance(urls, list) or not all(isinstance(url, str) for url in urls):
            raise ImportingError(f"{where}: no list 'urls' of the pages it cites; restore the file")
        text = probe_records.probe_text(where, claim.get("claim"), "'claim'")
        yield probe_records.ProbeRecord(where, nfc(name), topic, system, text, pages.texts(urls) if pages else "")
