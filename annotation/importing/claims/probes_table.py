"""Layout `table` of probes: one JSONL, JSON, CSV or Parquet file, a probe a row; the user names columns that differ."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from annotation.errors import ImportingError
from annotation.files.decoding import Row, as_text, collecting, nfc, plain
from annotation.files.rows import SUFFIXES, read_columns
from annotation.importing.claims.probe_records import ParsedProbes, ProbeOptions, ProbeRecord, probe_text, read_source
from annotation.importing.reports.table import key_in, no_column

FIELDS = ("probe_id", "topic", "text", "system", "context", "source", "tag", "gold")
REQUIRED = ("probe_id", "topic", "text")
OFTEN_CALLED = {
    "probe_id": ("id", "claim_id", "key", "number"),
    "topic": ("topic_id", "task", "qid", "query_id", "prompt_id"),
    "text": ("claim", "statement", "fact", "insight", "key_point", "requirement", "probe"),
}


def read_probe_table(path: Path, options: ProbeOptions) -> ParsedProbes:
    """Every row as a probe. `source` names a text file below the table's folder that holds the passages."""
    if not path.is_file():
        raise ImportingError(f"{path}: not a file; give one file that ends in {', '.join(SUFFIXES)}")
    problems: list[str] = []
    columns, rows = read_columns(path, problems, options.encoding)
    if not rows:
        raise ImportingError(problems or [f"{path.name}: no rows; give a file with a probe a row"])
    where = _chosen(columns, options, path.name)
    probes = []
    for row in rows:
        with collecting(problems):
            probes.append(_probe(row, where, path.parent, options))
    others = [name for name in columns if name not in where.values()]
    notes = (f"columns left out {len(others)} ({', '.join(others[:20])})",) if others else ()
    return ParsedProbes(tuple(probes), tuple(problems), notes)


def _chosen(columns: Sequence[str], options: ProbeOptions, name: str) -> dict[str, str]:
    """Field -> column: as --map says, else the column of the field's own name. Raises ImportingError."""
    problems = [
        f"{name}: {no_column(asked, wanted, columns, often=OFTEN_CALLED)}"
        for wanted, asked in options.columns.items()
        if asked not in columns
    ]
    chosen = {wanted: wanted for wanted in FIELDS if wanted in columns} | dict(options.columns)
    if options.system and "system" in chosen:
        problems.append(f"{name}: --system and a column {chosen['system']!r} both name the system; use one of them")
    problems += [
        f"{name}: {no_column(one, one, columns, chosen, OFTEN_CALLED)}" for one in REQUIRED if one not in chosen
    ]
    if problems:
        raise ImportingError(problems)
    return chosen


def _probe(row: Row, where: Mapping[str, str], folder: Path, options: ProbeOptions) -> ProbeRecord:
    found: list[str] = []
    key = key_in(row, "probe_id", where["probe_id"], found)
    topic = key_in(row, "topic", where["topic"], found)
    text = ""
    with collecting(found):
        text = probe_text(row.where, row.values.get(where["text"]), repr(where["text"]))
    more = dict.fromkeys(("system", "context", "source", "tag", "gold"), "")
    for name in more.keys() & where.keys():
        value = as_text(row.values.get(where[name]))
        if value is None:
            found.append(f"{row.where}: {where[name]!r} is not text but a list, an object or bytes; give one text")
        more[name] = value or ""
    context, source = plain(more["context"]), more["source"].strip()
    if context.strip() and source:
        found.append(f"{row.where}: both {where['context']!r} and {where['source']!r} hold source passages; keep one")
    elif source:
        with collecting(found):
            context = read_source(folder, source, row.where, options.encoding)
    if found:
        raise ImportingError(found)
    system = nfc(options.system or more["system"])
    return ProbeRecord(row.where, key, topic, system, text, context, more["tag"].strip(), more["gold"].strip())
