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
from annotation.files.rows import read_csv
from annotation.participation.settling import Settlement, Submission
from annotation.people.platforms import WAITING, platform_named
from app.files.people_files import rows_csv, write_new
from plain.hashes import text_sha256
from plain.wording import several, worded, worded_of

STATUS = ("status", "assignmentstatus", "submissionstatus", "approvalstatus")
ALSO = {"amazonidentifier": "workerid"}  # in CloudResearch's own download
MTURK = "mturk"
REASON = "Your time on this study was worth more than its reward."


def read_submissions(path: Path, platform: str, shown: str = "") -> list[Submission]:
    """The platform's list, a CSV file. `shown`: what problems call it, where that is not its path.

    Raises ImportingError where it does not say whose each submission is and, where the platform says that, in what
    state: what a list keeps silent about would be paid.
    """
    name, problems = shown or str(path), list[str]()
    columns, rows = read_csv(path, name, problems)
    asked = platform_named(platform)
    heads = {ALSO.get(_plain(head), _plain(head)): head for head in columns}
    missing = [head for head in (asked.person, asked.visit) if head and head not in heads]
    state = next((heads[head] for head in STATUS if head in heads), "")
    missing += ["status"] if asked.tells_states and not state else []
    if missing:
        there = ", ".join(columns) or "no columns"
        problems.append(f"{name}: no column {' and '.join(missing)} of {asked.called}'s list; it has {there}")
    if problems:
        raise ImportingError(problems)
    return [
        Submission(
            _cell(row.values, heads[asked.person]), _cell(row.values, heads.get(asked.visit, "")),
            _cell(row.values, state) if state else WAITING[0], row.values,
        )
        for row in rows
    ]  # fmt: skip


def _plain(head: str) -> str:
    """`Participant id`, `participant_id` and `ParticipantId` are one head."""
    return "".join(filter(str.isalnum, head)).casefold()


def _cell(row: Mapping[str, str], head: str) -> str:
    return row.get(head, "").strip()


def told(found: Settlement, submissions: int) -> str:
    """One sentence: how many of so many submissions are to be approved, what is owed, whom to look at."""
    bonus = worded_of(
        len(found.bonus), "{n} bonus of {currency} {owed:.2f} in all", "{n} bonuses of {currency} {owed:.2f} in all",
        currency=found.currency, owed=found.owed,
    )  # fmt: skip
    return worded(
        "{approve} of {submissions} to approve, {bonus}, {look} to look at",
        approve=len(found.approve), submissions=several(submissions, "submission"), bonus=bonus, look=len(found.look),
    )  # fmt: skip


def settlement_lines(found: Settlement) -> list[tuple[str, str, str, str]]:
    """(who, approve | bonus | look, amount, why) of everybody whom a settlement names."""
    return [
        *((line.visit or line.participant, "approve", "", "") for line in found.approve),
        *((line.visit or line.participant, "bonus", f"{amount:.2f}", "") for line, _, amount in found.bonus),
        *((one.whom, "look", f"{one.due:.2f}", one.why) for one in found.look),
    ]


def settlement_files(found: Settlement, platform: str) -> dict[str, str]:
    """File -> text: what is to be approved, the bonuses, and whom to look at."""
    look = [(one.whom, one.why, f"{one.due:.2f}", found.currency) for one in found.look]
    is_mturk = platform == MTURK
    return {
        "approve.csv" if is_mturk else "approve.txt": _results(found) if is_mturk else _ids(found),
        "bonus.jsonl" if is_mturk else "bonus.csv": _send_bonus(found) if is_mturk else _amounts(found),
        "look.csv": rows_csv(("whom", "why", "due", "currency"), look),
    }


def write_settlement(found: Settlement, platform: str, out: Path) -> list[Path]:
    """Write them into new files, for their owner's eyes alone."""
    out.mkdir(parents=True, exist_ok=True)
    texts = settlement_files(found, platform)
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
