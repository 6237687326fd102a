"""A report computed once more from its labels and settings, and compared with what was printed.

Words are compared to the letter, numbers in full digits as far as every machine's arithmetic agrees.
"""

import csv
import io
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import takewhile
from pathlib import Path
from typing import Any

import pandas as pd

from calibration.calibrate import calibrate_with_cascades
from calibration.inference.looks import Look
from calibration.results import Aggregate, CalibrationReport, CalibrationSettings, Estimate, ReportWarning
from exports import index, pack, page
from exports.as_json import ESTIMATE, as_json, report_json, settings_dict
from exports.bundles.reading import loads
from exports.cells import Cell, Probability, shown
from exports.facts import StudyFacts
from exports.figures import FORMATS as FIGURE_FORMATS
from exports.figures import captions, figures_tex
from exports.pack import tables_of, texts_of
from exports.plots.theme import FULL_PAGE
from exports.tables import Table
from exports.words.methods import methods_paragraph

FORMAT = "calipers-inputs/1"
DIGITS = 9  # significant ones that every machine's arithmetic gives alike
USUAL = CalibrationSettings()
COUNTS = ("planned_topics", "topics_labelled")  # settings that are a number or nothing
MOST_LOOKS = 1_000
FLOORS = ("at_least", "at_least_kappa")  # numbers, where the plan states one
MOST_RESAMPLES = 100_000  # more would keep a reader of somebody's bundle waiting for ever
STUDY_SAYS = {"plan_root": str, "is_simulated": bool}  # all else in a report's data comes from its labels


@dataclass(frozen=True)
class Inputs:
    """All that decides a report's numbers beside its labels."""

    settings: CalibrationSettings
    cascades: tuple[str, ...] = ()
    presets: tuple[str, ...] = ()
    data: Mapping[str, Any] = field(default_factory=dict)  # what the study says of its report: `STUDY_SAYS`


@dataclass(frozen=True)
class Moved:
    """A number that is another when computed again. `place`: `Cohen's κ of mini`."""

    table: str
    place: str
    printed: str
    recomputed: str

    def __str__(self) -> str:
        return f"{self.table}: {self.place}: printed {self.printed}, recomputed {self.recomputed}"


@dataclass(frozen=True)
class Recomputed:
    """How many printed numbers hold to their last digit, which do not, and which files print something else."""

    tables: int
    held: int
    moved: tuple[Moved, ...]
    otherwise: tuple[str, ...]


def inputs_json(inputs: Inputs) -> str:
    """Every digit, in a form that `read_inputs` takes back."""
    said = {**asdict(inputs), "settings": settings_dict(inputs.settings)}
    return json.dumps({"format": FORMAT, **said}, ensure_ascii=False, indent=2) + "\n"


def read_inputs(text: str) -> Inputs:
    """The inverse of `inputs_json`. Raises ValueError, TypeError or KeyError on anything else."""
    found = loads(text)
    if found.pop("format") != FORMAT:
        raise ValueError(f"not {FORMAT}")
    said = found["settings"]
    for name, value in said.items():
        kind = float if name in FLOORS else int if name in COUNTS else type(getattr(USUAL, name))
        _require(f"settings.{name}", value, list if kind is tuple else kind)
    _require("settings.scales", list(said["scales"].values()), list, list)
    _require("settings.aggregates", said.get("aggregates", []), list, dict)
    _require("settings.earlier_looks", said.get("earlier_looks", []), list, dict)
    if len(said.get("earlier_looks", [])) > MOST_LOOKS:
        raise ValueError(f"settings: more than {MOST_LOOKS:,} earlier looks")
    looks = tuple(_look(one) for one in said.get("earlier_looks", []))
    off_scale, aggregates = said.get("off_scale", []), [_aggregate(one) for one in said.get("aggregates", [])]
    names = *said["scales"].values(), list(said["families"].values()), off_scale, found["cascades"], found["presets"]
    for one in (*names, said.get("require", [])):
        _require("a list of names", one, list, str)
    for row in said.get("weights", []):
        _require("settings.weights", row, list, float)
    _require("settings.scale_ends", list(said.get("scale_ends", {}).values()), list, list)
    for name in ("answer_values", "score_times"):
        for number in said.get(name, {}).values():
            _require(f"settings.{name}", number, float)
    if said["seed"] < 0 or said["resamples"] > MOST_RESAMPLES:
        raise ValueError(f"settings: no seed from 0, or more than {MOST_RESAMPLES:,} resamples")
    if found["data"].keys() - STUDY_SAYS.keys():
        raise ValueError(f"data holds more than {' and '.join(STUDY_SAYS)}, which labels cannot tell")
    for name, value in found["data"].items():
        _require(f"data.{name}", value, STUDY_SAYS[name])
    scales = {name: tuple(answers) for name, answers in said["scales"].items()}
    own = {name: found.pop(name) for name in ("settings", "cascades", "presets", "data")}
    if found:
        raise ValueError(f"{next(iter(found))!r} is no input")
    required, weights = tuple(said.get("require", ())), tuple(tuple(row) for row in said.get("weights", ()))
    lists = {"scales": scales, "off_scale": tuple(off_scale), "aggregates": tuple(aggregates), "require": required,
             "weights": weights, "earlier_looks": looks}  # fmt: skip
    settings = CalibrationSettings(**{**said, **lists})
    return Inputs(settings, tuple(own["cascades"]), tuple(own["presets"]), own["data"])


def _aggregate(said: Mapping[str, Any]) -> Aggregate:
    for name, value in said.items():
        _require(f"settings.aggregates.{name}", value, list if name in ("labels", "criteria") else str)
    for name in ("labels", "criteria"):
        _require(f"settings.aggregates.{name}", said[name], list, str)
    return Aggregate(**{**said, "labels": tuple(said["labels"]), "criteria": tuple(said["criteria"])})


def _look(said: Mapping[str, Any]) -> Look:
    _require("settings.earlier_looks.topics", said["topics"], int)
    _require("settings.earlier_looks.share", said["share"], float)
    return Look(**said)


def _require(name: str, value: Any, kind: type, of: type | None = None) -> None:
    wide = (int, float) if kind is float else (kind,)
    if type(value) not in wide or (of is not None and any(type(one) is not of for one in value)):
        raise ValueError(f"{name} is {str(value)[:60]}")


def report_from(labels: pd.DataFrame, inputs: Inputs) -> tuple[CalibrationReport, pd.DataFrame]:
    """The report of `labels` with the verdicts it rests on; its warnings are those that labels alone can give."""
    report, verdicts = calibrate_with_cascades(labels, inputs.settings, inputs.cascades)
    return replace(report, **inputs.data), verdicts


def recompute(labels: pd.DataFrame, inputs: Inputs, facts: StudyFacts | None, printed: Path) -> Recomputed:
    """Compute everything anew and compare with the folder `printed`.

    Compared are the cells of every table and every estimate of the report, as shown: equal to the last printed digit.
    """
    report, verdicts = report_from(labels, inputs)
    tables = tables_of(report, verdicts, facts, inputs.presets)
    held, moved = 0, list[Moved]()
    for table in tables:
        new = _cells_of_table(json.loads(as_json(table)))
        same, other = _compared(_read(printed / f"{table.name}.json", _cells_of_table), new, table.name)
        held, moved = held + same, moved + other
    new = _parts_of_report(json.loads(report_json(report)))
    same, other = _compared(_read(printed / pack.REPORT, _parts_of_report), new, pack.REPORT)
    otherwise = printed_otherwise(report, tables, facts, printed)
    return Recomputed(len(tables), held + same, (*moved, *other), tuple(otherwise))


def _read(path: Path, parse: Callable[[Any], dict[str, str]]) -> dict[str, str]:
    try:
        return parse(loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError):
        return {}  # a file that is gone or no table prints none of the numbers


def _cells_of_table(table: Mapping[str, Any]) -> dict[str, str]:
    """`Cohen's κ of mini` to what is there, for every cell that holds a number."""
    titles = {column["key"]: column["title"] for column in table["columns"]}
    cells: dict[str, str] = {}
    for row in table["rows"]:
        first = " ".join(takewhile(lambda value: isinstance(value, str), row.values()))[:80]
        for key, value in row.items():
            if isinstance(value, str):
                continue
            place = f"{titles[key]} of {first}"
            while place in cells:
                place += "'"
            cells[place] = _as_shown(value)
    return cells


def _parts_of_report(report: Mapping[str, Any]) -> dict[str, str]:
    """Every estimate by its names, and all else but the warnings (a study adds its own) by its place."""
    parts = {}
    for one in report["estimates"]:
        names = [one[name] for name in ("statistic", "rater", "reference", "criterion", "category")]
        parts[" / ".join(names)] = f"{_as_shown(one)}, n {one['n']}, clusters {one['clusters']}"
    rest = {name: part for name, part in report.items() if name not in ("estimates", "warnings")}
    return parts | dict(_leaves(rest, ""))


def _leaves(value: Any, place: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping | list):
        inner = value.items() if isinstance(value, Mapping) else enumerate(value)
        for name, one in inner:
            yield from _leaves(one, f"{place}.{name}" if place else str(name))
    else:
        yield place, f"{value:.{DIGITS}g}" if isinstance(value, float) else str(value)


def _as_shown(value: Any) -> str:
    cell: Cell = value
    if isinstance(value, Mapping) and set(value) == {*ESTIMATE}:
        known: dict[str, Any] = {name: math.nan if number is None else number for name, number in value.items()}
        cell = Estimate(**{name: known[name] for name in ESTIMATE if name != "note"})
    elif isinstance(value, float):
        cell = Probability(value)
    return " ".join(filter(None, shown(cell)))


def _compared(old: Mapping[str, str], new: Mapping[str, str], where: str) -> tuple[int, list[Moved]]:
    names: Sequence[str] = list(dict.fromkeys((*new, *old)))
    moved = [
        Moved(where, name, old.get(name, "not printed"), new.get(name, "not computed"))
        for name in names
        if old.get(name) != new.get(name)
    ]
    return len(names) - len(moved), moved


IMAGES = {f"{name}{width}.{form}" for name in pack.FIGURES for width in ("", "_column") for form in FIGURE_FORMATS}
EXPLAINED = ("join_loss", "unpaired_judges", "order_unknown")  # a study that knows its panels leaves these out
CLOSE = {"rel_tol": 1e-6, "abs_tol": 1e-9}  # what every machine's arithmetic gives alike
# what a page owes to who prints it: the bytes of its images, and the software
OWN = re.compile(
    r'(?<=<img src=")data:image/svg\+xml;base64,[\w+/=]*(?=")|(?<=<h3>Software</h3>\n)<dl>.*?</dl>', re.DOTALL
)


def printed_otherwise(
    report: CalibrationReport, tables: Sequence[Table], facts: StudyFacts | None, printed: Path
) -> list[str]:
    """The names of files in `printed` that say something else than computed again, and of those that are no part."""
    warned = _warnings(printed / pack.REPORT)
    said = {warning.text for warning in warned}
    missing = [one for one in report.warnings if one.text not in said and one.code not in EXPLAINED]
    # a study adds warnings of its own, that labels cannot tell
    report = replace(report, warnings=(*warned, *missing))
    methods, title = methods_paragraph(report, facts).markdown, (facts.title if facts else "") or ""
    figures = [figure for draw in pack.FIGURES.values() if (figure := draw(report, FULL_PAGE)) is not None]
    texts = {
        **texts_of(tables, report, facts), "captions.md": captions(figures), "figures.tex": figures_tex(figures),
        "index.md": index.index_md(index.index_of(tables, figures)),
        "report.html": page.report_page(report, tables, figures, methods, title, images=False),
    }  # fmt: skip
    spoken_too = (language for language, name in pack.METHODS_IN.items() if (printed / name).exists())
    texts |= {name: text.decode() for one in spoken_too for name, text in pack.methods_file(one, report, facts).items()}
    known = {*texts, *IMAGES, "answer.pdf"}
    strange = {path.relative_to(printed).as_posix() for path in printed.rglob("*") if path.is_file()} - known
    return [*(name for name, text in texts.items() if not _prints(printed / name, text)), *sorted(strange)]


def _warnings(path: Path) -> tuple[ReportWarning, ...]:
    try:
        printed = loads(path.read_text(encoding="utf-8"))["warnings"]
        return tuple(ReportWarning(words=warning.pop("text"), **warning) for warning in printed)
    except (OSError, ValueError, LookupError, TypeError):
        return ()


def _prints(path: Path, text: str) -> bool:
    same = SAME.get(path.suffix, str.__eq__)
    try:
        return bool(same(path.read_bytes().decode(), text))
    except (OSError, ValueError, csv.Error):
        return False


def _same_cells(printed: str, text: str) -> bool:
    return _alike(
        *([[_number(cell) for cell in row] for row in csv.reader(io.StringIO(one))] for one in (printed, text))
    )


def _number(cell: str) -> Any:
    try:
        number = int(cell) if cell.isdecimal() else float(cell)
    except ValueError:
        return cell
    return number if math.isfinite(number) else cell  # a judge may be called nan, which is a name and equals itself


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, **CLOSE)
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_alike(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_alike, one, other))
    return type(one) is type(other) and bool(one == other)


SAME: dict[str, Callable[[str, str], bool]] = {
    ".json": lambda printed, text: _alike(loads(printed), loads(text)),
    ".csv": _same_cells,
    ".html": lambda printed, text: OWN.sub("", printed) == OWN.sub("", text),
}
