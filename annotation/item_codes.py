"""What an item is called in every file, table and message."""

from __future__ import annotations


def item_code(number: int) -> str:
    """`item-00042`, from the number of its row."""
    return f"item-{number:05d}"
