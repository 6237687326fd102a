"""The parts of the dashboard of a running study, as HTML: bars, the strip of slots, flags in words, and tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

from annotation.facts.imported_costs import ImportedCost
from app.progress import Part, RaterProgress, StudyProgress
from app.quality import StudyQuality
from app.quality_words import listed, reason, why
from app.screens.judge_tables import imported_usd
from app.screens.look import table
from calibration.people.annotator_quality import AnnotatorQuality
from calibration.results import Estimate
from exports.cells import DASH, shown

CSS = """
.d-bars { display: grid; grid-template-columns: max-content minmax(6rem, 1fr) max-content; gap: 8px 16px;
  align-items: center; max-width: 46rem; font-variant-numeric: tabular-nums; }
.d-bars small { color: var(--c-ink-soft); font-size: 12px; white-space: nowrap; }
.d-track { position: relative; display: flex; height: 8px; background: var(--c-surface); border-radius: 2px; }
.d-track i { display: block; height: 8px; }
.d-done { background: var(--c-accent); }
.d-taken { background: var(--c-paper); box-shadow: inset 0 0 0 2px var(--c-accent); }
.d-open { background: var(--c-paper); box-shadow: inset 0 0 0 1px var(--c-edge); }
.d-strip { display: flex; flex-wrap: wrap; gap: 4px; max-width: 46rem; }
.d-strip span { display: grid; gap: 2px; }
.d-strip i, .d-key i { display: block; width: 12px; height: 12px; border-radius: 2px; }
.d-row { display: flex; flex-wrap: wrap; gap: 24px; align-items: flex-start; }
.d-row > :first-child { max-width: min(48rem, 100%); }
.d-row > :last-child { max-width: min(31rem, 100%); }
.d-row + .c-scroll { margin-top: 24px; }
.d-key { display: flex; gap: 16px; color: var(--c-ink-soft); font-size: 12px !important; margin-top: 8px !important; }
.d-key span { display: flex; align-items: center; gap: 4px; }
.d-looks { list-style: none; padding: 0 !important; margin: 0 0 8px !important; max-width: 60rem; }
.d-looks > li { border-left: 2px solid var(--c-amber); padding: 2px 0 2px 12px; margin: 0 0 12px !important;
  font-size: 14px; }
.d-looks > li.d-fact { border-left-color: var(--c-line); }
.d-looks ul { margin: 2px 0 0; padding: 0; list-style: none; }
.d-looks ul li { font-size: 14px; margin: 2px 0; }
.d-looks .d-said { color: var(--c-ink-soft); }
.d-remark { max-width: 60rem; }
.d-remark p { margin: 0 0 2px !important; }
.d-answer { border-left: 2px solid var(--c-line); padding-left: 12px; color: var(--c-ink-soft); }
"""
# the others first: what tells somebody inconsistent is never what a narrow window cuts off
PEOPLE = ("Agreement", "Retests", "Attention", "Left", "Same answer", "Ties", "Not applicable", "Rationales repeated",
          "Minutes an item", "Seconds an answer", "Words each")  # fmt: skip
STRIP_MAX = 400  # items; of more, topics are told instead


def bars_html(people: Sequence[RaterProgress], slots: int, shown: Sequence[RaterProgress] | None = None) -> str:
    """Handed in and in work of each one's quota; without a quota, of an even share of all slots. `shown`: of whom."""
    if not people:
        return '<p class="c-soft">No annotator is invited yet.</p>'
    share = math.ceil(slots / max(1, sum(one.status == "active" for one in people)))
    of = {one.rater: one.quota if one.quota is not None else share for one in people}
    drawn = people if shown is None else shown
    most = max([1, *of.values(), *(one.submitted + one.in_work for one in people)])
    return f'<div class="d-bars">{"".join(_bar(one, of[one.rater], most) for one in drawn)}</div>'


def strip_html(parts: Sequence[Part]) -> str:
    """One column an item, one cell a slot: filled, framed or empty."""
    if not parts:
        return '<p class="c-soft">No item has a slot: nobody was asked here.</p>'
    full = sum(one.submitted >= one.slots for one in parts)
    begun = sum(0 < one.submitted < one.slots for one in parts)
    told = f"{full} of {len(parts)} items have all their labels, {begun} some of them"
    if len(parts) > STRIP_MAX:
        return f"<p>{told}.</p>"
    columns = "".join(
        f'<span title="{escape(one.name)}: {one.submitted} of {one.slots}">{"".join(_cells(one))}</span>'
        for one in parts
    )
    key = "".join(
        f'<span><i class="d-{name}"></i>{words}</span>'
        for name, words in (("done", "handed in"), ("taken", "in work"), ("open", "open"))
    )
    strip = f'<div class="d-strip" role="img" aria-label="{told}">{columns}</div>'
    return f'<p class="c-soft">{told}.</p>{strip}<p class="d-key">{key}</p>'


def looks_html(found: StudyQuality) -> str:
    """Who needs a second look and why; facts without a test apart."""
    rows = [_look(one) for one in found.annotators if one.flags]
    facts = [_fact(one) for one in found.annotators if not one.flags and listed(one)]
    if not rows and not facts:
        return ""
    foot = (
        "Flagged: differences to the others on the same items, beyond a margin fixed beforehand, at "
        f"{100 * (1 - found.level):g} % over all annotators and signals of the study (Holm). "
        "Listed: facts that no test stands behind. Nobody is excluded by either."
    )
    title = "Who needs a second look" if rows else "Listed"
    return f'<h2>{title}</h2><ul class="d-looks">{"".join((*rows, *facts))}</ul><p class="c-soft c-foot">{foot}</p>'


def people_html(annotators: Sequence[AnnotatorQuality]) -> str:
    """Every figure that any of these annotators has; below it why some are dashes, and which of them nobody has."""
    if not annotators:
        return ""
    columns = dict(zip(PEOPLE, zip(*map(_figures, annotators), strict=True), strict=True))
    known = [head for head, cells in columns.items() if not all(map(_is_unknown, cells))]
    rows = [
        (escape(one.rater), f"{one.items:,}", *(_figure(columns[head][place]) for head in known))
        for place, one in enumerate(annotators)
    ]
    reasons = {head: ", ".join(sorted({*map(_why_unknown, cells)} - {""})) for head, cells in columns.items()}
    notes = [f"{head}: {reasons[head]}." for head in known if reasons[head]]
    absent = {reasons[head]: [one for one in PEOPLE if one not in known and reasons[one] == reasons[head]]
              for head in PEOPLE if head not in known}  # fmt: skip
    told = "; ".join(f"{', '.join(heads)} ({reason})" for reason, heads in absent.items())
    notes += [f"Left out, for nobody here has it: {told}."] * bool(told)
    notes.append("Medians and shares with intervals from whole clusters; a dash is unknown, not nothing.")
    listed_notes = "".join(f"<li>{escape(one)}</li>" for one in notes)
    heads = ("Annotator", "Items", *known)
    return f'{table("Annotators", heads, rows)}<ul class="c-notes">{listed_notes}</ul>'


def agreement_html(found: StudyQuality) -> str:
    """Every measure of agreement among annotators, the ceiling last."""
    every = [*found.agreement.overall, *([found.agreement.ceiling] if found.agreement.ceiling else [])]
    rows = [(escape(_statistic(one)), _cell(one), f"{one.n:,}", f"{one.clusters:,}") for one in every]
    return table("Agreement among annotators", ("Measure", "Value", "n", "Clusters"), rows)


def criteria_html(found: StudyQuality) -> str:
    """Agreement of each criterion beside its ceiling, the lowest first."""
    ordered = sorted(found.agreement.criteria, key=lambda one: (math.isnan(one[0].value), one[0].value))
    rows = [(escape(one.criterion), _cell(one), _cell(other), f"{one.n:,}", f"{one.clusters:,}")
            for one, other in ordered]  # fmt: skip
    few = next((why(one) for one, _ in ordered if math.isnan(one.low)), "")
    note = f'<p class="c-soft c-foot">Without interval: {escape(few)}.</p>' if few else ""
    return f"{table('By criterion', ('Criterion', 'Agreement', 'Ceiling', 'n', 'Clusters'), rows)}{note}"


def side_by_side(*parts: str) -> str:
    """In one row where there is room, else below each other; figures keep their own width."""
    return f'<div class="d-row">{"".join(f"<div>{one}</div>" for one in parts if one)}</div>'


def parts_html(name: str, parts: Sequence[Part]) -> str:
    """Counts by topic, system or criterion."""
    rows = [(escape(one.name), f"{one.submitted:,}", f"{one.in_work:,}", f"{one.slots:,}") for one in parts]
    return table(name, (name, "Handed in", "In work", "Of"), rows)


def _bar(one: RaterProgress, of: int, most: int) -> str:
    wide = max(1, of, one.submitted + one.in_work)
    done, taken = (f"{100 * count / wide:.4g}%" for count in (one.submitted, one.in_work))
    state = f" · {one.status}" if one.status != "active" else ""
    work = f" · {one.in_work} in work" if one.in_work else ""
    goal = f" of {of}" if one.quota is not None else ""
    return (
        f'<span>{escape(one.rater)}</span><span class="d-track" style="width: {100 * wide / most:.4g}%">'
        f'<i class="d-done" style="width: {done}"></i><i class="d-taken" style="width: {taken}"></i></span>'
        f"<small>{one.submitted}{goal} handed in{work}{escape(state)}</small>"
    )


def _cells(one: Part) -> list[str]:
    states = ["done"] * one.submitted + ["taken"] * one.in_work
    states += ["open"] * (one.slots - len(states))
    return [f'<i class="d-{state}"></i>' for state in states]


def judges_html(progress: StudyProgress, imported: Mapping[str, ImportedCost]) -> str:
    """A row a judge; empty where the study has none. `imported`: what a judge cost that was run elsewhere."""
    rows = [
        (escape(one.rater), f"{one.submitted:,}", f"{one.in_work:,}",
         imported_usd(imported.get(one.rater)) or (DASH if one.cost_usd is None else f"{one.cost_usd:.4f}"))
        for one in progress.raters
        if one.kind == "judge"
    ]  # fmt: skip
    heads = "Judge", "Handed in", "In work", "USD spent"
    return f"<h2>Judges</h2>{table('Judges', heads, rows)}" if rows else ""


def _look(one: AnnotatorQuality) -> str:
    said = "".join(f"<li>{escape(reason(flag))}</li>" for flag in one.flags)
    facts = "".join(f'<li class="d-said">listed: {escape(fact)}</li>' for fact in listed(one))
    return f"<li><strong>{escape(one.rater)}</strong><ul>{said}{facts}</ul></li>"


def _fact(one: AnnotatorQuality) -> str:
    return f'<li class="d-fact">{escape(one.rater)} <span class="d-said">{escape("; ".join(listed(one)))}</span></li>'


def _figures(one: AnnotatorQuality) -> tuple[Estimate | str, ...]:
    """As `PEOPLE` heads them."""
    return (one.agreement, one.self_agreement, _attention(one), one.left, one.same_answer, one.tie, one.not_applicable,
            one.repeated, one.minutes, one.seconds_per_answer, one.rationale_words)  # fmt: skip


def _is_unknown(cell: Estimate | str) -> bool:
    return cell == DASH if isinstance(cell, str) else math.isnan(cell.value)


def _why_unknown(cell: Estimate | str) -> str:
    if not _is_unknown(cell):
        return ""
    return "no attention item answered" if isinstance(cell, str) else why(cell)


def _figure(cell: Estimate | str) -> str:
    return cell if isinstance(cell, str) else _cell(cell)


def _cell(one: Estimate) -> str:
    value, interval = shown(one)
    title = escape(f"n {one.n:,}, {one.clusters:,} clusters, {one.method.replace('_', ' ')}; {one.note}")
    return f'<span title="{title}">{value}</span>' + (f'<span class="ci">{interval}</span>' if interval else "")


def _attention(one: AnnotatorQuality) -> str:
    seen = one.attention_passed + one.attention_failed
    return f"{one.attention_passed} of {seen}" if seen else DASH


def _statistic(one: Estimate) -> str:
    known = {
        "percent_agreement": "Equal answers", "percent_agreement_half_credit": "Equal answers, ties half",
        "percent_agreement_exclude_ties": "Equal answers, without ties", "cohen_kappa": "Cohen's κ",
        "krippendorff_alpha_nominal": "Krippendorff's α", "krippendorff_alpha_ordinal": "Krippendorff's α, ordinal",
        "krippendorff_alpha_interval": "Krippendorff's α, interval",
    }  # fmt: skip
    return (
        "Ceiling: one left out, with the others" if one.statistic.startswith("human_ceiling") else known[one.statistic]
    )
