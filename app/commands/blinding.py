"""What the shown texts still tell about who wrote them, and the owner's decisions about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import typer

from app.commands.completing import among
from app.commands.next_step import say_next
from app.commands.printing import JSON, WHICH, echo, print_json, print_table, progress_bar

if TYPE_CHECKING:
    from annotation.leaks.auditing import ReportLine
    from annotation.leaks.blinding_audit import BlindingAudit, Gaps

NO_CLAIM = "No claim: all labels were made elsewhere, and their files do not prove which text was read."
SHOWN = 20


def add_to(app: typer.Typer) -> None:
    """Register this file's commands."""
    app.command("audit")(audit)


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
    from dataclasses import asdict

    from annotation.facts.study_facts import keep_audit
    from annotation.leaks.auditing import audit_study, list_reports, open_flags
    from annotation.leaks.overrides import resolve_all
    from annotation.people.principals import local_admin
    from annotation.studies import find_study
    from app.commands.database import opened
    from db.connect import reading, transaction
    from exports.words.grammar import counted

    engine = opened()
    if resolve:
        with transaction(engine) as session:
            admin = local_admin(find_study(session, study))
            decided = resolve_all(session, admin, resolve, kind=kind or None, of=of, reason=reason)
        typer.echo(f"{counted(decided, 'passage')} resolved as {resolve}", err=as_json)
    with reading(engine) as session, progress_bar("reading reports") as advance:
        admin = local_admin(find_study(session, study))
        found = audit_study(session, admin, advance)
        lines = list_reports(session, admin)
        flags, name = open_flags(session, admin), find_study(session, study).name
    with transaction(engine) as session:
        claimed = keep_audit(session, find_study(session, study), found)["sentence"]
    if as_json:
        print_json({**asdict(found), "open_flags": flags})
        return
    _print_systems(found, lines)
    _print_passages(found, flags)
    _print_waiting(flags, name)
    _print_gaps(found.gaps)
    typer.echo(found.sentence if claimed or flags else NO_CLAIM)
    if not flags:
        say_next(engine, study)


def _print_systems(found: BlindingAudit, lines: Sequence[ReportLine]) -> None:
    """What is left in the shown texts, system by system."""
    kinds = sorted({kind for counts in found.residue_counts.values() for kind, count in counts.items() if count})
    removed = {share.system: share for share in found.removed}
    print_table(
        ("system", "reports", "removed %", *kinds, "open flags"),
        [
            (system, removed[system].reports, f"{100 * removed[system].median:.1f}", *(counts[k] for k in kinds),
             sum(line.open_flags for line in lines if line.system == system))
            for system, counts in found.residue_counts.items()
        ],
        numbers=("reports", "removed %", *kinds, "open flags"),
    )  # fmt: skip


def _print_passages(found: BlindingAudit, flags: Sequence[dict[str, Any]]) -> None:
    """The first places where something is left, and the first to decide about."""
    for hit in found.residue[:SHOWN]:
        echo(f"left: {hit.kind} in {hit.report} at {hit.start}: {hit.context}")
    for flag in flags[:SHOWN]:
        echo(f"decide: {flag['kind']} in {flag['report']}: {flag['text']} | {flag['around']}")


def _print_waiting(flags: Sequence[dict[str, Any]], study: str) -> None:
    """How many decisions wait, what may be decided, and the commands that do it."""
    from collections import Counter
    from shlex import quote

    from annotation.leaks.overrides import decisions_about
    from exports.words.grammar import verb

    counted = Counter(flag["kind"] for flag in flags)
    if flags:
        named = ", ".join(f"{kind} {count}" for kind, count in counted.most_common())
        typer.echo(
            f"{len(flags)} {verb(len(flags), 'passage waits', 'passages wait')} for a decision ({named}): keep it "
            "where its words are content, mask a name as [system], or exclude the whole report;\n"
            "one by one on the Blinding page (calipers serve), where words are also changed by hand, or"
        )
        (kind, _), *_ = counted.most_common()
        of = next((flag["report"] for flag in flags if "mask" in decisions_about(flag["kind"])), None)
        one = f"mask --report {quote(of)}" if of else f"exclude --report {quote(flags[0]['report'])}"
        for words in (f"keep --kind {kind}", one):
            typer.echo(f"  calipers audit {quote(study)} --resolve {words}")


def _print_gaps(gaps: Gaps) -> None:
    """Reports that are not there, empty or twice, and pairs of unlike length."""
    from exports.words.grammar import verb

    for name, keys in (
        ("duplicate texts", gaps.duplicates),
        ("missing", gaps.missing),
        ("empty", gaps.empty),
    ):
        if keys:
            typer.echo(f"{name}: {len(keys)}")
    if gaps.unequal:
        pairs = len(gaps.unequal)
        typer.echo(f"{pairs} {verb(pairs, 'pair differs', 'pairs differ')} in length by more than 1:4")
