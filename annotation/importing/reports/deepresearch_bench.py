"""Layout `deepresearch_bench`: a DeepResearch Bench tree. Reads raw_data: the cleaned texts were rewritten."""

from pathlib import Path

from annotation.errors import ImportingError, NoReports
from annotation.files import folders, rows
from annotation.files.decoding import as_text, collecting, nfc
from annotation.importing.reports import criteria_files, records
from plain.wording import Sentence, worded

QUERIES = "data/prompt_data/query.jsonl"
RAW, CLEANED, CRITERIA = "data/test_data/raw_data", "data/test_data/cleaned_data", "data/criteria_data/criteria.jsonl"
REFERENCE = records.SystemRecord("reference", "reference", is_reference=True)
SUFFIX = ".jsonl"


def read_deepresearch_bench(root: Path, encoding: str = "utf-8") -> records.Parsed:
    """Reports by `id` (the original code goes by the prompt's text); the reference may be absent."""
    if not (root / QUERIES).is_file():
        raise ImportingError("{queries}: not under {root}; give the folder that holds data", queries=QUERIES, root=root)
    if not (root / RAW).is_dir():
        raise ImportingError(
            "{raw}: not there; add it (cleaned_data will not do: a model rewrote 26 of 100 of its texts)", raw=RAW
        )
    problems: list[str] = []
    topics = _topics(root, encoding, problems)
    files = {path.name[: -len(SUFFIX)]: path for path in sorted((root / RAW).glob(f"[!.]*{SUFFIX}"))}
    reference = root / CLEANED / f"{REFERENCE.key}{SUFFIX}"
    if REFERENCE.key not in files and reference.is_file():
        files[REFERENCE.key] = reference
    reports: list[records.ReportRecord] = []
    other_prompts: list[str] = []
    for system, path in files.items():
        with collecting(problems):
            reports += _reports(path, root, nfc(system), topics, encoding, problems, other_prompts)
    if not reports and not problems:
        raise NoReports("{raw}: no reports found; expected files like SYSTEM.jsonl", [*topics.values()], raw=RAW)
    notes = []
    if other_prompts:
        notes.append(Sentence(
            "rows whose prompt is not the query of their id {rows} ({some})", rows=len(other_prompts),
            some=", ".join(other_prompts[:20]),
        ))  # fmt: skip
    criteria = criteria_files.read_bench_criteria(root, CRITERIA, encoding)
    contents = [path.read_bytes() for path in files.values()]
    return records.Parsed(
        topics=tuple(topics.values()),
        systems=tuple(REFERENCE if key == REFERENCE.key else records.SystemRecord(nfc(key), nfc(key)) for key in files),
        reports=tuple(reports),
        problems=tuple(problems + records.duplicate_keys(reports)),
        ignored=sum(1 for path in (root / RAW).iterdir() if path not in files.values()),
        notes=tuple(notes),
        bom=sum(content.startswith(b"\xef\xbb\xbf") for content in contents),
        crlf=sum(b"\r\n" in content for content in contents),
        criteria=criteria.records,
        criteria_problems=criteria.problems,
        criteria_file=criteria.file,
    )


def _topics(root: Path, encoding: str, problems: list[str]) -> dict[str, records.TopicRecord]:
    topics: dict[str, records.TopicRecord] = {}
    first: dict[str, str] = {}
    with collecting(problems):
        for row in rows.read_json_rows(root / QUERIES, QUERIES, problems, encoding):
            key = nfc(as_text(row.values.get("id")) or "")
            prompt = as_text(row.values.get("prompt")) or ""
            if not key or not prompt.strip():
                problems.append(
                    worded("{where}: no 'id' or no 'prompt'; fill it in or remove the line", where=row.where)
                )
            elif key in topics:
                problems.append(worded(
                    "{where}: id {key!r} appears twice (first at {first}); remove one", where=row.where, key=key,
                    first=first[key],
                ))  # fmt: skip
            else:
                first[key] = row.where
                topics[key] = records.TopicRecord(
                    key=key,
                    title=records.title_of(prompt),
                    prompt=prompt,
                    category=as_text(row.values.get("topic")) or "",  # their word for what a topic belongs to
                    language=as_text(row.values.get("language")) or "en",
                )
    return topics


def _reports(
    path: Path, root: Path, system: str, topics: dict[str, records.TopicRecord], encoding: str,
    problems: list[str], other_prompts: list[str],
) -> list[records.ReportRecord]:  # fmt: skip
    reports = []
    for row in rows.read_json_rows(path, path.relative_to(root).as_posix(), problems, encoding):
        key = nfc(as_text(row.values.get("id")) or "")
        text = as_text(row.values.get("article"))
        if key not in topics:
            hint = folders.number_hint(key, topics)
            problems.append(worded(
                "{where}: id {key!r} is not in {queries}{hint}; add it there or remove the line", where=row.where,
                key=key, queries=QUERIES, hint=hint,
            ))  # fmt: skip
        elif "article" not in row.values or text is None:
            problems.append(
                worded("{where}: no text in 'article'; fill it in (null for an empty report)", where=row.where)
            )
        else:
            prompt = as_text(row.values.get("prompt")) or ""
            if prompt and prompt.split() != topics[key].prompt.split():
                other_prompts.append(row.where)
            reports.append(records.report_in_row(text, row.where, key, system))
    return reports
