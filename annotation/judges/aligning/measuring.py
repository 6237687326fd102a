"""A judge and the one made from it on topics that no step has seen: scores against people's answers, side by side."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from annotation.judges.aligning.align_plan import Alignment, items_of, people_said
from annotation.judges.aligning.wording import agreement, mean_score
from annotation.judges.defining.judge_file import JudgeDefinition
from annotation.judges.reviewing.replies_again import Said
from annotation.judges.stress_tests.stress_plan import own_account
from annotation.judges.stress_tests.stressed_verdicts import answers_of
from annotation.studies import clusters_of
from db.tables import Study


@dataclass(frozen=True)
class Columns:
    """Values in [0, 1] of the same answers of the two judges, with their clusters; `people`: mean of people's there."""

    before: tuple[float, ...]
    after: tuple[float, ...]
    clusters: tuple[str, ...]
    people: float = float("nan")


@dataclass(frozen=True)
class Beside:
    """`agreement` with people, and how often each answers by a rule that needs no reading, by the rule's name."""

    agreement: Columns
    shortcuts: Mapping[str, Columns]


def beside(session: Session, study: Study, judge: JudgeDefinition, aligned: JudgeDefinition, plan: Alignment) -> Beside:
    """Both judges on the unseen topics of the plan, answer by answer: the same item, order and criterion.

    An answer that only one of them was asked for is left out; an unusable one is a disagreement. Raises AnnotationError
    `not_planned`.
    """
    own, people = own_account(session, study, judge), people_said(session, study)
    topics, clusters_by_topic = items_of(session, study, own, plan.unseen), clusters_of(session, study)
    answers = [
        {one.thing: one for one in answers_of(session, study, account, list(topics)) if one.repeat == 1}
        for account in (own, own_account(session, study, aligned))
    ]
    things = [thing for thing in answers[0].keys() & answers[1].keys() if people.get(_asked(answers[0][thing]))]
    things.sort(key=str)
    pairs = [(answers[0][thing], answers[1][thing]) for thing in things]
    clusters = tuple(clusters_by_topic[topics[one.item]] for one, _ in pairs)
    before, after = (
        tuple(agreement(pair[which].verdict, people[_asked(pair[which])], pair[which].scale) for pair in pairs)
        for which in (0, 1)
    )
    said = {thing: [word for word, _ in people[_asked(answers[0][thing])]] for thing in things}
    return Beside(Columns(before, after, clusters), dict(_shortcuts(pairs, said, clusters)))


def _asked(one: Said) -> tuple[int, str]:
    return one.item, one.criterion


def _shortcuts(
    pairs: Sequence[tuple[Said, Said]], people: Mapping[Any, Sequence[str]], clusters: tuple[str, ...]
) -> Mapping[str, Columns]:
    """One answer always; of pairs the first shown, and the longer report."""
    if not pairs:
        return {}
    most = Counter(after.verdict for _, after in pairs if after.verdict).most_common(1)
    rules: dict[str, list[str | None]] = {}
    if most:
        rules[f"always {most[0][0]!r}"] = [most[0][0]] * len(pairs)
    if all(one.left is not None for one, _ in pairs):
        rules["the report shown first"] = [one.left for one, _ in pairs]
        rules["the longer report"] = [_longer(one) for one, _ in pairs]
    made = {}
    for name, wanted in rules.items():
        about = [number for number, one in enumerate(wanted) if one is not None]
        by_people = [mean_score(word == wanted[number] for word in people[pairs[number][0].thing]) for number in about]
        before, after = (
            tuple(float(pairs[number][which].verdict == wanted[number]) for number in about) for which in (0, 1)
        )
        made[name] = Columns(
            before, after, tuple(clusters[number] for number in about), mean_score(by_people) if about else float("nan")
        )
    return made


def _longer(one: Said) -> str | None:
    if len(one.texts) != 2 or len(one.texts[0]) == len(one.texts[1]):
        return None
    return "A" if len(one.texts[0]) > len(one.texts[1]) else "B"
