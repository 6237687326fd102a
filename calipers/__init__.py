"""Calipers in a notebook: `calipers.read("labels.csv")`, and what the labels say as DataFrames and figures.

Needs no study, no database and no account. Nothing else is imported before the first of these names is used.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from calipers.notebook import Labels, Result, read

__all__ = ["Labels", "Result", "read"]


def __getattr__(name: str) -> Any:
    """Import the notebook's interface when it is first asked for (PEP 562): the command needs none of it."""
    if name not in __all__:
        raise AttributeError(f"module 'calipers' has no attribute {name!r}; it has {', '.join(__all__)}")
    from calipers.own_folders import own_folders

    with own_folders():
        from calipers import notebook
    return getattr(notebook, name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
