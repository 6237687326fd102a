"""How people of a running study work and agree so far, and what that is called on page and command line."""

import logging
import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import pandas as pd
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from annotation.participation import settling
from annotation.people.principals import Principal, study_for
from annotation.studies import protocol_of
from annotation.verdicts import load_verdicts
from annotation.work.history import work_log
from app.results.reporting import settings_of
from calibration.errors import CalibrationError
from calibration.people.annotator_quality import AnnotatorQuality, annotator_quality
from calibration.people.annotator_signals import Signal
from calibration.remarks import words_of
from calibration.results import Estimate
from calibration.sizing.agreement_so_far import AgreementSoFar, agreement_so_far, why_unknown
from db.connect import reading, transaction
from exports.as_json import plain
from exports.cells import shown
from plain.wording import several, worded, worded_of

UNKNOWN = "how they work cannot be computed now; see calipers quality"
RESAMPLES = 1_999  # of a page that is drawn anew every half minute; a report has five times as many


@dataclass(frozen=True)
class StudyQuality:
    """What is known so far. `cluster`: what is counted and resampled: pair, item or topic."""

    study: str
    level: float
    cluster: str
    annotators: tuple[AnnotatorQuality, ...]
    agreement: AgreementSoFar


def study_quality(session: Session, principal: Principal, resamples: int = RESAMPLES) -> StudyQuality:
    """Of people's work handed in; systems are not looked at. For evaluators and admins. Raises AnnotationError."""
    study = study_for(session, principal, "evaluator")
    settings = settings_of(protocol_of(study), study.seed, resamples=resamples)
    verdicts, log = load_verdicts(session, study), work_log(session, study)
    verdicts = verdicts[verdicts["rater_kind"] == "human"].drop(columns=["system_a", "system_b"])
    if protocol_of(study).task_type == "pairwise_choice":
        # whose reports they are is not asked here, only that there are two
        verdicts = verdicts.assign(system_a="A", system_b="B")
    return StudyQuality(
        study.name,
        settings.level,
        _word(verdicts),
        annotator_quality(verdicts, log, settings),
        agreement_so_far(verdicts, order_of_clusters(verdicts, log), settings),
    )


def _word(verdicts: pd.DataFrame) -> str:
    """What to count in: pairs (items, where nothing is paired) if each has a cluster of its own, else topics."""
    alone = len(verdicts) and verdicts["item_id"].nunique() == verdicts["cluster_id"].nunique()
    return ("pair" if "system_b" in verdicts else "item") if alone else "topic"


def order_of_clusters(verdicts: pd.DataFrame, log: pd.DataFrame) -> list[str]:
    """cluster_ids by the moment at which an item of theirs was handed in by a second annotator."""
    own = log[(log["purpose"] == "label") & log["item_id"].isin(verdicts["item_id"])]
    second = own[own.groupby("item_id").cumcount() == 1]
    cluster = dict(zip(verdicts["item_id"], verdicts["cluster_id"], strict=True))
    return list(dict.fromkeys(second["item_id"].map(cluster)))


def settled(
    engine: Engine, whose: Callable[[Session], Principal], platform: str, listed: Sequence[settling.Submission],
    reward: Decimal, *, instead: int | None = None, dry_run: bool = False, accepted: Collection[str] = (),
) -> settling.Settlement:  # fmt: skip
    """What a platform is to pay, as `settling.settle`; whoever stands out here is to be looked at too.

    `whose`: who asks, looked up at that moment. Whoever is owed is paid also where how people work cannot be computed,
    which is said then. Raises AnnotationError.
    """
    try:
        with reading(engine) as session:
            stands_out = [*flagged(study_quality(session, whose(session)))]
    except (CalibrationError, ArithmeticError) as error:
        logging.getLogger("calipers").warning("signals failed", extra={"error": type(error).__name__})
        stands_out = [settling.ToLookAt("everybody", UNKNOWN)]
    with (reading if dry_run else transaction)(engine) as session:
        found = settling.settle(
            session, whose(session), platform, listed, reward, instead=instead, dry_run=dry_run, accepted=accepted
        )
    return replace(found, look=(*found.look, *stands_out))


def flagged(measured: StudyQuality) -> Iterator[settling.ToLookAt]:
    """Whoever `calipers quality` names, which says how often it names somebody by chance; English, for a file."""
    for one in measured.annotators:
        if one.flags:
            why = ", ".join(TITLES[flag.name] for flag in one.flags)
            yield settling.ToLookAt(one.rater, f"{why}; see calipers quality {measured.study}")


def as_json(found: StudyQuality, half_width: float) -> dict[str, Any]:
    """Plain values for a program. `half_width`: of the interval that more pairs are planned for."""
    agreement = found.agreement
    needed, cautious = agreement.needed(half_width), agreement.cautious(half_width)
    return {
        "format": "calipers-quality/1",
        "study": found.study,
        "annotators": [{**plain(one), "flags": [flag.name for flag in one.flags]} for one in found.annotators],
        "agreement": {
            "overall": [plain(one) for one in agreement.overall],
            "ceiling": None if agreement.ceiling is None else plain(agreement.ceiling),
            "criteria": [{"agreement": plain(one), "ceiling": plain(other)} for one, other in agreement.criteria],
            "steps": [plain(one) for one in agreement.steps],
        },
        "needed": {
            "half_width": half_width, "in": found.cluster, "clusters": needed.clusters, "more": needed.more,
            "clusters_to_be_safe": cautious.clusters, "note": needed.note,
        },
    }  # fmt: skip


TITLES = {
    "agreement": "disagrees with the others",
    "drift": "agrees less than at first",
    "side": "prefers a side",
    "same_answer": "gives one answer to everything",
    "speed": "much faster than the others",
    "rationale": "repeats rationales",
    "severity": "scores unlike the others",
}


def in_words(one: Estimate) -> str:
    """`.74 [.68, .80]`, or a dash."""
    return " ".join(part for part in shown(one) if part)


def reason(one: Signal) -> str:
    """A flag as a sentence with the estimate that carries it."""
    value = one.estimate.value
    over = worded("n {n:,}, {clusters:,} clusters", n=one.estimate.n, clusters=one.estimate.clusters)
    interval = worded(
        "{points} {interval}, {over}", points=points(value), interval=interval_of(one.estimate), over=over
    )
    if one.name == "speed":
        return worded(
            "needs {share_of_time} of the others' time for the same items ({over})",
            share_of_time=_share_of_time(one.estimate), over=over,
        )  # fmt: skip
    if one.name == "severity":
        way = "higher" if value > 0 else "lower"
        return worded(
            "scores {way} than the others on the same questions: by {interval}",
            way=way, interval=interval.replace("points", "% of the scale", 1),
        )  # fmt: skip
    if one.name == "side":
        side = "left" if value > 0 else "right"
        return worded(
            "takes the {side} report more often than the others' verdicts put it there: by {interval}",
            side=side, interval=interval,
        )  # fmt: skip
    said = {
        "agreement": worded("agrees less with the others than these do among themselves: by"),
        "drift": worded("agreement with the others fell from the first half of the work to the second: by"),
        "same_answer": worded("gives the same answer within an item more often than the others on the same items: by"),
        "rationale": worded("repeats its own rationales more often than the others on the same items: by"),
    }
    return f"{said[one.name]} {interval}"


def listed(one: AnnotatorQuality) -> list[str]:
    """Facts beside the flags; no test backs them."""
    seen = one.attention_passed + one.attention_failed
    failed = worded("failed {n} of {items}", n=one.attention_failed, items=several(seen, "attention item"))
    facts = [failed] if one.attention_failed else []
    if one.too_fast:
        few, more = one.too_fast[:3], len(one.too_fast) - 3
        which = worded(", ").join(few) + (worded(" and {more} more", more=more) if more > 0 else "")
        many = several(len(one.too_fast), "item")
        fast = worded("{items} in less time than reading at 600 words a minute: {which}", items=many, which=which)
        facts.append(fast)
    again = one.self_agreement
    if one.flags and not math.isnan(again.value):
        share, of = _percent(again), several(again.n, "answer")
        facts.append(worded("on retests gave the same answer again in {share} of {of}", share=share, of=of))
    return facts


def trust(found: StudyQuality) -> str:
    """Whether the labels can be trusted so far, as far as they tell."""
    headline, flagged = found.agreement.headline, [one for one in found.annotators if one.flags]
    if not found.annotators:
        return worded("Nobody has handed in labels yet.")
    if headline is None or math.isnan(headline.value):
        agreed = worded("no two annotators have answered the same yet, so nothing tells how far they agree")
    else:
        agreed = worded(
            "annotators give the same answer to {percent} of what two of them answered", percent=_percent(headline)
        )
    tested = any(not math.isnan(signal.p) for one in found.annotators for signal in one.signals)
    if flagged:
        names = _joined([one.rater for one in flagged])
        looked = worded_of(len(flagged), "{names} needs a second look", "{names} need a second look", names=names)
    elif tested:
        looked = worded("nobody stands out more than chance allows")
    else:
        looked = worded("it is too early to compare single annotators")
    return worded("{lead}.", lead=worded("; ").join((f"{agreed[0].upper()}{agreed[1:]}", looked)))


def more_pairs(found: StudyQuality, half_width: float) -> str:
    """How many more pairs narrow the interval of agreement to +- `half_width`, or why nobody can say."""
    needed, aim = found.agreement.needed(half_width), worded("±{half_width:g} points", half_width=100 * half_width)
    if needed.clusters is None:
        return worded(
            "How many more pairs would narrow agreement to {aim} cannot be said yet: {why_unknown}.",
            aim=aim, why_unknown=why_unknown(needed),
        )  # fmt: skip
    pairs, safe = found.cluster, found.agreement.cautious(half_width)
    if not needed.more:
        return worded(
            "Agreement is known to {aim} or better with the {so_far} so far.",
            aim=aim, so_far=several(found.agreement.spread.pilot, pairs),
        )  # fmt: skip
    sure = worded("; {more:,} more to be safe", more=safe.more) if safe.more and safe.more > needed.more else ""
    return worded(
        "About {more} would narrow agreement to {aim}{sure}.",
        more=several(needed.more, pairs, "more"), aim=aim, sure=sure,
    )  # fmt: skip


def why(one: Estimate) -> str:
    """Why an estimate is a dash, without the code."""
    return words_of(one.lack) if one.lack else ""


def points(value: float) -> str:
    """A difference of shares in points."""
    return worded("{abs:.0f} points", abs=abs(100 * value))


def interval_of(one: Estimate) -> str:
    """`[12, 31]` of the difference's size, or "" where it has no interval."""
    if math.isnan(one.low):
        return ""
    ends = sorted((100 * one.low, 100 * one.high) if one.value > 0 else (-100 * one.high, -100 * one.low))
    return f"[{ends[0]:.0f}, {ends[1]:.0f}]".replace("-", "−")


def _share_of_time(one: Estimate) -> str:
    value, low, high = (100 * math.exp(end) for end in (one.value, one.low, one.high))
    return f"{value:.0f} %" + ("" if math.isnan(low) else f" [{low:.0f}, {high:.0f}]")


def _percent(one: Estimate) -> str:
    ends = "" if math.isnan(one.low) else f" [{100 * one.low:.0f}, {100 * one.high:.0f}]"
    return f"{100 * one.value:.0f} %{ends}"


def _joined(names: list[str]) -> str:
    several_names = worded("{names} and {last}", names=worded(", ").join(names[:-1]), last=names[-1])
    return names[0] if len(names) == 1 else several_names
