"""Items and the slots that wait for annotators: planned, made, printed, and kept for whom."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from annotation.errors import ImportingError
from app.commands import opening, printing
from app.commands.completing import among

if TYPE_CHECKING:
    from annotation.designs import listed_pairs
    from annotation.open_work.item_slots import ItemSlots
    from annotation.planning import probes
    from annotation.planning.plan_summary import PlanSummary
    from annotation.planning.slots import Plan

DESIGN = (
    "reference (each system against it), all (every two), balanced (a draw in which every two meet equally often), "
    "active (topics drawn batch by batch, where judges' answers say most), "
    "or a CSV or TSV file with the columns topic, system_a, system_b and perhaps priority."
)
BATCH = "Active: how many topics are drawn now; 20 where left out."
FOR = "Active: what topics are drawn for: gap (of the foremost judges), agreement, difference (of the two) or win_rate."


def pairs(
    study: str = printing.WHICH,
    design: str = typer.Option(
        "",
        help=DESIGN,
        show_default="reference, or the protocol's next",
        autocompletion=among("reference", "all", "balanced", "active"),
    ),
    per_topic: int = typer.Option(None, help="How many items a topic; all of the design where left out.", min=1),
    per_category: int = typer.Option(None, help="How many topics of each category; all where left out.", min=1),
    total: int = typer.Option(None, help="How many items in all, spread over topics, categories, systems.", min=1),
    strata: str = typer.Option(
        "", help="Claims: draw so many of each stratum, by verdict, domain, system or tag (verdict,domain)."
    ),
    per_stratum: int = typer.Option(None, help="How many claims of each stratum.", min=1),
    by: str = typer.Option(
        "", "--by", help="The judge whose verdicts tell strata apart; the majority of all where left out."
    ),
    overlap: int = typer.Option(None, help="Annotators an item; the protocol's where left out.", min=1),
    roster: bool = typer.Option(False, "--roster", help="Say now who labels what, among the active annotators."),
    batch: int = typer.Option(None, help=BATCH, min=1),
    question: str = typer.Option("gap", "--for", help=FOR, autocompletion=among("gap", "agreement", "win_rate")),
    apply: bool = typer.Option(False, "--apply", help="Make the items and slots; without it, only print the plan."),
    as_json: bool = printing.JSON,
) -> None:
    """Plan who is compared with whom; --apply makes items and slots.

    Prints the plan: items and sides, drawn from the study's seed, hours, pay and loads.

    A study that rates reports gets one item a report, a study of probes slots for the imported ones, all or so many
    drawn evenly over systems and their tags; neither has sides. Two reports rated in one view are planned as pairs are.
    What stands stays: asking for more later adds items and slots and changes none. With the design active every topic
    has its items, for judges to answer, and one batch of topics after another gets slots: each drawn with a chance that
    is kept, part of the plan's root and of labels.csv, and every number of the report is weighted by it, or a dash.

    Example: calipers pairs mystudy --design reference --total 10 --overlap 5 --apply
    Example: calipers pairs rb --strata verdict,domain --per-stratum 10 --overlap 2 --apply
    Example: calipers pairs mystudy --design balanced --per-topic 1 --overlap 3 --roster --apply
    Example: calipers pairs mystudy --design active --batch 20 --overlap 2 --apply
    """
    from annotation.planning.plan_summary import READING_WPM, summary
    from annotation.planning.plan_words import noun_of
    from annotation.planning.slots import apply_plan, compare_plan

    made, drawn = 0, ""
    try:
        listed, asked = _list(design), _strata(strata, per_stratum, by)
        engine = opening.opened()
        with opening.reading(engine) as session, printing.progress_bar("comparing reports") as advance:
            row = opening.find_study(session, study)
            admin = opening.local_admin(row)
            overlap = overlap or opening.protocol_of(row).study.overlap
            noun = noun_of(opening.protocol_of(row))
            design = design or ("active" if opening.protocol_of(row).study.next == "active" else "reference")
            planned = partial(
                _planned, admin=admin, design=design, batch=batch, question=question,
                amount={"per_topic": per_topic, "per_category": per_category, "total": total},
                listed=listed, strata=asked, overlap=overlap, roster=roster,
            )  # fmt: skip
            plan, drawn = planned(session)
            told = summary(session, admin, plan)
            passages = compare_plan(session, admin, plan, advance) if apply else {}
        if apply:
            with opening.transaction(engine) as session:
                plan, drawn = planned(session)  # once more: something may have come in meanwhile
                told = summary(session, admin, plan)
                made = apply_plan(session, admin, plan, passages)
    except ImportingError as error:
        if as_json:
            printing.print_json({"problems": error.problems})
            raise typer.Exit(1) from None
        raise
    if as_json:
        sides = {system.system: (system.left, system.right) for system in told.systems} if plan.pairs else {}
        printing.print_json(
            {
                "study": row.name,
                "seed": row.seed,
                "design": plan.asked.design,
                noun: told.items,
                "applied": apply,
                "sides": sides,
                "reading_wpm": READING_WPM,
                **asdict(told),
                **({"draw": asdict(plan.draw)} if plan.draw else {}),
            }
        )
        return
    if drawn:
        typer.echo(drawn)
    _print(row.name, row.seed, noun, told, has_sides=bool(plan.pairs))
    typer.echo(f"made {made} slots" if apply else "nothing was written; add --apply to make these items and slots")
    if apply:
        printing.say_next(engine, study)


def _planned(
    session: Any, *, admin: Any, design: str, batch: int | None, question: str, amount: Mapping[str, int | None],
    listed: listed_pairs.PairList | None, strata: probes.Strata | None, overlap: int, roster: bool,
) -> tuple[Plan, str]:  # fmt: skip
    """The plan, and what is told of the topics drawn for it, if any."""
    from annotation.planning.slots import make_plan

    asked: dict[str, Any] = {**amount, "overlap": overlap, "roster": roster}
    if design != "active":
        if batch is not None:
            raise typer.BadParameter("it is for topics that are drawn: --design active", param_hint="--batch")
        return make_plan(session, admin, design=design, listed=listed, strata=strata, **asked), ""
    if strata is not None:
        raise typer.BadParameter("topics that are drawn have no strata of claims; leave it out", param_hint="--strata")
    from app.results.next_topics import plan_drawn
    from calibration.sizing.next_batch import QUESTIONS

    if question not in QUESTIONS:
        raise typer.BadParameter(f"use {', '.join(QUESTIONS)}", param_hint="--for")
    return plan_drawn(session, admin, size=batch, question=question, **asked)


def _list(design: str) -> listed_pairs.PairList | None:
    """The list of pairs where `design` is no design's name but a file."""
    from annotation.designs import listed_pairs, pairing

    path = Path(design)
    known = ("", "active", *pairing.DESIGNS)
    return listed_pairs.read_list(path) if design not in known and (path.suffix or path.exists()) else None


def _strata(names: str, each: int | None, by: str) -> probes.Strata | None:
    """Raises BadParameter where one of both is missing."""
    from annotation.planning import probes

    if not names and each is None:
        return None
    if not names or each is None:
        raise typer.BadParameter("name the strata and how many: --strata verdict,domain --per-stratum 10")
    return probes.Strata(tuple(name.strip() for name in names.split(",")), each, by)


def _print(name: str, seed: int, noun: str, told: PlanSummary, *, has_sides: bool) -> None:
    from annotation.planning import plan_words

    typer.echo(plan_words.size_words(name, seed, noun, told))
    if told.categories:
        printing.print_table(
            ("category", noun), [(name or None, count) for name, count in told.categories.items()], numbers=(noun,)
        )
    if told.strata:
        rows_of_strata = [(name, drawn, among) for name, (drawn, among) in told.strata.items()]
        printing.print_table(("stratum", noun, "of"), rows_of_strata, numbers=(noun, "of"))
    columns = ("system", noun, "slots", *(("left", "right") if has_sides else ()))
    rows: list[tuple[Any, ...]] = [
        (system.system, system.items, system.slots, *((system.left, system.right) if has_sides else ()))
        for system in told.systems
    ]
    if rows:
        printing.print_table(columns, rows, numbers=columns[1:])
    if told.loads:
        typer.echo(plan_words.roster_words(told.loads, told.uneven_sides if has_sides else None))
    typer.echo("\n".join(plan_words.work_words(told)))
    if told.warning:
        typer.echo(f"warning: {told.warning}", err=True)


def items(
    study: str = printing.WHICH,
    item: list[str] = typer.Option([], help="Which item, as the list names it; repeatable."),
    priority: int = typer.Option(None, help="Give these items out earlier (higher) or later; 0 is what all have."),
    reserve: str = typer.Option("", help="Keep an open slot of each of these items for this person."),
    release: bool = typer.Option(False, "--release", help="Open reserved slots to all: of these items, or of --of."),
    of: str = typer.Option("", help="With --release: only what is reserved for this person."),
    stale: bool = typer.Option(False, "--return-stale", help="Return work that nobody has touched for long."),
    as_json: bool = printing.JSON,
) -> None:
    """List items with their slots; say who gets open ones next.

    Example: calipers items mystudy --item item-00003 --priority 5
    Example: calipers items mystudy --item item-00003 --item item-00007 --reserve "Ada"
    Example: calipers items mystudy --release --of "Ada"
    """
    from annotation.open_work.item_slots import list_items, return_stale_now, set_priority
    from annotation.open_work.item_slots import release as open_to_all
    from annotation.open_work.item_slots import reserve as keep_for

    if (priority is not None or reserve) and not item:
        raise typer.BadParameter("name the items with --item", param_hint="--priority / --reserve")
    if (release and not item and not of) or (of and not release):
        raise typer.BadParameter("name the items with --item, or the person with --of", param_hint="--release")
    done = {}
    is_change = stale or release or reserve or priority is not None
    with (opening.transaction if is_change else opening.reading)(opening.opened()) as session:
        admin = opening.local_admin(opening.find_study(session, study))
        if stale:
            done["returned"] = return_stale_now(session, admin)
        if priority is not None:
            done["moved"] = set_priority(session, admin, item, priority)
        if release:
            done["released"] = open_to_all(session, admin, item, of or None)
        if reserve:
            done["reserved"] = keep_for(session, admin, item, reserve)
        rows = list_items(session, admin)
    if as_json:
        printing.print_json({"changed": done, "items": [asdict(row) for row in rows]})
        return
    _print_slots(rows)
    for what, slots in done.items():
        typer.echo(f"{slots} slot{'' if slots == 1 else 's'} {what}")


def _print_slots(rows: list[ItemSlots]) -> None:
    numbers = ("priority", "open", "taken", "handed in")
    printing.print_table(
        ("item", "topic", *numbers, "held by", "kept for"),
        [
            (
                row.item, row.topic, row.priority, "out" if row.is_excluded else row.open, row.taken, row.handed_in,
                ", ".join(name for name, _ in row.held_by), ", ".join(row.reserved_for),
            )
            for row in rows
        ],
        numbers,
    )  # fmt: skip
