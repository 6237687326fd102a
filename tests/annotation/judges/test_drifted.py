"""Runs are told apart by what made them, and two are compared on the same people's labels or not at all."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, select

from annotation.errors import AnnotationError
from annotation.judges.replies.outcomes import Reply
from annotation.judges.reviewing.drift import ComparedRuns, Run, compare_runs, runs_of
from annotation.labelling import save, submit
from annotation.studies import init_study
from annotation.work.claiming import take
from annotation.work.page import assignment_page
from calibration.comparing.judge_pairs import AgreementDrift, drift
from db.connect import reading, transaction
from db.tables import Report, Study
from tests.annotation.judges.judged_study import STUB_JUDGE, Stub, judgments, replied, run_stub
from tests.annotation.judges.test_ratings_and_probes import answering
from tests.disputed_study import CHOICES, annotate, judge, make_disputed
from tests.small_study import PROBES, RATING, a_person, answer
from tests.small_study import make_study as small_study

pytestmark = pytest.mark.databases("sqlite")  # but where a test says otherwise

MINI = f"{STUB_JUDGE}items_per_call = 2\n"


@pytest.fixture
def study(engine: Engine, tmp_path: Path) -> int:
    """Two people, two items, two criteria: eight labels. No judge has run."""
    return make_disputed(engine, tmp_path / "reports", judged=False)


def says(winner: str, model: str | None = "x-2026-01") -> Stub:
    """A model that always names the same report, `first` or `second`, in the first order shown it."""

    def say(text: str, number: int) -> Reply:
        return replied(judgments(text, winner), text, model=model)

    return Stub(say)


def runs(engine: Engine, study: int) -> tuple[Run, ...]:
    with reading(engine) as session:
        return runs_of(session, session.get_one(Study, study))


def compared(engine: Engine, study: int, before: str, after: str, **how: Any) -> ComparedRuns:
    with reading(engine) as session:
        return compare_runs(session, session.get_one(Study, study), before, after, **how)


def measured(found: ComparedRuns) -> AgreementDrift:
    return drift(found.verdicts, found.before.name, found.after.name)


def refused(engine: Engine, study: int, before: str, after: str, **how: Any) -> AnnotationError:
    with pytest.raises(AnnotationError) as error:
        compared(engine, study, before, after, **how)
    return error.value


def test_other_parameters_are_another_run_and_named(engine: Engine, study: int) -> None:
    judge(engine, study, "mini", says("first"), more="params = {temperature = 0}")
    judge(engine, study, "mini", says("tie"), more="params = {temperature = 1}")
    assert [(run.name, len(run.calls), run.repeat_no) for run in runs(engine, study)] == [
        ("mini@1", 4, 1),
        ("mini@2", 4, 1),
    ]
    found = compared(engine, study, "mini@1", "mini@2")
    assert (found.drift.cause, found.drift.changed) == ("judge changed", ("params",))
    assert found.before.identity.provider == "openai"
    # Ada and Ben on two items: left, right | left, tie. Always-first agrees with half of each winner, tie with the tie.
    agreement = measured(found)
    assert (found.labels, agreement.labels, agreement.difference.n) == (8, 8, 8)
    assert (agreement.before, agreement.after) == (3 / 8, 2 / 8)
    error = refused(engine, study, "mini", "mini@2")
    assert (error.code, "mini@1, mini@2" in error.text) == ("several_runs", True)


@pytest.mark.databases("sqlite", "postgres")
def test_a_new_snapshot_under_the_same_name_is_seen_in_the_replies(engine: Engine, study: int) -> None:
    judge(engine, study, "mini", says("first"))
    judge(engine, study, "mini", says("second", "x-2026-06"), more="repeats = 2")
    found = compared(engine, study, "mini@1", "mini@2")
    assert (found.drift.cause, found.drift.changed) == ("judge changed", ("snapshot",))
    assert [run.repeat_no for run in (found.before, found.after)] == [1, 2]


def test_repeats_of_one_judge_are_its_noise_and_taken_together_by_its_name(engine: Engine, study: int) -> None:
    judge(engine, study, "mini", says("first"), more="repeats = 2")
    judge(engine, study, "other", says("tie"))
    noise = compared(engine, study, "mini@1", "mini@2")
    assert (noise.drift.cause, noise.drift.changed) == ("cannot tell", ())
    two = compared(engine, study, "mini", "other")
    assert (two.drift.cause, two.drift.changed) == ("judge changed", ("model",))
    assert len(two.before.calls) == 8
    assert measured(two).before == 3 / 8
    assert refused(engine, study, "mini", "mini@1").code == "unknown_run"
    assert "mini@1, mini@2, other@1" in refused(engine, study, "mini", "nobody").text


def test_a_model_that_says_nothing_of_itself_cannot_be_told_from_another(engine: Engine, study: int) -> None:
    judge(engine, study, "mini", says("first", None))
    judge(engine, study, "mini", says("second", None), more="repeats = 2")
    assert compared(engine, study, "mini@1", "mini@2").drift.cause == "cannot tell"


def test_calls_without_any_reply_stay_with_the_run(engine: Engine, study: int) -> None:
    def say(text: str, number: int) -> Reply:
        lost = replied("", outcome="bad_request", http_status=400, model=None)
        return lost if number == 1 else replied(judgments(text, "first"), model="x-2026-01")

    judge(engine, study, "mini", Stub(say), more="concurrency = 1")
    assert [len(run.calls) for run in runs(engine, study)] == [4]


def test_the_protocol_in_force_at_each_call_is_known_from_the_audit_trail(engine: Engine, study: int) -> None:
    judge(engine, study, "mini", says("first"))
    old = change_protocol(engine, study, "Read **both**.", "Read **both** twice.")
    judge(engine, study, "mini", says("first"), more="repeats = 2")
    found = compared(engine, study, "mini@1", "mini@2")
    assert (found.drift.cause, found.drift.changed) == ("judge changed", ("protocol_sha256",))
    assert found.before.identity.protocol_sha256 == old


def test_what_was_said_to_other_words_is_compared_with_nothing(engine: Engine, study: int) -> None:
    judge(engine, study, "mini", says("first"))
    change_protocol(engine, study, "Which goes deeper?", "Which one goes deeper?")
    judge(engine, study, "mini", says("first"), more="repeats = 2")
    # one of the criteria was asked anew, and nobody has answered it yet: the runs share the other one's four labels
    names = [run.name for run in runs(engine, study)]
    found = compared(engine, study, names[0], names[-1])
    assert (found.labels, "protocol_sha256" in found.drift.changed) == (4, True)


def test_a_run_that_is_not_finished_is_held_against_fewer_labels_and_refused(engine: Engine, study: int) -> None:
    judge(engine, study, "mini", says("first"))
    judge(engine, study, "slow", says("first"), limit=1)
    error = refused(engine, study, "mini", "slow")
    assert error.code == "labels_differ"
    assert "mini on 8 and slow on 4 labels" in error.text
    found = compared(engine, study, "mini", "slow", common=True)
    assert (found.labels, measured(found).difference.n, found.drift.changed) == (4, 4, ("model",))


def test_replaced_reports_before_the_same_judge_are_named(engine: Engine, tmp_path: Path) -> None:
    study = make_disputed(engine, tmp_path / "reports", judged=False, people=False)
    judge(engine, study, "mini", says("first"))
    with transaction(engine) as session:
        for report in session.scalars(select(Report)):
            report.shown_text += "\nOne sentence more.\n"
            report.shown_sha256 = hashlib.sha256(report.shown_text.encode()).hexdigest()
    judge(engine, study, "mini", says("second"))
    assert [(run.name, run.texts_stand) for run in runs(engine, study)] == [("mini@1", False), ("mini@2", True)]
    assert refused(engine, study, "mini@1", "mini@2").code == "no_labels"
    with transaction(engine) as session:
        annotate(session, a_person(session, study), CHOICES["Ada"])
    found = compared(engine, study, "mini@1", "mini@2")
    assert (found.drift.cause, found.drift.changed) == ("system changed", ("reports",))
    assert measured(found).difference.n == found.labels == 4


@pytest.mark.parametrize(
    ("protocol", "field", "answers", "agreement"),
    [
        # Ada gives 7 and 7.5 to each report; then 3 and 7.5, so one of two still agrees
        (RATING, "score", {"clear": ("7", "7", "3"), "deep": ("7.5", 7.5, 7.5)}, (1.0, 0.5)),
        (PROBES, "label", {"supported": ("full", "full", "part")}, (1.0, 0.0)),
    ],
    ids=["rating", "probe"],
)
def test_scores_and_probe_answers_are_compared_alike(
    engine: Engine, tmp_path: Path, protocol: str, field: str, answers: dict[str, Any], agreement: tuple[float, float]
) -> None:
    study = small_study(engine, tmp_path / "reports", protocol=protocol)
    with transaction(engine) as session:
        ada = a_person(session, study)
        while (taken := take(session, ada)) is not None:
            page = assignment_page(session, ada, taken.aid)
            codes = [one["id"] for one in page["criteria"]]
            acks = save(session, ada, [answer(page, code, answers[code][0]) for code in codes]).acks
            revs = {code: ack["rev"] for code, ack in zip(codes, acks, strict=True)}
            submit(session, ada, taken.aid, page["page"], f"{taken.aid}-submit", revs)
    definitions = MINI, MINI + "params = {temperature = 1}\n"
    for number, toml in enumerate(definitions, 1):
        stub = Stub(answering(field, lambda code, _, n=number: answers[code.partition(".")[0]][n]))
        run_stub(engine, study, stub, toml)
    found = compared(engine, study, "mini@1", "mini@2")
    assert (found.drift.cause, found.drift.changed) == ("judge changed", ("params",))
    said = measured(found)
    assert (said.before, said.after) == agreement
    assert said.difference.n == said.labels == found.labels > 0


@pytest.mark.databases("sqlite", "postgres")
def test_before_any_judge_has_run_it_says_so(engine: Engine, study: int) -> None:
    assert runs(engine, study) == ()
    assert "run a judge first" in refused(engine, study, "theirs", "mini").text


def change_protocol(engine: Engine, study: int, old: str, new: str) -> str:
    """The sha256 that the protocol had."""
    with transaction(engine) as session:
        row = session.get_one(Study, study)
        before = row.protocol_sha256
        init_study(session, row.name, row.protocol_text.replace(old, new), row.seed)
    return before
