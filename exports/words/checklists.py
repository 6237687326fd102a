"""What reviewers ask: two checklists filled from what is known, and the questions that the authors must answer.

The checklists are the alternative annotator test's and one for blinding. An answer is `yes`, `no` or `not known`; what
the data do not show is not known, never no.
"""

import math
from collections.abc import Iterator

from calibration.comparing.alternative_annotator import FALSE_DISCOVERIES, FEWEST_ITEMS, PASSES_FROM, AnnotatorTest
from calibration.results import CalibrationReport
from exports.cells import number
from exports.facts import StudyFacts
from exports.tables import Column, Table
from exports.words.grammar import listed, percent
from exports.words.methods_numbers import alt_tests, clusters
from exports.words.notes import origin
from plain.counting import counted
from plain.wording import worded

COLUMNS = (Column("item", "Item"), Column("answer", "Answer"), Column("shown_by", "Where it shows"))
FEWEST_ANNOTATORS = 3
EPSILONS = ".2 for experts, .15 for skilled annotators, .1 for a crowd"
Row = tuple[str, str, str]


def alt_test_checklist(report: CalibrationReport, facts: StudyFacts | None = None) -> Table:
    """What Calderon, Reichart & Dror (ACL 2025) ask of a study that lets a judge stand in for annotators."""
    rows = [*_alt_design(report, facts or StudyFacts()), *_alt_results(report)]
    notes = (
        f"ω: share of annotators against whom the judge holds its own (passes from {number(PASSES_FROM, 1)}); ρ: mean "
        "share of labels (an item on a criterion) where the judge is at least as close to the other annotators as the "
        "one left out.",
        origin(report),
    )
    return Table("alt_test_checklist", "Alternative annotator test", COLUMNS, tuple(rows), notes)


def blinding_checklist(report: CalibrationReport, facts: StudyFacts | None = None) -> Table:
    """What was hidden from raters, how it was checked, and when it ended."""
    facts = facts or StudyFacts()
    rows = [*_hidden(facts), *_ordered(report, facts), *_audited(facts), *_ended(facts)]
    notes = ("Not known: the data at hand do not show it.", origin(report))
    return Table("blinding_checklist", "Blinding", COLUMNS, tuple(rows), notes)


def _answer(known: bool | None) -> str:
    return "not known" if known is None else "yes" if known else "no"


def _none(item: str, count: int | None, noun: str) -> Row:
    """That there is none, or how many there are."""
    return item, _answer(None if count is None else count == 0), counted(count, noun) if count else ""


def _alt_design(report: CalibrationReport, facts: StudyFacts) -> Iterator[Row]:
    tests = alt_tests(report)
    first = tests[0] if tests else None
    people = len(report.labels.annotators)
    yield f"At least {FEWEST_ANNOTATORS} annotators", _answer(people >= FEWEST_ANNOTATORS), counted(people, "annotator")
    if first is None:
        unweighted = "not weighted: topics were drawn with unequal probabilities"
        enough = "no judge shares enough labels with two or more annotators"
        yield "The test was made", "no", unweighted if report.labels.drawn else enough
        return
    sizes = {annotator.annotator: annotator.n for test in tests for annotator in test.annotators}
    fewest = min(sizes.values(), default=0)
    yield (
        f"Every annotator has at least {FEWEST_ITEMS} labels beside a judge's",
        _answer(fewest >= FEWEST_ITEMS),
        f"fewest: {counted(fewest, 'label')}",
    )
    out = sorted({annotator.annotator for test in tests for annotator in test.annotators if _untested(annotator)})
    yield (
        "No annotator was left out of the test",
        _answer(not out),
        listed(out) if out else counted(people, "annotator"),
    )
    epsilon = f"ε = {number(first.epsilon, 2)} ({EPSILONS})"
    stated = {True: "in the protocol", False: "the software's default", None: "where it was fixed is not known"}
    yield (
        "ε was fixed beforehand",
        _answer(facts.epsilon_in_protocol or None),
        f"{epsilon}; {stated[facts.epsilon_in_protocol]}",
    )
    clustered = first.method != "item_t"
    word = clusters(report)
    how = (
        f"the test of a gap over {counted(report.labels.clusters, word)}"
        if clustered
        else "t over labels, as published"
    )
    yield f"The test respects that labels of one {word} are alike", _answer(clustered), how
    level = f"Benjamini-Yekutieli at {number(FALSE_DISCOVERIES, 2)}"
    yield "False discoveries are controlled over annotators", "yes", level
    yield "All candidates tried are listed", *_tried(report, facts)


def _tried(report: CalibrationReport, facts: StudyFacts) -> tuple[str, str]:
    """A table of labels holds those that were kept; only a study knows of settings that were replaced."""
    listed_here = f"{counted(len(report.alt_tests or ()), 'candidate')} in the report"
    replaced = [
        f"{judge.name} is one of {judge.settings_tried}" for judge in facts.judges if (judge.settings_tried or 0) > 1
    ]
    if replaced:
        return "no", f"{listed_here}; of settings, {listed(replaced)}"
    known = bool(facts.judges) and not any(judge.imported for judge in facts.judges)
    return _answer(known or None), listed_here


def _alt_results(report: CalibrationReport) -> Iterator[Row]:
    for test in alt_tests(report):
        held = [annotator for annotator in test.annotators if not _untested(annotator)]
        against = f"{sum(one.rejected for one in held)} of {counted(len(held), 'annotator')}"
        rho = f", ρ = {test.rho}" if test.rho else ""
        yield f"{test.judge} passes", _answer(test.passed), f"ω = {number(test.omega, 2)} ({against}){rho}"


def _untested(test: AnnotatorTest) -> bool:
    return math.isnan(test.p)


def _hidden(facts: StudyFacts) -> Iterator[Row]:
    hidden = bool(facts.name) and facts.made_here and not facts.imported_labels
    named = "the page names neither systems, files nor A and B" if hidden else ""
    yield "System and file names hidden from annotators", _answer(hidden or None), named
    versions = f"by rules, stripper version {listed(facts.stripper_versions)}" if facts.stripper_versions else ""
    yield "Citations removed", _answer(facts.citations_stripped), versions if facts.citations_stripped else ""
    one = None if facts.layout is None else facts.layout in ("canonical", "plain")
    layout = f"layout {listed(facts.layout_versions) or facts.layout}" if facts.layout else ""
    yield "One layout for all reports, references included", _answer(one), layout
    words = {"keep": "kept", "mask": "masked", "exclude": "left out with their report", "open": "undecided"}
    decided = [f"{facts.flags[name]:,} {word}" for name, word in words.items() if facts.flags.get(name)]
    told = listed(decided) or "no passage was flagged"
    known = None if not facts.name else not facts.flags.get("open")
    yield "Passages that may name a maker decided by the owner", _answer(known), told if facts.name else ""
    yield _none("No report was edited by hand", facts.edited_reports, "report")


def _ordered(report: CalibrationReport, facts: StudyFacts) -> Iterator[Row]:
    if set(report.labels.criteria.values()) == {"rating"} or facts.task_type in ("pointwise_rating", "probe_label"):
        return
    sides = {name: facts.orders.get(name, 0) for name in ("A", "B", "unknown")}
    known = sides["A"] + sides["B"]
    drawn = not facts.imported_labels if known else None
    yield (
        "Order drawn at random for each annotator",
        _answer(drawn),
        f"seed {facts.seed}" if drawn and facts.seed is not None else "",
    )
    share = f"A on the left in {percent(sides['A'] / known)} of {counted(known, 'comparison')}" if known else ""
    yield "Order recorded", _answer(sides["unknown"] == 0 if known else None), share
    both = [judge.name for judge in facts.judges if judge.order == "both"]
    asked = [judge for judge in facts.judges if judge.order is not None]
    orders = f"{len(both)} of {counted(len(asked), 'judge')}" if asked else ""
    yield "Judges asked in both orders", _answer(len(both) == len(asked) if asked else None), orders


def _audited(facts: StudyFacts) -> Iterator[Row]:
    proved = None if facts.unproved_texts is None else facts.unproved_texts == 0
    bytes_read = counted(facts.unproved_texts, "label") + " without proof" if facts.unproved_texts else ""
    yield (
        "People and judges read one stored text, by its sha256",
        _answer(proved),
        bytes_read or "sha256 on every label and call" * bool(proved),
    )
    audit = facts.blinding_audit
    yield (
        "Leakage was measured",
        _answer(None if audit is None else not audit.get("refused")),
        (str(audit.get("refused") or _figures(audit)) if audit else ""),
    )
    sentence = str(audit.get("sentence") or "") if audit else ""
    yield "Claimed: label-blind, not style-blind", _answer(bool(sentence) or None), sentence


def _figures(audit: object) -> str:
    found = audit if isinstance(audit, dict) else {}
    names = {"shown_formatting": "from formatting", "shown_length": "from length", "chance": "by chance"}
    told = [f"{percent(found[name])} {words}" for name, words in names.items() if isinstance(found.get(name), float)]
    return f"system named {listed(told)}" if told else ""


def _blind_until(facts: StudyFacts) -> str:
    now = f", and it is {facts.status} now" if facts.status else ""
    return (
        f"until the study is {facts.blind_until}{now}"
        if facts.blind_until == "closed"
        else "from the start on they may be joined"
    )


def _ended(facts: StudyFacts) -> Iterator[Row]:
    closed = facts.revealed_at is None and facts.blind_until == "closed" if facts.blind_until else None
    if closed and facts.status not in ("closed", "locked"):
        closed = None  # nobody knows yet
    when = f"revealed on {facts.revealed_at}" if facts.revealed_at else _blind_until(facts)
    yield "Labels and systems kept apart until the study closed", _answer(closed), when if facts.blind_until else ""
    yield _none("No label was given after systems were revealed", facts.labels_after_reveal, "label")
    yield _none("Nobody who runs the study labelled", facts.staff_labelled, "annotator")


def to_state(report: CalibrationReport, facts: StudyFacts) -> tuple[str, ...]:
    """Questions, the ones about people first. A bare table of labels leaves many more open than a study."""
    return (
        *_asked_about_people(facts),
        *_asked_about_material(facts),
        *_asked_about_judges(report, facts),
        *_asked_about_plan(report, facts),
        worded("Under which licence labels and reports are shared, and where"),
    )


def _asked_about_people(facts: StudyFacts) -> Iterator[str]:
    if facts.is_simulated:
        yield worded("That people and judges are simulated, wherever a number of this study is shown")
        return
    yield worded("How annotators were recruited, and what makes them able to judge these reports")
    yield worded("Whether annotators are authors, or knew the systems or the hypotheses")
    yield worded("Which ethics board approved the study, or why none had to")
    if not facts.consented:
        yield worded("Whether annotators consented, and to which text")
    if not facts.training_passed:
        yield worded("Which instructions and training annotators had beyond the protocol's guidance")
    if not facts.pay_rate:
        yield worded("What annotators were paid")
    if not facts.active_hours:
        yield worded("How long annotation took")
    if not facts.annotators:
        yield worded("Who gave the human labels, and how many annotators labelled each item")


def _asked_about_material(facts: StudyFacts) -> Iterator[str]:
    yield worded("How topics were chosen")
    yield worded("When, with which versions and settings, and from which prompts the systems wrote their reports")
    if not facts.name:
        yield worded("What annotators and judges were asked: task, criteria and their wording, allowed answers")
        yield worded("How many reports were compared, of which length and language")
    if facts.citations_stripped is None:
        yield worded("Whether system names, citations and layout were hidden from annotators and judges, and how")
    if not facts.orders and facts.task_type in (None, "pairwise_choice"):
        yield worded("How it was decided which report stands first, and whether that was recorded")
    if facts.orders.get("unknown"):
        yield worded("In which order reports stood in the comparisons whose order is not recorded")
    if facts.blinding_audit is None:
        yield worded("How far style and length give a system away (a blinding audit measures it)")
    if facts.unproved_texts:
        yield worded("Which texts were read for labels that were made elsewhere")
    if facts.flags.get("open"):
        yield worded("Why passages that might name a system were left undecided")
    if facts.pairs and facts.pairs_possible and facts.pairs < facts.pairs_possible and not facts.design:
        yield worded("By which rule pairs were chosen from the possible ones")


def _asked_about_judges(report: CalibrationReport, facts: StudyFacts) -> Iterator[str]:
    if not report.labels.judges:
        return
    yield worded("How judges and their prompts were chosen, and whether prompts were tuned on labels of this study")
    if not facts.judges or any(judge.imported for judge in facts.judges):
        yield worded("Which models judged: version, dates, prompts, parameters, handling of unreadable answers")
    elif any(judge.cost is None for judge in facts.judges):
        yield worded("What the judges without a known price cost")
    if any(judge.own_family_systems is None for judge in facts.judges) or not facts.judges:
        yield worded("Whether a judge is of the family of a system it judged")


def _asked_about_plan(report: CalibrationReport, facts: StudyFacts) -> Iterator[str]:
    if report.choice is not None and not facts.plan_sha256:
        yield worded("When the margin and the candidates were fixed, and whether results were known by then")
    if report.choice is not None and not facts.margin_in_protocol:
        yield worded(
            "Why a margin of {margin:g} points is small enough not to matter", margin=100 * report.choice.plan.margin
        )
    if report.alt_tests and not facts.epsilon_in_protocol:
        yield worded(
            "Why ε = {epsilon} fits these annotators (.2 experts, .15 skilled, .1 crowd)",
            epsilon=number(report.settings.epsilon, 2),
        )
    if facts.labels_before_plan:
        yield worded("Whether anybody had looked at labels by other means before the comparison was planned")
    # a root that only its own database keeps is no preregistration
    root = worded("; the plan's root is {root}", root=facts.plan_root[:16]) if facts.plan_root else ""
    yield worded("Whether the study was preregistered, and where{root}", root=root)
