"""All biases of one study in one pass over its table: what the bias page and the card print."""

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from calibration.biases import answer_habits, preference_bias
from calibration.biases.position_bias import PositionBias, position_bias, score_order
from calibration.biases.rationale_overlap import RationaleOverlap, rationale_overlap
from calibration.settings import CalibrationSettings
from calibration.study import bias, joining


@dataclass(frozen=True)
class BiasAudit:
    """`position` and `repeats`: every judge, then `each_annotator`; `length`, `families`: every judge.

    `families` leaves out judges without a declared family; position, length and families are empty without pairs.
    `scores`: every judge that rated two reports in one view.
    """

    position: tuple[PositionBias, ...]
    length: tuple[preference_bias.LengthBias, ...]
    families: tuple[preference_bias.SelfPreference, ...]
    repeats: tuple[answer_habits.RepeatAgreement, ...]
    answers: tuple[answer_habits.AnswerRates, ...]
    rationales: tuple[RationaleOverlap, ...]
    scores: tuple[bias.Bias, ...] = ()

    @property
    def biases(self) -> Iterator[bias.Bias]:
        """Every bias of the audit, in a fixed order."""
        for position in self.position:
            yield from (position.first_rate, position.order_effect, position.flips, *position.by_systems)
        for length in self.length:
            yield from (length.longer_rate, length.people_longer_rate, length.difference)
            yield from (length.disagreements, length.given_vote, length.coefficient)
        for family in self.families:
            yield from (system.difference for system in family.systems)
            yield from (family.own, family.own_minus_others, family.given_vote)
        yield from (repeat.changed for repeat in self.repeats)
        for rates in self.answers:
            yield from (rates.tie_gap, rates.not_applicable_gap, rates.score_gap)
        for overlap in self.rationales:
            yield from (overlap.identical_bias, overlap.near_bias)
        yield from self.scores


def bias_audit(
    verdicts: pd.DataFrame | joining.Study, settings: CalibrationSettings | None = None, with_rationales: bool = True
) -> BiasAudit:
    """`verdicts` as for `calibrate`, or the study made of it. Raises `CalibrationError` on a bad table.

    `with_rationales`: whether rationales are compared, which takes as long as everything else.
    """
    settings = settings or CalibrationSettings()
    study = joining.study_of(verdicts, settings)
    frame = study.frame
    judges = sorted(frame["rater_id"][frame["rater_kind"] == "judge"].astype("str").unique())
    raters = [*judges, *([bias.EVERYONE] if (frame["rater_kind"] == "human").any() else [])]
    pairs = "pairwise" in study.kinds.values()
    paired = judges if pairs else []
    own = [judge for judge in paired if settings.families.get(judge)]
    return BiasAudit(
        tuple(position_bias(study, rater, settings) for rater in (raters if pairs else [])),
        tuple(preference_bias.length_bias(study, judge, settings=settings) for judge in paired),
        tuple(preference_bias.family_preference(study, judge, settings) for judge in own),
        tuple(answer_habits.repeat_agreement(study, rater, settings) for rater in raters),
        answer_habits.answer_rates(study, settings),
        rationale_overlap(study, settings) if with_rationales else (),
        tuple(one for judge in judges if (one := score_order(study, judge, settings)) is not None),
    )
