"""A notebook's cells, run in their order as Jupyter would, with what each shows.

    python -m tests.docs.notebooks docs/notebook.ipynb

writes what they show into the file.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

DIGITS = 100  # dots an inch


def executed(notebook: dict[str, Any], folder: Path) -> Iterator[list[dict[str, Any]]]:
    """The outputs of each code cell, in nbformat 4; the cells share their names, and run in `folder`."""
    names: dict[str, Any] = {}
    with contextlib.chdir(folder):
        for number, cell in enumerate(code_cells(notebook), start=1):
            yield list(_shown("".join(cell["source"]), names, number))


def code_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def _shown(source: str, names: dict[str, Any], number: int) -> Iterator[dict[str, Any]]:
    """What is printed, then the value of a last line that is an expression."""
    tree, value, printed = ast.parse(source), None, io.StringIO()
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    if printed.getvalue():
        yield {"output_type": "stream", "name": "stdout", "text": printed.getvalue().splitlines(keepends=True)}
    if value is not None:
        yield {"output_type": "execute_result", "execution_count": number, "metadata": {}, "data": _data(value)}


def _data(value: Any) -> dict[str, Any]:
    data: dict[str, Any] = {"text/plain": repr(value).splitlines(keepends=True)}
    if hasattr(value, "savefig"):
        out = io.BytesIO()
        value.savefig(out, dpi=DIGITS, metadata={"Software": None})
        data["image/png"] = base64.b64encode(out.getvalue()).decode()
    elif hasattr(value, "_repr_html_"):
        data["text/html"] = value._repr_html_().splitlines(keepends=True)
    return data


def main(path: Path) -> None:
    notebook = json.loads(path.read_text("utf-8"))
    with TemporaryDirectory() as folder:
        shutil.copy(path.parent / "labels.csv", folder)
        shown = executed(notebook, Path(folder))
        for number, (cell, outputs) in enumerate(zip(code_cells(notebook), shown, strict=True), start=1):
            cell |= {"execution_count": number, "outputs": outputs}
    path.write_text(json.dumps(notebook, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    os.environ.setdefault("MPLBACKEND", "agg")
    main(Path(sys.argv[1]))
