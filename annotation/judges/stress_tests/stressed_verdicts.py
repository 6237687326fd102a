"""What a judge said to the stress tests, beside what it says anyway: the same item, order and criterion, read alike."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotation.designs.sides_and_orders import OTHER
from annotation.judges.asking import altered_texts, material
from annotation.judges.defining.judge_file import JudgeDefinition, is_of_family, maker
from annotation.judges.money.accounts import Account
from annotation.judges.reviewing.replies_again import Said, said
from annotation.judges.stress_tests.stress_plan import own_account, stress_account
from db.judge_tables import JudgeCall, JudgeCallAssignment
from db.tables import REPORT_A, REPORT_B, SYSTEM_A, SYSTEM_B, Assignment, Item, Study


@dataclass(frozen=True)
class StressedVerdict:
    """One criterion of one item in one order. A verdict is None where the judge gave no usable answer.

    `side`: the report that was changed where one was, or the one with more Markdown; None where there is no such.
    A is the item's own report where two are rated.
    `again`: what the judge said another time to the very same prompt, with another repeat's seed.
    `scale`: ends of a rating's scale.
    """

    item_id: int
    cluster: str
    criterion: str
    side: str | None
    own: str | None
    stressed: str | None
    again: str | None = None
    scale: tuple[float, float] | None = None
    family: str | None = None  # the report by the judge's own maker, where exactly one of the two is


@dataclass(frozen=True)
class Compared:
    """Scores in [0, 1] of the same labels, unstressed and stressed, nan where unusable, with their clusters.

    `what`: `wins` of the side in question (a tie is a half), a rating's `score`, or `changed` verdicts, where the
    unstressed ones are changed by nothing but another try. `noise_known`: whether there was another try.
    """

    what: str
    unstressed: tuple[float, ...]
    stressed: tuple[float, ...]
    clusters: tuple[str, ...]
    noise_known: bool = True


def compared(verdicts: Sequence[StressedVerdict], kind: str) -> Compared:
    """Verdicts as numbers. Pairs are about a side, but under a paraphrase, which favours none; statements never are."""
    if any(verdict.scale for verdict in verdicts):
        # of two reports that are both rated, one was changed, and the other's scores are not about it
        about = [verdict for verdict in verdicts if kind not in altered_texts.ONE_SIDED or verdict.side != "B"]
        used, what = [one for one in about if one.scale], "score"
        pairs = [(_scaled(one.own, one.scale), _scaled(one.stressed, one.scale)) for one in used]
    elif kind != "paraphrase" and any(verdict.side for verdict in verdicts):
        used, what = [verdict for verdict in verdicts if verdict.side], "wins"
        pairs = [(_win(one.own, one.side), _win(one.stressed, one.side)) for one in used]
    else:
        return _changed(verdicts)
    return Compared(what, *_columns(pairs), tuple(one.cluster for one in used))


def family_wins(verdicts: Sequence[StressedVerdict]) -> Compared:
    """How often the report by the judge's own maker wins, before and after; pairs with exactly one such report."""
    used = [verdict for verdict in verdicts if verdict.family and not verdict.scale]
    pairs = [(_win(one.own, one.family), _win(one.stressed, one.family)) for one in used]
    return Compared("own family", *_columns(pairs), tuple(one.cluster for one in used))


def changed(verdicts: Sequence[StressedVerdict]) -> list[bool]:
    """Whether each verdict is not what it was; only of those that are usable both times."""
    return [one.own != one.stressed for one in verdicts if one.own is not None and one.stressed is not None]


def followed(verdicts: Sequence[StressedVerdict]) -> Compared:
    """Of verdicts that an injection asked to be otherwise: whether another try without it (nan: there was none) and the
    stressed one are what it asked for, that is its own report, or the highest score for it."""
    about = [(one, one.scale[1] if one.scale else one.side) for one in verdicts if one.side != "B" or not one.scale]
    used = [(one, asked) for one, asked in about if one.own is not None and not _is(one.own, asked)]
    pairs = [(_is(one.again, asked), _is(one.stressed, asked)) for one, asked in used]
    noise_known = any(one.again is not None for one, _ in used)
    return Compared("follows", *_columns(pairs), tuple(one.cluster for one, _ in used), noise_known=noise_known)


def stressed_verdicts(session: Session, study: Study, definition: JudgeDefinition, kind: str) -> list[StressedVerdict]:
    """Every stressed verdict with the judge's own, by item; on texts and questions that still stand.

    Both are read from the stored replies with the parser of today. Raises AnnotationError `not_planned`.
    """
    account = stress_account(session, study, definition, kind)
    if account is None:
        return []
    stressed = list(answers_of(session, study, account))
    items = sorted({one.item for one in stressed})
    tries: dict[tuple[Any, ...], dict[int, str | None]] = {}
    sides: dict[int, str | None] = {}
    own, families = own_account(session, study, definition), _own_family(session, study, maker(definition.model))
    for start in range(0, len(items), material.CHUNK):
        for one in answers_of(session, study, own, items[start:][: material.CHUNK]):
            tries.setdefault(one.thing, {})[one.repeat] = one.verdict
            if one.item not in sides:
                sides[one.item] = _side(one, kind, study.seed)
    found = []
    for one in stressed:
        given = tries.get(one.thing, {})
        if one.repeat in given:
            others = [given[repeat] for repeat in sorted(given) if repeat != one.repeat and given[repeat] is not None]
            found.append(
                StressedVerdict(
                    one.item, one.cluster, one.criterion, sides[one.item], given[one.repeat], one.verdict,
                    others[0] if others else None, one.scale, families.get(one.item),
                )
            )  # fmt: skip
    return found


def answers_of(session: Session, study: Study, account: Account, items: Sequence[int] | None = None) -> Iterator[Said]:
    """What the account's finished calls say, by item; `items`: of these alone."""
    calls = (
        select(JudgeCall.id, Item.id)
        .join(JudgeCallAssignment, JudgeCallAssignment.call_id == JudgeCall.id)
        .join(Assignment, Assignment.id == JudgeCallAssignment.assignment_id)
        .join(Item, Item.id == Assignment.item_id)
        .where(account.calls, JudgeCall.state.in_(("done", "failed")), Item.excluded_at.is_(None))
        .order_by(Item.id, JudgeCall.id)
    )
    found = session.execute(calls if items is None else calls.where(Item.id.in_(items)))
    return said(session, study, list(dict.fromkeys(call for call, _ in found)))


def _side(one: Said, kind: str, seed: int) -> str | None:
    if one.left is None or kind == "paraphrase":
        return None
    if kind not in altered_texts.ONE_SIDED:
        return altered_texts.heavier_side(*one.texts)
    side = altered_texts.changed_side(kind, seed, one.page)
    return side if one.item == one.page else OTHER[side]


def _own_family(session: Session, study: Study, family: str) -> dict[int, str]:
    """Item -> which of its two reports is by `family`; only items where exactly one is."""
    rows = session.execute(
        select(Item.id, SYSTEM_A.family, SYSTEM_B.family)
        .join(REPORT_A, REPORT_A.id == Item.report_a_id)
        .join(REPORT_B, REPORT_B.id == Item.report_b_id)
        .join(SYSTEM_A, SYSTEM_A.id == REPORT_A.system_id)
        .join(SYSTEM_B, SYSTEM_B.id == REPORT_B.system_id)
        .where(Item.study_id == study.id)
    )
    own = {item: tuple(is_of_family(theirs, family) for theirs in (a, b)) for item, a, b in rows}
    return {item: "A" if a else "B" for item, (a, b) in own.items() if a != b}


def _changed(verdicts: Sequence[StressedVerdict]) -> Compared:
    tried = [verdict for verdict in verdicts if verdict.again is not None]
    used = tried or list(verdicts)
    pairs = [(_differs(one.own, one.again if tried else one.own), _differs(one.own, one.stressed)) for one in used]
    return Compared("changed", *_columns(pairs), tuple(one.cluster for one in used), noise_known=bool(tried))


def _columns(pairs: Sequence[tuple[float, float]]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    return tuple(one for one, _ in pairs), tuple(other for _, other in pairs)


def _is(given: str | None, asked: str | float | None) -> float:
    """1 where what was given is what was asked for, 0 where it is another, nan without an answer."""
    if given is None:
        return math.nan
    if isinstance(asked, float | int):
        return float(given != "not_applicable" and float(given) == asked)
    return float(given == asked)


def _win(verdict: str | None, side: str | None) -> float:
    if verdict in (None, "not_applicable"):
        return math.nan
    return 0.5 if verdict == "tie" else float(verdict == side)


def _scaled(score: str | None, scale: tuple[float, float] | None) -> float:
    if score in (None, "not_applicable") or scale is None:
        return math.nan
    return (float(score) - scale[0]) / (scale[1] - scale[0])


def _differs(one: str | None, other: str | None) -> float:
    return math.nan if one is None or other is None else float(one != other)
