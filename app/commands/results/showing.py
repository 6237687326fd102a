"""A labels file in the browser, with no study and no account."""

import json
import os
import sys
from pathlib import Path

import typer

from app.commands import printing, tidying


def show(
    file: Path = typer.Argument(..., help="A labels file, in any form that `calipers calibrate` reads."),
    protocol: str = printing.PROTOCOL,
    calibration: Path = printing.CALIBRATION,
    margin: float = typer.Option(
        None, help="How much less than a left-out annotator a judge may agree: .05 is 5 points."
    ),
    at_least: float = typer.Option(None, help="Instead: the share of labels it must agree in, such as .80."),
    map_: list[str] = tidying.MAP,
    map_label: list[str] = tidying.MAP_LABEL,
    labels_are: str = tidying.LABELS_ARE,
    people: list[str] = tidying.PEOPLE,
    read: list[str] = tidying.READ,
    layout: str = tidying.LAYOUT,
    mapping: Path = tidying.MAPPING,
    port: int = typer.Option(8510, help="Port to listen on, of this machine alone.", min=1, max=65_535),
    browser: bool = typer.Option(True, help="Open the browser; the link is printed anyway."),
) -> None:
    """The evaluator's pages of a labels file: no study, no account.

    Choice, agreement, reliability, bias, ranking, disagreements, paper and planner, with the numbers of `calipers
    calibrate`. This machine alone can open them, and a file that is written anew is read anew. Of many labels the
    points come first. Runs until Ctrl-C.

    Example: calipers show labels.csv
    Example: calipers show votes.jsonl --people anna,ben --map cluster_id=prompt.id
    """
    from app.results.shown_file import refuse_unshown, shown_file
    from app.settings import Settings, refuse_taken, server_options
    from calipers import label_files, own_folders

    chosen = label_files.settings_chosen(calibration, {"margin": margin, "at_least": at_least})
    kept = str(mapping.resolve()) if mapping else ""
    said = json.dumps((map_, map_label, people, read, labels_are, layout, kept))
    refuse_taken("127.0.0.1", port)
    # what cannot be shown is said here, in one sentence, and not on a page
    tidying.say_reading(refuse_unshown(shown_file(str(file), protocol, json.dumps({**chosen, **FEW}), said)))
    link = f"http://127.0.0.1:{port}"
    typer.echo(f"{file} is shown on {link} until Ctrl-C")
    script = Path(__file__).resolve().parents[2] / "file_shell.py"
    command = own_folders.command_of("streamlit", "run", str(script), f"--server.port={port}")
    command += [
        *(one for one in server_options(Settings(base_url=link), "127.0.0.1") if "headless" not in one),
        f"--server.headless={'false' if browser and sys.stdout.isatty() else 'true'}",
    ]
    os.execv(sys.executable, [*command, "--", str(file.resolve()), protocol, json.dumps(chosen), said])


FEW = {"resamples": 99, "per_criterion": False}  # to learn whether the file can be calibrated
