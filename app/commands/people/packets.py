"""Work without the server: packets out, ballots back in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from annotation.errors import AnnotationError
from app.commands import opening, printing

if TYPE_CHECKING:
    from annotation.offline.ballots import BallotOutcome

NUMBERS = ("items", "handed in", "entries stored", "already there", "stale", "refused", "half filled")


def packet(
    study: str = printing.ONE,
    rater: str = typer.Argument("", help="Whose packet: the person, as admins know them."),
    items: int = typer.Option(10, help="How many items; exactly so many or none.", min=1),
    out: Path = typer.Option(None, help="The HTML file to write."),
    list_them: bool = typer.Option(False, "--list", help="List the study's packets."),
    withdraw: str = typer.Option("", help="Withdraw the packet with this id: no ballot of it counts any more."),
    as_json: bool = printing.JSON,
) -> None:
    """Put a person's next items in one file that needs no network.

    Their answers come back as a ballot, for `calipers import ballots`.

    Example: calipers packet mystudy "Ada" --items 10 --out ada.html
    Example: calipers packet mystudy --list
    """
    from annotation.offline.packets import list_packets, reserve_packet, withdraw_packet

    if list_them:
        with opening.reading(opening.opened()) as session:
            rows = list_packets(session, opening.local_admin(opening.find_study(session, study)))
        _print_packets(rows, as_json)
        return
    if withdraw:
        with opening.transaction(opening.opened()) as session:
            returned = withdraw_packet(session, opening.local_admin(opening.find_study(session, study)), withdraw)
        if as_json:
            printing.print_json({"packet": withdraw, "returned": returned})
        else:
            typer.echo(f"packet {withdraw} is withdrawn; items back in the pool: {returned}")
        return
    if not rater or out is None:
        raise typer.BadParameter("name the person and the file: calipers packet STUDY RATER --out FILE.html")
    from app.component import packet_html
    from app.files.whole_files import whole_file

    if out.exists():
        raise typer.BadParameter(f"--out {out} is there already, perhaps with another packet; name another file")
    with opening.transaction(opening.opened()) as session:
        made = reserve_packet(session, opening.local_admin(opening.find_study(session, study)), rater, items)
        # inside: where the file cannot be written, nothing was reserved
        with whole_file(out) as file:
            file.write(packet_html(made))
    told = {"packet": made.packet_id, "rater": made.rater, "items": items, "file": str(out), "sha256": made.sha256}
    if as_json:
        printing.print_json(told)
    else:
        typer.echo(f"{out}: packet {made.packet_id} with {items} items for {made.rater}")
        typer.echo(f"what comes back: calipers import ballots FILE --study {study}")


def import_ballots(
    files: list[Path] = typer.Argument(..., help="The ballots, from packets or downloaded from the online page."),
    study: str = printing.STUDY,
    as_json: bool = printing.JSON,
) -> None:
    """Store what came back from packets, entry by entry.

    What is there already is not stored twice. Prints what was stored, and why an entry was refused.

    Exit 1 if anything was refused.

    Example: calipers import ballots ballot-*.json --study mystudy
    """
    from annotation.offline.ballots import import_ballot

    outcomes: list[tuple[Path, BallotOutcome]] = []
    unread: list[tuple[Path, str]] = []
    for path, raw in _in_order(files):
        with printing.progress_bar(path.name) as advance, opening.transaction(opening.opened()) as session:
            admin = opening.local_admin(opening.find_study(session, study))
            try:
                outcomes.append((path, import_ballot(session, admin, raw, str(path), advance)))
            except AnnotationError as error:
                if error.code != "bad_ballot":
                    raise
                unread.append((path, error.text))
    if as_json:
        told = [{"file": str(path), **outcome.as_json()} for path, outcome in outcomes]
        printing.print_json({"ballots": told, "unread": [{"file": str(path), "reason": text} for path, text in unread]})
    else:
        _print_outcomes(outcomes, unread)
    if unread or any(outcome.count("refused") for _, outcome in outcomes):
        raise typer.Exit(1)


def _in_order(files: list[Path]) -> list[tuple[Path, bytes]]:
    """Each with its bytes, the older ballot first, so that a person's last word is the last one stored."""
    from annotation.offline.ballot_format import read_ballot

    def made_at(raw: bytes) -> str:
        try:
            return read_ballot(raw)[0].made_at
        except AnnotationError:
            return ""

    return sorted(((path, path.read_bytes()) for path in files), key=lambda file: made_at(file[1]))


def _print_packets(rows: list[dict[str, object]], as_json: bool) -> None:
    if as_json:
        printing.print_json(rows)
        return
    lines = [
        (row["packet"], row["name"], row["made_at"], row["items"], row["handed_in"], "yes" if row["withdrawn"] else "")
        for row in rows
    ]
    printing.print_table(("packet", "name", "made", "items", "handed in", "withdrawn"), lines, numbers=NUMBERS)


def _print_outcomes(outcomes: list[tuple[Path, BallotOutcome]], unread: list[tuple[Path, str]]) -> None:
    names = ("stored", "already there", "stale", "refused")
    rows = [
        (path.name, outcome.rater, *map(outcome.count, names), len(outcome.handed_in), len(outcome.half_filled))
        for path, outcome in outcomes
    ]
    if rows:  # an entry is an answer, a stretch of active time, a comment or a hand-in
        printing.print_table(
            ("ballot", "rater", "entries stored", *names[1:], "handed in", "half filled"), rows, numbers=NUMBERS
        )
    for path, text in unread:
        typer.echo(f"{path}: {text}")
    for path, outcome in outcomes:
        for entry in outcome.entries:
            if entry.outcome in ("stale", "refused"):
                place = " ".join(part for part in (entry.aid[:8], entry.kind, entry.criterion) if part)
                typer.echo(f"{path.name}: {place}: {entry.outcome}: {entry.reason}")
            if entry.yours is not None and entry.stored is not None:
                typer.echo(f"  ballot: {_said(entry.yours)}\n  stored: {_said(entry.stored)}")
        for aid, missing in outcome.half_filled.items():
            words = f"{len(missing)} criteria still need something" if missing else "complete, but not handed in"
            typer.echo(f"{path.name}: {aid[:8]}: half filled: {words}")


def _said(answer: object) -> str:
    assert isinstance(answer, dict)
    return f"{answer['choice'] or 'no answer'}, {answer['rationale']!r:.80}"
