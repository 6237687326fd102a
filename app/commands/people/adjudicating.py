"""The disputes of a study: what is left to settle, what was settled, and with whom the adjudicator sided."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from app.commands import opening, printing

if TYPE_CHECKING:
    from annotation.disputes.settled import Adjudication
    from calibration.results import Estimate

COLUMNS = ("criterion", "disputes", "open", "in work", "settled", "tie against winner", "not applicable",
           "low confidence", "flagged")  # fmt: skip
REASONS = ("tie_against_winner", "not_applicable", "low_confidence", "flag")


def adjudicate(
    study: str = printing.WHICH,
    settled: Path = typer.Option(None, "--settled", help="Also write every settled verdict to this CSV file."),
    early: bool = typer.Option(False, "--early", help="Count items that somebody is still to hand in."),
    as_json: bool = printing.JSON,
) -> None:
    """Where people's verdicts differ, why, and what is settled.

    Adjudicators settle disputes on their own page.

    Invite them with: calipers invite STUDY NAME --role adjudicator. Systems stand in the file only once the study may
    show them.

    Example: calipers adjudicate mystudy
    Example: calipers adjudicate mystudy --settled settled.csv
    """
    from annotation.disputes.settled import adjudication, answers_of, settled_csv
    from annotation.disputes.settled import settled as settled_of
    from app.results.reporting import settings_of
    from calibration.study.answering import sided_with

    with opening.reading(opening.opened()) as session:
        row = opening.find_study(session, study)
        disputes = adjudication(session, opening.local_admin(row), early=early)
        decided = settled_of(session, row)
        sided = sided_with(answers_of(decided), settings_of(opening.protocol_of(row), row.seed))
        written = settled_csv(session, row, decided) if settled else ""
    if settled:
        settled.parent.mkdir(parents=True, exist_ok=True)
        settled.write_text(written, encoding="utf-8", newline="")
    if as_json:
        printing.print_json(_as_json(disputes, sided))
        return
    _print(disputes, sided)
    if settled:
        typer.echo(f"{len(decided):,} settled verdicts written to {settled}")


def _print(disputes: Adjudication, sided: tuple[Estimate, ...]) -> None:
    from exports.cells import shown

    counts = ", ".join(f"{count:,} {state}" for state, count in disputes.states.items())
    typer.echo(f"{disputes.study}: {counts}; open ones on {disputes.items:,} items")
    if disputes.rows:
        rows = [
            (row.criterion, row.total, *row.states.values(), *(row.reasons[reason] for reason in REASONS))
            for row in disputes.rows
        ]
        printing.print_table(COLUMNS, rows, numbers=COLUMNS[1:])
    if sided:
        named = [(estimate.rater, estimate.n, " ".join(filter(None, shown(estimate)))) for estimate in sided]
        printing.print_table(
            ("rater", "settled disputes", "same verdict as the adjudicator"), named, numbers=("settled disputes",)
        )


def _as_json(disputes: Adjudication, sided: tuple[Estimate, ...]) -> dict[str, Any]:
    from annotation.items.shown import item_code

    return {
        "study": disputes.study,
        "rule": disputes.rule if isinstance(disputes.rule, str | tuple) else disputes.rule.model_dump(),
        "states": disputes.states,
        "items_open": disputes.items,
        "criteria": [
            {"criterion": row.criterion, "label": row.label, "states": row.states, "reasons": row.reasons}
            for row in disputes.rows
        ],
        "queue": [
            {
                "item_id": item_code(dispute.item_id),
                "criterion": dispute.criterion,
                "state": dispute.state,
                "reasons": dispute.reasons,
                "verdicts": sorted(dispute.verdicts.values()),
            }
            for dispute in disputes.queue
        ],
        "sided_with": [
            {
                "rater": estimate.rater,
                "n": estimate.n,
                "share": estimate.value,
                "low": estimate.low,
                "high": estimate.high,
            }
            for estimate in sided
        ],
    }
