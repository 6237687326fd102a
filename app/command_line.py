"""`calipers`: the command line. Every error is one sentence; exit 0 fine, 1 refused or incomplete, 2 wrong use."""

from __future__ import annotations

import errno
import sys

import typer

from annotation.errors import AnnotationError, ImportingError
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
from app.commands.printing import refusal
from calibration.errors import CalibrationError
from db.errors import DatabaseError
from exports.errors import ExportError

app = typer.Typer(
    name="calipers",
    help="Does this LLM judge agree with our experts, and what does it cost?",
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


def main() -> None:
    """Entry point of the installed command."""
    try:
        app()
    except (AnnotationError, ImportingError, CalibrationError, DatabaseError, ExportError) as error:
        print(f"calipers: {refusal(str(error))}", file=sys.stderr)
        raise SystemExit(1) from None
    except OSError as error:
        remedy = "free some disk space" if error.errno == errno.ENOSPC else "check the path and its rights"
        print(f"calipers: {error.filename or 'a file'}: {error.strerror}; {remedy}", file=sys.stderr)
        raise SystemExit(1) from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None


if __name__ == "__main__":
    main()
