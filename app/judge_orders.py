"""How judges take the order of two reports: the two statistics of calibration, beside the counts of a run."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy.orm import Session

from annotation.people.principals import Principal, study_for
from annotation.studies import protocol_of
from annotation.verdicts import load_verdicts
from app.reporting import settings_of
from calibration.biases.position_bias import position_bias
from calibration.engine.joining import study_of
from calibration.results import Estimate
from exports.words.order_words import order_words


@dataclass(frozen=True)
class Orders:
    """One judge's `first_rate` and `swap_consistency`; None where it decided nothing, or saw one order only."""

    first_rate: Estimate | None = None
    swap_consistency: Estimate | None = None

    @property
    def words(self) -> str:
        """What is wrong with them, or nothing."""
        return order_words(self.first_rate, self.swap_consistency)


def judge_orders(session: Session, principal: Principal) -> dict[str, Orders]:
    """Judge -> its orders, for judges with any label. Raises AnnotationError `forbidden`, CalibrationError."""
    study = study_for(session, principal, "evaluator")
    verdicts = load_verdicts(session, study)
    judged = verdicts[verdicts["rater_kind"] == "judge"]
    if judged.empty:
        return {}
    settings = settings_of(protocol_of(study), study.seed)
    coded = study_of(judged, settings)
    found = {judge: position_bias(coded, judge, settings) for judge in sorted(set(judged["rater_id"]))}
    return {
        judge: Orders(*(one if one.n else None for one in (bias.first_rate.estimate, bias.swap_consistency)))
        for judge, bias in found.items()
    }
