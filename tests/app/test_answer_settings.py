"""A protocol's answers become settings of statistics: the order of each criterion's answers, their weights, aggregates."""

from __future__ import annotations

import pandas as pd
import pytest

from annotation.errors import AnnotationError
from annotation.protocol import parse_protocol, read_protocol
from app.results.reporting import settings_of
from calibration.calibrate import calibrate
from calibration.results import Aggregate
from tests.small_study import PROBES, PROTOCOL, RATING
from tests.topic_questions import BOTH

ORDERED = PROBES.replace("labels = [", "ordered = true\nlabels = [").replace(
    'load", weight = 0.0', 'load", weight = 0.0, on_scale = false'
)
OWN_SCALE = RATING.replace("{min = 0, max = 100, step = 0.5}", "{min = 1, max = 3, shown_times = 10}")


def test_ordered_answers_are_the_scale_of_every_criterion_and_those_off_it_stand_apart() -> None:
    settings = settings_of(parse_protocol(ORDERED))
    assert dict(settings.scales) == {"supported": ("full", "part")}
    assert settings.off_scale == ("source_unavailable",)
    assert dict(settings.answer_values) == {"full": 1.0, "part": 0.5, "source_unavailable": 0.0}


def test_answers_without_an_order_have_no_scale() -> None:
    settings = settings_of(parse_protocol(PROBES))
    assert not settings.scales
    assert not settings.off_scale


def test_a_rated_criterion_has_its_own_scale_and_factor_or_the_protocols() -> None:
    settings = settings_of(parse_protocol(OWN_SCALE))
    assert settings.scales["deep"] == ("1", "2", "3")
    assert settings.scales["clear"] == tuple(map(str, range(11)))
    assert dict(settings.score_times) == {"deep": 10.0}


def test_questions_that_came_with_the_topics_share_the_protocols_scale() -> None:
    stepped = parse_protocol(BOTH.replace("step = 0", "step = 1"))
    scales = settings_of(stepped, 0, ["insight_1", "insight_2"]).scales
    assert scales == dict.fromkeys(("insight_1", "insight_2"), tuple(map(str, range(11))))
    free = settings_of(parse_protocol(BOTH), 0, ["insight_1"])  # any number: no set of answers, but two ends
    assert (dict(free.scales), dict(free.scale_ends)) == ({}, {"insight_1": (0.0, 10.0)})


def test_a_choice_between_two_reports_has_none_of_these() -> None:
    settings = settings_of(parse_protocol(PROTOCOL))
    assert settings == settings_of(None)


def test_the_aggregates_of_a_shipped_protocol_arrive_as_they_stand() -> None:
    found = settings_of(read_protocol("drg_keypoints")[0]).aggregates
    assert found[0] == Aggregate("KPR", "share", ("Supported",))


def test_what_is_made_of_the_answers_cannot_be_set_as_a_statistic() -> None:
    with pytest.raises(AnnotationError, match=r"calibration.answer_values: is made of the protocol's answers"):
        settings_of(parse_protocol(PROBES.replace("[study]", "[calibration]\nanswer_values = {full = 2.0}\n[study]")))


@pytest.mark.parametrize(
    ("protocol", "labels", "statistics"),
    [
        (ORDERED, ("full", "part"), {"cohen_kappa_linear", "krippendorff_alpha_ordinal"}),
        (PROBES, ("full", "part"), {"cohen_kappa", "krippendorff_alpha_nominal"}),
        (RATING, ("3", "9"), {"krippendorff_alpha_interval", "krippendorff_alpha_ordinal", "pearson", "icc_2_1"}),
    ],
)
def test_each_scale_gets_the_statistics_that_know_it(
    protocol: str, labels: tuple[str, str], statistics: set[str]
) -> None:
    parsed = parse_protocol(protocol)
    rows = [
        {"item_id": f"i{item}", "rater_id": rater, "rater_kind": kind, "criterion": parsed.criterion[0].id,
         "label": labels[(item * 3 + place * (item % 5 == 0)) % 2], "cluster_id": f"t{item}", "system_a": "x"}
        for item in range(12)
        for place, (rater, kind) in enumerate((("ann1", "human"), ("ann2", "human"), ("mini", "judge")))
    ]  # fmt: skip
    found = {
        one.statistic
        for one in calibrate(pd.DataFrame(rows), settings_of(parsed, resamples=50)).estimates
        if one.value == one.value
    }
    assert statistics <= found
    if protocol == PROBES:
        assert not {"cohen_kappa_linear", "krippendorff_alpha_ordinal"} & found
