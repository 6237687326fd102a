"""A crowd: a link for a platform's participants, who came by it, and what the platform is to pay."""

from __future__ import annotations

from dataclasses import asdict
from decimal import Decimal, InvalidOperation
from pathlib import Path

import typer

from app.commands import completing, opening, printing

PLATFORM = typer.Option(
    "", help="prolific, mturk, cloudresearch, connect or sona.",
    autocompletion=completing.among("prolific", "mturk", "cloudresearch", "connect", "sona"),
)  # fmt: skip
LINES = ("who", "what", "amount", "why")
HEADS = ("pseudonym", "platform", "end", "handed in", "active min", "due", "bonus so far")


def link(
    study: str = printing.ONE,
    platform: str = PLATFORM,
    places: int = typer.Option(..., help="How many people it lets in."),
    quota: int = typer.Option(None, help="How many items each may take."),
    completed: str = typer.Option("", help="Where who is done goes back to: the platform's code, or its address."),
    screened_out: str = typer.Option("", help="The same for who did not pass the training."),
    no_consent: str = typer.Option("", help="The same for who does not agree."),
    full: str = typer.Option("", help="The same for who comes when nothing is left."),
    workspace: str = typer.Option("", help="Prolific's id of your workspace: only addresses that it signs get in."),
    as_json: bool = printing.JSON,
) -> None:
    """Print the address to give to a platform.

    It is printed once: only its hash is stored. Without a way back people read a code of their own, to be typed in at
    the platform.

    Example: calipers crowd link mystudy --platform prolific --places 50 --quota 5 --completed C1A2B3C4
    """
    from annotation.people import links, platforms
    from app.settings import settings

    platforms.platform_named(platform)
    back = {"completed": completed, "screened_out": screened_out, "no_consent": no_consent, "full": full}
    with opening.transaction(opening.opened()) as session:
        admin = opening.local_admin(opening.find_study(session, study))
        token = links.open_link(session, admin, places, quota, platform, back, workspace)
    address = platforms.link_for(platform, settings().invite_link(token))
    paste = platforms.to_paste(platform, address, bool(workspace))
    if as_json:
        told = {"link": address, "platform": platform, "places": places, "quota": quota}
        printing.print_json(told | {"paste": dict(paste)})
        return
    typer.echo(address)
    typer.echo(
        f"for {platforms.called(platform)}, which lets in {places} people; what it puts in its place stays as it is",
        err=True,
    )
    for field, said in paste:
        typer.echo(f"into {field!r}: {said}", err=True)
    printing.say_next(opening.opened(), study)


def people(study: str = printing.WHICH, as_json: bool = printing.JSON) -> None:
    """List who came, how each ended, and what is due.

    Due is what their active time is worth.

    Example: calipers crowd people mystudy
    """
    from annotation.participation.settling import crowd_people
    from annotation.people import platforms

    with opening.reading(opening.opened()) as session:
        came = crowd_people(session, opening.local_admin(opening.find_study(session, study)))
    if as_json:
        told = [{**asdict(one), "due": f"{one.due:.2f}", "bonus": f"{one.bonus:.2f}"} for one in came]
        printing.print_json([{key: value for key, value in one.items() if "sha256" not in key} for one in told])
        return
    rows = [
        (
            one.pseudonym, platforms.called(one.platform), one.end and one.end.replace("_", " "), one.handed_in,
            f"{60 * one.active_h:.1f}", f"{one.due:.2f}", f"{one.bonus:.2f}",
        )
        for one in came
    ]  # fmt: skip
    printing.print_table(HEADS, rows, numbers=HEADS[3:])


def settle(
    study: str = printing.ONE,
    listed: Path = typer.Option(..., "--list", help="The platform's list of submissions, exported as CSV."),
    platform: str = PLATFORM,
    reward: str = typer.Option(..., help="What it pays for each submission, such as 4.50, in the study's currency."),
    out: Path = typer.Option(None, help="A folder for what to approve, the bonuses, and whom to look at."),
    instead: int = typer.Option(None, help="The number of a settlement that was not paid: this takes its place."),
    accept: list[str] = typer.Option([], help="A platform's id whose long active time is paid by a bonus too."),
    dry_run: bool = typer.Option(False, "--dry-run", help="Say what would be paid and whom to look at; note nothing."),
    as_json: bool = printing.JSON,
) -> None:
    """Write whom to approve, what bonus, whom to look at.

    Bonuses bring each reward to the worth of active time. Nobody is rejected by it. A bonus is noted before it is
    written, so that it is never paid twice.

    Example: calipers crowd settle mystudy --platform prolific --list submissions.csv --reward 4.50 --out pay
    """
    from app.files import crowd_files, people_files
    from app.results import quality

    paid = _amount(reward)
    if dry_run == bool(out):
        raise typer.BadParameter("name a folder with --out, or look first with --dry-run, which writes nothing")
    if out:
        out.mkdir(parents=True, exist_ok=True)
        if any(out.iterdir()):
            raise typer.BadParameter(f"--out {out} holds files already; name a new folder")
    submissions = crowd_files.read_submissions(listed, platform)
    engine = opening.opened()
    with printing.working("computing intervals"):
        found = quality.settled(
            engine, lambda session: opening.local_admin(opening.find_study(session, study)), platform, submissions,
            paid, instead=instead, dry_run=dry_run, accepted=accept,
        )  # fmt: skip
    # noted first: files of which nothing is noted would be paid twice, and for what was not written there is --instead
    written = crowd_files.write_settlement(found, platform, out) if out else []
    if as_json:
        told = {
            "settlement": found.number or None, "approve": len(found.approve), "bonus": len(found.bonus),
            "bonus_in_all": f"{found.owed:.2f}", "currency": found.currency,
            "look": [{"whom": one.whom, "why": one.why, "due": f"{one.due:.2f}"} for one in found.look],
        }  # fmt: skip
        printing.print_json(told | {"files": [str(path) for path in written]})
        return
    if dry_run:
        printing.print_table(LINES, crowd_files.settlement_lines(found), numbers=("amount",))
        typer.echo(f"{crowd_files.told(found, len(submissions))}; nothing is noted or written")
        return
    typer.echo(
        f"{crowd_files.told(found, len(submissions))}; settlement {found.number}, written to {out}: "
        f"{', '.join(path.name for path in written)}"
    )
    typer.echo(people_files.KEEP_APART, err=True)


def _amount(reward: str) -> Decimal:
    try:
        amount = Decimal(reward)
    except InvalidOperation:
        amount = Decimal("nan")
    if not amount.is_finite() or amount < 0:
        raise typer.BadParameter("--reward is an amount of money, such as 4.50")
    return amount
