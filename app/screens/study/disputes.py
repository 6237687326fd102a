"""Adjudication at a glance: how many disputes are open, on which criteria and why, and with whom it sided."""

from collections.abc import Sequence
from html import escape

from annotation.disputes.settled import Adjudication, DisputeCounts
from annotation.people.principals import Principal
from annotation.protocol import Apart, Protocol
from annotation.studies import protocol_of
from app.results.study_reports import work_version
from app.screens import look, report_page, waiting
from calibration.results import Estimate
from exports.cells import shown
from plain.wording import several, worded

COLUMNS = (
    "Criterion", "Disputes", "Open", "In work", "Settled", "Tie against a winner", "Not applicable", "Low confidence",
    "Flagged item",
)  # fmt: skip
REASONS = ("tie_against_winner", "not_applicable", "low_confidence", "flag")
SIDED = ("Annotator", "Settled disputes answered", "Same verdict as the adjudicator")
RULES = {
    "any": "Two people who differ make a dispute.",
    "no_majority": "A verdict that no majority shares makes a dispute.",
}
KINDS = (
    "The four columns on the right say of what kind the disputes are, whatever their state; one can be of several. Low "
    "confidence: somebody's was 1 or 2 of 5."
)
READING = (
    "Disputes are no sample of all questions, and annotators who differ cannot all be right: this says with whom the "
    "adjudicator sided, not how good anybody is."
)


def show(principal: Principal) -> None:
    """Show the counts as they are now; people appear by pseudonym, systems not at all."""
    with report_page.begun(principal, "evaluator") as (session, study):
        protocol, version = protocol_of(study), work_version(session, study)
    kept = waiting.computed("disputes", principal, version, doing="Comparing what people answered")
    if kept is None:
        return
    disputes, sided = kept.value
    report_page.answer(sentence(disputes), about(disputes, protocol))
    report_page.section(f"{_criteria(disputes.rows)}{_sided(sided)}")


def sentence(disputes: Adjudication) -> str:
    """Say what is left to decide."""
    total, states = sum(disputes.states.values()), disputes.states
    if not total:
        return worded("Nothing is in dispute.")
    left = (
        worded("{open:,} open on {items}", open=states["open"], items=several(disputes.items, "item"))
        if states["open"]
        else worded("none is open")
    )
    work = worded(", {in_work:,} in work", in_work=states["in work"]) if states["in work"] else ""
    return worded(
        "{disputes}: {left}{work}, {settled:,} settled.",
        disputes=several(total, "dispute"), left=left, work=work, settled=states["settled"],
    )  # fmt: skip


def about(disputes: Adjudication, protocol: Protocol) -> str:
    """Say what makes a dispute here, and when an item is looked at."""
    names = {criterion.id: criterion.label for criterion in protocol.criterion}
    listed = (
        worded(", ").join(names.get(code, code) for code in disputes.rule) if isinstance(disputes.rule, tuple) else ""
    )
    rule = (
        worded("Two people who differ make a dispute, on these criteria alone: {listed}.", listed=listed)
        if listed
        else ""
    )
    if isinstance(disputes.rule, Apart):
        rule = worded("Two scores that lie more than {apart:g} apart make a dispute.", apart=disputes.rule.apart)
    rule = rule or worded(RULES.get(str(disputes.rule), "No criterion is adjudicated in this study."))
    return worded("{rule} An item counts once nobody is still to hand it in, or once the study is closed.", rule=rule)


def _criteria(rows: Sequence[DisputeCounts]) -> str:
    if not rows:
        return ""
    cells = [
        (
            escape(row.label), _n(row.total), *map(_n, row.states.values()),
            *(_n(row.reasons[reason]) for reason in REASONS),
        )
        for row in rows
    ]  # fmt: skip
    return (
        f"<h2>{worded('Disputes by criterion')}</h2>"
        f'{look.table("Disputes by criterion", COLUMNS, cells)}<p class="c-soft c-foot">'
        f"{worded(KINDS)}</p>"
    )


def _sided(sided: Sequence[Estimate]) -> str:
    if not sided:
        return ""
    rows = [(escape(estimate.rater), _n(estimate.n), _estimate(estimate)) for estimate in sided]
    return (
        f"<h2>{worded('With whom the adjudicator sided')}</h2>"
        f"{look.table('With whom the adjudicator sided', SIDED, rows)}"
        f'<p class="c-soft c-foot">{worded(READING)}</p>'
    )


def _estimate(estimate: Estimate) -> str:
    value, interval = map(escape, shown(estimate))
    return f'{value} <span class="ci">{interval}</span>' if interval else value


def _n(count: int) -> str:
    return f"{count:,}"
