"""Reports, probes, agreed answers, and labels made elsewhere come in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from shlex import quote

import typer

from annotation.errors import AnnotationError, ImportingError
from app.commands.completing import among
from app.commands.opening import find_study, local_admin, opened, protocol_of, reading, transaction
from app.commands.printing import JSON, STUDY, DryRun, ending, print_json, progress_bar, say, say_next
from plain.counting import counted

ALLOW_EMPTY = typer.Option(False, help="Import empty reports as empty; they never enter an item.")
ALLOW_MISSING = typer.Option(False, help="Accept systems without a report on some topics.")
ENCODING = typer.Option("utf-8", help="Your decision, stored; never guessed.")
DRY_RUN = typer.Option(False, help="Check and report; write nothing.")
LAYOUTS = ("folder", "wlc", "table", "deepresearchgym", "deepresearch_bench", "reportbench", "dr3_eval")
AUTO = "auto"  # of annotation.importing.layouts, as LAYOUTS are: half of what --help would load
GAPS = ("--allow-empty", "--allow-missing")  # as refusals name them


def import_reports(
    path: Path = typer.Argument(..., help="The folder, or for --layout table the file, to read."),
    layout: str = typer.Option(
        ...,
        help=f"One of {', '.join(LAYOUTS)}; {AUTO} says which it takes, and why.",
        autocompletion=among(*LAYOUTS, AUTO),
    ),
    study: str = STUDY,
    columns: str = typer.Option("", "--map", help="table: FIELD=COLUMN,... such as topic=id,text=response."),
    system: str | None = typer.Option(None, help="table: the system that wrote every row."),
    keep_columns: bool = typer.Option(False, help="table: keep the other columns as features of the topic."),
    encoding: str = ENCODING,
    allow_empty: bool = ALLOW_EMPTY,
    allow_missing: bool = ALLOW_MISSING,
    new_version: bool = typer.Option(False, help="Accept changed reports as new versions."),
    dry_run: bool = DRY_RUN,
    as_json: bool = JSON,
) -> None:
    """Read reports and strip their citations, all or nothing.

    folder: SYSTEM/TOPIC.md, and beside these folders, where wanted, topics.csv (topic, title, prompt, category,
    language, cluster_id: the same for a topic in two languages), systems.csv (system, public_name, is_reference,
    family) and criteria.csv (topic, id, label, text, category, subcategory, weight).

    Example: calipers import reports my_reports --layout folder --study mystudy
    Example: calipers import reports answers.jsonl --layout table --map topic=id,system=model,text=response
    """
    from annotation.importing.bringing_in import Asked, bring_in, find, read

    with ending(as_json):
        refuse_source(path, layout)
        found = find(path, layout)
        if found.sign:
            typer.echo(f"--layout {found.layout}, because of {found.sign}", err=True)
        if found.layout != "table" and (columns or system or keep_columns):
            raise typer.BadParameter(f"--map, --system and --keep-columns are for --layout table, not {found.layout}")
        asked = Asked(encoding, columns, system, keep_columns, allow_empty, allow_missing, new_version)
        parsed, engine = read(found, asked), opened()
        with reading(engine) as session:
            admin = local_admin(find_study(session, study))
        with progress_bar("preparing reports") as advance:
            outcome = bring_in(
                engine, admin, parsed, found.layout, asked, source=str(found.path), progress=advance, dry_run=dry_run,
                folder=found.folder,
            )  # fmt: skip
        if dry_run:
            typer.echo("dry run: nothing was written", err=True)
    say(outcome, as_json, None if dry_run else engine, study)


def refuse_source(path: Path, layout: str) -> None:
    """Refuse what cannot be read at all, before anything is made for it."""
    if layout not in (*LAYOUTS, AUTO):
        from annotation.importing import layouts

        lines = layouts.layout_lines(layouts.LAYOUTS)
        raise typer.BadParameter(f"no layout {layout!r}; choose one of {', '.join(LAYOUTS)}, {AUTO}\n{lines}")
    if not path.exists():
        raise ImportingError(f"{path}: no such folder; give the folder that holds the reports")


def bring_in_new(folder: Path, layout: str, study: str, **allowed: bool) -> None:
    """Import the reports of the study just made; where they are refused, say that the study is kept and what to run."""
    try:
        import_reports(
            folder, layout, study, columns="", system=None, keep_columns=False, encoding="utf-8", new_version=False,
            dry_run=False, as_json=False, **allowed,
        )  # fmt: skip
    except ImportingError as error:
        given = "".join(f" --{name.replace('_', '-')}" for name, is_given in allowed.items() if is_given)
        again = f"calipers import reports {quote(str(folder))} --layout {layout} --study {quote(study)}{given}"
        raise ImportingError(
            f"{error}\nthe study {study!r} stands, without these reports; once that is mended:\n  {again}"
            f"{_with_gaps(again, error.problems)}"
        ) from None


def _with_gaps(again: str, problems: Sequence[str]) -> str:
    """The command that takes the reports as they are; empty where something else than a gap is in its way."""
    named = [next((gap for gap in GAPS if f"pass {gap}" in problem), "") for problem in problems]
    if not all(named):
        return ""
    return f"\nor, with these gaps:\n  {' '.join([again, *(gap for gap in GAPS if gap in named)])}"


def import_gold(
    path: Path = typer.Argument(
        ..., help="CSV, TSV or JSON Lines: topic, system_a, system_b, criterion, answer, reason; probe for probes."
    ),
    study: str = STUDY,
    use: str = typer.Option(
        ..., help="training (with feedback, before the first item) or attention (among the others)."
    ),
    dry_run: bool = DRY_RUN,
    as_json: bool = JSON,
) -> None:
    """Make items with agreed answers, for training or attention.

    A system's name as answer means that it wins.

    Example: calipers import gold agreed.csv --study mystudy --use training
    """
    from annotation.importing.gold import import_gold as write

    engine = opened()
    with ending(as_json), transaction(engine) as session:
        outcome = write(session, local_admin(find_study(session, study)), path, use)
        if dry_run:
            raise DryRun
    if as_json:
        print_json(asdict(outcome))
        return
    typer.echo(f"{use}: {counted(outcome.made, 'item')} made, {outcome.changed} changed, {outcome.unchanged} unchanged")
    say_next(engine, study)


def import_probes(
    path: Path = typer.Argument(..., help="The folder, or for --layout table the file, to read."),
    layout: str = typer.Option(..., help="What made the files: table, wlc, …; one that is unknown lists all."),
    study: str = STUDY,
    columns: str = typer.Option("", "--map", help="table: FIELD=COLUMN,... such as probe_id=id,text=claim."),
    system: str = typer.Option("", help="The system whose reports all of them are about; all systems where left out."),
    sources: Path = typer.Option(None, help="Folder of fetched pages, listed in its pages.csv (url,file)."),
    encoding: str = ENCODING,
    replace: bool = typer.Option(False, "--replace", help="Take changed probes that nobody has begun to label."),
    dry_run: bool = DRY_RUN,
    as_json: bool = JSON,
) -> None:
    """Read claims or facts that raters judge, all or nothing.

    Which of these is what the protocol's answers.probe says.

    A table has the columns probe_id, topic, text and perhaps system, context or source, tag, gold; a probe without a
    system is put to every report of its topic. Afterwards plan slots with: calipers pairs

    Example: calipers import probes claims.csv --layout table --study mystudy
    Example: calipers import probes DeepResearchGym --layout deepresearchgym --study keypoints --dry-run
    """
    from annotation.files.folders import refuse_ways_out
    from annotation.importing import layouts
    from annotation.importing.claims.probe_records import ProbeOptions
    from annotation.importing.claims.probes_table import FIELDS
    from annotation.importing.claims.probes_write import import_probes as write
    from annotation.importing.layouts import PROBE_LAYOUTS, layout_lines
    from annotation.tool_answers.entries import parse_fields

    if layout not in PROBE_LAYOUTS:
        raise typer.BadParameter(
            f"no layout {layout!r}; choose one of\n{layout_lines(PROBE_LAYOUTS)}", param_hint="--layout"
        )
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
            kind=answers.probe or "", context=answers.context, answers=tuple(label.id for label in answers.labels),
            encoding=encoding, columns=parse_fields(columns, FIELDS), system=system, sources=sources,
        )  # fmt: skip
        refuse_ways_out(path)
        path = layouts.tree_of(layout, path)
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
REVISE = typer.Option(False, help="Take answers that differ from those imported before, as new revisions.")


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
    from annotation.files.decoding import nfc
    from annotation.files.folders import refuse_ways_out
    from annotation.importing.labels.results import LABELS_ARE as FRAMES
    from annotation.importing.labels.results import ResultOptions
    from annotation.importing.labels.results_write import import_results
    from annotation.importing.layouts import RESULT_LAYOUTS, layout_lines
    from annotation.people.keys import ADDRESSES, kept_key, key_of
    from annotation.tool_answers.entries import parse_fields

    chosen = {name: nfc(value) if isinstance(value, str) else value for name, value in chosen.items()}
    if layout not in RESULT_LAYOUTS:
        names = ", ".join(RESULT_LAYOUTS)
        raise typer.BadParameter(f"no layout {layout!r}; choose one of {names}\n{layout_lines(RESULT_LAYOUTS)}")
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
            protocol, key = protocol_of(find_study(session, study)), kept_key(session, ADDRESSES)
        if not key and not dry_run:
            with transaction(engine) as session:
                key = key_of(session, ADDRESSES)
        options = ResultOptions(
            columns=parse_fields(columns, known.fields), answers=parse_fields(map_label, ()),
            paired=protocol.task_type == "pairwise_choice", probe=protocol.answers.probe or "", key=key, **chosen,  # type: ignore[arg-type]  # by name
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


def import_evidence(
    path: Path = typer.Argument(..., help="The folder that holds TOPIC/FILE, or datasets_en/TOPIC/FILE."),
    study: str = STUDY,
    leave_out: list[str] = typer.Option([], help="Files that fit this pattern, such as '*128k*', repeatable."),
    encoding: str = ENCODING,
    new_version: bool = typer.Option(False, help="Accept changed files as new versions."),
    dry_run: bool = DRY_RUN,
    as_json: bool = JSON,
) -> None:
    """Read the files of each task, shown beside its reports.

    People and judges have them before them where the protocol, of ratings or of pairs, says
    answers.paired_view = "evidence".
    Text, Markdown, CSV, Excel, JSON and documents are shown whole, one below the other, pictures as those of reports.
    They are prepared as the reports are, and the hash of what was shown is on each label. Import them before pairs are
    planned.

    Example: calipers import evidence DR3-Eval --study dr3 --leave-out '*128k*'
    """
    from annotation.files.folders import refuse_ways_out
    from annotation.importing.reports.evidence import read_evidence, topics_to_show
    from annotation.importing.reports.write import import_reports, key_of_pictures, prepare_all, refuse_reports
    from annotation.shown_texts.repeated import looks

    options = {"encoding": encoding, "leave_out": leave_out}
    with ending(as_json):
        refuse_ways_out(path)
        engine = opened()
        with reading(engine) as session:
            admin = local_admin(find_study(session, study))
        key = key_of_pictures(engine, admin, dry_run=dry_run)
        with reading(engine) as session, progress_bar("preparing evidence") as advance:
            row = find_study(session, study)
            parsed = read_evidence(path, topics_to_show(session, row), leave_out, encoding)
            refuse_reports(session, admin, parsed, allow_empty=True, allow_missing=True, new_version=new_version)
            ready = prepare_all(session, admin, parsed, advance, path, key)
            seen = looks(session, admin, ready)
        with transaction(engine) as session:
            outcome = import_reports(
                session, local_admin(find_study(session, study)), parsed, layout="evidence",
                source=str(path), allow_empty=True, allow_missing=True, new_version=new_version, options=options,
                prepared_texts=ready, looks=seen,
            )  # fmt: skip
            if dry_run:
                raise DryRun
    say(outcome, as_json, None if dry_run else engine, study)
