"""Reports come in by the browser: a folder, a .zip of one, or a table, all of it or nothing, every problem listed."""

from collections.abc import Sequence
from functools import partial
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from annotation import errors
from annotation.files import archives, rows
from annotation.importing import bringing_in, layouts
from annotation.people.principals import Principal
from app.screens import look, report_page
from app.settings import database
from plain.wording import worded

FOLDER, FILE = "A folder", "A .zip or a table"
GAPS = {
    "allow_missing": "Systems may lack reports on some topics",
    "allow_empty": "Reports may be empty",
    "new_version": "Changed reports are new versions",
}  # of `Asked`; refusals name them as options of the command
COLUMNS = "Columns of a table, where they have other names"
ON_A_PAGE = {
    " (or pass --system NAME)": "",
    "; all of them with --json": "",
    "; --keep-columns keeps them": "",
    "read by calipers import probes": "whoever has the server reads them, with calipers import probes",
    "or use --layout table": "or choose the layout table above",
    "pass --layout with one of": "choose its layout above:",
    "pass --system NAME": "put it in a folder with the system's name",
    "or pass --encoding cp1252": "and upload it again",
}  # words about the command's options, and what one does on the page instead
TOLD, TRIES = "reports_told", "reports_tries"  # (whether they came in, lines); how many uploads went before


def show(principal: Principal) -> None:
    """The upload, what may be missing, and what became of the last one."""
    tries = st.session_state.get(TRIES, 0)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        kind = st.segmented_control(
            worded("They are"), [FOLDER, FILE], default=FOLDER, key="reports_kind", required=True, format_func=worded
        )
        layout = st.selectbox(
            worded("Layout"), [layouts.AUTO, *layouts.LAYOUTS], format_func=_layout, key="reports_layout", width=280
        )
        columns = "" if kind == FOLDER else st.text_input(
            worded(COLUMNS), key="reports_columns", width=360,
            placeholder="topic=id,system=model,text=response",
        )  # fmt: skip
    given = st.file_uploader(
        worded("Reports: one folder for each system, with one file for each topic") if kind == FOLDER
        else worded("Reports: a .zip of the folder, or a table with a report a row"),
        accept_multiple_files="directory" if kind == FOLDER else True,
        type=None if kind == FOLDER else ["zip", *(suffix.removeprefix(".") for suffix in rows.SUFFIXES)],
        key=f"reports_{kind}_{tries}",
    )  # fmt: skip
    with st.container(gap="xxsmall"):
        allowed = {name: st.checkbox(worded(label), key=f"reports_{name}") for name, label in GAPS.items()}
    if st.button(worded("Bring them in"), key="reports_in", type="primary", disabled=not given):
        st.session_state[TOLD] = _tried(principal, given, layout, columns, allowed)
        if st.session_state[TOLD][0]:
            st.session_state[TRIES] = tries + 1  # another upload, which is empty
            st.rerun()
    came_in, lines = st.session_state.get(TOLD, (True, []))
    if not came_in:
        report_page.section(told_html(worded("Nothing came in. {lines} to mend:", lines=len(lines)), lines))


def told() -> str:
    """What came in by the last upload, as HTML; empty where none did."""
    came_in, lines = st.session_state.get(TOLD, (False, []))
    return told_html(worded("They came in."), lines) if came_in else ""


def told_html(head: str, lines: Sequence[str]) -> str:
    """A sentence and its lines."""
    return f'<p class="c-soft">{escape(head)}</p><ul class="c-notes s-told">{"".join(map(_line, lines))}</ul>'


def _line(text: str) -> str:
    return f"<li>{escape(text)}</li>"


def _layout(name: str) -> str:
    return worded("told by what is there") if name == layouts.AUTO else name


def _tried(
    principal: Principal, given: Sequence[UploadedFile], layout: str, columns: str, gaps: dict[str, Any]
) -> tuple[bool, list[str]]:
    with TemporaryDirectory() as made:
        try:
            asked = bringing_in.Asked(columns=columns, **gaps)
            return True, _brought_in(principal, given, Path(made), layout, asked)
        except errors.ImportingError as error:
            return False, [in_words(problem, made) for problem in error.problems]
        except errors.AnnotationError as error:
            return False, [error.text]


def _brought_in(
    principal: Principal, given: Sequence[UploadedFile], made: Path, layout: str, asked: bringing_in.Asked
) -> list[str]:
    bar = st.progress(0.0, worded("Reading"))
    try:
        found, name = bringing_in.find(_stored(given, made), layout), given[0].name.split("/")[0]
        came_in = bringing_in.bring_in(
            database(), principal, bringing_in.read(found, asked), found.layout, asked, source=name,
            progress=partial(look.advance, bar, worded("Preparing reports")), folder=found.folder,
        )  # fmt: skip
        return [in_words(line, str(made)) for line in came_in.lines()]
    finally:
        bar.empty()


def _stored(given: Sequence[UploadedFile], made: Path) -> Path:
    """The folder or table to read, in `made`; two archives are refused: the former of them is often a mistaken one."""
    names = [file.name for file in given]
    if len(names) > 1 and any(name.lower().endswith(".zip") and "/" not in name for name in names):
        raise errors.ImportingError(
            worded("{names}: a .zip comes in by itself; remove the others above", names=worded(", ").join(names))
        )
    if len(given) == 1 and given[0].name.lower().endswith(".zip"):
        packed = made / "upload.zip"
        packed.write_bytes(given[0].getvalue())
        try:
            archives.unpack(packed, made / "files")
        except errors.ImportingError as error:
            raise errors.ImportingError(
                worded("{name}: cannot be unpacked ({error}); pack the folder anew", name=given[0].name, error=error)
            ) from None
        return archives.top_of(made / "files")
    archives.write_named([(file.name, file.getvalue()) for file in given], made / "files")
    return (
        made / "files" / given[0].name
        if len(given) == 1 and "/" not in given[0].name
        else archives.top_of(made / "files")
    )


def in_words(problem: str, made: str) -> str:
    """A problem as the page tells it: without the folder of the upload, and with its controls for the options."""
    for name, label in GAPS.items():
        option = worded("pass {option}", option=f"--{name.replace('_', '-')}")
        problem = problem.replace(option, worded("tick “{label}”", label=worded(label)))
    for command, here in ON_A_PAGE.items():
        problem = problem.replace(worded(command), worded(here))
    problem = problem.replace("--map ", worded("“{label}”: ", label=worded(COLUMNS)))
    for folder in (f"{made}/files/", f"{made}/files", f"{made}/"):
        problem = problem.replace(folder, "")
    return problem.lstrip(":： ")  # of the folder itself nothing is left
