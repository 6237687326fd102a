"""What to do next in a study, said at the end of the commands that lead there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from sqlalchemy import Engine
    from sqlalchemy.orm import Session


def say_next(engine: Engine, study: str | None) -> None:
    """On standard error, where it is in nobody's way who keeps what a command printed."""
    from db.connect import reading

    with reading(engine) as session:
        typer.echo(f"next: {next_command(session, study)}", err=True)


def next_command(session: Session, study: str | None) -> str:
    """Of a study in draft the first step not yet taken; then the server, and once people handed in, calibration."""
    from shlex import quote

    from annotation.people.principals import local_admin
    from annotation.studies import find_study, has_work
    from app.setting_up import is_setting_up, set_up_of, steps

    found = find_study(session, study)
    if is_setting_up(session, found):
        return next(one.command for one in steps(set_up_of(session, local_admin(found))) if one.state == "next")
    return f"calipers calibrate {quote(found.name)} --out report" if has_work(session, found) else "calipers serve"
