"""Probes come in: claims, statements, facts, key points, insights, documents or requirements."""

from __future__ import annotations

from pathlib import Path

import typer

from app.commands.dry_run import DryRun, ending, say
from app.commands.printing import JSON, STUDY, progress_bar


def add_to(imports: typer.Typer) -> None:
    """Register this file's command below `import`."""
    imports.command("probes")(import_probes)


def import_probes(
    path: Path = typer.Argument(..., help="The folder, or for --layout table the file, to read."),
    layout: str = typer.Option(..., help="What made the files: table, wlc, …; one that is unknown lists all."),
    study: str = STUDY,
    columns: str = typer.Option("", "--map", help="table: FIELD=COLUMN,... such as probe_id=id,text=claim."),
    system: str = typer.Option("", help="The system whose reports all of them are about; all systems where left out."),
    sources: Path = typer.Option(None, help="Folder of fetched pages, listed in its pages.csv (url,file)."),
    encoding: str = typer.Option("utf-8", help="Your decision, stored; never guessed."),
    replace: bool = typer.Option(False, "--replace", help="Take changed probes that nobody has begun to label."),
    dry_run: bool = typer.Option(False, help="Check and report; write nothing."),
    as_json: bool = JSON,
) -> None:
    """Read claims or facts that raters judge, all or nothing.

    Which of these is what the protocol's answers.probe says.

    A table has the columns probe_id, topic, text and perhaps system, context or source, tag, gold; a probe without a
    system is put to every report of its topic. Afterwards plan slots with: calipers pairs

    Example: calipers import probes claims.csv --layout table --study mystudy
    Example: calipers import probes DeepResearchGym --layout deepresearchgym --study keypoints --dry-run
    """
    from annotation.errors import AnnotationError, ImportingError
    from annotation.importing.links import refuse_ways_out
    from annotation.importing.probe_layouts import PROBE_LAYOUTS, probe_layout_lines
    from annotation.importing.probe_records import ProbeOptions
    from annotation.importing.probes_table import FIELDS
    from annotation.importing.probes_write import import_probes as write
    from annotation.importing.results import parse_fields
    from annotation.people.principals import local_admin
    from annotation.studies import find_study, protocol_of
    from app.commands.database import opened
    from db.connect import reading, transaction

    if layout not in PROBE_LAYOUTS:
        raise typer.BadParameter(f"no layout {layout!r}; choose one of\n{probe_layout_lines()}", param_hint="--layout")
    if layout != "table" and columns:
        raise typer.BadParameter(f"is for --layout table, not {layout}", param_hint="--map")
    with ending(as_json):
        if not path.exists():
            raise ImportingError(f"{path}: no such file or folder; give what holds the probes")
        if layout != "table" and not path.is_dir():
            raise ImportingError(f"{path}: not a folder; give the folder that holds the probes, or use --layout table")
        engine = opened()
        with reading(engine) as session:
            protocol = protocol_of(find_study(session, study))
        if protocol.task_type != "probe_label":
            raise AnnotationError(
                "bad_task", f"the study is a {protocol.task_type}; probes need a probe_label, such as drg_keypoints"
            )
        answers = protocol.answers
        options = ProbeOptions(
            kind=answers.probe or "", context=answers.context, answers=tuple(one.id for one in answers.labels),
            encoding=encoding, columns=parse_fields(columns, FIELDS), system=system, sources=sources,
        )  # fmt: skip
        refuse_ways_out(path)
        parsed = PROBE_LAYOUTS[layout].read(path, options)
        kept = {"encoding": encoding, "map": dict(options.columns), "system": system, "sources": str(sources or "")}
        with transaction(engine) as session, progress_bar("writing probes") as advance:
            outcome = write(
                session, local_admin(find_study(session, study)), parsed, layout=layout, source=str(path),
                replace=replace, options=kept, progress=advance,
            )  # fmt: skip
            if dry_run:
                raise DryRun
    say(outcome, as_json, None if dry_run else engine, study)
