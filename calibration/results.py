"""What `calibrate` takes and returns: frozen, unrounded, and saying how each number was made.

`CalibrationSettings`, `Estimate` and `ReportWarning` are read from here too, by whoever holds a report.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from calibration.agreement import agreeing, detection, drawn_topics
from calibration.choosing.card import CardRow
from calibration.choosing.choice import Choice
from calibration.choosing.panel_sensitivity import PanelSensitivity
from calibration.comparing.alternative_annotator import AltTest
from calibration.comparing.effective_judges import EffectiveJudges
from calibration.confidence.confidence import ConfidenceReading
from calibration.delegating.alone import Alone
from calibration.delegating.cascade import Cascade
from calibration.estimates import Estimate, ReportWarning
from calibration.inference.compare import JudgePair
from calibration.settings import Aggregate, CalibrationSettings
from calibration.study.bias import Bias
from calibration.systems.aggregates import AggregateCounts
from calibration.systems.category_effects import CategoryAnova
from calibration.systems.placing import Ranking

__all__ = ["Aggregate", "CalibrationReport", "CalibrationSettings", "Estimate", "LabelCounts", "ReportWarning"]

Counts = Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, kw_only=True)
class LabelCounts:
    """What was counted in the table of verdicts. None where nobody counted it: in a report made by hand."""

    rows: int
    items: int
    clusters: int
    cluster: str  # what a cluster is: topic or item
    criteria: Mapping[str, str]  # name -> pairwise, rating or probe
    annotators: Sequence[str]
    judges: Sequence[str]
    systems: Sequence[str] | None = None
    aliases: Mapping[str, int] | None = None  # spelling that was mapped -> rows
    statuses: Counts | None = None  # rater -> status -> rows
    marginals: Counts | None = None  # rater -> label -> rows, of what is no rating
    levels_used: Counts | None = None  # rater -> rated criterion -> different scores
    derived: Counts | None = None  # rater -> verdicts made of scores, and ties among them
    joins: Counts | None = None  # judge -> rows of annotators with and without it, and its units without annotators
    verdicts_sha256: str
    currency: str | None = None  # of prices, where it is not USD
    ends: tuple[float, float] | None = None  # of the scale that all scores share, between which distances are taken
    drawn: drawn_topics.DrawnTopics | None = None  # of topics that people were given by an unequal draw

    @property
    def money(self) -> str:
        """The code of what `cost_usd` counts."""
        return self.currency or "USD"


@dataclass(frozen=True)
class CalibrationReport:
    """All estimates of one study, the input of every export. Same verdicts and settings give the same bytes.

    Sections that are None were not asked for, or nothing could be said; an empty one was looked for and holds nothing.
    """

    labels: LabelCounts
    settings: CalibrationSettings
    warnings: tuple[ReportWarning, ...]
    estimates: tuple[Estimate, ...]
    choice: Choice | None = None  # None where no agreement over all criteria exists to choose by
    biases: tuple[Bias, ...] = ()  # every bias looked for; `estimates` holds their estimates too
    card: tuple[CardRow, ...] = ()  # one row per judge and question, judges in the order of the candidates
    tables: tuple[agreeing.CountTable, ...] | None = None
    pass_fail: tuple[detection.PassFail, ...] | None = None
    panel_sensitivity: PanelSensitivity | None = None
    effective_judges: EffectiveJudges | None = None
    rankings: tuple[Ranking, ...] | None = None
    judge_pairs: tuple[JudgePair, ...] | None = None
    category_effects: Mapping[str, CategoryAnova] | None = None  # by system
    confidence: tuple[ConfidenceReading, ...] = ()
    alone: tuple[Alone, ...] | None = None  # None: no error was allowed, or there was nobody to compare
    alt_tests: tuple[AltTest, ...] | None = None
    aggregates: tuple[AggregateCounts, ...] = ()
    rated_together: tuple[str, ...] = ()  # judges that scored two reports of one view
    cascades: tuple[Cascade, ...] = ()
    plan_root: str = ""  # of the study's plan; "": a table of labels alone
    is_simulated: bool = False  # a study says so of its answers
