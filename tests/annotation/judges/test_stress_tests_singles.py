"""Stress tests of ratings, alone and two in one view, and of labelled statements."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from sqlalchemy import Engine

from annotation.errors import AnnotationError
from annotation.judges.running.run import run_judges
from annotation.judges.stress_tests.stress_plan import plan_stress_test
from annotation.judges.stress_tests.stressed_verdicts import compared, stressed_verdicts
from db.connect import reading
from tests.annotation.judges.judged_study import STUB_JUDGE, Stub, describe, judges, run_stub, study_row
from tests.annotation.judges.test_ratings_and_probes import answering, stored
from tests.small_study import PROBES, RATING, make_study
from tests.topic_questions import BOTH, add_views, bench_tree, bring_in


@pytest.mark.databases("sqlite")
@pytest.mark.parametrize("kind", ["padding", "paraphrase"])
def test_a_rating_is_compared_in_shares_of_its_own_scale(engine: Engine, tmp_path: Path, kind: str) -> None:
    study = make_study(engine, tmp_path, protocol=RATING)
    run_stub(engine, study, Stub(answering("score", lambda code, text: 4 if code == "clear" else 50)))
    before = stored(engine)
    (definition,) = judges(STUB_JUDGE)
    plan_stress_test(engine, study, definition, kind, 50, describe=describe)
    higher = Stub(answering("score", lambda code, text: 5 if code == "clear" else 60))
    run_judges(engine, study, [definition], transport=higher, stress=kind)
    assert stored(engine) == before
    with reading(engine) as session:
        scores = compared(stressed_verdicts(session, study_row(engine, study), definition, kind), kind)
    assert scores.what == "score"
    assert {round(x - y, 9) for x, y in zip(scores.stressed, scores.unstressed, strict=True)} == {0.1}


@pytest.mark.databases("sqlite")
def test_statements_of_one_call_stay_together_and_are_compared_one_by_one(engine: Engine, tmp_path: Path) -> None:
    study = make_study(engine, tmp_path, protocol=PROBES)
    toml = STUB_JUDGE + "items_per_call = 3\n"
    own, again = (Stub(answering("label", lambda code, text: "full")) for _ in range(2))
    run_stub(engine, study, own, toml)
    before = stored(engine)
    (definition,) = judges(toml)
    plan_stress_test(engine, study, definition, "paraphrase", 50, describe=describe)
    run_judges(engine, study, [definition], transport=again, stress="paraphrase")
    assert len(again.requests) == len(own.requests) < len(before)
    assert stored(engine) == before
    with reading(engine) as session:
        found = stressed_verdicts(session, study_row(engine, study), definition, "paraphrase")
    assert sorted({one.item_id for one in found}) == sorted({item for item, *_ in before})
    assert {(one.own, one.stressed) for one in found} == {("full", "full")}
    with pytest.raises(AnnotationError, match="changes a report that is judged"):
        plan_stress_test(engine, study, definition, "padding", 50, describe=describe)


@pytest.mark.parametrize("kind", ["padding", "markdown"])
def test_of_two_reports_rated_together_the_scores_of_the_changed_one_are_compared(
    engine: Engine, tmp_path: Path, kind: str
) -> None:
    """The judge gives whatever was padded or changed 2 more of 10, wherever it stands."""
    bring_in(engine, bench_tree(tmp_path, text="**{system}** On topic {topic}."), BOTH)
    twins = add_views(engine)
    known: set[str] = set()

    def reports(prompt: str) -> dict[str, str]:
        return dict(re.findall(r"^<report-(first|second)-\w+>\n(.*?)\n</report-", prompt, re.M | re.S))

    def fooled(code: str, prompt: str) -> float:
        return 5 if not known or reports(prompt)[code.rpartition(".")[2]] in known else 7

    own, stressed = Stub(answering("score", fooled)), Stub(answering("score", fooled))
    (definition,) = judges(STUB_JUDGE)
    run_stub(engine, 1, own, STUB_JUDGE)
    for request in own.requests:
        known.update(reports(request["messages"][1]["content"]).values())
    before = stored(engine)
    plan = plan_stress_test(engine, 1, definition, kind, 3, describe=describe)
    assert (plan.items, plan.calls, plan.left_out) == (3, 6, 0), "views, each in both orders"
    run_judges(engine, 1, [definition], transport=stressed, stress=kind)
    assert stored(engine) == before, "a stress test leaves no label"
    with reading(engine) as session:
        found = stressed_verdicts(session, study_row(engine, 1), definition, kind)
    assert len({one.item_id for one in found}) == 6, "both items of three views"
    assert {min(pair) for pair in twins.items()} >= {one.item_id for one in found if one.item_id % 2}
    scores = compared(found, kind)
    assert {round(x - y, 9) for x, y in zip(scores.stressed, scores.unstressed, strict=True)} == {0.2}
    changed = [one for one in found if one.stressed != one.own]
    assert len(scores.stressed) == len(changed) == len(found) // (1 if kind == "markdown" else 2)
