"""`calipers`: the command line. Every error is one sentence; exit 0 fine, 1 refused or incomplete, 2 wrong use."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import typer

from app.commands import (
    adjudicating,
    backup,
    blinding,
    doctor,
    exporting,
    items,
    judges,
    packets,
    pairs,
    people,
    planning,
    quality,
    reports,
    results,
    studies,
    topics,
    verifying,
)
from app.commands.contents import FIRST_STEPS, Contents, lay_out
from app.commands.printing import refusal
from app.commands.refusing import told

app = typer.Typer(
    name="calipers",
    cls=Contents,
    epilog=FIRST_STEPS,
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
studies.add_to(app)
quality.add_to(app)
reports.add_to(app)
pairs.add_to(app)
adjudicating.add_to(app)
items.add_to(app)
blinding.add_to(app)
people.add_to(app)
packets.add_to(app)
judges.add_to(app)
results.add_to(app)
topics.add_to(app)
exporting.add_to(app)
verifying.add_to(app)
planning.add_to(app)
doctor.add_to(app)
backup.add_to(app)
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
        return app(words, standalone_mode=False, prog_name="calipers") or 0
    except KeyboardInterrupt:
        return 130
    except Exception as error:  # noqa: BLE001  # whatever it is, nobody is shown a traceback
        text, code = told(error, list(sys.argv[1:] if words is None else words))
        if text:
            print(f"calipers: {refusal(text)}", file=sys.stderr)
        return code


if __name__ == "__main__":
    main()
