"""The table `categories`: whether a system does better on some categories of topics than on others, by people."""

from __future__ import annotations

import math

from calibration.results import CalibrationReport
from exports.cells import Cell, Probability, number
from exports.tables import Column, Table
from exports.words.notes import origin

NAMED = 5  # categories in a note; of more, their number


def categories_table(report: CalibrationReport) -> Table | None:
    """One row per system; None where pairs have no categories, or fewer topics than these take."""
    found = {name: one for name, one in report.data.get("category_effects", {}).items() if not math.isnan(one["p"])}
    if not found:
        return None
    columns = (
        Column("system", "System"),
        Column("eta_squared", "η²"),
        Column("omega_squared", "ω²"),
        Column("interval", "Share of variance, interval"),
        Column("null_eta_squared", "η² without any effect", "null"),
        Column("p", "p"),
        Column("categories", "Categories", "k"),
        Column("n", "Topics", "N"),
    )
    rows: list[tuple[Cell, ...]] = [
        (
            name, one["eta_squared"], one["omega_squared"], f"[{number(one['low'], 2)}, {number(one['high'], 2)}]",
            one["null_eta_squared"], Probability(one["p"]), one["categories"], one["n"],
        )
        for name, one in found.items()
    ]  # fmt: skip
    some = next(iter(found.values()))
    small = some["small"] if len(some["small"]) <= NAMED else [str(len(some["small"]))]
    thin = f" Categories of fewer than 3 topics: {', '.join(small)}." if small else ""
    notes = (
        "One-way analysis of variance of a system's win rate in each topic, by people, minus the mean of all systems "
        "in the category; topics are the units, and the clusters. A tie is half a win for each.",
        "η²: share of the variance between categories; it is above 0 without any effect. ω² has that taken off and "
        f"may be negative. Interval of the share in all topics: {100 * some['level']:g} %, Steiger 2004.{thin}",
        "A large p does not show that categories are alike; p is not adjusted for the number of systems.",
        origin(report),
    )
    return Table("categories", "Do systems differ by category of topic", columns, tuple(rows), notes)
