"""Files that hold names: links to send out, and what to pay. They belong beside the data, never in it."""

import csv
import io
import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path

from annotation.errors import AnnotationError
from annotation.participation.people_list import PayLine
from annotation.protocol import Protocol
from app.texts import local, texts_for
from db.types import now
from plain.spreadsheets import guarded

KEEP_APART = "names stand in it: keep it apart from the study's data, and delete it when it is no longer needed"


def mail_of(asked: Protocol, name: str, link: str) -> tuple[str, str]:
    """Subject and text of an invitation, in the study's language."""
    words = texts_for(asked.language)
    tell = words.tell
    until = local.day(now() + timedelta(days=asked.study.limits.invite_days), words.language)
    hello, text = tell("screens.mail.hello", name=name), tell("screens.mail.text", title=asked.title)
    parts = hello, text, link, tell("screens.mail.after", date=until)
    return tell("screens.mail.subject", title=asked.title), "\n\n".join(parts)


def links_csv(links: Mapping[str, str], role: str, asked: Protocol) -> str:
    """One row a person, for a mail merge: name, role, link, subject and text."""
    rows = ((name, role, link, *mail_of(asked, name, link)) for name, link in links.items())
    return rows_csv(("name", "role", "link", "subject", "text"), rows)


def pay_csv(lines: Iterable[PayLine]) -> str:
    """One row a person. Hours are rounded to 4 places and the amount, from unrounded hours, to 2: last, and once."""
    heads = ("name", "pseudonym", "role", "items", "active_hours", "wall_hours", "rate", "currency", "amount")
    return rows_csv(
        heads,
        (
            (
                line.name, line.pseudonym, line.role, f"{line.items}", f"{line.active_h:.4f}", f"{line.wall_h:.4f}",
                f"{line.rate:g}", line.currency, f"{line.amount:.2f}",
            )
            for line in lines
        ),
    )  # fmt: skip


def write_new(path: Path, text: str) -> None:
    """Write a file that only its owner may read. Raises AnnotationError `file_exists`: links cannot be had again."""
    try:
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8", newline="") as out:
            out.write(text)
    except FileExistsError:
        raise AnnotationError("file_exists", f"{path} exists already; name another file, or move this one") from None


def rows_csv(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """These rows as CSV, of which no cell starts a formula in a spreadsheet."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(heads)
    writer.writerows([guarded(cell) for cell in row] for row in rows)
    return out.getvalue()
