"""Every run of the pages that `calipers show` opens: no study and no account, the evaluator's pages of one file."""

import sys

import streamlit as st

from app.results.shown_file import shown_file
from app.screens import evaluator, look, report_page


def run(words: list[str]) -> None:
    """Show the pages; `words`: the file's path, a protocol's name or "", the settings and how it is read, as JSON."""
    path, protocol, chosen, said = words
    st.set_page_config(page_title="calipers", layout="wide")
    try:
        file = shown_file(path, protocol, chosen, said)
    except OSError as error:
        look.style()
        report_page.empty("This file is gone", f"<p>{error.strerror}</p>")
        return
    evaluator.shown(evaluator.file_pages(file)).run()


if __name__ == "__main__":
    run(sys.argv[1:])
