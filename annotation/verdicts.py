"""Every label unblinded, as one tidy table: the columns of `labels.csv`."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Literal, TextIO

import pandas as pd
from sqlalchemy import RowMapping, orm, select

from annotation import errors, studies
from annotation.designs import pairing, sides_and_orders
from annotation.items.shown import SOURCES, item_code, sources_sha256
from annotation.labels import optional_columns as optional
from annotation.labels.current_labels import Shown, counted_labels, counts, has_seen_only, shown_by_item
from annotation.leaks.redaction import redactor_of
from annotation.people.active_time import seconds_by_criterion
from annotation.planning.draws import draw_probabilities
from db.tables import Item, Study
from plain.spreadsheets import guarded
from plain.wording import Sentence

COLUMNS = (
    "item_id", "rater_id", "rater_kind", "criterion", "label", "cluster_id", "system_a", "system_b", "presentation",
    "category", "len_a", "len_b", "run", "pass_no", "seconds", "cost_usd", "status", "rationale",
    "evidence",
)  # fmt: skip
# each where the study has any
EXTRA = ("confidence", "tag", "weight", "beside", "claim", "draw_probability", "settings_tried", "topic")
NUMBERS = (
    "len_a", "len_b", "run", "pass_no", "seconds", "cost_usd", "confidence", "weight", "draw_probability",
    "settings_tried",
)  # fmt: skip
ORDER = ("item_id", "rater_kind", "rater_id", "pass_no", "criterion")
PRESENTATIONS = {"A": "AB", "B": "BA"}
CHUNK = 10_000  # rows in memory in any form but the table's own
STATUS = {"truncated": "invalid"}  # the four that statistics know; judge tables print truncated apart


def unblind(choice: str | None, left: str | None) -> str | None:
    """The verdict of a choice: `left` and `right` become A or B as the recorded order says; all else stays.

    Without a recorded order (an imported file that did not say) the choice already is A or B.
    """
    if choice == "left" and left is not None:
        return left
    if choice == "right" and left is not None:
        return sides_and_orders.OTHER[left]
    return choice


def load_verdicts(session: orm.Session, study: Study) -> pd.DataFrame:
    """One row per item, criterion, rater and pass: current labels of work handed in, with `COLUMNS`.

    `study` comes from `principals.study_for`. Training, attention and adjudicated labels stay out, and so do labels on
    texts that were replaced since. `seconds` and `cost_usd` are a row's share; empty means unknown, not 0. Rationales
    are without the names of the study's people, addresses, keys and folders. `EXTRA` columns are behind where the
    study has them: how sure the rater was, the probe's tag, the criterion's weight (where any is not 1), the item that
    was rated in the same view, the first of several probes of one claim (empty: the item itself), the probability with
    which its topic was drawn for people, with how many settings the judge was asked, and the topic where its cluster
    is called otherwise.
    """
    chunks: dict[str, list[pd.Series[Any]]] = {name: [] for name in (*COLUMNS, *EXTRA)}
    rows = _verdicts(session, study)
    while batch := list(islice(rows, CHUNK)):
        for name, values in zip(chunks, zip(*batch, strict=True), strict=True):
            column = pd.to_numeric(pd.Series(values)) if name in NUMBERS else pd.Series(values, dtype="str")
            chunks[name].append(column)
    if not chunks["item_id"]:
        return pd.DataFrame(columns=list(COLUMNS))
    # column by column, so that the table is in memory once and never twice
    names = (*COLUMNS, *(name for name in EXTRA if any(part.notna().any() for part in chunks[name])))
    keys = pd.DataFrame({name: pd.concat(chunks[name], ignore_index=True).astype("category") for name in ORDER})
    order = keys.sort_values(list(ORDER)).index.to_numpy()
    del keys
    return pd.DataFrame({name: _column(chunks.pop(name)).take(order).array for name in names}, copy=False)


def _column(chunks: list[pd.Series[Any]]) -> pd.Series[Any]:
    """The whole column; one of texts that are all missing holds None."""
    whole = pd.concat(chunks, ignore_index=True)
    return whole.astype("object").where(whole.notna(), None) if whole.dtype == "str" and whole.isna().all() else whole


def _verdicts(session: orm.Session, study: Study) -> Iterator[tuple[Any, ...]]:
    """The rows of the table, in the order of assignments."""
    share, redact = _shares(session, study), redactor_of(session, study)
    by_item = studies.protocol_of(study).calibration.get("cluster") == "item"
    kinds = optional.weights_of, optional.items_beside, optional.first_of_claims, optional.settings_tried
    weights, beside, claims, tried = (kind(session, study) for kind in kinds)
    chances = draw_probabilities(session, study)
    for row, shown in _counted(session, study):
        item_id, left, item = row["item_id"], row["left"], item_code(row["item_id"])
        yield (
            item,
            row["judge_name"] if row["rater_kind"] == "judge" else row["pseudonym"],
            row["rater_kind"],
            row["criterion"],
            unblind(row["choice"], left),
            item if by_item else shown["cluster"],
            *(shown["system_a"], shown["system_b"]),
            PRESENTATIONS.get(left),
            *(shown["category"], shown["len_a"], shown["len_b"]),
            *(row["repeat_no"], row["pass_no"]),
            *share(row),
            STATUS.get(row["status"], row["status"]),
            redact(row["rationale"]),
            evidence_by_report(row["evidence"], left, shown, redact),
            row["confidence"],
            shown["tag"] or None,
            weights.get(row["criterion_row"]),
            *(beside.get(item_id), claims.get(item_id), chances.get(shown["topic"]), tried.get(row["judge_name"])),
            None if by_item or shown["topic"] == shown["cluster"] else shown["topic"],
        )


def _counted(session: orm.Session, study: Study) -> Iterator[tuple[RowMapping, Shown]]:
    """Each label that counts, with what its item shows."""
    sources, shown_items = _sources_of_probes(session, study), shown_by_item(session, study)
    for row in session.execute(counted_labels(study).execution_options(yield_per=CHUNK)).mappings():
        item_id, shown = row["item_id"], shown_items.get(row["item_id"])
        if shown is None or not counts(row, shown):
            continue
        if item_id not in sources or has_seen_only(row, shown["sha256_a"], sources[item_id]):
            yield row, shown


def _shares(session: orm.Session, study: Study) -> Callable[[RowMapping], optional.Share]:
    """What one label took, for labels in the order of assignments: a person's time at the rate of pay, if in USD."""
    human_seconds, judges = seconds_by_criterion(session, study), optional.JudgeShares(session, study)
    pay = studies.protocol_of(study).study.pay
    hourly = pay.rate if pay.currency == "USD" and pay.rate > 0 else None

    def share(row: RowMapping) -> optional.Share:
        if row["source"] == "import":
            return row["seconds"], row["cost_usd"]
        if row["rater_kind"] == "judge":
            return judges.of(row["assignment_id"], row["criterion_row"])
        seconds = human_seconds.of(row["assignment_id"], row["criterion"])
        return seconds, seconds * hourly / 3600 if seconds is not None and hourly is not None else None

    return share


def evidence_by_report(
    evidence: Sequence[Mapping[str, Any]], left: str | None, shown: Shown, redact: Callable[[str], str]
) -> str:
    """Quoted passages as JSON, empty for none: each by report (A, B, or what was beside it) instead of by side.

    Offsets are code points of that text as raters see it (`evidence.plain_text`); `sha256` is its shown Markdown's.
    """
    passages = []
    for passage in evidence:
        if shown["system_b"] is not None:
            report = unblind(passage["side"], left)
        elif passage["sha256"] == shown["sha256_a"]:
            report = "A"
        else:
            report = "sources" if shown["kind"] == "probe" else "reference"
        fields = {name: passage[name] for name in ("start", "end", "quote", "verified", "sha256")}
        if not passage["verified"]:
            fields["quote"] = redact(passage["quote"])  # what a text does not hold, somebody typed
        passages.append({"report": report, **fields})
    return json.dumps(passages, ensure_ascii=False) if passages else ""


def labels_csv(verdicts: pd.DataFrame) -> str:
    """The public exchange format. Numbers are written in full; no text can start a spreadsheet formula."""
    out = io.StringIO()
    write_labels_csv(verdicts, out)
    return out.getvalue()


def write_labels_csv(
    verdicts: pd.DataFrame, out: TextIO, advance: Callable[[int, int], None] = lambda done, of: None
) -> None:
    """`labels_csv` to an open file, some thousand rows at a time; `advance(rows written, of)` after each."""
    for start in range(0, max(1, len(verdicts)), CHUNK):
        cells = verdicts.iloc[start : start + CHUNK].copy()
        if "settings_tried" in cells:
            cells["settings_tried"] = cells["settings_tried"].astype("Int64")  # a count, also where some have none
        quoting: Literal[0, 2] = csv.QUOTE_MINIMAL
        for column in [name for name in cells if not pd.api.types.is_numeric_dtype(cells[name])]:
            text = cells[column].astype("str").where(cells[column].notna(), "")
            cells[column] = text.map(guarded)
            if text.str.contains("\r", regex=False).any():
                quoting = csv.QUOTE_NONNUMERIC  # the usual one sees no line end in a bare \r, but readers do
        cells.to_csv(out, index=False, header=start == 0, lineterminator="\n", quoting=quoting)
        advance(min(start + CHUNK, len(verdicts)), len(verdicts))


def _sources_of_probes(session: orm.Session, study: Study) -> dict[int, str]:
    """item -> sha256 of the source passages it shows now; only probes have them."""
    probes = select(Item.id, *SOURCES).where(Item.study_id == study.id, Item.kind == "probe")
    return {item: sources_sha256(*of_item) for item, *of_item in session.execute(probes)}


def with_systems_masked(verdicts: pd.DataFrame, seed: int) -> pd.DataFrame:
    """The same verdicts with `System 1`, `System 2` … for the names of systems, in an order drawn by `seed`."""
    names = sorted({*verdicts["system_a"].dropna(), *verdicts["system_b"].dropna()} - {""})
    pairing.seeded(seed, "masked systems").shuffle(names)
    mask = {name: f"System {number}" for number, name in enumerate(names, start=1)}
    return verdicts.assign(**{side: verdicts[side].map(mask) for side in ("system_a", "system_b")})


def shows_systems(study: Study) -> bool:
    """Whether labels may be beside systems by now."""
    try:
        require_revealed(study)
    except errors.AnnotationError:
        return False
    return True


def require_revealed(study: Study) -> None:
    """Raises AnnotationError `still_blind` while the protocol keeps labels and systems apart."""
    blind_until = studies.protocol_of(study).study.blind_until
    if study.revealed_at is None and study.status not in ("closed", "locked") and blind_until != "open":
        raise errors.AnnotationError(
            "still_blind",
            "study {name!r} is {status}, and labels are joined with systems only once it is closed; close it, or "
            "run: calipers reveal {name}", name=study.name, status=Sentence(study.status),
        )  # fmt: skip
