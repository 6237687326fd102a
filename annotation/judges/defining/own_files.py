"""What a [[judge]] brings beside its table: prompts by file, drawn examples, and code in the place of a model."""

import hashlib
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

HIDDEN = ("code_sha256", "folder", "system_text", "prompt_text", "examples_drawn", "template")  # made, never written
CODE = ("python", "command", "url", "baseline")
NOT_OF_CODE = ("model", "prompt", "system", "api_base", "examples_drawn", "batch_api", "structured")
CODE_AT_ONCE = 4  # processes of a judge that is code, unless its own table says more
DRAWN = re.compile(r"from: ([1-9]\d{0,3}) topics?")
MOST_BYTES = 1_000_000  # of a prompt's file


def is_file(prompt: str) -> bool:
    """Whether a prompt is named by its file, and is not one of the shipped ones."""
    return "." in prompt or "/" in prompt


def as_written(table: Mapping[str, Any]) -> dict[str, Any]:
    """The table with `examples = "from: 12 topics"` as a number of topics."""
    if hidden := next((key for key in HIDDEN if key in table), None):
        raise ValueError(f"unknown key {hidden!r}; remove it or correct its spelling")
    examples = table.get("examples")
    if not isinstance(examples, str):
        return dict(table)
    drawn = DRAWN.fullmatch(examples.strip())
    if drawn is None:
        raise ValueError(f'examples: write "from: 12 topics" or a list of item_ids (found {examples!r:.60})')
    return {**table, "examples": (), "examples_drawn": int(drawn[1])}


def as_code(table: dict[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """The table of a judge that is code with what stands for its model; any other as it is."""
    kinds = [kind for kind in CODE if kind in own]
    if not kinds:
        return table
    if len(kinds) > 1:
        raise ValueError(f"{kinds[0]} and {kinds[1]}: a judge is one of {', '.join(CODE)}, or a model")
    for key in NOT_OF_CODE:
        if own.get(key) or (key == "examples_drawn" and table.get(key)):
            raise ValueError(f"{key.removesuffix('_drawn')} is for a model, and this judge is code; remove it")
    at_once = own.get("concurrency", min(CODE_AT_ONCE, table.get("concurrency", CODE_AT_ONCE)))
    plain = {key: value for key, value in table.items() if key not in NOT_OF_CODE}
    model = re.sub(r"\s+", "_", f"{kinds[0]}:{own[kinds[0]]}")
    return {**plain, "model": model, "structured": ("plain",), "concurrency": at_once}


def _code_sha256(folder: Path, python: str | None, command: str | None) -> str:
    """Of the files that the judge's code is known to be in; "" where none is known. Raises ValueError for a
    function that its module does not name."""
    files: list[Path] = []
    if python:
        module = folder / python.partition(":")[0].replace(".", "/")
        files = [module.with_name(f"{module.name}.py"), module / "__init__.py"]
    elif command:
        files = [folder / word for word in shlex.split(command)]
    found = [file.read_bytes() for file in files if file.is_file() and file.stat().st_size <= 100 * MOST_BYTES]
    name = (python or "").rpartition(":")[2]
    if python and found and not re.search(rf"\b{name}\b|import \*", b"".join(found).decode(errors="replace")):
        raise ValueError(f"there is no {name} in {python.partition(':')[0]}.py")
    return hashlib.sha256(b"".join(found)).hexdigest() if found else ""


def texts_of(folder: Path, prompt: str, system: str | None, python: str | None, command: str | None) -> dict[str, str]:
    """What a judge's own files hold, as the fields that keep it. Raises ValueError naming key and file."""
    texts = {}
    if is_file(prompt):
        texts["prompt_text"] = _text_of(folder, prompt, "prompt")
    if system is not None:
        texts["system_text"] = _text_of(folder, system, "system")
    if python or command:
        try:
            texts |= {"folder": str(folder), "code_sha256": _code_sha256(folder, python, command)}
        except (OSError, ValueError) as error:
            raise ValueError(f"{'python' if python else 'command'}: {error}; correct it") from None
    return texts


def _text_of(folder: Path, name: str, key: str) -> str:
    try:
        written = (folder / name).read_bytes()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "no path"
        raise ValueError(f"{key}: {name!r}: {why}; paths start at the folder of the judges file") from None
    if len(written) > MOST_BYTES:
        raise ValueError(f"{key}: {name!r} has {len(written):,} bytes; a prompt has at most {MOST_BYTES:,}")
    try:
        text = written.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise ValueError(f"{key}: {name!r}: byte {error.start} is not UTF-8; re-save it") from None
    if not text.strip():
        raise ValueError(f"{key}: {name!r} is empty; write what the model is to be asked")
    return text
