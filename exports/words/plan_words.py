"""A study plan in words, for the terminal and for the planner's page."""

import math
from collections.abc import Mapping

from calibration.sizing.study_plan import Planned, StudyPlan
from exports.cells import DASH, number

DEFAULTS: dict[str, float] = {
    "agreement": 0.8, "icc": 0.1, "criteria": 39, "annotators": 1, "pairs_per_topic": 1, "correlation": 0.0,
    "true_gap": 0.0,
}  # fmt: skip
AIMS = {"interval": "agreement ±{}", "non_inferior": "gap below {}", "tell_apart": "judges {} apart"}
SAFE = "so many that 4 of 5 studies find an interval no wider; with the other number it is as wide on average"
SAFE_PILOT = "should topics vary as much as the pilot's upper 80 % limit, and 4 of 5 intervals are to be no wider"


def aim_words(aim: Planned) -> str:
    """Say what is to be shown, such as `gap below .05`."""
    return AIMS[aim.aim].format(short(aim.target))


def gives(aim: Planned) -> str:
    """Say what the planned topics give: a half-width, or a power."""
    return f"±{rounded(aim.reached, 3)}" if aim.aim == "interval" else percent(aim.reached)


def safe_words(planned: StudyPlan) -> str:
    """Say what the cautious number of topics is safe from."""
    return SAFE_PILOT if planned.pilot else SAFE


def rests_on(planned: StudyPlan, assumed: Mapping[str, float]) -> str:
    """The pilot or the assumptions behind the plan. `assumed`: as `DEFAULTS`."""
    pilot = planned.pilot
    if pilot is None:
        agreement, icc_assumed, gap = (short(assumed[name]) for name in ("agreement", "icc", "true_gap"))
        return (
            f"Assumed: agreement {agreement}, ICC {icc_assumed}, {planned.design.labels_per_topic:g} labels of a "
            f"topic, true gap {gap}. A pilot would tell; ICCs run from .02 to .5."
        )
    icc = pilot.icc
    interval = "" if math.isnan(icc.low) else f" ({rounded(icc.low, 2)} to {rounded(icc.high, 2)})"
    told = "not estimable" if math.isnan(icc.value) else f"{rounded(icc.value, 2)}{interval}"
    to_tell = f" To tell it from: {pilot.other}." if pilot.other else ""
    to_tell += " Another judge may need fewer topics: choose one." if pilot.tried > 1 else ""
    return (
        f"Pilot of {pilot.scores.pilot} topics: {pilot.judge} agrees in {percent(pilot.agreement.value)} of "
        f"{pilot.agreement.n:,} labels, ICC {told}, gap to a left-out annotator {rounded(pilot.gap.mean, 3)}."
        f"{to_tell}"
    )


DRAWN_HEADS = ("to show", "at random", "drawn", "judged", "saved", "hours", "hours saved", "USD in all", "USD saved")
DRAWN_NOTE = (
    "Drawn: in batches, with chances by what judges' answers say of topics (calipers pairs --design active, --for "
    "agreement, gap or difference). Saved: of the topics that it takes at random, as half of the pilot's topics "
    "foretells it of the other half; its interval takes these chances as given. Judged: topics that judges then "
    "answer; at random those alone that people label."
)


def drawn_rows(planned: StudyPlan) -> list[tuple[str, ...]]:
    """Each aim at random and by topics drawn where they say most, under `DRAWN_HEADS`; empty where that is unknown."""
    return [
        (
            aim_words(aim), f"{aim.needed.clusters:,}", f"{aim.drawn.topics:,}", f"{aim.drawn.of:,}",
            f"{percent(aim.drawn.saved)} [{rounded(100 * aim.drawn.low, 0)}, {rounded(100 * aim.drawn.high, 0)}]",
            rounded(aim.drawn.cost.hours, 1), rounded(aim.cost.hours - aim.drawn.cost.hours, 1),
            rounded(aim.drawn.cost.total, 2), rounded(aim.cost.total - aim.drawn.cost.total, 2),
        )
        for aim in planned.aims
        if aim.drawn is not None and aim.cost is not None
    ]  # fmt: skip


def why_topics(planned: StudyPlan) -> str:
    """Why more criteria do not replace topics."""
    if math.isnan(planned.icc):
        return "What more criteria would give is unknown: the pilot's ICC is not estimable."
    if planned.icc <= 0:
        return "At an ICC of 0 labels of one topic count as independent; check that with a pilot."
    limit = rounded(1 / planned.icc, 1)
    return (
        f"m labels of one topic are worth m / (1 + (m - 1) ICC), never more than 1 / ICC = {limit}:\n"
        "more criteria, annotators or pairs of the same topic soon add nothing, another topic does."
    )


def percent(value: float) -> str:
    """`80 %`, or a dash."""
    return rounded(100 * value, 0) if math.isnan(value) else f"{rounded(100 * value, 0)} %"


def rounded(value: float, digits: int) -> str:
    """`.05`, or a dash."""
    return DASH if math.isnan(value) else number(value, digits)


def short(value: float) -> str:
    """Write the value as it was given, without the leading zero."""
    text = f"{value:g}"
    return text[1:] if text.startswith("0.") else text
