"""Layout `fact`: DeepResearch Bench's `results/fact/SYSTEM/validated.jsonl`, what reports say by the page they cite.

A line has a report's addresses under `citations_deduped`, each with the page as it was fetched, the statements that
cite it, and the verdicts of one call on all of them. A statement that cites two pages stands under both.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from annotation.files import decoding, folders
from annotation.files.rows import read_json_rows
from annotation.importing.claims import probe_records
from annotation.importing.labels import results

FILE = "validated.jsonl"
LOOKS_LIKE, KINDS = f"DeepResearch Bench: fact/SYSTEM/{FILE}", {"statement": f"fact/SYSTEM/{FILE}"}
# as protocol wlc_citation has them; `unknown` is said of a page without anything to read
VERDICTS = {"supported": "support", "unsupported": "not_support", "unknown": "source_unavailable"}
NOT_FETCHED = "scrape failed:"  # stands in a page's place
NO_PAGE = "no reference"  # the one error for which no judge was asked


def read_fact_probes(root: Path, options: probe_records.ProbeOptions) -> probe_records.ParsedProbes:
    """One probe for each statement and page it cites; a page that was not fetched is empty."""
    probe_records.refuse_kind("fact", options, KINDS)
    problems: list[str] = []
    probes: list[probe_records.ProbeRecord] = []
    missing: dict[str, None] = {}
    for (where, topic, system), url, pages in _cited(root, options.system, options.encoding, problems):
        page = decoding.plain(decoding.as_text(pages.get("url_content")) or "").strip()
        if not page or page.startswith(NOT_FETCHED):
            page, missing[url] = "", None
        for number, fact in enumerate(pages["facts"], start=1):
            with decoding.collecting(problems):
                text = probe_records.probe_text(where, fact, f"a fact of {url:.60}")
                key, context = f"{pages['place']}-{number}", page if options.needs_sources else ""
                probes.append(probe_records.ProbeRecord(where, key, topic, system, text, context))
    notes = probe_records.not_fetched(missing) if options.needs_sources else []
    return probe_records.ParsedProbes(tuple(probes), tuple(problems), tuple(notes), exceeds=True)


def read_fact_results(path: Path, options: results.ResultOptions) -> results.Results:
    """Where a call failed none of its statements has an answer: invalid, or missing where no page was there to read.

    An answer is found by number and words together: the same words may stand under another page.
    """
    problems: list[str] = []
    rows: list[results.ResultRow] = []
    for (where, topic, system), _, pages in _cited(path, options.system, options.encoding, problems):
        judge, error = results.judge_of(options, "", where), decoding.as_text(pages.get("validate_error")) or ""
        said = {decoding.as_text(one.get("idx")): one.get("result") for one in pages.get("validate_res") or []}
        for number, fact in enumerate(pages["facts"]):
            verdict = decoding.as_text(said.get(str(number))) or ""
            if error or verdict not in VERDICTS:
                status = "missing" if error == NO_PAGE or not (error or verdict) else "invalid"
                found: tuple[Any, ...] = (None, status, (f"raw:{verdict[:60]}",) if verdict else ())
            else:
                found = results.said(VERDICTS[verdict], options)
            rows.append(
                results.ResultRow(
                    where, judge, topic, (system,), "", found[0], status=found[1], flags=found[2],
                    probe=decoding.as_text(fact) or "", probe_key=f"{pages['place']}-{number + 1}", by_number=True,
                    rationale=error,
                )
            )  # fmt: skip
    return results.Results(tuple(rows), tuple(problems))


def _cited(
    root: Path, system: str, encoding: str, problems: list[str]
) -> Iterator[tuple[tuple[str, str, str], str, dict[str, Any]]]:
    """(where, topic, system), address, and what stands under it with its `place` among the report's, from 1."""
    for file, shown in folders.files(root, FILE):
        with decoding.collecting(problems):
            maker = decoding.nfc(system or file.resolve().parent.name)
            for line in read_json_rows(file, shown, problems, encoding):
                topic = results.named(line.values.get("id"))
                if not topic:
                    problems.append(f"{line.where}: no 'id'; fill it in or remove the line")
                    continue
                cited = line.values.get("citations_deduped") or {}
                if not isinstance(cited, dict) or not all(_is_page(one) for one in cited.values()):
                    problems.append(
                        f"{line.where}: no table 'citations_deduped' of addresses with 'facts', and "
                        "'validate_res' as lists; restore it"
                    )
                    continue
                for place, (url, pages) in enumerate(cited.items(), start=1):
                    yield (line.where, topic, maker), url, {**pages, "place": place}


def _is_page(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("facts"), list):
        return False
    verdicts = value.get("validate_res") or []
    return isinstance(verdicts, list) and all(isinstance(one, dict) for one in verdicts)
