"""Answers that tools keep as rows of a study: topic and systems by metadata of those names, or as --map says."""

from dataclasses import replace

from annotation.errors import ImportingError
from annotation.files.decoding import collecting, nfc
from annotation.importing.labels import results, results_labels
from annotation.tool_answers import answers, entries
from plain.hashes import keyed

OPTIONAL = ("answer", "first", "reason", "probe", "sha256_a", "sha256_b")


def reading_of(options: results.ResultOptions) -> entries.Reading:
    """How a tool's file is read for a study: an address of a person becomes an HMAC with the database's key."""
    return entries.Reading(options.encoding, options.columns, lambda name: person(name, options.key))


def results_of(found: entries.Found, options: results.ResultOptions) -> results.Results:
    """The entries as rows; what a row lacks joins the problems."""
    problems, rows = [*found.problems], []
    for entry in found.entries:
        with collecting(problems):
            rows.append(_row(entry, options))
    return results.Results(tuple(results_labels.numbered_passes(rows)), tuple(problems), found.notes(), found.scale)


def person(name: str, key: str) -> str:
    """What a tool's account is called here: an e-mail address never enters a study, only its HMAC with the database's
    `key` does, against which nobody else can try addresses."""
    return f"user-{keyed(key, name.strip().lower())[:12]}" if "@" in name else name


def _row(entry: entries.Entry, options: results.ResultOptions) -> results.ResultRow:
    """One answer. Raises ImportingError with the place and the remedy."""
    frame = options.labels_are if entry.sides is None else "sides" if entry.sides else "systems"
    chosen = replace(options, labels_are=frame, judge="" if entry.kind == "human" else options.judge)
    row = _placed(entry, replace(chosen, system=answers.MARK) if entry.is_bare else chosen)
    if entry.is_bare:  # a probe without a report
        row = replace(row, systems=("",), sha256={})
    pass_no = entry.pass_no
    return replace(
        row, kind=entry.kind or "judge", item=entry.item, flags=row.flags + entry.flags,
        pass_no=results.whole(pass_no, entry.where, "pass_no") if pass_no else None,
    )  # fmt: skip


def _placed(entry: entries.Entry, options: results.ResultOptions) -> results.ResultRow:
    where = entry.where
    topic, systems = _asked_of(entry, options)
    first = nfc(_told(entry, options, "first")) or options.first
    first = {"A": systems[0], "B": systems[-1]}.get(first, first)
    value = "" if entry.status else _told(entry, options, "answer")
    answer, became, flags = results.said(value, options) if value else (None, entry.status or "missing", ())
    try:
        answer = None if answer is None else results.winner(answer, systems, first, options.labels_are)
    except ImportingError as error:
        raise ImportingError(f"{where}: {error}") from None
    return results.ResultRow(
        where, _judge(entry, options), topic, systems, nfc(_told(entry, options, "criterion")), answer,
        status=became, first=first if len(systems) == 2 else "", probe=_told(entry, options, "probe"),
        run=results.whole(_told(entry, options, "run") or "1", where, "run"), rationale=_told(entry, options, "reason"),
        flags=flags,
        sha256={name: _told(entry, options, f"sha256_{side}") for name, side in zip(systems, "ab", strict=False)},
    )  # fmt: skip


def _asked_of(entry: entries.Entry, options: results.ResultOptions) -> tuple[str, tuple[str, ...]]:
    """Topic and systems of the answer."""
    topic = nfc(_told(entry, options, "topic"))
    pair = (nfc(_told(entry, options, "system_a")), nfc(_told(entry, options, "system_b")))
    systems = pair if all(pair) else (nfc(options.system or _told(entry, options, "system")),)
    if not topic or not systems[0]:
        missing = "system (or system_a and system_b)" if topic else "topic"
        holders = [place.rpartition(".")[0] for place in entry.usual.get("topic", ())]
        place = next((one for one in holders if one in entry.record and "metadata" not in entry.record), "metadata")
        raise ImportingError(
            f"{entry.where}: no {missing} in the metadata; say where it is: --map topic={place}.NAME,…"
        )
    return topic, systems


def _judge(entry: entries.Entry, options: results.ResultOptions) -> str:
    told = nfc(_told(entry, options, "judge"))
    if not told and not options.judge and entry.kind == "human":
        raise ImportingError(f"{entry.where}: does not say who answered; say where it is: --map judge=NAME")
    return results.judge_of(options, told, entry.where)


def _told(entry: entries.Entry, options: results.ResultOptions, part: str) -> str:
    """A field at the place that --map names, else at its usual one. Raises ImportingError where that is nowhere."""
    asked = options.columns.get(part)
    if not asked:
        return entry.told(part)
    found = entries.text_at(entry.record, asked)
    if found is None and part not in OPTIONAL:
        there = entries.near(entry.record, asked)
        raise ImportingError(f"{entry.where}: nothing at {asked!r} ({there}); correct --map {part}=…")
    return found or ""
