"""Reports with figures, a wide table, long code and a diagram's source, by three systems, for pages that show them."""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure

from tests.small_study import PROTOCOL

SHOWN = PROTOCOL.replace("[answers]", 'reports = {images = "show", unresolved_flags = "allow"}\n[answers]')
CODE = "\n".join(f"level[{hour:2}] = mean + spring * cos({hour} * SPEED)  # metres" for hour in range(14))
COLUMNS = (
    "Place",
    "Coast",
    "Mean range",
    "Spring range",
    "Neap range",
    "Highest",
    "Lowest",
    "Since",
    "Gauge",
    "Keeper",
)
ROW = "| {} | Atlantic, open to the south-west | 11.7 m | 14.5 m | 9.8 m | 16.3 m | 8.9 m | 1894 | pressure | the harbour |"
TABLE = "\n".join(
    [
        f"| {' | '.join(COLUMNS)} |",
        "|" + " --- |" * len(COLUMNS),
        *(ROW.format(place) for place in ("Fundy", "Severn", "Ems")),
    ]
)
REPORT = """# Tides

The sea rises and falls twice a day [1]. What the moon does to it is seen in a record of one month.

![Figure 1: height above mean level by day [1]; spring tides follow full and new moon](chart.png)

Where the coast is a funnel, the range grows towards its end.

{table}

## How it is computed

```python
{code}
```

A station in the open sea, ![beside this one](wide.png), moves by less than a metre.

```mermaid
graph LR; moon --> tide; sun --> tide
```

## References

[1] https://example.org/tides
"""


def draw(path: Path, *, inches: tuple[float, float], dots: int, colour: str) -> None:
    """A line over a month."""
    figure = Figure(figsize=inches, dpi=dots, layout="tight")
    axes = figure.subplots()
    axes.plot([day % 14 + (day % 3) / 2 for day in range(60)], color=colour)
    axes.set_xlabel("day")
    axes.set_ylabel("metres")
    figure.savefig(path, metadata={"Software": "drawn by nobody who may be named"})


def write_pictured(root: Path) -> Path:
    """Each system draws in its own size and colour."""
    looks = {"alpha": ((8, 4), 300, "#0072B2"), "beta": ((5, 5), 100, "#D55E00"), "gamma": ((6, 2), 200, "#009E73")}
    for system, (inches, dots, colour) in looks.items():
        folder = root / system
        folder.mkdir(parents=True)
        (folder / "tides.md").write_text(REPORT.format(table=TABLE, code=CODE), encoding="utf-8")
        draw(folder / "chart.png", inches=inches, dots=dots, colour=colour)
        draw(folder / "wide.png", inches=(9, 1.4), dots=90, colour=colour)
    return root
