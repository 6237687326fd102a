"""Figures in a text: how a picture that is kept stands in a report, and the report for those who cannot see it."""

import re
from collections.abc import Iterator

KEPT = re.compile(r"!\[figure\]\(figures/([0-9a-f]{32})\.webp\)")
# With it deleted a report is what those read who are not shown its pictures: of each the caption, as it is written
MARKS = re.compile(rf"^{KEPT.pattern}\n{{1,2}}|{KEPT.pattern} ?", re.MULTILINE)


def figure_mark(name: str) -> str:
    """What stands in a report before the caption of the picture called `name`, 32 hexadecimal digits."""
    return f"![figure](figures/{name}.webp)"


def are_shown(images: str, paired_view: str = "") -> bool:
    """Whether texts of a study show any: those of reports by its protocol's `reports.images`, and with a `paired_view`
    of evidence what a task brought, unless all are removed."""
    return images == "show" or (paired_view == "evidence" and images != "remove")


def figure_zones(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each kept picture's mark, which nothing may change."""
    return (match.span() for match in KEPT.finditer(text)) if "](figures/" in text else iter(())


def figure_names(text: str) -> tuple[str, ...]:
    """The pictures of a report, in their order, each once."""
    return tuple(dict.fromkeys(KEPT.findall(text)))
