"""What labels say, in a notebook: read a file or a DataFrame, ask, and get DataFrames and figures.

Every answer is that of `calipers calibrate`, by the same functions, and prints in a notebook as its table prints.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from functools import partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from annotation.errors import AnnotationError
from calibration.calibrate import calibrate
from calibration.examining.examining import examine
from calibration.results import CalibrationReport, CalibrationSettings
from calibration.sizing.pilot import pilot_of
from calibration.sizing.study_plan import Goals, Prices, plan_from_pilot
from calibration.table.typed_cells import SOURCE
from calibration.table.unasked import without_unasked
from calipers.kept_reports import calibrated_or_kept
from calipers.label_files import MANY_ROWS, refuse_unknown_criteria, settings_chosen
from calipers.own_folders import in_own_folders
from calipers.tidy_files import labels_of, labels_of_frame, options_of
from exports.errors import ExportError
from exports.facts import facts_of
from exports.forms import as_frame, as_html
from exports.pack import FIGURES, TABLES, brief_pack, pack, with_kept_plan, write_pack
from exports.plots.theme import FULL_PAGE, ONE_COLUMN
from exports.tables import Column, Table, agreement_table, asked_for_agreement
from exports.words.plan_words import aim_words, gives, rests_on
from exports.words.sentences import told_headline
from plain.counting import counted
from plain.typed_options import between_commas, between_plus, split_at_commas

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from exports.figures import Figure as Drawn

Said = str | Iterable[str] | Mapping[str, str | Iterable[str]]


class Result(pd.DataFrame):
    """A DataFrame that says what it means: `sentence` in one line, `notes` below it, and both in its HTML.

    What is made from it by pandas is a plain DataFrame.
    """

    _metadata = ["sentence", "notes", "html"]  # noqa: RUF012  # pandas looks for it on the class
    sentence: str
    notes: tuple[str, ...]
    html: str

    @property
    def _constructor(self) -> Callable[..., pd.DataFrame]:
        return pd.DataFrame

    def _repr_html_(self) -> str:
        return self.html


def result_of(table: Table, sentence: str = "", frame: pd.DataFrame | None = None) -> Result:
    """The table as a frame with the columns of its CSV, or `frame` in its place; printed as the report prints it."""
    made = Result(as_frame(table) if frame is None else frame)
    made.sentence, made.notes = sentence, table.notes
    made.html = f"<p><strong>{escape(sentence or table.title)}</strong></p>{as_html(table)}"
    return made


@in_own_folders
def read(
    what: str | Path | pd.DataFrame, *, people: Said = (), map: Said = (), map_label: Said = (), labels_are: str = "",
    mapping: str | Path | None = None, layout: str = "", encoding: str = "", separator: str = "", decimal: str = "",
    sheet: str = "", records: str = "", turned: str = "", calibration: str | Path | None = None, **settings: Any,
) -> Labels:  # fmt: skip
    """Labels of people and judges from a file or a DataFrame in any form, found out as `calipers calibrate` does.

    `people`, `map`, `map_label`, `labels_are`, `mapping`: what has to be said of it, as the command's options of these
    names take it; lists and dictionaries do, too: `people=["anna"]`, `map_label={"about equal": "tie"}`.
    `layout`: the tool that wrote the file, where it is not found out (`calipers calibrate --layout`). `encoding` to
    `turned`: how it is written, where that is not found out (`calipers calibrate --read`).
    `calibration`: a calibration.toml. `settings`: what decides, by its name there, over that file: `margin=.05`,
    `at_least=.8`, `families={"mini": "acme"}`, `resamples`, `seed`. They hold for every question asked of the labels;
    one question may have its own. Raises AnnotationError, ImportingError where it cannot be read,
    with all that has to be said first.
    """
    form = {"encoding": encoding, "separator": separator, "decimal": decimal, "sheet": sheet}
    form |= {"records": records, "turned": turned}
    options = options_of(
        _as_typed(map), _as_typed(map_label), _as_typed(people),
        [f"{name}={value}" for name, value in form.items() if value],
        labels_are, layout, None if mapping is None else Path(mapping),
    )  # fmt: skip
    try:
        if isinstance(what, pd.DataFrame):
            frame, told = labels_of_frame(what, options)
        else:
            frame, told = labels_of(Path(what), options)
    except AnnotationError as error:
        said = OPTION.sub(_as_argument, error.text).replace("} map={", ", ")
        if isinstance(what, pd.DataFrame):
            said = said.replace(
                "calipers doctor shows the columns", f"its columns: {', '.join(str(one) for one in what.columns)}"
            )
        raise AnnotationError(error.code, said) from None
    chosen = settings_chosen(None if calibration is None else Path(calibration), settings)
    frame, left_out = without_unasked(frame)
    frame.attrs.pop(SOURCE, None)  # which no Parquet file could hold
    labels = Labels(frame, chosen, (*told, *left_out))
    labels._settings({})  # an unknown setting is refused here, and not at the first question
    return labels


QUOTED = "'[^']*'|\"[^\"]*\""
OPTION = re.compile(rf"--(map-label|map|people|labels-are|layout|read)\b(?: ((?:{QUOTED}|[,:](?=\S)|[^\s,:;)'\"])+))?")


def _as_argument(option: re.Match[str]) -> str:
    """The argument of `read` in place of an option of the command: `map={'rater_id': 'COLUMN'}`."""
    name, value = option[1].replace("-", "_"), "".join(shlex.split(option[2] or ""))
    parts = split_at_commas(value)
    if name == "read":
        name, _, said = value.partition("=")
        return f"{name}={said!r}"
    if name.startswith("map") and "=" in value:
        pairs = [(one.partition if name == "map" else one.rpartition)("=") for one in parts if "=" in one]
        return f"{name}={ ({one: said for one, _, said in pairs}) }"
    if name == "people" and value not in ("", "names"):
        return f"people={parts}"
    if name == "labels_are" and value:
        return f"labels_are={value!r}"
    return f"{name}= {value}".rstrip()


def _as_typed(given: Said) -> list[str]:
    """What the command's option would be given."""
    if isinstance(given, Mapping):
        return [
            between_commas(f"{name}={one if isinstance(one, str) else between_plus(*one)}")
            for name, one in given.items()
        ]
    return [given] if isinstance(given, str) else [*given]


class Labels:
    """A table of labels, to be asked what it shows. Nothing is computed before it is asked for, and once for all.

    Every question takes `settings` by name, for itself alone. Raises CalibrationError with the first offending row
    where the labels cannot be calibrated; `check` says what to do then, and never raises. `told`: how a file was read.
    """

    def __init__(self, frame: pd.DataFrame, settings: dict[str, Any], told: tuple[str, ...] = ()) -> None:
        self.frame = frame
        self.told = told
        self._chosen = settings
        self._reports: dict[str, CalibrationReport] = {}

    def __len__(self) -> int:
        return len(self.frame)

    def __repr__(self) -> str:
        return f"<calipers.Labels: {self._said()}>"

    def _repr_html_(self) -> str:
        return f"<p>{escape(self._said())}. Ask <code>.check()</code> first.</p>"

    def _said(self) -> str:
        parts = {"item_id": "item", "criterion": "criterion", "cluster_id": "cluster"}
        told = [counted(self.frame[name].nunique(), word) for name, word in parts.items() if name in self.frame]
        return ", ".join([counted(len(self.frame), "row"), *told])

    @in_own_folders
    def check(self) -> Result:
        """Which questions the labels can answer, and which one column each other question lacks.

        `sentence` says whether they can be calibrated as they are; `notes` what to do first, one step each.
        """
        found = examine(self.frame)
        rows = tuple((one.question, "yes" if one.supported else "no", one.missing, one.note) for one in found.supports)
        columns = tuple(map(Column, ("question", "answered", "missing", "note"), ("Question", "", "Missing", "Remark")))
        to_do = "1 step first" if len(found.steps) == 1 else f"{len(found.steps)} steps first"
        sentence = "Ready to be calibrated." if found.ready else f"Not ready to be calibrated: {to_do}."
        return result_of(
            Table("check", "What the labels can answer", columns, rows, (*found.steps, *found.advice, *self.told)),
            sentence,
        )

    @in_own_folders
    def agreement(self, **settings: Any) -> Result:
        """Each judge with the annotators, and the annotators among themselves: the table `agreement` of a report."""
        chosen = self._settings(settings)
        known = self._reports.get(repr(chosen))
        report = known or calibrate(self.frame, chosen, only=asked_for_agreement())
        return result_of(agreement_table(report))

    @in_own_folders
    def choose(self, *, margin: float | None = None, at_least: float | None = None, **settings: Any) -> Result:
        """The cheapest judge that is shown to agree: `sentence`, and what each judge that was tried reaches and costs.

        `margin`: how much less than a left-out annotator it may agree, .05 unless said. `at_least`: instead, the share
        of labels it must agree in. State them before you look. Raises ExportError where there is nothing to choose.
        """
        asked = {"margin": margin, "at_least": at_least}
        report = self._report({**settings, **{name: value for name, value in asked.items() if value is not None}})
        made = self._table("judges", report)
        made.sentence = told_headline(report)
        return made

    @in_own_folders
    def bias(self, **settings: Any) -> Result:
        """Order, length, own family and what else could be looked for in each rater, with what it could have shown."""
        return self._table("bias", self._report(settings))

    @in_own_folders
    def table(self, name: str, **settings: Any) -> Result:
        """Any table of a report by its name. Raises ExportError where there is none, with the names there are."""
        return self._table(name, self._report(settings))

    @in_own_folders
    def plan(
        self, *, judge: str = "", half_width: float = 0.05, difference: float = 0.05, power: float = 0.8,
        minutes_per_pair: float = math.nan, rate: float = math.nan, **settings: Any,
    ) -> Result:  # fmt: skip
        """How many topics to label, with these labels as the pilot: a row for each aim.

        For an interval of `half_width`, for a gap below the margin, and to tell judges `difference` apart; with hours
        and USD, of people at `rate` USD an hour where `minutes_per_pair` or the column seconds says how long one takes.
        """
        chosen = self._settings(settings)
        seen = pilot_of(self.frame, chosen, judge)
        goals = Goals(half_width, chosen.margin, difference, chosen.level, power)
        planned = plan_from_pilot(seen, goals, Prices(minutes_per_pair, rate))
        keys = ("aim", "topics", "safe", "pairs", "hours", "people_usd", "judge_usd", "gives", "note")
        titles = ("To show", "Topics", "Safe", "Pairs", "Hours", "People, USD", "Judge, USD", "Gives", "Why none")
        rows = tuple(
            (aim_words(aim), aim.needed.clusters, aim.cautious,
             *((aim.cost.pairs, aim.cost.hours, aim.cost.annotators, aim.cost.judges) if aim.cost else [None] * 4),
             gives(aim) if aim.cost else None, aim.why)
            for aim in planned.aims
        )  # fmt: skip
        columns = tuple(map(Column, keys, titles))
        return result_of(Table("plan", "Topics to label", columns, rows, ()), rests_on(planned, {}))

    @in_own_folders
    def plot(self, name: str = "agreement", *, column: bool = False, **settings: Any) -> Figure:
        """A figure of a report by its name, at the width of a page or of one `column`.

        Raises ExportError where there is none of that name, with the names there are, or nothing to draw.
        """
        if name not in FIGURES:
            raise ExportError("unknown_figure", f"no figure is called {name!r}; there are {', '.join(FIGURES)}")
        drawn = FIGURES[name](self._report(settings), ONE_COLUMN if column else FULL_PAGE)
        if drawn is None:
            raise ExportError("no_figure", f"these labels have nothing for the figure {name!r}{_lacked(name)}")
        # a notebook prints it, and its caption, without pyplot
        drawn.canvas._repr_html_ = partial(_figure_html, drawn)  # type: ignore[method-assign]  # matplotlib's is of its web server
        return drawn.canvas

    @in_own_folders
    def report(self, folder: str | Path, *, brief: bool = False, **settings: Any) -> list[Path]:
        """Write every table, figure, the methods section and report.html to `folder`; returns the files.

        `brief`: only the answer on one page, the table of agreement, and the methods section with its sources.
        The plan of the comparison is kept there before a result is, and a later change of it is told as a warning.
        """
        out = Path(folder)
        report = with_kept_plan(self._report(settings), out)
        return write_pack(brief_pack(report, facts_of()) if brief else pack(report, self.frame, facts_of()), out)

    def _settings(self, settings: dict[str, Any]) -> CalibrationSettings:
        chosen = {**self._chosen, **settings}
        if {"at_least", "at_least_kappa"} & settings.keys():  # one floor takes the place of another
            floors = ("at_least", "at_least_kappa")
            chosen = {name: value for name, value in chosen.items() if name not in floors or name in settings}
        there = [one.name for one in fields(CalibrationSettings)]
        if unknown := [name for name in chosen if name not in there]:
            raise TypeError(f"no setting is called {unknown[0]!r}; there are {', '.join(there)}")
        made = CalibrationSettings(**{"per_criterion": len(self.frame) <= MANY_ROWS, **chosen})
        refuse_unknown_criteria(chosen, self.frame)
        return made

    def _report(self, settings: dict[str, Any]) -> CalibrationReport:
        chosen = self._settings(settings)
        key = repr(chosen)
        if key not in self._reports:
            self._reports[key], _ = calibrated_or_kept(self.frame, chosen)
        return self._reports[key]

    def _table(self, name: str, report: CalibrationReport) -> Result:
        if name not in TABLES:
            raise ExportError("unknown_table", f"no table is called {name!r}; there are {', '.join(TABLES)}")
        table = TABLES[name](report)
        if table is None:
            there = ", ".join(one for one, make in TABLES.items() if make(report) is not None)
            told = f"these labels have nothing for the table {name!r}{_lacked(name)}"
            raise ExportError("no_table", f"{told} (there are {there}; .check() says what they lack)")
        return result_of(table)


SYSTEMS, SCORED = "system_a and system_b", "rationale, or run (of pairs also presentation, len_a and len_b)"
LACKED = {  # what a table or figure is made of that labels may be without
    "frontier": "cost_usd, what each judge's answer cost", "bias": SCORED, "position": "presentation, AB or BA",
    **dict.fromkeys(("ranking", "win_matrix", "systems", "system_pairs", "systems_apart", "system_orders"), SYSTEMS),
    "categories": "category", **dict.fromkeys(("confidence", "confidence_levels"), "confidence"),
    **dict.fromkeys(("pass_fail", "pass_rates", "label_rates"), "a criterion of two answers"),
}  # fmt: skip


def _lacked(name: str) -> str:
    return f", which needs {LACKED[name]}" if name in LACKED else ""


@in_own_folders
def _figure_html(drawn: Drawn) -> str:
    caption = f"<figcaption>{escape(drawn.caption)}</figcaption>"
    return f"<figure>{drawn.svg.decode().partition('?>')[2]}{caption}</figure>"
