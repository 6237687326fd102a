"""Items and who holds their slots: what is urgent, what is kept for whom, what nobody has touched for long."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from app.commands.printing import JSON, WHICH, print_json, print_table

if TYPE_CHECKING:
    from annotation.planning.item_slots import ItemSlots


def add_to(app: typer.Typer) -> None:
    """Register this file's command."""
    app.command("items")(items)


def items(
    study: str = WHICH,
    item: list[str] = typer.Option([], help="Which item, as the list names it; repeatable."),
    priority: int = typer.Option(None, help="Give these items out earlier (higher) or later; 0 is what all have."),
    reserve: str = typer.Option("", help="Keep an open slot of each of these items for this person."),
    release: bool = typer.Option(False, "--release", help="Open reserved slots to all: of these items, or of --of."),
    of: str = typer.Option("", help="With --release: only what is reserved for this person."),
    stale: bool = typer.Option(False, "--return-stale", help="Return work that nobody has touched for long."),
    as_json: bool = JSON,
) -> None:
    """List items with their slots; say who gets open ones next.

    Example: calipers items mystudy --item item-00003 --priority 5
    Example: calipers items mystudy --item item-00003 --item item-00007 --reserve "Ada"
    Example: calipers items mystudy --release --of "Ada"
    """
    from annotation.people.principals import local_admin
    from annotation.planning.item_slots import list_items, return_stale_now, set_priority
    from annotation.planning.item_slots import release as open_to_all
    from annotation.planning.item_slots import reserve as keep_for
    from annotation.studies import find_study
    from app.commands.database import opened
    from db.connect import reading, transaction

    if (priority is not None or reserve) and not item:
        raise typer.BadParameter("name the items with --item", param_hint="--priority / --reserve")
    if (release and not item and not of) or (of and not release):
        raise typer.BadParameter("name the items with --item, or the person with --of", param_hint="--release")
    done = {}
    is_change = stale or release or reserve or priority is not None
    with (transaction if is_change else reading)(opened()) as session:
        admin = local_admin(find_study(session, study))
        if stale:
            done["returned"] = return_stale_now(session, admin)
        if priority is not None:
            done["moved"] = set_priority(session, admin, item, priority)
        if release:
            done["released"] = open_to_all(session, admin, item, of or None)
        if reserve:
            done["reserved"] = keep_for(session, admin, item, reserve)
        rows = list_items(session, admin)
    if as_json:
        print_json({"changed": done, "items": [asdict(row) for row in rows]})
        return
    _print(rows)
    for what, slots in done.items():
        typer.echo(f"{slots} slot{'' if slots == 1 else 's'} {what}")


def _print(rows: list[ItemSlots]) -> None:
    numbers = ("priority", "open", "taken", "handed in")
    print_table(
        ("item", "topic", *numbers, "held by", "kept for"),
        [
            (
                row.item, row.topic, row.priority, "out" if row.is_excluded else row.open, row.taken, row.handed_in,
                ", ".join(name for name, _ in row.held_by), ", ".join(row.reserved_for),
            )
            for row in rows
        ],
        numbers,
    )  # fmt: skip
