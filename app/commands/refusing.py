"""Whatever ends a command early, as one sentence: what, which one, and the remedy."""

from __future__ import annotations

import errno
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from annotation.errors import AnnotationError, ImportingError
from calibration.errors import CalibrationError
from db.errors import DatabaseError
from exports.errors import ExportError

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
