"""The columns of a dataset, what each holds, and the hash that chains the rows of its labels.

Each row of labels holds the sha256 of the row before it in its assignment, and its own.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from plain.hashes import canonical_sha256

TEXT, WHOLE, NUMBER, TRUTH = "text", "whole number", "number", "true or false"


@dataclass(frozen=True)
class DataColumn:
    """`kind` is one of the four above; every column but truths may be empty where it does not apply."""

    name: str
    kind: str
    about: str


LABELS = (
    DataColumn("assignment", TEXT, "one rater's pass over one item; its rows are chained by hash"),
    DataColumn("assignment_status", TEXT, "submitted or locked: handed in; taken or returned: not; void: taken out"),
    DataColumn("purpose", TEXT, "label, training, attention, retest or adjudicate; statistics use label and retest"),
    DataColumn("source", TEXT, "app, judge, import or packet: where the answer was given"),
    DataColumn("item_id", TEXT, "what was seen at once"),
    DataColumn("item_kind", TEXT, "pair, report or probe"),
    DataColumn("topic", TEXT, "what the reports are about; the cluster that intervals resample"),
    DataColumn("category", TEXT, "of the topic"),
    DataColumn("probe", TEXT, "the claim, fact or key point that was asked about"),
    DataColumn("tag", TEXT, "the probe's tag, where it has one"),
    DataColumn("claim", TEXT, "item_id of the first of several probes that put one claim to several sources"),
    DataColumn("beside", TEXT, "item_id of the other report, where two are rated in one view"),
    DataColumn("system_a", TEXT, "what wrote report A, or the only report"),
    DataColumn("system_b", TEXT, "what wrote report B of a pair"),
    DataColumn("presentation", TEXT, "AB: report A stood left, or first; BA: report B did; empty: not recorded"),
    DataColumn("rater_id", TEXT, "a person's pseudonym, or a judge's name"),
    DataColumn("rater_kind", TEXT, "human or judge"),
    DataColumn("run", WHOLE, "which repeat: a judge's second run, a person's retest"),
    DataColumn("pass_no", WHOLE, "which pass of this rater over the item"),
    DataColumn("criterion", TEXT, "the question; see criteria.jsonl"),
    DataColumn("criterion_sha256", TEXT, "of the words it was asked in"),
    DataColumn("revision", WHOLE, "1 for the first answer, and so on"),
    DataColumn(
        "is_current",
        TRUTH,
        "the revision that counts, of a question still asked in these words: the last one, or the last before the "
        "reveal where a study leaves later ones out",
    ),
    DataColumn("status", TEXT, "ok, or why there is no label: invalid, missing, refused, truncated"),
    DataColumn("choice", TEXT, "as given: left, right, tie, not_applicable, a score, a probe answer"),
    DataColumn("label", TEXT, "the verdict: A, B, tie, not_applicable, a score, a probe answer"),
    DataColumn("confidence", WHOLE, "1 to 5, where it was asked"),
    DataColumn(
        "flags", TEXT, "what happened to a judge's reply, such as repaired or reasked; words with blanks between"
    ),
    DataColumn("rationale", TEXT, "why, in the rater's words, without names, addresses, keys and folders"),
    DataColumn("evidence", TEXT, "quoted passages as JSON: report, start, end (code points), quote, verified, sha256"),
    DataColumn("left_sha256", TEXT, "of the text on the left, or the only one; `unproved:` before it: made elsewhere"),
    DataColumn("right_sha256", TEXT, "of the text on the right"),
    DataColumn("brought_sha256", TEXT, "of what the task brought beside a pair; fixed once a label stands"),
    DataColumn("stripper_version", TEXT, "of what took citations out"),
    DataColumn("renderer_version", TEXT, "of what laid the text out for people"),
    DataColumn("parser_version", TEXT, "of what read a judge's reply"),
    DataColumn("after_reveal", TRUTH, "written after labels and systems could be seen side by side"),
    DataColumn("created_at", TEXT, "UTC, ISO 8601"),
    DataColumn("previous_sha256", TEXT, "sha256 of the row before in its assignment; empty for the first"),
    DataColumn("sha256", TEXT, "of this row's canonical JSON without this column"),
)
REPORTS = (
    DataColumn("sha256", TEXT, "of the shown text; what left_sha256, right_sha256 and brought_sha256 name"),
    DataColumn("kind", TEXT, "report, or sources: what stood beside a probe"),
    DataColumn("topic", TEXT, "what it is about"),
    DataColumn("language", TEXT, "of the topic"),
    DataColumn("system", TEXT, "what wrote it"),
    DataColumn("is_reference", TRUTH, "the reference, such as an article by people"),
    DataColumn("words", WHOLE, "words of it"),
    DataColumn("characters", WHOLE, "code points of it"),
)
SHOWN_TEXT = DataColumn("text", TEXT, "the Markdown that people and judges read")
CRITERIA = (
    DataColumn("criterion", TEXT, "its id"),
    DataColumn("sha256", TEXT, "of its label and text; what criterion_sha256 names"),
    DataColumn("topic", TEXT, "the only topic it is asked of; empty: all"),
    DataColumn("label", TEXT, "its name on the page"),
    DataColumn("text", TEXT, "the question"),
    DataColumn("category", TEXT, "its group"),
    DataColumn("subcategory", TEXT, "its group within that"),
    DataColumn("weight", NUMBER, "its weight in sums"),
    DataColumn("is_asked", TRUTH, "false: its words were changed, or it was dropped"),
)


OWN, PREVIOUS = "sha256", "previous_sha256"


def chained(rows: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """The rows with `previous_sha256` ("" for the first of its assignment) and `sha256` of all but itself."""
    last: dict[Any, str] = {}
    for row in rows:
        linked = {**row, PREVIOUS: last.get(row["assignment"], "")}
        last[row["assignment"]] = linked[OWN] = canonical_sha256(linked)
        yield linked


def broken(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """The places where the chain does not hold, in words; nothing for rows as `chained` gave them.

    It tells a changed, inserted, moved or removed row. What it cannot tell: that an assignment's last rows, or all of
    them, are gone, or that everything was hashed anew; only a hash that was published says that.
    """
    last: dict[Any, str] = {}
    for number, row in enumerate(rows, start=1):
        where = f"row {number} ({row.get('assignment')}, {row.get('criterion')}, revision {row.get('revision')})"
        if canonical_sha256({name: value for name, value in row.items() if name != OWN}) != row.get(OWN):
            yield f"{where}: was changed, its sha256 is another"
        if row.get(PREVIOUS) != last.get(row.get("assignment"), ""):
            yield f"{where}: does not follow the row before it in its assignment"
        last[row.get("assignment")] = str(row.get(OWN))
