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
from calibration.results import Estimate
from db.tables import Study
from exports.tables import PEOPLE, asked_for_agreement
from exports.words.grammar import said
from exports.words.methods_numbers import headline, pooled, title
from plain.wording import several, worded


@dataclass(frozen=True)
class Recognised:
    """What people said of reports. Shares are 0 to 1, their intervals over topics.

    `right`: of the reports whose kind was named, how many were named right. `above`: that less what naming the same
    kinds at random would reach: a kind's share of all reports that were asked about. `agreement`: of people with each
    other on all items, and without those in which somebody named a kind; None where it cannot be computed.
    """

    reports: int
    named: int
    named_items: int
    right: Share
    above: Difference
    agreement: tuple[Estimate | None, Estimate | None]

    @property
    def sentence(self) -> str:
        """For the audit and a methods section, in the language that is set; empty where nobody said anything."""
        if not self.reports:
            return ""
        told = worded(
            "Asked after each item whether they recognised which kind of writer a report has, annotators answered for "
            "{reports} and named a kind for {named:,}", reports=several(self.reports, "report"), named=self.named,
        )  # fmt: skip
        if self.named:
            right = f"{percent(self.right.value)}{_interval(self.right.low, self.right.high)}"
            beyond, interval = 100 * self.above.value, _interval(self.above.low, self.above.high)
            told += worded(
                ", {right} of these rightly, {beyond:+.0f} points{interval} beside naming the same kinds at random",
                right=right, beyond=beyond, interval=interval,
            )  # fmt: skip
        whole, without = self.agreement
        if whole and without:
            told += worded(
                "; {whole} among annotators on all items, and {without} without the {items} in which somebody named "
                "one",
                whole=f"{title(whole.statistic)} {said(whole)}", without=f"{title(without.statistic)} {said(without)}",
                items=several(self.named_items, "item"),
            )  # fmt: skip
        return worded("{lead}.", lead=told)


def recognised(session: orm.Session, study: Study) -> Recognised:
    """Of the study's guesses so far. `study` comes from `principals.study_for`."""
    guesses = list(guesses_of(session, study))
    items = {one.item for one in guesses if one.said}
    return _recognised(guesses, _agreements(load_verdicts(session, study), items, protocol_of(study), study.seed))


def _recognised(guesses: Sequence[Guess], agreement: tuple[Estimate | None, Estimate | None]) -> Recognised:
    named = [one for one in guesses if one.said]
    kinds = Counter(one.kind for one in guesses)
    right, topics = [float(one.is_right) for one in named], [one.topic for one in named]
    by_chance = [kinds[one.said] / len(guesses) for one in named]
    return Recognised(
        reports=len(guesses),
        named=len(named),
        named_items=len({one.item for one in named}),
        right=share_of(right, topics),
        above=paired_difference(right, by_chance, topics),
        agreement=agreement if named else (None, None),
    )


def _agreements(
    verdicts: pd.DataFrame, items: set[str], protocol: Protocol, seed: int
) -> tuple[Estimate | None, Estimate | None]:
    people = verdicts[verdicts["rater_kind"] == "human"]
    return _agreement(people, protocol, seed), _agreement(people[~people["item_id"].isin(items)], protocol, seed)


def _agreement(people: pd.DataFrame, protocol: Protocol, seed: int) -> Estimate | None:
    """Of people with each other; None where these labels have none."""
    if people.empty:
        return None
    try:
        settings = settings_of(protocol, seed, people["criterion"].unique())
        report = calibrate(people, settings, only=asked_for_agreement())
    except CalibrationError:  # too few labels of any one kind: there is nothing to compare
        return None
    found = pooled(report, headline(report), "others").get(PEOPLE)
    return None if found is None or math.isnan(found.value) else found


def _interval(low: float, high: float) -> str:
    return "" if math.isnan(low) else f" [{100 * low:.0f}, {100 * high:.0f}]"
