"""The files that tasks gave with them, brought in so that raters have them beside each report."""

from __future__ import annotations

from pathlib import Path

import typer

from app.commands import opening, printing


def import_evidence(
    path: Path = typer.Argument(..., help="The folder that holds TOPIC/FILE, or datasets_en/TOPIC/FILE."),
    study: str = printing.STUDY,
    leave_out: list[str] = typer.Option([], help="Files that fit this pattern, such as '*128k*', repeatable."),
    encoding: str = typer.Option("utf-8", help="Your decision, stored; never guessed."),
    new_version: bool = typer.Option(False, help="Accept changed files as new versions."),
    dry_run: bool = typer.Option(False, help="Check and report; write nothing."),
    as_json: bool = printing.JSON,
) -> None:
    """Read the files of each task, shown beside its reports.

    People and judges have them before them, where the protocol rates reports with answers.paired_view = "evidence".
    Text, Markdown, CSV, Excel, JSON and documents are shown whole, one below the other, pictures by their names alone.
    They are prepared as the reports are, and the hash of what was shown is on each label. Import them before pairs are
    planned.

    Example: calipers import evidence DR3-Eval --study dr3 --leave-out '*128k*'
    """
    from annotation.files.folders import refuse_ways_out
    from annotation.importing.reports.evidence import read_evidence, topics_to_show
    from annotation.importing.reports.write import import_reports, prepare_all, refuse_reports

    options = {"encoding": encoding, "leave_out": leave_out}
    with printing.ending(as_json):
        refuse_ways_out(path)
        engine = opening.opened()
        with opening.reading(engine) as session, printing.progress_bar("preparing evidence") as advance:
            row = opening.find_study(session, study)
            admin = opening.local_admin(row)
            parsed = read_evidence(path, topics_to_show(session, row), leave_out, encoding)
            refuse_reports(session, admin, parsed, allow_empty=True, allow_missing=True, new_version=new_version)
            ready = prepare_all(session, admin, parsed, advance)
        with opening.transaction(engine) as session:
            outcome = import_reports(
                session, opening.local_admin(opening.find_study(session, study)), parsed, layout="evidence",
                source=str(path), allow_empty=True, allow_missing=True, new_version=new_version, options=options,
                prepared_texts=ready,
            )  # fmt: skip
            if dry_run:
                raise printing.DryRun
    printing.say(outcome, as_json, None if dry_run else engine, study)
