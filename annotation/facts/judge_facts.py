"""What a methods section says about each judge: how it was asked, when, and what that cost, here or
elsewhere. No host, path or key is among it.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, or_, orm, select

from annotation.importing.labels.results_match import IMPORTED
from annotation.judges.defining.judge_file import maker, own_family
from annotation.judges.defining.own_files import CODE
from annotation.judges.money.accounts import in_force, not_of_a_stress_test
from annotation.judges.money.ledger import money_of
from annotation.judges.reviewing.judge_standings import label_counts
from annotation.labels.current_labels import is_newest
from annotation.labels.optional_columns import settings_tried
from db.judge_tables import Judge, JudgeAttempt, JudgeCall, JudgeConfig
from db.tables import HANDED_IN, Assignment, Label, Study, System

# settings that change answers; of any other a methods section gets the name alone
SHOWN = (
    "temperature", "top_p", "top_k", "min_p", "seed", "reasoning_effort", "verbosity", "presence_penalty",
    "frequency_penalty", "repetition_penalty",
)  # fmt: skip


def judge_facts(session: orm.Session, study: Study) -> list[dict[str, Any]]:
    """Every judge that was asked or imported, by name, with the settings whose answers count."""
    judges = session.scalars(select(Judge).where(Judge.study_id == study.id).order_by(Judge.name)).all()
    usable = label_counts(session, study)
    orders, reported, dates = _orders(session, study), _reported(session, study), _dates(session, study)
    rows = session.execute(select(System.key, System.family).where(System.study_id == study.id))
    systems = [(key, family) for key, family in rows if family]
    of_the_study = or_(JudgeConfig.model == IMPORTED, not_of_a_stress_test())
    tried, found = settings_tried(session, study), []
    for judge in judges:
        config = in_force(session, judge.id, of_the_study, answered=True)
        money = money_of(session, judge, usable.get(judge.name, {}).get("ok", 0))
        if not money.attempts and judge.name not in usable:
            continue  # planned alone
        repeats, both = orders.get(judge.rater_id, (None, None))
        first, last = dates.get(judge.id, (None, None))
        own = own_family(judge.name, judge.family.casefold(), systems)
        found.append(
            {
                "name": judge.name,
                "reported": reported.get(judge.id, []),
                "family": judge.family or None,
                "own_family_systems": len(own) if judge.family and systems else None,
                "order": None if both is None else "both" if both else "one",
                "repeats": repeats,
                "first_call": first,
                "last_call": last,
                "calls": money.calls or None,
                "attempts": money.attempts or None,
                "cost": money.cost,
                "wasted_share": money.waste_share,
                "imported": not money.attempts and (config is None or config.model == IMPORTED),
                "settings_tried": tried.get(judge.name, 1) if config else None,
                **_asked(config),
            }
        )
    return found


def public_model(model: str) -> str:
    """A model's name without the path of a machine and without a host."""
    if re.search(r"://|\\|^/|/(/|~|\.)|^\.|^~|^[A-Za-z]:", model):
        return re.split(r"[/\\]", model.rstrip("/\\"))[-1]
    return model


def _asked(config: JudgeConfig | None) -> dict[str, Any]:
    if config is None or config.model == IMPORTED:
        return {}
    if config.model.partition(":")[0] in CODE:
        own = {name: value for name, value in _shown(config.params).items() if name != "seed"}
        return {"model": public_model(config.model), "provider": "code", "parameters": own or None}
    provider, named, _ = config.model.partition("/")
    return {
        "model": public_model(config.model),
        "provider": provider if named and re.fullmatch(r"\w[\w.-]*", provider) else maker(config.model) or None,
        "template_version": _template_version(config.template),
        "prompt_sha256": config.template_sha256,
        "parameters": _shown(config.params),
        "not_sent": sorted(set(config.asked_params) - set(config.params)),
        "batching": config.batching,
    }


def _shown(params: Mapping[str, Any]) -> dict[str, Any]:
    """Values of known settings, and the mere names of others: a header or a user's name may be in those."""
    plain = {name: value for name, value in params.items() if name in SHOWN and isinstance(value, str | int | float)}
    return plain | dict.fromkeys(sorted(set(params) - set(plain)), "set")


def _template_version(template: str) -> str | None:
    found = re.search(r"\bversion[ :=]+([\w.-]+)", template.split("\n", 1)[0])
    return found[1] if found else None


def _orders(session: orm.Session, study: Study) -> dict[int, tuple[int, bool]]:
    """rater -> repeats, and whether an item was shown in both orders within one of them."""
    per_item = (
        select(Assignment.rater_id, Assignment.repeat_no, func.count(Assignment.left.distinct()).label("sides"))
        .join(Judge, Judge.rater_id == Assignment.rater_id)
        .where(Assignment.study_id == study.id, Assignment.status.in_(HANDED_IN))
        .group_by(Assignment.rater_id, Assignment.item_id, Assignment.repeat_no)
        .subquery()
    )
    rows = session.execute(
        select(
            per_item.c.rater_id, func.max(per_item.c.repeat_no), func.max(per_item.c.sides), func.min(per_item.c.sides)
        ).group_by(per_item.c.rater_id)
    )
    return {rater: (repeats, sides > 1) for rater, repeats, sides, fewest in rows if fewest}


def _reported(session: orm.Session, study: Study) -> dict[int, list[str]]:
    """judge -> the models its providers named, the most frequent first."""
    rows = session.execute(
        select(JudgeCall.judge_id, JudgeAttempt.model_reported, func.count())
        .join(JudgeCall, JudgeCall.id == JudgeAttempt.call_id)
        .join(Judge, Judge.id == JudgeCall.judge_id)
        .where(Judge.study_id == study.id, JudgeAttempt.model_reported.is_not(None), JudgeCall.stress.is_(None))
        .group_by(JudgeCall.judge_id, JudgeAttempt.model_reported)
        .order_by(func.count().desc(), JudgeAttempt.model_reported)
    )
    found: dict[int, list[str]] = {}
    for judge, model, _ in rows:
        name = public_model(str(model))
        if name not in found.setdefault(judge, []):
            found[judge].append(name)
    return found


def _dates(session: orm.Session, study: Study) -> dict[int, tuple[str, str]]:
    rows = session.execute(
        select(JudgeCall.judge_id, func.min(JudgeAttempt.created_at), func.max(JudgeAttempt.created_at))
        .join(JudgeCall, JudgeCall.id == JudgeAttempt.call_id)
        .join(Judge, Judge.id == JudgeCall.judge_id)
        .where(Judge.study_id == study.id, JudgeCall.stress.is_(None))
        .group_by(JudgeCall.judge_id)
    )
    return {judge: (f"{first:%Y-%m-%d}", f"{last:%Y-%m-%d}") for judge, first, last in rows}


Pass = tuple[int, float | None, int, float | None, int]  # answers; sum and count of USD; sum and count of seconds


@dataclass(frozen=True)
class ImportedCost:
    """One judge. None where any of its answers does not say: unknown is not 0."""

    usd: float | None  # all its answers together
    seconds: float | None  # of a pass over an item, all criteria together: median, nearest rank as of calls


def imported_costs(session: orm.Session, study: Study) -> dict[str, ImportedCost]:
    """Judge -> its cost, for judges with imported answers; of each answer the newest."""
    rows = session.execute(
        select(
            Judge.name, func.count(), func.sum(Label.cost_usd), func.count(Label.cost_usd), func.sum(Label.seconds),
            func.count(Label.seconds),
        )
        .join(Assignment, Assignment.rater_id == Judge.rater_id)
        .join(Label, Label.assignment_id == Assignment.id)
        .where(Judge.study_id == study.id, Assignment.source == "import", is_newest())
        .group_by(Judge.name, Assignment.id)
    )  # fmt: skip
    passes: dict[str, list[Pass]] = defaultdict(list)
    for judge, answers, usd, priced, seconds, timed in rows:
        passes[judge].append((answers, usd, priced, seconds, timed))
    return {judge: _cost(each) for judge, each in passes.items()}


def _cost(passes: Sequence[Pass]) -> ImportedCost:
    priced = [usd for answers, usd, known, _, _ in passes if usd is not None and known == answers]
    timed = sorted(seconds for answers, _, _, seconds, known in passes if seconds is not None and known == answers)
    return ImportedCost(
        sum(priced) if len(priced) == len(passes) else None,
        timed[(len(timed) - 1) // 2] if len(timed) == len(passes) else None,
    )
