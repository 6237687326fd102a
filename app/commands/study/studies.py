"""A study from init to lock, the demo, and the server."""

import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer

from app.commands import opening, printing
from app.commands.completing import protocols
from app.commands.items.importing import ALLOW_EMPTY, ALLOW_MISSING, bring_in_new, refuse_source


def add_to(app: typer.Typer) -> None:
    """Register this file's commands."""
    app.command("demo")(demo)
    app.command("init")(init)
    for name, text in (
        ("open", "Give out work from now on."),
        ("pause", "Stop giving out work; what is taken may be finished."),
        ("close", "Stop, and give back what is taken."),
        ("lock", "Freeze every label."),
    ):
        app.command(name, help=f"{text}\n\nExample: calipers {name} mystudy")(_mover(name))
    app.command("reveal")(reveal_study)
    app.command("serve")(serve)


def demo(as_json: bool = printing.JSON) -> None:
    """Make the two demo studies once, and print fresh links.

    demo has reports to read and label; demo-labels has the labels of 40 topics, enough to choose a judge.

    Example: calipers demo
    """
    from app.demo.labels import NAME as LABELS_ONLY
    from app.demo.labels import make_labels_demo
    from app.demo.study import NAME, demo_links, make_demo
    from app.settings import settings
    from db.people_tables import ROLES

    engine = opening.opened(begins=True)
    for what, make in (("with reports", make_demo), ("with labels only", make_labels_demo)):
        with printing.progress_bar(f"building the study {what}") as advance:
            make(engine, advance)
    link_of = settings().invite_link
    links = {
        name: {role: link_of(token) for role, token in demo_links(engine, name, roles).items()}
        for name, roles in ((NAME, ROLES), (LABELS_ONLY, ("evaluator",)))
    }
    if as_json:
        printing.print_json(links)
        return
    typer.echo("The demo is ready. Its people and judges are simulated.")
    for name, told in (
        (NAME, "reports of 6 topics, to read and to label"),
        (LABELS_ONLY, "labels of 40 topics: which judge would you pay for, and whose work needs a second look?"),
    ):
        typer.echo(f"{name}: {told}")
        for role, link in links[name].items():
            typer.echo(f"  {role:<12} {link}")
    typer.echo("The links work while `calipers serve` runs.")


def init(
    study: str = typer.Argument("", help="Name of the study."),
    protocol: str = typer.Option("", help="A shipped protocol's name, or a .toml file.", autocompletion=protocols),
    seed: int = typer.Option(0, help="Seed of every draw: pairs, A and B, sides.", min=0, max=2**62),
    from_reports: Path = typer.Option(
        None, "--reports", help="Also import this folder, in the layout it has; more: calipers import reports."
    ),
    layout: str = typer.Option("auto", help="With --reports: its layout, as `calipers import reports` names them."),
    allow_empty: bool = ALLOW_EMPTY,
    allow_missing: bool = ALLOW_MISSING,
    listing: bool = typer.Option(False, "--list", help="Describe the shipped protocols."),
    copy: tuple[str, Path] = typer.Option(
        None, "--copy", metavar="NAME FILE", help="Write a shipped protocol to a file, to be changed."
    ),
    as_json: bool = printing.JSON,
) -> None:
    """Make a study from a protocol; --list describes those shipped.

    An existing study is brought to the changed protocol as a new version.

    Example: calipers init mystudy --protocol quick_start --seed 7 --reports my_reports
    Example: calipers init --copy drg_quality mine.toml
    """
    if listing:
        list_protocols(as_json)
        return
    if copy:
        copy_to(*copy, as_json=as_json)
        return
    if not study or not protocol:
        raise typer.BadParameter("give a study's name and --protocol, or --list, or --copy")
    if from_reports and as_json:
        raise typer.BadParameter("--json tells of the study alone; use: calipers import reports … --json")
    if from_reports:
        refuse_source(from_reports, layout)
    made = _make_study(study, protocol, seed)
    if as_json:
        printing.print_json(made)
        return
    _say_study(made)
    if not from_reports:
        from app.settings import database

        printing.say_next(database(), study)
    else:
        bring_in_new(from_reports, layout, study, allow_empty=allow_empty, allow_missing=allow_missing)


def _make_study(study: str, protocol: str, seed: int) -> dict[str, Any]:
    """Make the study and return what was made, as --json has it."""
    from annotation.planning.plan_root import keep_changed_root
    from annotation.protocol import read_protocol
    from annotation.studies import has_labels, init_study, not_yet_active
    from app.results.reporting import settings_of

    parsed, text = read_protocol(protocol)
    settings_of(parsed)  # a statistic's setting that cannot work is refused now, not after months of labels
    with opening.transaction(opening.opened(begins=True)) as session:
        made = init_study(session, study, text, seed)
        keep_changed_root(session, made)
        late = made.protocol_version > 1 and has_labels(session, made)
    warnings = ["changed_after_labels: labels exist; every report will say that the protocol changed"] if late else []
    warnings += [f"{key} is stored, but this version does not act on it yet" for key in not_yet_active(parsed)]
    criteria = None if parsed.criteria_from == "topics" else [criterion.id for criterion in parsed.criterion]
    return {
        "study": study, "protocol": parsed.name, "version": made.protocol_version, "criteria": criteria,
        "seed": made.seed, "warnings": warnings,
    }  # fmt: skip


def _say_study(made: dict[str, Any]) -> None:
    criteria = made["criteria"]
    asked = "the criteria of each topic" if criteria is None else f"{len(criteria)} criteria"
    typer.echo(
        f"study {made['study']!r}: protocol {made['protocol']}, version {made['version']}, {asked}, seed {made['seed']}"
    )
    for warning in made["warnings"]:
        typer.echo(f"warning: {warning}", err=True)


def list_protocols(as_json: bool) -> None:
    """Every shipped protocol: who used it, what is asked and answered, and the table it leads to."""
    from annotation.protocol import read_protocol, shipped_protocols
    from app.commands.study.protocols import as_block, describe

    descriptions = [describe(read_protocol(name)[0]) for name in shipped_protocols()]
    if as_json:
        printing.print_json([asdict(description) for description in descriptions])
    else:
        typer.echo("\n\n".join(map(as_block, descriptions)))


def copy_to(name: str, file: Path, *, as_json: bool) -> None:
    """Write a shipped protocol to `file`."""
    from app.commands.study.protocols import copy_protocol

    copied = copy_protocol(name, file)
    if as_json:
        printing.print_json({"file": str(file), "protocol": copied.name, "copy_of": name})
        return
    typer.echo(f"{file}: a copy of {name}, called {copied.name}; change it, then give it to --protocol")


def reveal_study(study: str = printing.WHICH, as_json: bool = printing.JSON) -> None:
    """Let screens and exports name systems before the study closes.

    Every report says so from then on, and labels given later are marked.

    Example: calipers reveal mystudy
    """
    from annotation.work.open_and_close import reveal

    with opening.transaction(opening.opened()) as session:
        revealed = reveal(session, opening.local_admin(opening.find_study(session, study)))
    if as_json:
        printing.print_json({"study": revealed.name, "revealed": True})
        return
    typer.echo(f"study {revealed.name!r} is revealed; labels given from now on are marked after_reveal")


def serve(
    port: int = typer.Option(8501, help="Port to listen on.", min=1, max=65_535),
    address: str = typer.Option("127.0.0.1", help="Address to listen on; others only where a proxy alone reaches it."),
) -> None:
    """Open the app in the browser, for annotators and evaluators.

    The database is brought up to date first. Runs until Ctrl-C.

    Example: calipers serve --port 8501
    """
    from app.settings import leads_elsewhere, refuse_taken, server_options, settings
    from calipers.own_folders import command_of

    refuse_taken(address, port)
    elsewhere = leads_elsewhere(settings().base_url, port)
    os.environ.setdefault("CALIPERS_BASE_URL", f"http://127.0.0.1:{port}")
    settings.cache_clear()
    opening.opened(begins=True)
    if elsewhere:
        typer.echo(elsewhere, err=True)
    typer.echo(f"calipers listens on {address}:{port} until Ctrl-C; people come by the links of `calipers invite`")
    # only our own rule decides which proxy may say where a request came from (CALIPERS_TRUSTED_PROXIES)
    os.environ["FORWARDED_ALLOW_IPS"] = ""
    main = Path(__file__).resolve().parents[2] / "main.py"
    command = command_of("streamlit", "run", str(main), f"--server.port={port}")
    command += server_options(settings(), address)
    # replaces this process, so that a signal reaches the server and nothing is left behind
    os.execv(sys.executable, command)


def _mover(verb: str):  # type: ignore[no-untyped-def]  # typer reads the inner function's annotations
    target = {"open": "open", "pause": "paused", "close": "closed", "lock": "locked"}[verb]

    def move(study: str = printing.WHICH, as_json: bool = printing.JSON) -> None:
        from annotation.work.open_and_close import set_status
        from app.progress import study_progress

        with opening.transaction(opening.opened()) as session:
            kept = opening.find_study(session, study)
            before, admin = kept.status, opening.local_admin(kept)
            row = set_status(session, admin, target)
            asks_consent = bool(opening.protocol_of(row).study.consent.strip())
            root, short = row.plan_root, study_progress(session, admin).short
        if as_json:
            printing.print_json({"study": row.name, "status": target, "plan_root": root})
            return
        again = " again: it was closed" if (before, target) == ("closed", "open") else ""
        typer.echo(f"study {row.name!r} is {target}{again}")
        if target == "open":
            if not asks_consent:
                typer.echo("nobody is asked for consent: the protocol says none (`consent` under [study])")
            typer.echo(f"plan root {root}: quote it in a preregistration; every export prints it")
            typer.echo("the links of `calipers invite` work while `calipers serve` runs")
            if short:
                typer.echo(short)
            printing.say_next(opening.opened(), row.name)

    return move
