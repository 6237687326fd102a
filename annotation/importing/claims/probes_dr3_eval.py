"""Layout `dr3_eval` of probes: gold insights, checklists and required documents, each file below its task's folder."""

from pathlib import Path
from typing import Any

from annotation.errors import ImportingError
from annotation.files.decoding import as_text, collecting, nfc
from annotation.files.rows import read_json, read_json_rows
from annotation.importing.claims.probe_records import ParsedProbes, ProbeOptions, ProbeRecord, probe_text, refuse_kind

INSIGHTS = "gold_insights_from_"
KINDS = {"insight": f"{INSIGHTS}*.json", "requirement": "*checklist*.json", "document": "useful_search.json[l]"}
# what the file's name says the insights come from -> the probe's tag; the prefix of its key as result files have it
PARTS = {"source": ("user", "source_documents"), "longcontext": ("sandbox", "long_context")}


def read_dr3_eval_probes(root: Path, options: ProbeOptions) -> ParsedProbes:
    """What the protocol asks about, each about every report of its task: the name of the folder the file lies in.

    Claims are not read: the published files cut them to 100 characters, and nobody can label half a claim.
    """
    if options.kind == "claim":
        raise ImportingError(
            "--layout dr3_eval: the published files hold the first 100 characters of each claim only, so nobody can "
            "label them; extract whole claims, and bring them in with --layout table"
        )
    refuse_kind("dr3_eval", options, KINDS)
    read, patterns = {
        "insight": (_insights, (f"{INSIGHTS}*.json", f"{INSIGHTS}*.jsonl")),
        "requirement": (_requirements, ("*checklist*.json", "*checklist*.jsonl")),
        "document": (_documents, ("useful_search.json", "useful_search.jsonl")),
    }[options.kind]
    paths = {path for pattern in patterns for path in root.rglob(pattern) if path.is_file()}
    files = [(path, path.relative_to(root).as_posix()) for path in sorted(paths)]
    files = [(path, shown) for path, shown in files if not any(part.startswith(".") for part in shown.split("/"))]
    if not files:
        raise ImportingError(f"{root}: no {options.kind}s found; expected files like .../TASK/{KINDS[options.kind]}")
    problems: list[str] = []
    probes: list[ProbeRecord] = []
    without = []
    folders: dict[str, Path] = {}
    for path, shown in files:
        with collecting(problems):
            task = nfc(path.parent.resolve().name)
            if folders.setdefault(task, path.parent) != path.parent:
                other = folders[task].relative_to(root).as_posix()
                raise ImportingError(f"{shown}: task {task!r} also lies in {other}; give the folder of one data set")
            found = read(path, shown, task, options)
            probes += found
            without += [] if found else [shown]
    notes = (f"files without any {options.kind} {len(without)} ({', '.join(without[:20])})",) if without else ()
    return ParsedProbes(tuple(probes), tuple(problems), notes, exceeds=True)


def _insights(path: Path, shown: str, task: str, options: ProbeOptions) -> list[ProbeRecord]:
    part = path.stem.removeprefix(INSIGHTS)
    known = next((PARTS[name] for name in PARTS if part.lower().replace("_", "").startswith(name)), None)
    if known is None:
        raise ImportingError(f"{shown}: from {part!r}? known are source (user files) and long_context (the sandbox)")
    tag, prefix = known
    return [
        ProbeRecord(
            where, f"{prefix}-{number}", task, options.system, _text(where, entry, "insight"), tag=tag
        )
        for number, (where, entry) in enumerate(_entries(path, shown, "gold_insights", options.encoding), start=1)
    ]  # fmt: skip


def _requirements(path: Path, shown: str, task: str, options: ProbeOptions) -> list[ProbeRecord]:
    probes = []
    for where, entry in _entries(path, shown, "checklist", options.encoding):
        text = _text(where, entry, "requirement")
        if not (key := nfc(as_text(entry.get("id")) or "")):
            raise ImportingError(f"{where}: no 'id'; number the requirement")
        tag = (as_text(entry.get("category")) or "").strip()
        probes.append(ProbeRecord(where, key, task, options.system, text, tag=tag))
    return probes


def _documents(path: Path, shown: str, task: str, options: ProbeOptions) -> list[ProbeRecord]:
    """A document is its title, as the reports must cite it; one that was found twice is required once."""
    found: dict[str, ProbeRecord] = {}
    for where, entry in _entries(path, shown, "", options.encoding):
        title = _text(where, entry, "title")
        found.setdefault(nfc(title), ProbeRecord(where, nfc(title), task, options.system, title))
    return list(found.values())


def _text(where: str, entry: Any, name: str) -> str:
    if not isinstance(entry, dict):
        raise ImportingError(f"{where}: not an object with {name!r}; restore the file")
    return probe_text(where, entry.get(name), repr(name))


def _entries(path: Path, shown: str, field: str, encoding: str) -> list[tuple[str, Any]]:
    """The entries of an object's list `field`, of a JSON array, or of JSON Lines: all three go under one name."""
    try:
        content = read_json(path, shown, encoding)
    except ImportingError:
        problems: list[str] = []
        rows = read_json_rows(path, shown, problems, encoding)
        if problems:
            raise ImportingError(problems) from None
        return [(row.where, row.values) for row in rows]
    if isinstance(content, dict) and field:
        content = content.get(field)
        if not isinstance(content, list):
            raise ImportingError(f"{shown}: no list {field!r}; restore the file")
    entries = content if isinstance(content, list) else [content]
    return [(f"{shown}: entry {number}", entry) for number, entry in enumerate(entries, start=1)]
