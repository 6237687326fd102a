"""Run by itself in a process of its own: one function of somebody's module, an item a line in, an answer a line out.

Standard library alone, so that it starts at once. What the function prints goes to standard error.
"""

import asyncio
import importlib
import inspect
import json
import os
import sys
from typing import Any


def main(target: str) -> None:
    """Answer every line of standard input until it ends."""
    items, replies = os.fdopen(os.dup(0), encoding="utf-8"), os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.path[0] = os.getcwd()  # the folder of judges.toml; that of this file has names of its own

    def say(**said: Any) -> None:
        replies.write(json.dumps(said) + "\n")
        replies.flush()

    module, _, name = target.partition(":")
    try:
        function = getattr(importlib.import_module(module), name)
    except Exception as error:  # noqa: BLE001  (whatever a module raises when it is read)
        function, broken = None, f"{target}: {type(error).__name__}: {error}"
    with asyncio.Runner() as loop:
        for line in items:
            item = json.loads(line)
            if function is None:
                say(id=item["id"], fatal=broken)
                continue
            try:
                answer = function(item)
                answer = loop.run(_awaited(answer)) if inspect.isawaitable(answer) else answer
                say(**{**shaped(answer, item), "id": item["id"]})
            except Exception as error:  # noqa: BLE001  (it is somebody's code)
                say(id=item["id"], error=f"{type(error).__name__}: {error}")


async def _awaited(answer: Any) -> Any:
    return await answer


def shaped(answer: Any, item: dict[str, Any]) -> dict[str, Any]:
    """As a judge replies; `answers` by criterion are short for that."""
    if not isinstance(answer, dict):
        raise TypeError(f"the function returned {type(answer).__name__}, not a dict")
    if "answers" not in answer:
        return answer
    if not isinstance(answer["answers"], dict):
        raise TypeError(f"its answers are {type(answer['answers']).__name__}, not a dict of criterion and answer")
    field = item["answer_field"]
    judgments = [{"criterion": key, field: value} for key, value in answer["answers"].items()]
    return {**{key: value for key, value in answer.items() if key != "answers"}, "judgments": judgments}


if __name__ == "__main__":
    main(sys.argv[1])
