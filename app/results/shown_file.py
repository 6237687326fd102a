"""What `calipers show FILE` shows: a labels file, and what the evaluator's pages need of it, by name."""

import json
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd

from annotation.judges.reviewing.disagreements import WORDS, Given, OneDisagreement, compare_answers, in_order
from annotation.people.principals import Principal
from app.results.reporting import Calibrated
from app.results.sources import calibrated
from calibration.agreement.reliability_map import ReliabilityMap, reliability_map
from calibration.calibrate import NOBODY, POINTS, Waiting
from calibration.comparing.disagreement_kinds import DisagreementKinds, disagreement_kinds
from calibration.results import CalibrationReport
from calibration.sizing.pilot import Pilot, pilot_of
from calibration.table.verdicts import normalise
from calipers import label_files, tidy_files

KEPT = 64  # results
MANY_BYTES = 500_000


@dataclass(frozen=True)
class ShownFile:
    """A labels file and the settings it is calibrated with, as of `changed` (nanoseconds) and `size`."""

    path: str
    protocol: str = ""
    chosen: str = "{}"  # JSON, which can be a key
    changed: int = 0
    size: int = 0
    said: str = ""  # of how it is read: the options as they were typed, as JSON

    @property
    def how_read(self) -> tidy_files.Options:
        """What is said of how it is read, as `calipers calibrate` takes it. Raises as `options_of` does."""
        if not self.said:
            return tidy_files.NOTHING_SAID
        columns, words, people, read, labels_are, layout, mapping = json.loads(self.said)
        kept = Path(mapping) if mapping else None
        return tidy_files.options_of(columns, words, people, read, labels_are, layout, kept)

    @property
    def name(self) -> str:
        """The file's name, without its folder."""
        return Path(self.path).name

    @property
    def is_large(self) -> bool:
        """Whether a page shows what it has while the rest is computed: some ten thousand labels."""
        return self.size > MANY_BYTES

    @property
    def version(self) -> tuple[int, ...]:
        """Another one whenever the file is written anew."""
        return self.changed, self.size


Source = Principal | ShownFile  # whose labels a page is of: a study's, for whoever may see them, or a file's


def shown_file(path: str, protocol: str = "", chosen: str = "{}", said: str = "") -> ShownFile:
    """The file as it is now; `chosen`: settings by name, `said`: how it is read, both as JSON. Raises OSError."""
    now = Path(path).stat()
    return ShownFile(path, protocol, chosen, now.st_mtime_ns, now.st_size, said)


def of_file(what: str, file: ShownFile, *arguments: str, waiting: Waiting = NOBODY) -> Any:
    """The value, computed once for as long as the file stays what it is. Raises as `calibrated` does.

    `waiting`: who is told of a report while it is computed.
    """
    if waiting is not NOBODY and what == "report":
        return _calibrated(file, waiting).report
    return _kept(what, file, *arguments)


@lru_cache(maxsize=KEPT)
def _kept(what: str, file: ShownFile, *arguments: str) -> Any:
    return COMPUTED[what](file, *arguments)


@lru_cache(maxsize=2)
def calibrated_file(file: ShownFile) -> Calibrated:
    """Exactly what `calipers calibrate` makes of it."""
    return _calibrated(file)


@lru_cache(maxsize=2)
def _as_read(file: ShownFile) -> Calibrated:
    """Its labels and settings as `calipers calibrate` takes them; nothing is reckoned of them."""
    return _calibrated(file, only=())


def _calibrated(file: ShownFile, waiting: Waiting = NOBODY, only: Collection[str] | None = None) -> Calibrated:
    chosen = {name: label_files.as_tuples(value) for name, value in json.loads(file.chosen).items()}
    return calibrated(
        file.path, protocol=file.protocol, chosen=chosen, how_read=file.how_read, waiting=waiting, only=only
    )


def refuse_unshown(file: ShownFile) -> tuple[str, ...]:
    """How the file was read. Raises as `calibrated` does where it cannot be, after a small part of its work."""
    return _calibrated(file, only=POINTS).told


def one_of_file(file: ShownFile, judge: str, item_id: str, criterion: str) -> OneDisagreement:
    """All that was answered to one question; a file holds no texts, so that there are no panes."""
    verdicts = _verdicts(file)
    asked = verdicts[(verdicts["item_id"] == item_id) & (verdicts["criterion"] == criterion)]
    people = asked[(asked["rater_kind"] == "human") & (asked["run"] == 1)]
    first = asked.iloc[0]
    systems = " and ".join(filter(None, (first["system_a"], first["system_b"])))
    return OneDisagreement(
        topic=first["cluster_id"], category=first["category"], criterion=criterion, label=item_id, question=systems,
        probe="", panes=(), judge=_given(asked[asked["rater_id"] == judge]), people=_given(people),
    )  # fmt: skip


def _given(rows: pd.DataFrame) -> tuple[Given, ...]:
    # of two named systems A is no side: it keeps its name
    return tuple(
        Given(
            rater=row["rater_id"], kind=row["rater_kind"],
            choice=row["label"] if row["label"] in ("A", "B") else WORDS.get(row["label"], row["label"]),
            status=row["status"], swapped=row["presentation"] == "BA", pass_no=number, run=int(row["run"]),
            rationale=row["rationale"], quotes=(), lost_quotes=(),
        )
        for number, row in enumerate(rows.to_dict("records"), start=1)
    )  # fmt: skip


@lru_cache(maxsize=2)
def _verdicts(file: ShownFile) -> pd.DataFrame:
    frame, _ = normalise(_labels(file))
    return frame.astype({name: "str" for name in frame if isinstance(frame[name].dtype, pd.CategoricalDtype)})


@lru_cache(maxsize=2)
def _labels(file: ShownFile) -> pd.DataFrame:
    labels, _ = tidy_files.labels_of(Path(file.path), file.how_read, used_only=True)
    return labels


def _report(file: ShownFile) -> CalibrationReport:
    return calibrated_file(file).report


def _map(file: ShownFile, judge: str) -> ReliabilityMap:
    made = _as_read(file)
    return reliability_map(made.verdicts, judge, made.report.settings)


def _kinds(file: ShownFile, judge: str) -> DisagreementKinds:
    made = _as_read(file)
    return disagreement_kinds(made.verdicts, judge, made.report.settings)


def _pilot(file: ShownFile, judge: str) -> Pilot:
    made = _as_read(file)
    return pilot_of(made.labels, made.report.settings, judge)


def _judges(file: ShownFile) -> list[str]:
    verdicts = _verdicts(file)
    return sorted(verdicts["rater_id"][verdicts["rater_kind"] == "judge"].unique())


def _disagreements(file: ShownFile) -> pd.DataFrame:
    return in_order(compare_answers(_verdicts(file), scales=_as_read(file).report.settings.scales))


COMPUTED: dict[str, Callable[..., Any]] = {
    "report": _report, "map": _map, "pilot": _pilot, "judges": _judges, "disagreements": _disagreements,
    "kinds": _kinds,
}  # fmt: skip
