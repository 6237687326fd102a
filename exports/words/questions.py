"""What a reviewer will ask of a study that its data do not answer: the authors must state it."""

from __future__ import annotations

from collections.abc import Iterator

from calibration.results import CalibrationReport
from exports.cells import number
from exports.facts import StudyFacts


def to_state(report: CalibrationReport, facts: StudyFacts) -> tuple[str, ...]:
    """Questions, the ones about people first. A bare table of labels leaves many more open than a study."""
    return (*_people(facts), *_material(facts), *_judges(report, facts), *_plan(report, facts), *_always())


def _people(facts: StudyFacts) -> Iterator[str]:
    if facts.is_simulated:
        yield "That people and judges are simulated, wherever a number of this study is shown"
        return
    yield "How annotators were recruited, and what makes them able to judge these reports"
    yield "Whether annotators are authors, or knew the systems or the hypotheses"
    yield "Which ethics board approved the study, or why none had to"
    if not facts.consented:
        yield "Whether annotators consented, and to which text"
    if not facts.training_passed:
        yield "Which instructions and training annotators had beyond the protocol's guidance"
    if not facts.pay_rate:
        yield "What annotators were paid"
    if not facts.active_hours:
        yield "How long annotation took"
    if not facts.annotators:
        yield "Who gave the human labels, and how many annotators labelled each item"


def _material(facts: StudyFacts) -> Iterator[str]:
    yield "How topics were chosen"
    yield "When, with which versions and settings, and from which prompts the systems wrote their reports"
    if not facts.name:
        yield "What annotators and judges were asked: task, criteria and their wording, allowed answers"
        yield "How many reports were compared, of which length and language"
    if facts.citations_stripped is None:
        yield "Whether system names, citations and layout were hidden from annotators and judges, and how"
    if not facts.orders and facts.task_type in (None, "pairwise_choice"):
        yield "How it was decided which report stands first, and whether that was recorded"
    if facts.orders.get("unknown"):
        yield "In which order reports stood in the comparisons whose order is not recorded"
    if facts.blinding_audit is None:
        yield "How far style and length give a system away (a blinding audit measures it)"
    if facts.unproved_texts:
        yield "Which texts were read for labels that were made elsewhere"
    if facts.flags.get("open"):
        yield "Why passages that might name a system were left undecided"
    if facts.pairs and facts.pairs_possible and facts.pairs < facts.pairs_possible and not facts.design:
        yield "By which rule pairs were chosen from the possible ones"


def _judges(report: CalibrationReport, facts: StudyFacts) -> Iterator[str]:
    if not report.data["judges"]:
        return
    yield "How judges and their prompts were chosen, and whether prompts were tuned on labels of this study"
    if not facts.judges or any(one.imported for one in facts.judges):
        yield "Which models judged: version, dates, prompts, parameters, handling of unreadable answers"
    elif any(one.cost is None for one in facts.judges):
        yield "What the judges without a known price cost"
    if any(one.own_family_systems is None for one in facts.judges) or not facts.judges:
        yield "Whether a judge is of the family of a system it judged"


def _plan(report: CalibrationReport, facts: StudyFacts) -> Iterator[str]:
    if report.choice is not None and not facts.plan_sha256:
        yield "When the margin and the candidates were fixed, and whether results were known by then"
    if report.choice is not None and not facts.margin_in_protocol:
        yield f"Why a margin of {100 * report.choice.plan.margin:g} points is small enough not to matter"
    if report.data.get("alt_tests") and not facts.epsilon_in_protocol:
        yield f"Why ε = {number(report.settings.epsilon, 2)} fits these annotators (.2 experts, .15 skilled, .1 crowd)"
    if facts.labels_before_plan:
        yield "Whether anybody had looked at labels by other means before the comparison was planned"
    # a root that only its own database keeps is no preregistration
    root = f"; the plan's root is {facts.plan_root[:16]}" if facts.plan_root else ""
    yield f"Whether the study was preregistered, and where{root}"


def _always() -> Iterator[str]:
    yield "Under which licence labels and reports are shared, and where"
