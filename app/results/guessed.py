"""Did annotators recognise who wrote a report? How often, beside chance, and what their agreement is without that."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
from sqlalchemy import orm

from annotation.leaks.blinding_audit import percent
from annotation.protocol import Protocol
from annotation.studies import protocol_of
from annotation.verdicts import load_verdicts
from annotation.work.guesses import Guess, guesses_of
from app.results.reporting import settings_of
from calibration.calibrate import calibrate
from calibration.errors import CalibrationError
from calibration.inference.compare import Difference, paired_difference
from calibration.inference.stress_effect import Share, share_of
from db.tables import Study
from exports.tables import asked_for_agreement
from exports.words.methods_numbers import headline, of_people, title
from plain.counting import counted


@dataclass(frozen=True)
class Recognised:
    """What people said of reports. Shares are 0 to 1, their intervals over topics.

    `right`: of the reports whose kind was named, how many were named right. `above`: that less what naming the same
    kinds at random would reach: a kind's share of all reports that were asked about. `agreement`: of people with each
    other on all items, and without those in which somebody named a kind; empty where it cannot be computed.
    """

    reports: int
    named: int
    named_items: int
    right: Share
    above: Difference
    agreement: tuple[str, str]

    @property
    def sentence(self) -> str:
        """For the audit and a methods section; empty where nobody said anything."""
        if not self.reports:
            return ""
        opening = (
            "Asked after each item whether they recognised which kind of writer a report has, annotators answered for "
            f"{counted(self.reports, 'report')} and named a kind for {self.named:,}"
        )
        if not self.named:
            return f"{opening}."
        right = f"{percent(self.right.value)}{_interval(self.right.low, self.right.high)} of these rightly"
        beyond = f"{100 * self.above.value:+.0f} points{_interval(self.above.low, self.above.high)}"
        told = f"{opening}, {right}, {beyond} beside naming the same kinds at random"
        if not all(self.agreement):
            return f"{told}."
        whole, without = self.agreement
        return (
            f"{told}; {whole} among annotators on all items, and {without} without the "
            f"{counted(self.named_items, 'item')} in which somebody named one."
        )


def recognised(session: orm.Session, study: Study) -> Recognised:
    """Of the study's guesses so far. `study` comes from `principals.study_for`."""
    said = list(guesses_of(session, study))
    items = {one.item for one in said if one.said}
    return _recognised(said, _agreements(load_verdicts(session, study), items, protocol_of(study), study.seed))


def _recognised(said: Sequence[Guess], agreement: tuple[str, str]) -> Recognised:
    named = [one for one in said if one.said]
    kinds = Counter(one.kind for one in said)
    right, topics = [float(one.is_right) for one in named], [one.topic for one in named]
    by_chance = [kinds[one.said] / len(said) for one in named]
    return Recognised(
        reports=len(said),
        named=len(named),
        named_items=len({one.item for one in named}),
        right=share_of(right, topics),
        above=paired_difference(right, by_chance, topics),
        agreement=agreement if named else ("", ""),
    )


def _agreements(verdicts: pd.DataFrame, items: set[str], protocol: Protocol, seed: int) -> tuple[str, str]:
    people = verdicts[verdicts["rater_kind"] == "human"]
    return _agreement(people, protocol, seed), _agreement(people[~people["item_id"].isin(items)], protocol, seed)


def _agreement(people: pd.DataFrame, protocol: Protocol, seed: int) -> str:
    """`agreement 0.71 [0.60, 0.80]`; empty where these labels have none."""
    if people.empty:
        return ""
    try:
        settings = settings_of(protocol, seed, people["criterion"].unique())
        report = calibrate(people, settings, only=asked_for_agreement())
    except CalibrationError:  # too few labels of any one kind: there is nothing to compare
        return ""
    statistic = headline(report)
    found = of_people(report, statistic) if statistic else None
    return "" if found is None or found.words == "undefined" else f"{title(statistic)} {found.words}"


def _interval(low: float, high: float) -> str:
    return "" if math.isnan(low) else f" [{100 * low:.0f}, {100 * high:.0f}]"
