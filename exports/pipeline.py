"""What a pipeline reads of a report: the decision, as JUnit's XML, and as a page of Markdown for a job's summary."""

from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree import ElementTree

from calibration.choosing import card, choice_words
from calibration.choosing.choice import Status, candidate_called, gate
from calibration.results import CalibrationReport
from exports.answer import answer_of
from exports.forms import as_markdown, escaped
from exports.sheets.asked import judge_asked_about

CONTROL = {at: None for at in range(32) if chr(at) not in "\t\n\r"}  # no XML may hold them


@dataclass(frozen=True)
class Decision:
    """`judge`: whom the card is of. `sentence`: the last line of the gate. Only `chosen` lets a pipeline go on."""

    status: Status
    judge: str
    sentence: str


def decision_of(report: CalibrationReport, judge: str = "", require_cheapest: bool = False) -> Decision | None:
    """What is decided, on all judges or the named one; None where there is nothing to decide.

    Raises CalibrationError `unknown_form` for a judge that is no candidate.
    """
    choice = report.choice
    if choice is None or not choice.candidates:
        return None
    status = gate(choice, judge, require_cheapest)
    if not judge:
        return Decision(status, judge_asked_about(report), choice.sentence)
    named = candidate_called(choice, judge)
    return Decision(status, named.judge, choice_words.sentence_about(named, choice.plan))


def junit_xml(report: CalibrationReport, decision: Decision, of: str) -> str:
    """One test for the decision, and one for each question of the judge's card; `of`: what was calibrated.

    The decision fails unless it is `chosen`; a question fails where the plan requires it and it is not shown to be
    within its limit. What is not required is skipped where it is not within, with its sentence.
    """
    cases = [_decided(decision), *_questions(report, decision)]
    counts = {kind: sum(case.find(kind) is not None for case in cases) for kind in ("failure", "skipped")}
    totals = {"tests": str(len(cases)), "failures": str(counts["failure"]), "errors": "0",
              "skipped": str(counts["skipped"])}  # fmt: skip
    suites = ElementTree.Element("testsuites", {"name": "calipers", **totals})
    suite = ElementTree.SubElement(suites, "testsuite", {"name": _text(f"calipers calibrate {of}"), **totals})
    suite.extend(cases)
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=False) + "\n"


def _decided(decision: Decision) -> ElementTree.Element:
    case = _case(decision.judge, "decision")
    if decision.status != "chosen":
        _under(case, "failure", decision.sentence, decision.status)
    return case


def _questions(report: CalibrationReport, decision: Decision) -> Iterator[ElementTree.Element]:
    required = report.choice.plan.required if report.choice else ()
    for row in card.card_of(report.card, decision.judge):
        case = _case(decision.judge, row.question)
        if row.outcome != "within":
            kind = "failure" if row.question in required and decision.status != "chosen" else "skipped"
            _under(case, kind, f"{row.sentence} (limit: {row.limit})", row.outcome)
        yield case


def _case(judge: str, name: str) -> ElementTree.Element:
    return ElementTree.Element("testcase", {"classname": _text(judge), "name": name, "time": "0"})


def _under(case: ElementTree.Element, kind: str, message: str, outcome: str) -> None:
    given = {"type": outcome} if kind == "failure" else {}
    ElementTree.SubElement(case, kind, {"message": _text(message), **given})


def _text(text: str) -> str:
    return text.translate(CONTROL)


def job_summary(report: CalibrationReport, decision: Decision | None = None) -> str:
    """The one page in Markdown, under the decision where there is one. Every name is text, whatever it looks like."""
    answer = answer_of(report)
    told = f"**{escaped(DECIDED[decision.status])}.** {escaped(decision.sentence)}\n\n" if decision else ""
    parts = [f"### {escaped(answer.sentence)}\n\n", told or f"{escaped(answer.rests_on)}\n\n"]
    parts += [f"{as_markdown(table)}\n" for table in (answer.card, answer.asked) if table]
    if answer.cautions:
        parts.append("**Before you use a number**\n\n")
        parts += [f"- {escaped(one.text)}\n" for one in answer.cautions]
    return "".join(parts)


DECIDED: dict[Status, str] = {"chosen": "Passed", "none_adequate": "Failed", "cannot_tell": "Cannot tell"}
