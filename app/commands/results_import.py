"""Labels and judge results made elsewhere come in."""

from __future__ import annotations

from pathlib import Path

import typer

from app.commands.dry_run import DryRun, ending, say
from app.commands.printing import JSON, STUDY

PATH = typer.Argument(..., help="The file or folder to read.")
LAYOUT = typer.Option(..., help="What made the files: labels, promptfoo, wlc, …; one that is unknown lists all.")
LABELS_LAYOUT = typer.Option("labels", help="What made the files: labels, label_studio, …; unknown: lists all.")
JUDGE = typer.Option("", help="Who judged: where the files do not say, or under another name than theirs.")
SYSTEM = typer.Option("", help="Whose reports are judged, where the files do not say (wlc: gen).")
FIRST = typer.Option("", help="The system that was always shown first, where no order is recorded: your decision.")
COLUMNS = typer.Option("", "--map", help="Where a log keeps things: FIELD=PLACE,... such as topic=metadata.qid.")
MAP_LABEL = typer.Option("", help="What other words mean: WORD=ANSWER,... such as model_a=A, or WORD=invalid.")
LABELS_ARE = typer.Option("systems", help="A is system_a (systems), or whichever stood left or first (sides).")
TIMES = typer.Option(1.0, help="Multiply every score: 10 where 0 to 1 was saved and 0 to 10 is the study's.", min=1e-9)
ENCODING = typer.Option("utf-8", help="Your decision, stored; never guessed.")
REVISE = typer.Option(False, help="Take answers that differ from those imported before, as new revisions.")
DRY_RUN = typer.Option(False, help="Check and report; write nothing.")


def add_to(imports: typer.Typer) -> None:
    """Register this file's commands below `import`."""
    imports.command("labels")(import_labels)
    imports.command("judge-results")(import_judge_results)


def import_labels(
    path: Path = PATH, study: str = STUDY, layout: str = LABELS_LAYOUT, columns: str = COLUMNS,
    labels_are: str = LABELS_ARE, first: str = FIRST, map_label: str = MAP_LABEL, encoding: str = ENCODING,
    revise: bool = REVISE, dry_run: bool = DRY_RUN, as_json: bool = JSON,
) -> None:  # fmt: skip
    """Bring in people's labels made elsewhere, all or nothing.

    Judges' labels beside them come in too.

    Example: calipers import labels labels.csv --study mystudy
    Example: calipers import labels tasks.json --layout label_studio --map topic=data.query --labels-are sides
    """
    _import(
        "labels", path, study, layout, as_json, dry_run, revise, columns, map_label, labels_are=labels_are, first=first,
        encoding=encoding,
    )  # fmt: skip


def import_judge_results(
    path: Path = PATH, layout: str = LAYOUT,
    study: str = STUDY, judge: str = JUDGE, system: str = SYSTEM, first: str = FIRST, columns: str = COLUMNS,
    labels_are: str = LABELS_ARE, map_label: str = MAP_LABEL, times: float = TIMES, encoding: str = ENCODING,
    revise: bool = REVISE, dry_run: bool = DRY_RUN, as_json: bool = JSON,
) -> None:  # fmt: skip
    """Bring in what judges answered elsewhere, all or nothing.

    They become the same label rows as any judge's; no calls are made.

    Example: calipers import judge-results results --layout wlc --judge gemini-2.5-pro --system openai --study mystudy
    Example: calipers import judge-results log.json --layout inspect --map topic=metadata.qid,criterion=name
    """
    _import(
        "judge-results", path, study, layout, as_json, dry_run, revise, columns, map_label, judge=judge, system=system,
        first=first, labels_are=labels_are, times=times, encoding=encoding,
    )  # fmt: skip


def _import(
    kind: str, path: Path, study: str | None, layout: str, as_json: bool, dry_run: bool, revise: bool, columns: str,
    map_label: str, **chosen: str | float,
) -> None:  # fmt: skip
    from annotation.errors import ImportingError
    from annotation.importing.links import refuse_ways_out
    from annotation.importing.records import nfc
    from annotation.importing.results import LABELS_ARE as FRAMES
    from annotation.importing.results import ResultOptions, parse_fields
    from annotation.importing.results_layouts import RESULT_LAYOUTS, result_layout_lines
    from annotation.importing.results_write import import_results
    from annotation.people.principals import local_admin
    from annotation.studies import find_study, protocol_of
    from app.commands.database import opened
    from db.connect import reading, transaction

    chosen = {name: nfc(value) if isinstance(value, str) else value for name, value in chosen.items()}
    if layout not in RESULT_LAYOUTS:
        names = ", ".join(RESULT_LAYOUTS)
        raise typer.BadParameter(f"no layout {layout!r}; choose one of {names}\n{result_layout_lines()}")
    if chosen["labels_are"] not in FRAMES:
        raise typer.BadParameter(f"--labels-are {chosen['labels_are']}: choose systems or sides")
    known = RESULT_LAYOUTS[layout]
    if columns and not known.fields:
        raise typer.BadParameter(f"--map: layout {layout} has its own places; leave it out")
    engine = opened()
    with ending(as_json):
        if not path.exists():
            raise ImportingError(f"{path}: not there; give the file or folder that holds the results")
        with reading(engine) as session:
            protocol = protocol_of(find_study(session, study))
        options = ResultOptions(
            columns=parse_fields(columns, known.fields), answers=parse_fields(map_label, ()),
            paired=protocol.task_type == "pairwise_choice", probe=protocol.answers.probe or "", **chosen,  # type: ignore[arg-type]  # by name
        )  # fmt: skip
        refuse_ways_out(path)
        results = known.read(path, options)
        with transaction(engine) as session:
            outcome = import_results(
                session, local_admin(find_study(session, study)), results, kind=kind, layout=layout, source=str(path),
                options=options, revise=revise,
            )  # fmt: skip
            if dry_run:
                raise DryRun
    say(outcome, as_json, None if dry_run else engine, study)
