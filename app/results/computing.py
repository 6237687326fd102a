"""What an evaluator's pages need of all labels of a study or a file, by name.

As a program, one of them for the app that asks: it says the points of a report and how far it is, then the value.
"""

import logging
import os
import pickle
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
from sqlalchemy import Engine, orm

from annotation import errors, studies
from annotation.disputes.settled import Adjudication, adjudication, answers_of, settled
from annotation.judges.reviewing.disagreements import compared_answers, in_order
from annotation.leaks.blinding_audit import BlindingAudit
from annotation.participation import people_list, settling
from annotation.people.principals import Principal, study_for
from annotation.shown_texts import auditing, kept_measures
from annotation.verdicts import load_verdicts
from app.logs import tell_no_words, write_logs
from app.results import quality, shown_file
from app.results.next_topics import next_words
from app.results.reporting import Extent, settings_of
from app.results.study_reports import shown_report
from app.settings import settings
from calibration.agreement.reliability_map import ReliabilityMap, reliability_map
from calibration.biases.position_bias import position_bias
from calibration.calibrate import NOBODY, Waiting
from calibration.comparing.disagreement_kinds import DisagreementKinds, disagreement_kinds
from calibration.errors import CalibrationError
from calibration.inference.bootstrap import wilson_effective
from calibration.results import CalibrationReport, CalibrationSettings, Estimate
from calibration.sizing.pilot import Pilot, pilot_of
from calibration.study.answering import sided_with
from calibration.study.joining import study_of
from db.connect import open_database, reading, transaction
from exports.words.sentences import order_words


@dataclass(frozen=True)
class Orders:
    """One judge's `first_rate` and `swap_consistency`; None where it decided nothing, or saw one order only."""

    first_rate: Estimate | None = None
    swap_consistency: Estimate | None = None

    @property
    def words(self) -> str:
        """What is wrong with the judge's orders; empty where nothing is."""
        return order_words(self.first_rate, self.swap_consistency)


def judge_orders(session: orm.Session, principal: Principal) -> dict[str, Orders]:
    """Judge -> its orders, for judges with any label. Raises AnnotationError `forbidden`, CalibrationError."""
    study = study_for(session, principal, "evaluator")
    verdicts = load_verdicts(session, study)
    judged = verdicts[verdicts["rater_kind"] == "judge"]
    if judged.empty:
        return {}
    settings = settings_of(studies.protocol_of(study), study.seed)
    coded = study_of(judged, settings)
    biases = {judge: position_bias(coded, judge, settings) for judge in sorted(set(judged["rater_id"]))}
    return {
        judge: Orders(
            *(estimate if estimate.n else None for estimate in (bias.first_rate.estimate, bias.swap_consistency))
        )
        for judge, bias in biases.items()
    }


Refused = errors.AnnotationError | CalibrationError | errors.ImportingError
REFUSED = (errors.AnnotationError, CalibrationError, errors.ImportingError)
Refusal = tuple[str, tuple[Any, ...], dict[str, object]]  # who refused; what it was made of, and its fields
Told = tuple[Any, Refusal | None]


@dataclass(frozen=True)
class Step:
    """How far a report is."""

    done: int
    of: int


Said = CalibrationReport | Step | Told  # points, then how far it is, then the value


@dataclass(frozen=True)
class Task:
    """`what`: a name of `COMPUTED`. A principal is one who may see it; arguments are values that can be keys."""

    what: str
    source: shown_file.Source
    arguments: tuple[str, ...] = ()


def compute(engine: Engine | None, task: Task, waiting: Waiting = NOBODY) -> Any:
    """The value; `engine`: None for a file. Raises AnnotationError, CalibrationError, ImportingError.

    `waiting`: who is told of the points of a report, and how far it is.
    """
    if isinstance(task.source, shown_file.ShownFile):
        return shown_file.of_file(task.what, task.source, *task.arguments, waiting=waiting)
    assert engine is not None
    told = {"waiting": waiting} if task.what == "report" else {}
    return COMPUTED[task.what](engine, task.source, *task.arguments, **told)


def _report(engine: Engine, principal: Principal, waiting: Waiting = NOBODY) -> CalibrationReport:
    return shown_report(engine, principal, extent=Extent(waiting=waiting)).report


def _map(engine: Engine, principal: Principal, judge: str) -> ReliabilityMap:
    verdicts, settings = _labels(engine, principal)
    return reliability_map(verdicts, judge, settings)


def _kinds(engine: Engine, principal: Principal, judge: str) -> DisagreementKinds:
    verdicts, settings = _labels(engine, principal)
    return disagreement_kinds(verdicts, judge, settings)


def _judges(engine: Engine, principal: Principal) -> list[str]:
    verdicts, _ = _labels(engine, principal)
    return sorted(verdicts["rater_id"][verdicts["rater_kind"] == "judge"].astype(str).unique())


def _pilot(engine: Engine, principal: Principal, judge: str) -> Pilot:
    verdicts, settings = _labels(engine, principal)
    if verdicts.empty:
        raise errors.AnnotationError("no_labels", "nobody has handed in work in this study yet; plan from assumptions")
    return pilot_of(verdicts, settings, judge)


def _disputes(session: orm.Session, principal: Principal) -> tuple[Adjudication, list[Estimate]]:
    """Return the state of adjudication without its queue, and with whom the adjudicator sided."""
    study = study_for(session, principal, "evaluator")
    disputes, decided = adjudication(session, principal), answers_of(settled(session, study))
    return replace(disputes, queue=()), list(sided_with(decided, settings_of(studies.protocol_of(study), study.seed)))


def _audit(engine: Engine, principal: Principal) -> BlindingAudit:
    """What the page shows of it, which takes half of the whole; kept with the texts it is of."""
    with reading(engine) as session:
        found = auditing.audit_study(session, principal, interval=wilson_effective, whole=False)
    with transaction(engine) as session:
        kept_measures.keep_measure(session, study_for(session, principal, "evaluator"), found)
    return found


def _labels(engine: Engine, principal: Principal) -> tuple[pd.DataFrame, CalibrationSettings]:
    with reading(engine) as session:
        study = study_for(session, principal, "evaluator")
        return load_verdicts(session, study), settings_of(studies.protocol_of(study), study.seed)


def _with_session(asked: Callable[..., Any]) -> Callable[..., Any]:
    def in_session(engine: Engine, principal: Principal) -> Any:
        with reading(engine) as session:
            return asked(session, principal)

    return in_session


COMPUTED: dict[str, Callable[..., Any]] = {
    "report": _report,
    "quality": _with_session(quality.study_quality),
    "disagreements": _with_session(lambda session, principal: in_order(compared_answers(session, principal))),
    "orders": _with_session(judge_orders),
    "audit": _audit,
    "active": _with_session(
        lambda session, principal: people_list.active_seconds_by_rater(session, study_for(session, principal, "admin"))
    ),
    "crowd": _with_session(settling.crowd_people),
    "disputes": _with_session(_disputes),
    "map": _map,
    "kinds": _kinds,
    "judges": _judges,
    "pilot": _pilot,
    "next": _with_session(next_words),
}


def main() -> None:
    """Read where and what from standard input, write what is said of it to standard output, as pickles: last the value
    or the error.
    """
    os.nice(10)  # whoever labels goes first
    write_logs(settings().log_level)
    tell_no_words()
    # what nobody expected is told in the server's log, as there: by type and place
    sys.excepthook = lambda *fault: logging.getLogger("calipers").error("not computed", exc_info=fault)
    answer = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no part of the answer

    def say(said: Said) -> None:
        pickle.dump(said, answer, protocol=pickle.HIGHEST_PROTOCOL)
        answer.flush()

    url, task = pickle.load(sys.stdin.buffer)
    with answer:
        say(tell(url, task, Waiting(say, lambda done, of: say(Step(done, of)))))


def tell(url: str, task: Task, waiting: Waiting = NOBODY) -> Told:
    """The value, or what `hear` makes the refusal of again; `url`: "" for a file."""
    try:
        return compute(open_database(url) if url else None, task, waiting), None
    except errors.ImportingError as refused:
        return None, ("importing", (refused.problems,), {})
    except (errors.AnnotationError, CalibrationError) as refused:
        kind = "calibration" if type(refused) is CalibrationError else "annotation"
        return None, (kind, (refused.code, refused.sentence), refused.fields)


def hear(told: Told) -> tuple[Any, Refused | None]:
    """What `tell` was about: a value, or the refusal for the page to raise."""
    value, refusal = told
    if refusal is None:
        return value, None
    kind, said, fields = refusal
    made: Any = {"importing": errors.ImportingError, "calibration": CalibrationError}.get(kind, errors.AnnotationError)
    return None, made(*said, **fields)


if __name__ == "__main__":
    from app.results import computing

    computing.main()
