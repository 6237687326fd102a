"""What the shown texts still tell about who wrote them, and the owner's decisions about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict
from shlex import quote
from typing import TYPE_CHECKING, Any

import typer

from app.commands.completing import among
from app.commands.opening import find_study, local_admin, opened, reading, transaction
from app.commands.printing import JSON, WHICH, echo, print_json, print_table, progress_bar, say_next

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from annotation.leaks.blinding_audit import BlindingAudit, Gaps
    from annotation.shown_texts.auditing import ReportLine
    from db.tables import Study

NO_CLAIM = "No claim: all labels were made elsewhere, and their files do not prove which text was read."
SHOWN = 20
SOON = 200  # reports; of more an audit takes so long that a decision does not wait for it
READERS = {
    "linear support vector machine": "SVM", "logistic regression": "logistic", "decision tree": "tree",
    "support vector machine with a Gaussian kernel": "Gaussian",
}  # fmt: skip
LAYOUTS = ("kept", "spacing", "canonical", "plain")


def audit(
    study: str = WHICH,
    resolve: str = typer.Option(
        "",
        help="Decide about waiting passages: keep (their words are content), mask (names are shown as [system]) or "
        "exclude (the whole report is left out).",
        autocompletion=among("keep", "mask", "exclude"),
    ),
    kind: str = typer.Option("", help="With --resolve: only passages of this kind."),
    of: str = typer.Option("", "--report", help="With --resolve: only in this report, SYSTEM/TOPIC as it is listed."),
    reason: str = typer.Option("", help="With --resolve: why; it is kept with your decision."),
    as_json: bool = JSON,
) -> None:
    """What still gives a system away, and what a paper may claim.

    Prints what is left in the shown texts, passages to decide about, gaps, and how well systems are recognised.

    Example: calipers audit mystudy --resolve keep --kind product --reason "the report is about this product"
    """
    from annotation.files.decoding import some_of
    from annotation.shown_texts.auditing import audit_study, list_reports, open_flags
    from annotation.shown_texts.overrides import resolve_all
    from plain.counting import counted

    engine = opened()
    if resolve:
        with transaction(engine) as session:
            admin = local_admin(find_study(session, study))
            decided = resolve_all(session, admin, resolve, kind=kind or None, of=of, reason=reason)
        typer.echo(f"{counted(decided, 'passage')} resolved as {resolve}", err=as_json)
    with reading(engine) as session:
        found = find_study(session, study)
        flags, lines, name = (
            open_flags(session, local_admin(found)), list_reports(session, local_admin(found)), found.name,
        )  # fmt: skip
    if not as_json:  # what keeps the study from opening, before what takes long
        _print_decisions([] if resolve else flags)
        _print_waiting(flags, name)
    if resolve and not as_json and (flags or len(lines) > SOON):
        if not flags:
            typer.echo(f"every passage is decided; what a paper may claim: calipers audit {quote(name)}")
        return
    from annotation.facts.study_facts import keep_audit  # these two take longer to import than a decision
    from calibration.inference.bootstrap import wilson_effective

    with reading(engine) as session, progress_bar("reading reports") as advance:
        audited = audit_study(session, local_admin(find_study(session, study)), advance, wilson_effective)
    with reading(engine) as session:
        guessed = _guessed(session, find_study(session, study))
    with transaction(engine) as session:
        claimed = keep_audit(session, find_study(session, study), audited, guessed)["sentence"]
    if as_json:
        print_json({**asdict(audited), "sentence": audited.sentence, "open_flags": flags, "guessed": guessed()})
        return
    _print_systems(audited, lines)
    if bare := [f"{line.system}/{line.topic}" for line in lines if not line.has_text]:
        typer.echo(f"stand-ins for reports that were never published {len(bare):,}: {some_of(bare, SHOWN)}")
    _print_recognised(audited)
    for hit in audited.residue[:SHOWN]:
        echo(f"left: {hit.kind} in {hit.report} at {hit.start}: {hit.context}")
    _print_gaps(audited.gaps)
    typer.echo(audited.sentence if claimed or flags else NO_CLAIM)
    if guessed():
        typer.echo(guessed())
    if not flags:
        say_next(engine, study)


def _guessed(session: Session, study: Study) -> Callable[[], str]:
    """What annotators said they recognised, in a sentence; empty where the protocol does not ask."""
    from annotation.studies import protocol_of

    if not protocol_of(study).study.guess_system:
        return str
    from app.results.guessed import recognised  # it computes agreement, which most audits never need

    found = recognised(session, study)
    return lambda: found.sentence


def _print_systems(audited: BlindingAudit, lines: Sequence[ReportLine]) -> None:
    """What is left in the shown texts, system by system."""
    kinds = sorted({kind for counts in audited.residue_counts.values() for kind, count in counts.items() if count})
    removed = {share.system: share for share in audited.removed}
    print_table(
        ("system", "reports", "removed %", *kinds, "open flags"),
        [
            (system, removed[system].reports, f"{100 * removed[system].median:.1f}", *(counts[k] for k in kinds),
             sum(line.open_flags for line in lines if line.system == system))
            for system, counts in audited.residue_counts.items()
        ],
        numbers=("reports", "removed %", *kinds, "open flags"),
    )  # fmt: skip


def _print_recognised(audited: BlindingAudit) -> None:
    """How often each system is recognised in the texts as shown, what gives it away, what each layout would leave."""
    shown = {one.features: one for one in audited.identification if one.text == "shown"}
    if not shown:
        return
    kinds = ("formatting", "formatting_per_word", "words", "length", "all")
    rows = [
        (system, *(_share(shown[kind].recall[system], shown[kind].recall_intervals[system]) for kind in kinds))
        for system in sorted(shown["all"].recall)
    ]
    whole = ("all systems", *(_share(shown[kind].accuracy, shown[kind].interval) for kind in kinds))
    by = ("by", *(READERS[shown[kind].reader] for kind in kinds))
    typer.echo(
        f"recognised in the texts as shown, % of {audited.guessed:,} reports [95 % interval over topics], chance "
        f"{100 * audited.chance:.0f} %, the best of four that only guess {100 * audited.by_luck:.0f} %; each by the "
        "one of four classifiers that names most; formatting includes length, formatting per word does not"
    )
    named = tuple(kind.replace("_", " ") for kind in kinds)
    print_table(("system", *named), [*rows, whole, by], numbers=named)
    for sign in audited.giveaways:
        passage = f"{sign.report}: {sign.passage}" if sign.passage else "rarer than elsewhere"
        echo(f"gives away {sign.system}: {sign.kind} {sign.name} ({sign.own:.1f} to {sign.others:.1f}) {passage}")
    for kind, name in zip(kinds[:2], named[:2], strict=True):
        left = [one for one in audited.identification if one.text in LAYOUTS and one.features == kind]
        told = ", ".join(f"{one.text} {_share(one.accuracy, one.interval)}" for one in left)
        typer.echo(f"from {name} each layout would leave, %: {told}")


def _share(share: float, interval: tuple[float, float]) -> str:
    low, high = (100 * end for end in interval)
    return f"{100 * share:.0f} [{low:.0f}, {high:.0f}]"


def _print_decisions(flags: Sequence[dict[str, Any]]) -> None:
    """Every passage for which the study does not open, then the first of the others; `flags` are in that order."""
    planned = sum(flag["planned"] for flag in flags)
    for flag in flags[: max(SHOWN, planned)]:
        echo(f"decide: {flag['kind']} in {flag['report']}: {flag['text']} | {flag['around']}")


def _print_waiting(flags: Sequence[dict[str, Any]], study: str) -> None:
    """How many decisions wait, what may be decided, and the commands that do it."""
    from annotation.shown_texts.overrides import decisions_about
    from exports.words.grammar import verb

    counted = Counter(flag["kind"] for flag in flags)
    if flags:
        named = ", ".join(f"{kind} {count}" for kind, count in counted.most_common())
        planned = sum(flag["planned"] for flag in flags)
        if 0 < planned < len(flags):
            named += f"; {planned} of planned items, for which the study does not open"
        typer.echo(
            f"{len(flags)} {verb(len(flags), 'passage waits', 'passages wait')} for a decision ({named}): keep it "
            "where its words are content, mask a name as [system], or exclude the whole report;\n"
            "one by one on the Blinding page (calipers serve), where words are also changed by hand, or"
        )
        (kind, _), *_ = counted.most_common()
        of = next((flag["report"] for flag in flags if "mask" in decisions_about(flag["kind"])), None)
        excluding = f"mask --report {quote(of)}" if of else f"exclude --report {quote(flags[0]['report'])}"
        for words in (f"keep --kind {kind}", excluding):
            typer.echo(f"  calipers audit {quote(study)} --resolve {words}")


def _print_gaps(gaps: Gaps) -> None:
    """Reports that are not there, empty or twice, and pairs of unlike length."""
    from exports.words.grammar import verb

    for name, keys in (("duplicate texts", gaps.duplicates), ("missing", gaps.missing), ("empty", gaps.empty)):
        if keys:
            typer.echo(f"{name}: {len(keys)}")
    if gaps.unequal:
        pairs = len(gaps.unequal)
        typer.echo(f"{pairs} {verb(pairs, 'pair differs', 'pairs differ')} in length by more than 1:4")
    if gaps.layouts:
        named = ", ".join(f"{layout}: {count}" for layout, count in gaps.layouts)
        typer.echo(f"laid out in {len(gaps.layouts)} ways ({named}), which may tell reports apart; import all anew")
