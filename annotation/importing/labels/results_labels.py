"""Layout `labels`: our own labels.csv (or the same columns as JSON Lines or Parquet), people's rows and judges'."""

from collections import defaultdict
from dataclasses import replace
from pathlib import Path

from annotation.errors import ImportingError
from annotation.files.decoding import Row, as_text, collecting, shortened
from annotation.files.rows import read_columns
from annotation.importing.labels import results
from annotation.tool_answers.entries import FAILED
from plain.spreadsheets import unguarded

REQUIRED = ("item_id", "rater_id", "rater_kind", "criterion", "label", "cluster_id")
OPTIONAL = (
    "system_a", "system_b", "presentation", "run", "pass_no", "status", "rationale", "topic", "probe", "sha256_a",
    "sha256_b", "seconds", "cost_usd", "confidence",
)  # fmt: skip
# known from the study's own rows, or about texts of another
MADE_AGAIN = ("category", "len_a", "len_b", "evidence", "tag", "weight", "beside", "claim")
ALIASES = {"tie_inconsistent": results.TIE, "n/a": results.NOT_APPLICABLE, "unparsed": "invalid"}


def read_labels_results(path: Path, options: results.ResultOptions) -> results.Results:
    """`A` means system_a whatever was on the left. `presentation` is the order, empty where it is unknown.

    One rater's rows on one item in both presentations are two passes. `topic` names the topic, else cluster_id does.
    """
    if not path.is_file():
        raise ImportingError(f"{path}: not a file; give one labels file, such as labels.csv")
    problems: list[str] = []
    columns, lines = read_columns(path, problems, options.encoding)
    absent = [name for name in REQUIRED if name not in columns]
    if absent:
        found = ", ".join(columns) or "nothing"
        raise ImportingError([*problems, f"{path.name}:1: no column {absent[0]!r} (found: {found}); add it"])
    if not lines:
        raise ImportingError([*problems, f"{path.name}: no rows; give a file with a label a row"])
    rows = []
    for line in lines:
        with collecting(problems):
            rows.append(_row(line, options))
    others = [name for name in columns if name not in (*REQUIRED, *OPTIONAL, *MADE_AGAIN)]
    notes = (f"columns left out {len(others)} ({', '.join(others[:20])})",) if others else ()
    return results.Results(tuple(numbered_passes(rows)), tuple(problems), notes)


def _row(line: Row, options: results.ResultOptions) -> results.ResultRow:
    if absent := [name for name in REQUIRED if name not in line.values]:
        raise ImportingError(f"{line.where}: no {absent[0]!r} here; add it or remove the row")
    cells = {name: unguarded(as_text(value) or "").strip() for name, value in line.values.items()}
    system_a, system_b = results.named(cells.get("system_a")), results.named(cells.get("system_b"))
    shown = cells.get("presentation", "")
    kind, rater = cells["rater_kind"], results.named(cells["rater_id"])
    if kind not in ("human", "judge"):
        raise ImportingError(f"{line.where}: rater_kind is {shortened(kind)}; write human or judge")
    if not rater:
        raise ImportingError(f"{line.where}: rater_id is empty; fill it in or remove the row")
    if shown not in ("AB", "BA", ""):
        raise ImportingError(f"{line.where}: presentation is {shortened(shown)}; write AB, BA, or nothing if unknown")
    systems = (system_a, system_b) if system_b else (system_a,)
    first = {"AB": system_a, "BA": system_b, "": options.first}[shown]
    found = ALIASES.get(cells["label"], cells["label"])
    raw = (f"raw:{cells['label'][:60]}",) if found != cells["label"] else ()
    answer, status, flags = _answer(line.where, cells.get("status", ""), found, systems, first, options)
    return results.ResultRow(
        line.where, options.judge if kind == "judge" and options.judge else rater,
        results.named(cells.get("topic")) or results.named(cells["cluster_id"]), systems,
        results.named(cells["criterion"]), answer, kind=kind,
        status=status, first=first, probe=cells.get("probe", ""), item=cells["item_id"],
        run=results.whole(cells.get("run") or "1", line.where, "run"),
        pass_no=results.whole(cells["pass_no"], line.where, "pass_no") if cells.get("pass_no") else None,
        seconds=results.amount(cells.get("seconds"), line.where, "seconds"),
        cost_usd=results.amount(cells.get("cost_usd"), line.where, "cost_usd"),
        confidence=_confidence(cells.get("confidence", ""), line.where),
        rationale=cells.get("rationale", ""), flags=raw + flags,
        sha256={name: cells.get(f"sha256_{side}", "") for name, side in zip(systems, "ab", strict=False)},
    )  # fmt: skip


def _confidence(cell: str, where: str) -> int | None:
    """1 to 5 as it was given; a panel's share of votes, below 1, is worked out again and not read."""
    number = results.amount(cell, where, "confidence")
    if number is None or number < 1:
        return None
    if number not in range(1, 6):
        raise ImportingError(f"{where}: confidence is {shortened(cell)}; write 1 to 5, or nothing")
    return int(number)


def _answer(
    where: str, status: str, label: str, systems: tuple[str, ...], first: str, options: results.ResultOptions
) -> tuple[str | None, str, tuple[str, ...]]:
    if status not in ("", "ok", *FAILED):
        raise ImportingError(f"{where}: status is {shortened(status)}; write ok, {', '.join(FAILED)}")
    if status in FAILED:
        return None, status, (f"raw:{label[:60]}",) if label else ()
    if label in FAILED:
        return None, label, ()
    if not label and status == "ok":
        raise ImportingError(f"{where}: status is ok but the label is empty; give the label or another status")
    if not label:
        return None, "missing", ()
    answer, status, flags = results.said(label, options)
    try:
        return (None if answer is None else results.winner(answer, systems, first, options.labels_are)), status, flags
    except ImportingError as error:
        raise ImportingError(f"{where}: {error}") from None


def numbered_passes(rows: list[results.ResultRow]) -> list[results.ResultRow]:
    """Rows without a pass of their own get one: a run shown in both orders is two passes, whatever items are called."""
    orders: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for row in rows:
        orders[_shown(row)].add(row.first)

    def number(row: results.ResultRow) -> int:
        both = len(orders[_shown(row)] - {""}) == 2
        return 2 * row.run - (row.first == min(row.systems)) if both else row.run

    return [row if row.pass_no else replace(row, pass_no=number(row)) for row in rows]


def _shown(row: results.ResultRow) -> tuple[str, ...]:
    return row.kind, row.rater, row.topic, *sorted(row.systems), row.probe, str(row.run)
