"""Options as a shell takes them: what is printed can be pasted, and what is typed is read as it was meant.

Several values stand between commas, several columns of one value between signs of plus; one that holds such a sign
itself stands within double quotes, as in a CSV.
"""

import csv
import io
import shlex

TO_FILL = "…"  # in an option that is proposed as a form: what only the reader knows


def _between(sign: str, parts: tuple[str, ...]) -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=sign, lineterminator="").writerow(parts)
    return text.getvalue()


def between_commas(*parts: str) -> str:
    """The value of an option that takes several."""
    return _between(",", parts)


def between_plus(*columns: str) -> str:
    """Several columns as one value, `ONE+OTHER`."""
    return _between("+", columns) if any(columns) else "+".join(columns)


def split_at_commas(text: str) -> list[str]:
    """What stands between commas, without blanks around it and without what is empty."""
    pieces = next(csv.reader([" ".join(text.splitlines())], skipinitialspace=True), [])
    return [piece.strip() for piece in pieces if piece.strip()]


def split_at_plus(text: str) -> tuple[str, ...]:
    """The columns of one value; an empty place is one too."""
    return tuple(next(csv.reader([text], delimiter="+"), [])) or ("",)


def typed(option: str, *parts: str) -> str:
    """An option as a shell takes it, such as `--map-label A=1,B=2`."""
    return f"{option} {shlex.quote(between_commas(*parts))}"


def by_map(part: str, *columns: str) -> str:
    """`--map PART=ONE+OTHER` as a shell takes it."""
    return typed("--map", f"{part}={between_plus(*columns)}")


def by_read(name: str, *values: str) -> str:
    """`--read NAME=ONE+OTHER` as a shell takes it; a comma in it parts nothing."""
    return f"--read {shlex.quote(f'{name}={between_plus(*values)}')}"
