"""A study plan in words, for the terminal and for the planner's page."""

import math
from collections.abc import Mapping

from calibration.sizing.study_plan import Planned, StudyPlan
from exports.cells import DASH, number
from plain.wording import worded

DEFAULTS: dict[str, float] = {
    "agreement": 0.8, "icc": 0.1, "criteria": 39, "annotators": 1, "pairs_per_topic": 1, "correlation": 0.0,
    "true_gap": 0.0,
}  # fmt: skip
AIMS = {"interval": "agreement ±{}", "non_inferior": "gap below {}", "tell_apart": "judges {} apart"}
SAFE = "so many that 4 of 5 studies find an interval no wider; with the other number it is as wide on average"
SAFE_PILOT = "should topics vary as much as the pilot's upper 80 % limit, and 4 of 5 intervals are to be no wider"


def aim_words(aim: Planned) -> str:
    """Say what is to be shown, such as `gap below .05`."""
    return worded(AIMS[aim.aim]).format(short(aim.target))


def gives(aim: Planned) -> str:
    """Say what the planned topics give: a half-width, or a power."""
    return f"±{rounded(aim.reached, 3)}" if aim.aim == "interval" else percent(aim.reached)


def safe_words(planned: StudyPlan) -> str:
    """Say what the cautious number of topics is safe from."""
    return worded(SAFE_PILOT) if planned.pilot else worded(SAFE)


def rests_on(planned: StudyPlan, assumed: Mapping[str, float]) -> str:
    """The pilot or the assumptions behind the plan. `assumed`: as `DEFAULTS`."""
    pilot = planned.pilot
    if pilot is None:
        agreement, icc_assumed, gap = (short(assumed[name]) for name in ("agreement", "icc", "true_gap"))
        return worded(
            "Assumed: agreement {agreement}, ICC {icc_assumed}, {labels_per_topic:g} labels of a topic, true gap "
            "{gap}. A pilot would tell; ICCs run from .02 to .5.",
            agreement=agreement, icc_assumed=icc_assumed, labels_per_topic=planned.design.labels_per_topic, gap=gap,
        )  # fmt: skip
    icc = pilot.icc
    interval = worded(" ({low} to {high})", low=rounded(icc.low, 2), high=rounded(icc.high, 2))
    interval = "" if math.isnan(icc.low) else interval
    told = worded("not estimable") if math.isnan(icc.value) else f"{rounded(icc.value, 2)}{interval}"
    to_tell = worded(" To tell it from: {other}.", other=pilot.other) if pilot.other else ""
    to_tell += worded(" Another judge may need fewer topics: choose one.") if pilot.tried > 1 else ""
    return worded(
        "Pilot of {pilot} topics: {judge} agrees in {value} of {n:,} labels, ICC {told}, gap to a left-out "
        "annotator {mean}{near}.{to_tell}",
        pilot=pilot.scores.pilot, judge=pilot.judge, value=percent(pilot.agreement.value), n=pilot.agreement.n,
        told=told, mean=rounded(pilot.gap.mean, 3), to_tell=to_tell,
        near=worded(" by the distance of scores") if pilot.is_by_distance else "",
    )  # fmt: skip


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
        return worded("What more criteria would give is unknown: the pilot's ICC is not estimable.")
    if planned.icc <= 0:
        return worded("At an ICC of 0 labels of one topic count as independent; check that with a pilot.")
    limit = rounded(1 / planned.icc, 1)
    return worded(
        "m labels of one topic are worth m / (1 + (m - 1) ICC), never more than 1 / ICC = {limit}:\nmore "
        "criteria, annotators or pairs of the same topic soon add nothing, another topic does.",
        limit=limit,
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
