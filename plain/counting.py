"""A count with its noun, one or many."""

IRREGULAR = {
    "criterion": "criteria", "study": "studies", "person": "people", "try": "tries", "reply": "replies",
    "category": "categories", "batch": "batches",
}  # fmt: skip


def counted(count: int, thing: str, more: str = "") -> str:
    """`1 topic`, `2,400 topics`, `5 criteria`, `2 further judges`. `more` comes between number and thing."""
    head, space, last = thing.rpartition(" ")
    word = last if count == 1 else IRREGULAR.get(last, f"{last}s")
    return f"{count:,} {f'{more} ' if more else ''}{head}{space}{word}"
