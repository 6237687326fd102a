"""`calipers`: the command line. Every error is one sentence; exit 0 fine, 1 refused or incomplete, 2 wrong use."""

import errno
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup
from typer.models import CommandInfo, ParameterInfo, TyperInfo

from annotation.errors import AnnotationError, ImportingError
from app.commands import backup, doctor, printing, tidying
from app.commands.items import blinding, importing, pairs
from app.commands.judges import align, batches, drift, models, records, runs, stress
from app.commands.people import adjudicating, crowd, inviting, packets, quality
from app.commands.results import calibrating, exporting, reproducing, showing, topics
from app.commands.study import planning, studies
from calibration.errors import CalibrationError
from db.errors import DatabaseError
from exports.errors import ExportError

ROAD = {
    "The study": "demo plan init serve status open pause close lock reveal",
    "Its reports and items": "import audit pairs items",
    "Its people": "invite people crowd packet quality reply adjudicate",
    "Its judges": "judge",
    "Its results": "tidy calibrate show systems topics export verify reproduce",
    "Safety": "doctor backup restore upgrade",
}
FIRST_STEPS = """First steps:

  calipers demo                     a finished study to look at
  calipers serve                    opens it in the browser
  calipers calibrate labels.csv     or: what your own labels say
  calipers show labels.csv          the same in the browser

Each command says more: calipers COMMAND --help"""
REFUSALS = (AnnotationError, ImportingError, CalibrationError, DatabaseError, ExportError)
UNSAID = re.compile(r"^Invalid value: |, unable to parse .*")  # what adds nothing to a wrong value's sentence
REMEDIES = {
    errno.ENOSPC: "free some disk space",
    errno.ENOENT: "check the path",
    errno.EEXIST: "name a folder, or a file that is not there yet",
    errno.EISDIR: "name a file",
    errno.ENOTDIR: "name a folder",
    errno.EACCES: "let this account use it, or name another",
}
OWN_MISTAKE = 70  # what no user can mend; 1 and 2 stay for what they can


class Contents(TyperGroup):
    """Lists the commands as `ROAD` does, wherever they were registered."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Every command, in reading order."""
        return [name for names in ROAD.values() for name in names.split()]


def lay_out(app: typer.Typer) -> None:
    """Put every command under its head, and let the help of each fill the lines of the terminal."""
    heads = {name: head for head, names in ROAD.items() for name in names.split()}
    registered: list[CommandInfo | TyperInfo] = [*app.registered_commands, *app.registered_groups]
    for info in registered:
        info.rich_help_panel = heads[str(info.name)]
    commands = list(_all_commands(app))
    for command in commands:
        command.help = as_it_stands(flowing(command.help or inspect.getdoc(command.callback) or ""))
    defaults = (
        parameter.default
        for command in commands
        for parameter in inspect.signature(command.callback).parameters.values()
    )
    for option in {
        id(option): option for option in defaults if isinstance(option, ParameterInfo)
    }.values():  # some are shared
        option.help = as_it_stands(option.help or "")


def flowing(text: str) -> str:
    """One line a paragraph, which the terminal folds where it ends; examples keep a line each."""
    return "\n\n".join(
        paragraph if paragraph.startswith("Example:") else " ".join(paragraph.split())
        for paragraph in inspect.cleandoc(text).split("\n\n")
    )


def as_it_stands(text: str) -> str:
    """Help whose brackets are shown: `[system]` is none of the marks by which a terminal's text is coloured."""
    return re.sub(r"\[(?=[a-z#/@])", r"\[", text)


def _all_commands(app: typer.Typer) -> Iterator[Any]:
    yield from app.registered_commands
    for group in app.registered_groups:
        if group.typer_instance is not None:
            yield from _all_commands(group.typer_instance)


app = typer.Typer(
    name="calipers",
    cls=Contents,
    epilog=FIRST_STEPS,
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
GROUPS: tuple[tuple[str, str, dict[str, Callable[..., None]]], ...] = (
    ("import", "Bring in reports, probes, labels and judge results.", {
        "reports": importing.import_reports, "probes": importing.import_probes, "labels": importing.import_labels,
        "judge-results": importing.import_judge_results, "gold": importing.import_gold,
        "evidence": importing.import_evidence, "ballots": packets.import_ballots,
    }),
    ("crowd", "People of a crowd platform: their link, who came, what to pay.", {
        "link": crowd.link, "people": crowd.people, "settle": crowd.settle,
    }),
    ("judge", "Let models judge the very same items.", {
        "estimate": runs.estimate, "preview": runs.preview, "check": runs.check, "run": runs.run, "pause": runs.pause,
        "resume": runs.resume, "retry": runs.retry, "status": records.status, "parse": records.parse,
        "show": records.show, "ledger": records.ledger, "align": align.align, "stress": stress.stress,
        "drift": drift.drift, "models": models.models, "batches": batches.batches,
    }),
    ("export", "Write labels, reports, datasets and bundles to files.", {
        "labels": exporting.export_labels, "report": exporting.export_report, "people-items": exporting.export_items,
        "dataset": exporting.export_dataset, "bundle": exporting.export_bundle,
    }),
)  # fmt: skip
for name, words, verbs in GROUPS:
    group = typer.Typer(help=words, no_args_is_help=True)
    for verb, command in verbs.items():
        group.command(verb)(command)
    app.add_typer(group, name=name)
studies.add_to(app)
for command in (
    backup.backup, backup.restore, backup.upgrade, doctor.doctor, blinding.audit, pairs.pairs, pairs.items,
    adjudicating.adjudicate,
    inviting.invite, inviting.people, packets.packet, quality.status, quality.quality, quality.reply,
    calibrating.calibrate, reproducing.reproduce, showing.show, topics.systems, topics.topics, planning.plan,
    tidying.tidy, exporting.verify,
):  # fmt: skip
    app.command(command.__name__)(command)
lay_out(app)


def _print_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"calipers {version('calipers')}")
        raise typer.Exit


@app.callback()
def calipers(
    version: bool = typer.Option(False, "--version", callback=_print_version, is_eager=True, help="Print the version."),
) -> None:
    """Does this LLM judge agree with our experts, and what does it cost?"""


def main() -> None:
    """Entry point of the installed command."""
    raise SystemExit(run())


def run(words: Sequence[str] | None = None) -> int:
    """The command of these words, or the one that was typed, and its exit code."""
    try:
        return _named(words)(words, standalone_mode=False, prog_name="calipers") or 0
    except KeyboardInterrupt:
        return 130
    except Exception as error:  # noqa: BLE001  # whatever it is, nobody is shown a traceback
        text, code = told(error, list(sys.argv[1:] if words is None else words))
        if text:
            print(f"calipers: {printing.refusal(text)}", file=sys.stderr)
        return code


def _named(words: Sequence[str] | None) -> typer.Typer:
    """Of all commands the one that is named first, if any: typer makes the options of each that it is given."""
    name, one = next(iter(sys.argv[1:] if words is None else words), ""), copy(app)
    one.registered_commands = [info for info in app.registered_commands if info.name == name]
    one.registered_groups = [info for info in app.registered_groups if info.name == name]
    return one if one.registered_commands or one.registered_groups else app


def told(error: Exception, words: Sequence[str]) -> tuple[str, int]:
    """The sentence and the exit code; no sentence where help was printed instead. `words`: what was typed."""
    match error:
        case typer.TyperException():
            return _in_use(error), error.exit_code
        case typer.Abort():
            return "no answer was given, so nothing was done", 1
        case OSError():
            return f"{error.filename or 'a file'}: {error.strerror or error}; {_remedy(error)}", 1
        case ImportError():
            return f"{error}; install calipers again with all it needs: pip install --force-reinstall calipers", 1
        case CalibrationError(code="missing_column"):
            return f"{error}; what a file holds says: calipers doctor FILE", 1
        case AnnotationError(code="unnamed_study"):
            return f"{error}; name one {'with --study' if words[:1] == ['import'] else 'after the command'}", 1
        case AnnotationError(code="unknown_study"):
            return f"{error} in {_looked_in()}", 1
        case _ if isinstance(error, REFUSALS):
            return str(error), 1
    from app.logs import where

    return f"a mistake in calipers, not yours; please report it: {where(error)}: {error}", OWN_MISTAKE


def _in_use(error: Any) -> str:
    """A wrong option, argument or command, what was perhaps meant, and where the right ones are listed."""
    known = getattr(error, "possibilities", None)
    said = error.message if known else error.format_message()
    said = UNSAID.sub("", said).strip().rstrip(".").replace(". Did you mean", "; did you mean")
    if not said or "\n" in said:  # help was printed; or all there is to choose from stands in it
        return said
    meant = f"; did you mean {' or '.join(known)}?" if known else "" if said.endswith("?") else ";"
    text = said[:1].lower() + said[1:] + meant
    return f"{text} see: {error.ctx.command_path if error.ctx else 'calipers'} --help"


def _looked_in() -> str:
    """The database that was asked, a file by its whole path, for another may have been meant."""
    from app.settings import database
    from db.connect import SECRETS

    url = database().url
    file = url.database if url.get_backend_name() == "sqlite" else None
    return str(Path(file).resolve()) if file else url.difference_update_query(SECRETS).render_as_string()


def _remedy(error: OSError) -> str:
    return REMEDIES.get(error.errno or 0, "check the path and its rights")


if __name__ == "__main__":
    main()
