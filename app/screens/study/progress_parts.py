"""The parts of the dashboard of a running study, as HTML: bars, the strip of slots, flags in words, and tables."""

import math
from collections.abc import Mapping, Sequence
from html import escape

from annotation.facts.judge_facts import ImportedCost
from app.progress import Part, RaterProgress, StudyProgress
from app.results.quality import StudyQuality, listed, reason, why
from app.screens.look import table
from app.screens.study.judge_tables import imported_usd
from calibration.agreement.catalogue import statistic_of
from calibration.people.annotator_quality import AnnotatorQuality
from calibration.results import Estimate
from exports.cells import DASH, shown
from exports.words.notes import METHODS
from plain.wording import worded

CSS = """
.d-bars { display: grid; grid-template-columns: max-content minmax(6rem, 1fr) max-content; gap: 8px 16px;
  align-items: center; max-width: 46rem; font-variant-numeric: tabular-nums; }
.d-bars small { color: var(--c-ink-soft); font-size: 12px; white-space: nowrap; }
@media (max-width: 1200px) { .st-key-counts [data-testid="stColumn"] { min-width: 100%; } }
@media (max-width: 600px) { .d-bars { grid-template-columns: max-content minmax(4rem, 1fr) minmax(0, max-content); }
  .d-bars small { white-space: normal; } }
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
        return f'<p class="c-soft">{worded("No annotator is invited yet.")}</p>'
    share = math.ceil(slots / max(1, sum(person.status == "active" for person in people)))
    of = {person.rater: person.quota if person.quota is not None else share for person in people}
    drawn = people if shown is None else shown
    most = max([1, *of.values(), *(person.submitted + person.in_work for person in people)])
    return f'<div class="d-bars">{"".join(_bar(person, of[person.rater], most) for person in drawn)}</div>'


def strip_html(parts: Sequence[Part]) -> str:
    """One column an item, one cell a slot: filled, framed or empty."""
    if not parts:
        return f'<p class="c-soft">{worded("No item has a slot: nobody was asked here.")}</p>'
    full = sum(part.submitted >= part.slots for part in parts)
    begun = sum(0 < part.submitted < part.slots for part in parts)
    told = worded(
        "{full} of {parts} items have all their labels, {begun} some of them", full=full, parts=len(parts), begun=begun
    )
    if len(parts) > STRIP_MAX:
        return f"<p>{worded('{lead}.', lead=told)}</p>"
    titles = (worded("{name}: {done} of {of}", name=one.name, done=one.submitted, of=one.slots) for one in parts)
    shown = zip(map(escape, titles), parts, strict=True)
    columns = "".join(f'<span title="{title}">{"".join(_cells(part))}</span>' for title, part in shown)
    key = "".join(
        f'<span><i class="d-{name}"></i>{words}</span>'
        for name, words in (("done", worded("handed in")), ("taken", worded("in work")), ("open", worded("open")))
    )
    strip = f'<div class="d-strip" role="img" aria-label="{told}">{columns}</div>'
    return f'<p class="c-soft">{worded("{lead}.", lead=told)}</p>{strip}<p class="d-key">{key}</p>'


def looks_html(measured: StudyQuality) -> str:
    """Who needs a second look and why; facts without a test apart."""
    rows = [_look(annotator) for annotator in measured.annotators if annotator.flags]
    facts = [_fact(annotator) for annotator in measured.annotators if not annotator.flags and listed(annotator)]
    if not rows and not facts:
        return ""
    foot = worded(
        "Flagged: differences to the others on the same items, beyond a margin fixed beforehand, at {level:g} "
        "% over all annotators and signals of the study (Holm). Listed: facts that no test stands behind. "
        "Nobody is excluded by either.",
        level=100 * (1 - measured.level),
    )
    title = worded("Who needs a second look") if rows else worded("Listed")
    return f'<h2>{title}</h2><ul class="d-looks">{"".join((*rows, *facts))}</ul><p class="c-soft c-foot">{foot}</p>'


def people_html(annotators: Sequence[AnnotatorQuality]) -> str:
    """Every figure that any of these annotators has; below it why some are dashes, and which of them nobody has."""
    if not annotators:
        return ""
    columns: dict[str, Sequence[Estimate | str]] = dict(
        zip(PEOPLE, zip(*map(_figures, annotators), strict=True), strict=True)
    )
    if severities := [found for annotator in annotators if (found := _severity(annotator))]:
        columns = {"Severity": severities, **columns}
    known = [head for head, cells in columns.items() if not all(map(_is_unknown, cells))]
    rows = [
        (escape(annotator.rater), f"{annotator.items:,}", *(_figure(columns[head][place]) for head in known))
        for place, annotator in enumerate(annotators)
    ]
    reasons = {head: worded(", ").join(sorted({*map(_why_unknown, cells)} - {""})) for head, cells in columns.items()}
    notes = [worded("{head}: {reason}.", head=worded(head), reason=reasons[head]) for head in known if reasons[head]]
    absent = {reasons[head]: [other for other in columns if other not in known and reasons[other] == reasons[head]]
              for head in columns if head not in known}  # fmt: skip
    told = worded("; ").join(
        worded("{heads} ({reason})", heads=worded(", ").join(map(worded, heads)), reason=reason)
        for reason, heads in absent.items()
    )
    notes += [worded("Left out, for nobody here has it: {told}.", told=told)] * bool(told)
    notes += [worded("Severity: own scores minus the others' on the same questions, 0 to 1 of the scale.")] * bool(
        severities
    )
    notes.append(worded("Medians and shares with intervals from whole clusters; a dash is unknown, not nothing."))
    listed_notes = "".join(f"<li>{escape(note)}</li>" for note in notes)
    heads = (worded("Annotator"), worded("Items"), *known)
    return f'{table("Annotators", heads, rows)}<ul class="c-notes">{listed_notes}</ul>'


def agreement_html(measured: StudyQuality) -> str:
    """Every measure of agreement among annotators, the ceiling last."""
    every = [*measured.agreement.overall, *([measured.agreement.ceiling] if measured.agreement.ceiling else [])]
    rows = [
        (escape(_statistic(estimate)), _cell(estimate), f"{estimate.n:,}", f"{estimate.clusters:,}")
        for estimate in every
    ]
    return table("Agreement among annotators", ("Measure", "Value", "n", "Clusters"), rows)


def criteria_html(measured: StudyQuality) -> str:
    """Agreement of each criterion beside its ceiling, the lowest first."""
    ordered = sorted(measured.agreement.criteria, key=lambda pair: (math.isnan(pair[0].value), pair[0].value))
    rows = [(escape(agreement.criterion), _cell(agreement), _cell(other), f"{agreement.n:,}", f"{agreement.clusters:,}")
            for agreement, other in ordered]  # fmt: skip
    few = next((why(agreement) for agreement, _ in ordered if math.isnan(agreement.low)), "")
    note = f'<p class="c-soft c-foot">{worded("Without interval: {few}.", few=escape(few))}</p>' if few else ""
    return f"{table('By criterion', ('Criterion', 'Agreement', 'Ceiling', 'n', 'Clusters'), rows)}{note}"


def side_by_side(*parts: str) -> str:
    """Put the parts in one row where there is room, else below each other; figures keep their own width."""
    return f'<div class="d-row">{"".join(f"<div>{part}</div>" for part in parts if part)}</div>'


def parts_html(name: str, parts: Sequence[Part]) -> str:
    """Counts by topic, system or criterion."""
    rows = [(escape(part.name), f"{part.submitted:,}", f"{part.in_work:,}", f"{part.slots:,}") for part in parts]
    return table(name, (name, "Handed in", "In work", "Of"), rows)


def _bar(rater: RaterProgress, of: int, most: int) -> str:
    wide = max(1, of, rater.submitted + rater.in_work)
    done, taken = (f"{100 * count / wide:.4g}%" for count in (rater.submitted, rater.in_work))
    state = f" · {worded(rater.status)}" if rater.status != "active" else ""
    work = worded(" · {in_work} in work", in_work=rater.in_work) if rater.in_work else ""
    goal = worded(" of {of}", of=of) if rater.quota is not None else ""
    done_so_far = worded("{submitted}{goal} handed in", submitted=rater.submitted, goal=goal)
    return (
        f'<span>{escape(rater.rater)}</span><span class="d-track" style="width: {100 * wide / most:.4g}%">'
        f'<i class="d-done" style="width: {done}"></i><i class="d-taken" style="width: {taken}"></i></span>'
        f"<small>{done_so_far}{work}{escape(state)}</small>"
    )


def _cells(part: Part) -> list[str]:
    states = ["done"] * part.submitted + ["taken"] * part.in_work
    states += ["open"] * (part.slots - len(states))
    return [f'<i class="d-{state}"></i>' for state in states]


def judges_html(progress: StudyProgress, imported: Mapping[str, ImportedCost]) -> str:
    """A row a judge; empty where the study has none. `imported`: what a judge cost that was run elsewhere."""
    rows = [
        (escape(judge.rater), f"{judge.submitted:,}", f"{judge.in_work:,}",
         imported_usd(imported.get(judge.rater)) or (DASH if judge.cost_usd is None else f"{judge.cost_usd:.4f}"))
        for judge in progress.raters
        if judge.kind == "judge"
    ]  # fmt: skip
    heads = worded("Judge"), worded("Handed in"), worded("In work"), worded("USD spent")
    return f"<h2>{worded('Judges')}</h2>{table('Judges', heads, rows)}" if rows else ""


def _look(annotator: AnnotatorQuality) -> str:
    said = "".join(f"<li>{escape(reason(flag))}</li>" for flag in annotator.flags)
    facts = "".join(
        f'<li class="d-said">{worded("listed: {fact}", fact=escape(fact))}</li>' for fact in listed(annotator)
    )
    return f"<li><strong>{escape(annotator.rater)}</strong><ul>{said}{facts}</ul></li>"


def _fact(annotator: AnnotatorQuality) -> str:
    facts = escape(worded("; ").join(listed(annotator)))
    return f'<li class="d-fact">{escape(annotator.rater)} <span class="d-said">{facts}</span></li>'


def _figures(annotator: AnnotatorQuality) -> tuple[Estimate | str, ...]:
    """Return an annotator's figures in the order of `PEOPLE`."""
    return (annotator.agreement, annotator.self_agreement, _attention(annotator), annotator.left,
            annotator.same_answer, annotator.tie, annotator.not_applicable, annotator.repeated,
            annotator.minutes, annotator.seconds_per_answer, annotator.rationale_words)  # fmt: skip


def _severity(annotator: AnnotatorQuality) -> Estimate | None:
    """None where nobody gave scores."""
    return next((signal.estimate for signal in annotator.signals if signal.name == "severity"), None)


def _is_unknown(cell: Estimate | str) -> bool:
    return cell == DASH if isinstance(cell, str) else math.isnan(cell.value)


def _why_unknown(cell: Estimate | str) -> str:
    if not _is_unknown(cell):
        return ""
    return worded("no attention item answered") if isinstance(cell, str) else why(cell)


def _figure(cell: Estimate | str) -> str:
    return cell if isinstance(cell, str) else _cell(cell)


def _cell(estimate: Estimate) -> str:
    value, interval = shown(estimate)
    title = escape(
        worded(
            "n {n:,}, {clusters:,} clusters, {method}; {note}",
            n=estimate.n,
            clusters=estimate.clusters,
            method=worded(METHODS.get(estimate.method, estimate.method)),
            note=estimate.note,
        )
    )
    return f'<span title="{title}">{value}</span>' + (f'<span class="ci">{interval}</span>' if interval else "")


def _attention(annotator: AnnotatorQuality) -> str:
    seen = annotator.attention_passed + annotator.attention_failed
    return (
        worded("{attention_passed} of {seen}", attention_passed=annotator.attention_passed, seen=seen) if seen else DASH
    )


def _statistic(estimate: Estimate) -> str:
    if estimate.statistic.startswith("human_ceiling"):
        return worded("Ceiling: one left out, with the others")
    return worded(statistic_of(estimate.statistic).title_at("page progress"))
