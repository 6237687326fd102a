"""A crowd platform's own files: its list of submissions as it exports it, and what it is told to pay.

Formats as documented in November 2026: Prolific's bulk approval (submission ids) and bonuses (`<id>,<amount>`); MTurk's
results file with `X` in Approve, and SendBonus as the AWS command line reads it. Connect and Sona publish none: there
it is one id a line, and `<id>,<amount>`.
"""

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path

from annotation.errors import ImportingError
from annotation.participation.settling import Settlement, Submission
from annotation.people.platforms import platform_named
from app.files.people_files import rows_csv, write_new
from plain.hashes import text_sha256

STATUS = ("status", "assignmentstatus", "submissionstatus")
MTURK = "mturk"
REASON = "Your time on this study was worth more than its reward."


def read_submissions(path: Path, platform: str) -> list[Submission]:
    """The platform's list, a CSV file. Raises ImportingError where it does not say whose each submission is."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file, strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        raise ImportingError(f"{path}: {error}; export the list of submissions as CSV once more") from None
    asked = platform_named(platform)
    heads = {_plain(head): head for head in (rows[0] if rows else {}) if head}
    missing = [name for name in (asked.person, asked.visit) if name and name not in heads]
    if missing:
        there = ", ".join(heads.values()) or "no columns"
        raise ImportingError(f"{path}: no column {' and '.join(missing)} of {platform}'s list; it has {there}")
    state = next((heads[name] for name in STATUS if name in heads), "")
    return [
        Submission(_cell(row, heads[asked.person]), _cell(row, heads.get(asked.visit, "")), _cell(row, state), row)
        for row in rows
    ]


def _plain(head: str) -> str:
    """`Participant id`, `participant_id` and `ParticipantId` are one head."""
    return "".join(filter(str.isalnum, head)).casefold()


def _cell(row: Mapping[str, str], head: str) -> str:
    return (row.get(head) or "").strip()


def write_settlement(found: Settlement, platform: str, out: Path) -> list[Path]:
    """Write what is to be approved, the bonuses, and whom to look at; into new files, for their owner's eyes alone."""
    out.mkdir(parents=True, exist_ok=True)
    look = [(one.whom, one.why, f"{one.due:.2f}", found.currency) for one in found.look]
    is_mturk = platform == MTURK
    texts = {
        "approve.csv" if is_mturk else "approve.txt": _results(found) if is_mturk else _ids(found),
        "bonus.jsonl" if is_mturk else "bonus.csv": _send_bonus(found) if is_mturk else _amounts(found),
        "look.csv": rows_csv(("whom", "why", "due", "currency"), look),
    }
    for name, text in texts.items():
        write_new(out / name, text)
    return [out / name for name in texts]


def _ids(found: Settlement) -> str:
    return "".join(f"{line.visit or line.participant}\n" for line in found.approve)


def _amounts(found: Settlement) -> str:
    return "".join(f"{line.visit or line.participant},{amount:.2f}\n" for line, _, amount in found.bonus)


def _results(found: Settlement) -> str:
    """The lines of MTurk's own file, of which an X approves; whoever is not in it stays as they are."""
    out = io.StringIO()
    heads = [*found.approve[0].row] if found.approve else ["AssignmentId"]
    writer = csv.DictWriter(out, [*heads, *(name for name in ("Approve", "Reject") if name not in heads)])
    writer.writeheader()
    writer.writerows({**line.row, "Approve": "X", "Reject": ""} for line in found.approve)
    return out.getvalue()


def _send_bonus(found: Settlement) -> str:
    """A line for each `aws mturk send-bonus --cli-input-json`; its token keeps one from being paid twice."""
    return "".join(
        json.dumps({
            "WorkerId": line.participant, "AssignmentId": line.visit, "BonusAmount": f"{amount:.2f}", "Reason": REASON,
            "UniqueRequestToken": text_sha256(f"{line.visit} {person.bonus + amount:.2f}"),
        }) + "\n"
        for line, person, amount in found.bonus
    )  # fmt: skip
