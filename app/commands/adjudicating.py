"""The disputes of a study: what is left to settle, what was settled, and with whom the adjudicator sided."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from app.commands.printing import JSON, WHICH, print_json, print_table

if TYPE_CHECKING:
    from annotation.disputes.settled import Adjudication
    from calibration.results import Estimate

COLUMNS = ("criterion", "disputes", "open", "in work", "settled", "tie against winner", "not applicable",
           "low confidence", "flagged")  # fmt: skip
REASONS = ("tie_against_winner", "not_applicable", "low_confidence", "flag")


def add_to(app: typer.Typer) -> None:
    """Register this file's command."""
    app.command("adjudicate")(adjudicate)


def adjudicate(
    study: str = WHICH,
    settled: Path = typer.Option(None, "--settled", help="Also write every settled verdict to this CSV file."),
    early: bool = typer.Option(False, "--early", help="Count items that somebody is still to hand in."),
    as_json: bool = JSON,
) -> None:
    """Where people's verdicts differ, why, and what is settled.

    Adjudicators settle disputes on their own page.

    Invite them with: calipers invite STUDY NAME --role adjudicator. Systems stand in the file only once the study may
    show them.

    Example: calipers adjudicate mystudy
    Example: calipers adjudicate mystudy --settled settled.csv
    """
    from annotation.disputes.settled import adjudication, answers_of
    from annotation.disputes.settled import settled as settled_of
    from annotation.disputes.settled_file import settled_csv
    from annotation.people.principals import local_admin
    from annotation.studies import find_study, protocol_of
    from app.commands.database import opened
    from app.reporting import settings_of
    from calibration.people.siding import sided_with
    from db.connect import reading

    with reading(opened()) as session:
        row = find_study(session, study)
        found = adjudication(session, local_admin(row), early=early)
        decided = settled_of(session, row)
        sided = sided_with(answers_of(decided), settings_of(protocol_of(row), row.seed))
        written = settled_csv(session, row, decided) if settled else ""
    if settled:
        settled.parent.mkdir(parents=True, exist_ok=True)
        settled.write_text(written, encoding="utf-8", newline="")
    if as_json:
        print_json(_as_json(found, sided))
        return
    _print(found, sided)
    if settled:
        typer.echo(f"{len(decided):,} settled verdicts written to {settled}")


def _print(found: Adjudication, sided: tuple[Estimate, ...]) -> None:
    from exports.cells import shown

    counts = ", ".join(f"{count:,} {state}" for state, count in found.states.items())
    typer.echo(f"{found.study}: {counts}; open ones on {found.items:,} items")
    if found.rows:
        rows = [
            (one.criterion, one.total, *one.states.values(), *(one.reasons[reason] for reason in REASONS))
            for one in found.rows
        ]
        print_table(COLUMNS, rows, numbers=COLUMNS[1:])
    if sided:
        named = [(one.rater, one.n, " ".join(filter(None, shown(one)))) for one in sided]
        print_table(
            ("rater", "settled disputes", "same verdict as the adjudicator"), named, numbers=("settled disputes",)
        )


def _as_json(found: Adjudication, sided: tuple[Estimate, ...]) -> dict[str, Any]:
    from annotation.item_codes import item_code

    return {
        "study": found.study,
        "rule": found.rule,
        "states": found.states,
        "items_open": found.items,
        "criteria": [
            {"criterion": one.criterion, "label": one.label, "states": one.states, "reasons": one.reasons}
            for one in found.rows
        ],
        "queue": [
            {
                "item_id": item_code(one.item_id),
                "criterion": one.criterion,
                "state": one.state,
                "reasons": one.reasons,
                "verdicts": sorted(one.verdicts.values()),
            }
            for one in found.queue
        ],
        "sided_with": [
            {"rater": one.rater, "n": one.n, "share": one.value, "low": one.low, "high": one.high} for one in sided
        ],
    }
