"""Two checklists, filled from what is known: the alternative annotator test's, and one for blinding.

An answer is `yes`, `no` or `not known`; what the data do not show is not known, never no.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from calibration.choosing.alternative_annotator import FALSE_DISCOVERIES, FEWEST_ITEMS, PASSES_FROM
from calibration.results import CalibrationReport
from exports.cells import number
from exports.facts import StudyFacts
from exports.tables import Column, Table
from exports.words.grammar import counted, listed, percent
from exports.words.methods_numbers import alt_tests, clusters
from exports.words.notes import origin

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


def _alt_design(report: CalibrationReport, facts: StudyFacts) -> Iterator[Row]:
    tests = alt_tests(report)
    first = tests[0] if tests else None
    people = len(report.data["annotators"])
    yield f"At least {FEWEST_ANNOTATORS} annotators", _answer(people >= FEWEST_ANNOTATORS), counted(people, "annotator")
    if first is None:
        yield "The test was made", "no", "no judge shares enough labels with two or more annotators"
        return
    sizes = {one["annotator"]: one["n"] for test in tests for one in test["annotators"]}
    fewest = min(sizes.values(), default=0)
    yield (
        f"Every annotator has at least {FEWEST_ITEMS} labels beside a judge's",
        _answer(fewest >= FEWEST_ITEMS),
        f"fewest: {counted(fewest, 'label')}",
    )
    out = sorted({one["annotator"] for test in tests for one in test["annotators"] if _untested(one)})
    yield (
        "No annotator was left out of the test",
        _answer(not out),
        listed(out) if out else counted(people, "annotator"),
    )
    epsilon = f"ε = {number(first['epsilon'], 2)} ({EPSILONS})"
    stated = {True: "in the protocol", False: "the software's default", None: "where it was fixed is not known"}
    yield (
        "ε was fixed beforehand",
        _answer(facts.epsilon_in_protocol or None),
        f"{epsilon}; {stated[facts.epsilon_in_protocol]}",
    )
    clustered = first["method"] == "cluster_t"
    word = clusters(report)
    how = f"t over {counted(report.data['clusters'], word)}" if clustered else "t over labels, as published"
    yield f"The test respects that labels of one {word} are alike", _answer(clustered), how
    level = f"Benjamini-Yekutieli at {number(FALSE_DISCOVERIES, 2)}"
    yield "False discoveries are controlled over annotators", "yes", level
    yield "All candidates tried are listed", *_tried(report, facts)


def _tried(report: CalibrationReport, facts: StudyFacts) -> tuple[str, str]:
    """A table of labels holds those that were kept; only a study knows of settings that were replaced."""
    listed_here = f"{counted(len(report.data['alt_tests']), 'candidate')} in the report"
    replaced = [
        f"{one.name} is the last of {one.settings_tried}" for one in facts.judges if (one.settings_tried or 0) > 1
    ]
    if replaced:
        return "no", f"{listed_here}; of settings, {listed(replaced)}"
    known = bool(facts.judges) and not any(one.imported for one in facts.judges)
    return _answer(known or None), listed_here


def _alt_results(report: CalibrationReport) -> Iterator[Row]:
    for test in alt_tests(report):
        held = [one for one in test["annotators"] if not _untested(one)]
        against = f"{sum(one['rejected'] for one in held)} of {counted(len(held), 'annotator')}"
        rho = f", ρ = {test['rho']}" if test["rho"] else ""
        yield f"{test['judge']} passes", _answer(test["passed"]), f"ω = {number(test['omega'], 2)} ({against}){rho}"


def _untested(one: dict[str, object]) -> bool:
    p = one["p"]
    return p is None or (isinstance(p, float) and math.isnan(p))


def _hidden(facts: StudyFacts) -> Iterator[Row]:
    hidden = bool(facts.name) and facts.made_here and not facts.imported_labels
    named = "the page names neither systems, files nor A and B" if hidden else ""
    yield "System and file names hidden from annotators", _answer(hidden or None), named
    versions = f"by rules, stripper version {listed(facts.stripper_versions)}" if facts.stripper_versions else ""
    yield "Citations removed", _answer(facts.citations_stripped), versions if facts.citations_stripped else ""
    full = None if facts.canonical is None else facts.canonical == "full"
    layout = f"canonical format {listed(facts.canonical_versions) or facts.canonical}" if facts.canonical else ""
    yield "One layout for all reports, references included", _answer(full), layout
    words = {"keep": "kept", "mask": "masked", "exclude": "left out with their report", "open": "undecided"}
    decided = [f"{facts.flags[name]:,} {word}" for name, word in words.items() if facts.flags.get(name)]
    told = listed(decided) or "no passage was flagged"
    known = None if not facts.name else not facts.flags.get("open")
    yield "Passages that may name a maker decided by hand", _answer(known), told if facts.name else ""
    edited = facts.edited_reports
    yield (
        "No report was edited by hand",
        _answer(None if edited is None else edited == 0),
        counted(edited, "report") if edited else "",
    )


def _ordered(report: CalibrationReport, facts: StudyFacts) -> Iterator[Row]:
    if set(report.data["criteria"].values()) == {"rating"} or facts.task_type in ("pointwise_rating", "probe_label"):
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
    both = [one.name for one in facts.judges if one.order == "both"]
    asked = [one for one in facts.judges if one.order is not None]
    orders = f"{len(both)} of {counted(len(asked), 'judge')}" if asked else ""
    yield "Judges asked in both orders", _answer(len(both) == len(asked) if asked else None), orders


def _audited(facts: StudyFacts) -> Iterator[Row]:
    proved = None if facts.unproved_texts is None else facts.unproved_texts == 0
    bytes_read = counted(facts.unproved_texts, "label") + " without proof" if facts.unproved_texts else ""
    yield (
        "People and judges read one stored text, by its sha256",
        _answer(proved),
        bytes_read or _if(proved, "sha256 on every label and call"),
    )
    audit = facts.blinding_audit
    yield (
        "Leakage was measured",
        _answer(None if audit is None else not audit.get("refused")),
        (str(audit.get("refused") or _figures(audit)) if audit else ""),
    )
    sentence = str(audit.get("sentence") or "") if audit else ""
    yield "Claimed: label-blind, not style-blind", _answer(bool(sentence) or None), sentence


def _if(known: bool | None, words: str) -> str:
    return words if known else ""


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
    after = facts.labels_after_reveal
    yield (
        "No label was given after systems were revealed",
        _answer(None if after is None else after == 0),
        counted(after, "label") if after else "",
    )
    staff = facts.staff_labelled
    yield (
        "Nobody who runs the study labelled",
        _answer(None if staff is None else staff == 0),
        counted(staff, "annotator") if staff else "",
    )
