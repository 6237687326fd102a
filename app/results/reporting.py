"""From a labels file to its calibration report, and what a report of a file and of a study have in common.

Nothing here needs a database, so that `calipers calibrate FILE` loads none: a quarter of a short command's time.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from annotation.errors import AnnotationError
from app.results.looks import NO_LOOKS, LooksGiven, looks_of_file, refuse_kept, with_changes
from calibration.calibrate import NOBODY, Waiting
from calibration.errors import CalibrationError
from calibration.results import CalibrationReport, CalibrationSettings
from calibration.settings import Aggregate
from calibration.systems.claim_scores import Part, together
from calibration.table.unasked import without_unasked
from calibration.table.verdicts import known
from calipers import kept_reports, label_files, tidy_files
from plain.wording import Sentence, worded

if TYPE_CHECKING:
    from annotation.protocol import Protocol, Scale

UNKNOWN_SETTING = "CalibrationSettings.__init__() got an unexpected keyword argument"
NOT_SETTINGS = ("cluster", "after_reveal")  # of the protocol's `calibration` table: they decide what is counted


@dataclass(frozen=True)
class Calibrated:
    """A report beside what it was computed from. `study`: its name, "" for a bare labels file."""

    labels: pd.DataFrame  # with panels; cascades are worked out from them
    report: CalibrationReport
    verdicts: pd.DataFrame  # those of the report: cascades among them
    cascades: tuple[str, ...] = ()
    study: str = ""
    examples: Mapping[str, int] = field(default_factory=dict)  # judge -> labelled examples in its prompt
    version: tuple[int, ...] = ()  # `label_version` of what was read
    told: tuple[str, ...] = ()  # how a file of other columns or words was read
    to_give_away: tuple[str, ...] = ()  # the same without words of its columns, which may be people's own


@dataclass(frozen=True)
class Extent:
    """What a report covers: cascades that take part, of what nothing else is computed (`only`, as of `calibrate`; None:
    all), and studies of the same reports that are joined. `waiting`: who is told of it while it is computed.
    """

    cascades: Sequence[str] = ()
    only: Collection[str] | None = None
    others: Sequence[Part] = ()
    waiting: Waiting = NOBODY


WHOLE = Extent()


def settings_of(
    protocol: Protocol | None, seed: int = 0, criteria: Iterable[str] = (), **overrides: Any
) -> CalibrationSettings:
    """The protocol's choices, fixed before results are seen. Raises AnnotationError naming an unknown key.

    `criteria`: ids of the questions that came with the topics, where the protocol lists none.
    """
    written = {k: v for k, v in (protocol.calibration if protocol else {}).items() if k not in NOT_SETTINGS}
    chosen = {name: label_files.as_tuples(value) for name, value in written.items()}
    if {"at_least", "at_least_kappa"} & overrides.keys():  # one floor takes the place of another
        chosen = {name: value for name, value in chosen.items() if name not in ("at_least", "at_least_kappa")}
    answers = answer_settings(protocol, criteria) if protocol else {}
    refuse_kept(chosen)
    if own := sorted(answers.keys() & chosen.keys()):
        raise AnnotationError(
            "bad_protocol", "calibration.{own}: is made of the protocol's answers; remove it", own=own[0]
        )
    if protocol and protocol.answers.allow_tie and protocol.answers.allow_not_applicable:
        chosen.setdefault("not_applicable", "drop")
    try:
        return CalibrationSettings(**{"seed": seed, **answers, **chosen, **overrides})
    except (TypeError, CalibrationError) as error:
        unknown = worded("no setting is called")
        text = error.text if isinstance(error, CalibrationError) else str(error).replace(UNKNOWN_SETTING, unknown)
        raise AnnotationError("bad_protocol", "the calibration table, or an option: {text}", text=text) from None


def file_report(
    path: Path,
    protocol: str = "",
    looks: LooksGiven = NO_LOOKS,
    how_read: tidy_files.Options = tidy_files.NOTHING_SAID,
    extent: Extent = WHOLE,
    *,
    seed: int = 0,
    to_publish: bool = False,
    **overrides: Any,
) -> Calibrated:
    """Labels and calibration report of a labels file; arguments as of `sources.calibrated`. Raises as that does."""
    read_labels, told, to_give_away = tidy_files.labels_and_readings(path, how_read, used_only=True)
    labels, left_out = without_unasked(read_labels)
    told += left_out
    extent.waiting.read(told)
    labels = publishable(labels) if to_publish else labels
    refuse_unknown(overrides.get("families", {}), labels)
    label_files.refuse_unknown_criteria(overrides, read_labels)
    read = protocol_named(protocol)
    asked = labels["criterion"].unique() if "criterion" in labels else ()
    overrides = _each_criterion(read, labels, overrides)
    overrides |= looks_of_file(looks, labels, {**(read.calibration if read else {}), **overrides})
    labels, settings = together(labels, settings_of(read, seed, asked, **overrides), extent.others)
    with nullcontext() if told else label_files.every_column_asked(path):
        report, with_made = kept_reports.calibrated_or_kept(
            labels, settings, extent.cascades, extent.only, extent.waiting
        )
    return Calibrated(
        labels, with_changes(report, looks), with_made, tuple(extent.cascades), told=told, to_give_away=to_give_away
    )


def protocol_named(name: str) -> Protocol | None:
    """A protocol by its name or its file; None for no name. Raises AnnotationError as `read_protocol` does."""
    if not name:
        return None
    from annotation.protocol import read_protocol

    return read_protocol(name)[0]


def families_of(pairs: Sequence[str]) -> dict[str, str]:
    """`NAME=FAMILY` as a mapping. Raises `bad_option` on anything else."""
    parts = {pair: pair.rpartition("=") for pair in pairs}
    wrong = next((pair for pair, (name, _, family) in parts.items() if not name or not family), None)
    if wrong is not None:
        raise AnnotationError("bad_option", "--family {wrong!r} is not NAME=FAMILY, such as gpt-4=openai", wrong=wrong)
    return {name: family for name, _, family in parts.values()}


def refuse_unknown(families: Mapping[str, str], labels: pd.DataFrame) -> None:
    """A name that is nobody's would be passed over in silence. Judges alone are listed: systems may be masked."""
    if not families:
        return
    columns = [labels[name].dropna().unique() for name in ("rater_id", "system_a", "system_b") if name in labels]
    known = {str(name) for column in columns for name in column}
    wrong = next((name for name in families if name not in known), None)
    if wrong is not None and {"rater_id", "rater_kind"} <= {*labels.columns}:
        judges = ", ".join(sorted({*labels.loc[labels["rater_kind"] == "judge", "rater_id"].astype(str)}))
        raise AnnotationError(
            "bad_option", "--family: no judge or system is called {wrong!r}; the judges are {judges}", wrong=wrong,
            judges=judges,
        )  # fmt: skip


def _each_criterion(protocol: Protocol | None, labels: pd.DataFrame, overrides: dict[str, Any]) -> dict[str, Any]:
    if protocol and "per_criterion" in protocol.calibration:
        return overrides
    same_everywhere = (
        protocol is None or protocol.criteria_from == "protocol"
    )  # else an id is another question elsewhere
    return {"per_criterion": len(labels) <= label_files.MANY_ROWS and same_everywhere} | overrides


def answer_settings(protocol: Protocol, criteria: Iterable[str] = ()) -> dict[str, Any]:
    """Fields of `CalibrationSettings` by name. `criteria`: of the topics, where the protocol lists none."""
    from annotation.labels.entries import scale_points

    answers = protocol.answers
    asked = [one.id for one in protocol.criterion] or sorted({*map(str, criteria)})
    scales = _scales(protocol, asked)
    points = {name: scale_points(scale) for name, scale in scales.items()}
    if answers.ordered:
        points = dict.fromkeys(asked, tuple(label.id for label in answers.labels if label.on_scale))
    return {
        "scales": {name: found for name, found in points.items() if found},
        "scale_ends": {name: (scale.min, scale.max) for name, scale in scales.items() if not points[name]},
        "off_scale": tuple(label.id for label in answers.labels if answers.ordered and not label.on_scale),
        "aggregates": tuple(Aggregate(**one.model_dump()) for one in protocol.aggregate),
        "answer_values": {label.id: label.weight for label in answers.labels},
        "score_times": {name: scale.shown_times for name, scale in scales.items() if scale.shown_times != 1},
    }


def _scales(protocol: Protocol, asked: Iterable[str]) -> Mapping[str, Scale]:
    """The scale of each rated criterion; empty where nothing is rated."""
    from annotation.labels.entries import scale_of

    own = {one.id: one.scale.model_dump() for one in protocol.criterion if one.scale}
    found = {name: scale_of(protocol, own.get(name)) for name in asked}
    return {name: scale for name, scale in found.items() if scale}


def publishable(labels: pd.DataFrame) -> pd.DataFrame:
    """The columns that statistics read, and rationales without e-mail addresses, keys and folders.

    Other columns may hold anything, and stay at home. Raises AnnotationError `not_pseudonymous` where a name of a
    rater, item or system is an e-mail address, a key or a folder.
    """
    from annotation.leaks.redaction import Redactor, folders_of, secrets_of

    kept = known(labels) if "pass_no" not in labels else known(labels).assign(pass_no=labels["pass_no"])
    redact = Redactor(secrets=secrets_of(os.environ), folders=folders_of(os.environ))
    for name in [column for column in kept if column != "rationale"]:
        told = next((text for text in kept[name].unique() if redact(str(text)) != str(text)), None)
        if told is not None:
            what = Sentence("an e-mail address, a key or a folder of a machine")
            raise AnnotationError(
                "not_pseudonymous", "{name} {told!r} is or holds {what}; write a pseudonym instead", name=name,
                told=told, what=what,
            )  # fmt: skip
    return kept.assign(rationale=kept["rationale"].map(redact)) if "rationale" in kept else kept
