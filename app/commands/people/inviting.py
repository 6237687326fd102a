"""Who takes part, by which link, how far they are, and what they are paid."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from app.commands import completing, opening, printing
from plain.counting import counted

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from annotation.participation import people_list
    from annotation.people.links import OpenLinkLine
    from annotation.people.principals import Principal


def invite(
    study: str = printing.ONE,
    names: list[str] = typer.Argument(None, help="People, as admins know them; exports use a pseudonym."),
    role: str = typer.Option(
        "annotator",
        help="annotator, adjudicator, evaluator or admin.",
        autocompletion=completing.among("annotator", "adjudicator", "evaluator", "admin"),
    ),
    new_link: bool = typer.Option(False, "--new-link", help="Withdraw the older links of these people."),
    out: Path = typer.Option(None, help="Write the links to this new CSV file, for mailing; names stand in it."),
    open_link: bool = typer.Option(False, "--open-link", help="One link for many, told apart by ?participant=ID."),
    places: int = typer.Option(0, help="With --open-link: how many people it lets in."),
    quota: int = typer.Option(None, help="With --open-link: how many items each may take."),
    group: str = typer.Option("", help="In place of names: whoever is of this group at your provider, from now on."),
    as_json: bool = printing.JSON,
) -> None:
    """Print a link for each person, or one for a crowd platform.

    A link is printed once: only its hash is stored.

    Example: calipers invite mystudy "Ada" "Ben" --role annotator
    """
    from annotation.people import accounts
    from annotation.people.links import invite_all
    from annotation.people.links import open_link as make_open_link
    from app.files.people_files import KEEP_APART, links_csv, write_new
    from app.settings import settings

    if bool(names) + open_link + bool(group) != 1:
        raise typer.BadParameter("name the people, or ask for an --open-link with --places")
    link_of = settings().invite_link
    with opening.transaction(opening.opened()) as session:
        row = opening.find_study(session, study)
        admin = opening.local_admin(row)
        if group:
            accounts.invite_group(session, admin, group, role)
        elif open_link:
            link = link_of(make_open_link(session, admin, places, quota))
        else:
            tokens = invite_all(session, admin, names, role, new_link=new_link)
            links = {name: link_of(token) for name, token in tokens.items()}
            if out:
                write_new(
                    out, links_csv(links, role, opening.protocol_of(row))
                )  # where it cannot be written nobody is invited
    if group:
        typer.echo(f"whoever signs in at your provider and is of {group!r} is {role} from now on", err=True)
    elif open_link:
        _say_open_link(link, places, quota, as_json)
    elif as_json:
        printing.print_json([{"name": name, "role": role, "link": link} for name, link in links.items()])
    elif out:
        typer.echo(f"written to {out}: {counted(len(links), 'link')}; {KEEP_APART}")
    else:
        for name, link in links.items():
            typer.echo(link if len(links) == 1 else f"{link}  {name}")
        typer.echo(f"they lead to {settings().base_url}; to another address: set CALIPERS_BASE_URL first", err=True)
    if not as_json:
        printing.say_next(opening.opened(), study)


def people(
    study: str = printing.WHICH,
    revoke: str = typer.Option("", help="Withdraw every link of this person."),
    revoke_link: int = typer.Option(None, help="Withdraw the open link with this number."),
    sign_out: str = typer.Option("", help="Sign this person out in every browser; their links go on working."),
    pause: str = typer.Option("", help="Give this person no new work."),
    resume: str = typer.Option("", help="Give this person work again."),
    withdraw: str = typer.Option("", help="Take this person out: work in hand goes back, what is handed in stays."),
    void: str = typer.Option("", help="Take out all this person labelled and open its slots again; needs --reason."),
    pass_training: str = typer.Option(
        "", help="Let this person label without having passed the training; needs --reason."
    ),
    reason: str = typer.Option("", help="Why; kept with what --void takes out, or with who is passed."),
    quota: str = typer.Option("", help="How many items each annotator may take: a number, equal or none."),
    name: str = typer.Option("", help="With --quota: of this person only."),
    pay: Path = typer.Option(None, help="Write hours and amounts to this new CSV file; names stand in it."),
    record: str = typer.Option("", help="Print everything that is stored about this person, as JSON, for them."),
    erase: str = typer.Option("", help="Take this person out and delete their name; labels keep the pseudonym."),
    keep_names: str = typer.Option("", help="Delete names so many days after closing: a number of days, or none."),
    delete_names: bool = typer.Option(False, "--delete-names", help="Delete the names of all who label, now."),
    links: bool = typer.Option(False, "--open-links", help="List the open links only."),
    as_json: bool = printing.JSON,
) -> None:
    """List who takes part and how far they are; pause, void, pay.

    Example: calipers people mystudy --pause "Ada"
    """
    from annotation.participation import people_list, personal_data, standing
    from annotation.people import links as open_links
    from annotation.people.links import revoke as revoke_links
    from annotation.people.sign_ins import sign_out_person
    from annotation.training import training
    from app.files.people_files import KEEP_APART, pay_csv, write_new

    with opening.transaction(opening.opened()) as session:
        admin = opening.local_admin(opening.find_study(session, study))
        for whom, act in (
            (revoke, revoke_links), (sign_out, sign_out_person), (pause, standing.pause), (resume, standing.resume),
            (withdraw, standing.withdraw), (erase, personal_data.erase_person),
        ):  # fmt: skip
            if whom:
                act(session, admin, whom)
        if void:
            slots = standing.void_work(session, admin, void, reason)
            typer.echo(f"{slots} slots of {void!r} are open again", err=True)
        if pass_training:
            training.pass_training(session, admin, pass_training, reason)
        if revoke_link is not None:
            open_links.revoke_open_link(session, admin, revoke_link)
        if quota:
            _set_quota(session, admin, quota, name)
        if keep_names:
            personal_data.keep_names(session, admin, _days(keep_names))
        if delete_names:
            typer.echo(f"{counted(personal_data.delete_names(session, admin), 'name')} deleted", err=True)
        if record:
            printing.print_json(personal_data.person_record(session, admin, record))
            return
        listed, doors = people_list.list_people(session, admin), open_links.open_links(session, admin)
        paid = people_list.pay_lines(session, admin) if pay else []
    if pay:
        write_new(pay, pay_csv(paid))
        typer.echo(f"written to {pay}: {len(paid)} people; {KEEP_APART}", err=True)
    if as_json:
        printing.print_json([asdict(line) for line in (paid if pay else doors if links else listed)])
        return
    if not links:
        _print_people(listed)
    if doors:
        _print_open_links(doors)


def _days(said: str) -> int | None:
    if said != "none" and not said.isdecimal():
        raise typer.BadParameter("--keep-names is a number of days, or none")
    return None if said == "none" else int(said)


def _set_quota(session: Session, admin: Principal, quota: str, name: str) -> None:
    from annotation.participation import standing

    if quota == "equal":
        if name:
            raise typer.BadParameter("--quota equal shares the slots among all annotators; leave --name out")
        typer.echo(f"each annotator may take {standing.equal_quota(session, admin)} items", err=True)
    elif quota == "none" or quota.isdecimal():
        standing.set_quota(session, admin, None if quota == "none" else int(quota), name)
    else:
        raise typer.BadParameter("--quota is a number of items, equal or none")


def _say_open_link(link: str, places: int, quota: int | None, as_json: bool) -> None:
    if as_json:
        printing.print_json({"link": link, "places": places, "quota": quota})
        return
    typer.echo(f"{link}?participant=ID")
    typer.echo(
        f"it lets in {places} people; the platform puts each one's id in place of ID "
        "(PROLIFIC_PID=, workerId= and participantId= work as well)",
        err=True,
    )


def _print_people(listed: list[people_list.PersonLine]) -> None:
    rows = [
        (
            person.name, person.pseudonym, person.role, person.status, person.consent,
            person.training.replace("_", " "), person.handed_in, person.in_work, person.quota,
            f"{person.active_s / 3600:.2f}", person.links, person.link_uses,
            f"{person.seen_at:%Y-%m-%d %H:%M}" if person.seen_at else None, person.completion_code,
        )
        for person in listed
    ]  # fmt: skip
    heads = (
        "name", "pseudonym", "role", "status", "consent", "training", "handed in", "in work", "quota", "active h",
        "links", "used", "last seen (UTC)", "code",
    )  # fmt: skip
    printing.print_table(heads, rows, numbers=("handed in", "in work", "quota", "active h", "links", "used"))


def _print_open_links(doors: list[OpenLinkLine]) -> None:
    rows = [(door.id, door.state, door.taken, door.places, door.quota, f"{door.expires_at:%Y-%m-%d}") for door in doors]
    heads = ("open link", "state", "people", "places", "quota", "expires")
    printing.print_table(heads, rows, numbers=("people", "places", "quota"))
