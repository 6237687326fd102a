"""A judge made to agree: its instructions improved on some topics, measured on others, entered as one more judge."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from app.commands import opening, printing
from app.commands.judges.records import usd
from app.commands.judges.workers import chosen_judges, live

if TYPE_CHECKING:
    from annotation.judges.aligning.align_plan import Alignment
    from annotation.judges.aligning.measuring import Beside, Columns
    from annotation.judges.aligning.trying import Outcome
    from annotation.judges.defining.judge_file import JudgeDefinition

LEVEL = 0.95
NEAR_PEOPLE = 0.1  # above people's share by more than this, a rule that needs no reading may be what was learnt
NOT_COPIED = ("name", "prompt", "system", "examples", "max_cost")
LINES, WIDTH = 60, 160  # of the difference that is printed


def align(
    study: str = printing.ONE,
    judge: str = typer.Option(..., help="Which judge of the file; it must have answered these items."),
    against: str = typer.Option(
        ..., help='How many labelled topics to learn from: "labels of 20 topics". No number rests on them then.'
    ),
    budget: float = typer.Option(..., help="USD for all of it: trying, rewriting and measuring.", min=0.000001),
    variants: int = typer.Option(24, help="How many instructions are tried at most.", min=1, max=1000),
    examples: int = typer.Option(4, help="How many examples the last variant is shown; 0: none.", min=0, max=100),
    by: str = typer.Option(None, "--by", help="The judge of the file whose model writes instructions; else itself."),
    name: str = typer.Option(None, help="What the new judge is called; else JUDGE-aligned."),
    judges: Path = typer.Option(Path("judges.toml"), "--judges", help="Which models judge, and how."),
    yes: bool = typer.Option(False, "--yes", help="Go on after the plan without asking."),
    as_json: bool = printing.JSON,
) -> None:
    """Improve a judge's instructions from people's verdicts.

    Topics are split first: instructions are written and chosen on some, and the gain is that of the one that was chosen
    on topics which no step has seen. The result is one more judge of the file.

    Example: calipers judge align mystudy --judge mini --against "labels of 20 topics" --budget 2
    """
    from annotation.judges.aligning import align_plan, search, trying
    from annotation.studies import clusters_of
    from db.connect import reading, transaction
    from db.tables import Study

    count = align_plan.topics_against(against)
    search.refuse_without_gepa()
    engine, study_id, chosen = chosen_judges(study, judges, [judge, *([by] if by else [])])
    of = {one.name: one for one in chosen}
    definition, name = of[judge], name or f"{judge}-aligned"
    with reading(engine) as session:
        _refuse_to_overwrite(session, session.get_one(Study, study_id), judges, name)
        plan = align_plan.plan_alignment(
            session, session.get_one(Study, study_id), definition, name, count,
            variants=variants, examples=examples, budget=budget,
        )  # fmt: skip
        clusters = clusters_of(session, session.get_one(Study, study_id))
    if not as_json:
        typer.echo(_plan_in_words(plan, clusters))
    if not yes and not typer.confirm(f"Spend at most {budget:g} USD?", err=True):
        raise typer.Exit(1)
    with transaction(engine) as session:
        align_plan.keep_alignment(session, session.get_one(Study, study_id), plan)
    try:
        tried = trying.Trial(engine, study_id, definition, plan, of[by or judge]).run()
    except trying.Interrupted:
        typer.echo("interrupted; the same command goes on where this one ended", err=True)
        raise typer.Exit(130) from None
    if tried.best is tried.start:
        _say_nothing_better(plan, tried, as_json)
        return
    added = _enter(engine, study_id, judges, definition, plan, tried)
    if not _measure(engine, study_id, added, plan, not as_json):
        typer.echo("not measured to its end; the same command, perhaps with a larger --budget, goes on", err=True)
        raise typer.Exit(1)
    _show(engine, study_id, judges, definition, added, plan, tried, as_json)


def _refuse_to_overwrite(session: Any, study: Any, path: Path, name: str) -> None:
    """Raises AnnotationError `taken` for a prompt that is there, in no judge's entry, and that no alignment wrote."""
    from annotation.errors import AnnotationError
    from annotation.judges.asking.examples import topics_shown
    from annotation.judges.defining.judge_file import read_judges

    prompt = _prompt_of(path, name)
    if not prompt.exists() or name in [one.name for one in read_judges(path, opening.protocol_of(study))]:
        return
    if not topics_shown(session, study, prompt.read_text(encoding="utf-8", errors="replace")):
        raise AnnotationError(
            "taken", f"{prompt} is there already and {path} has no judge {name!r}; move it away, or give another --name"
        )


def _prompt_of(path: Path, name: str) -> Path:
    return path.parent / "prompts" / f"{name}.txt"


def _plan_in_words(plan: Alignment, clusters: Mapping[str, str]) -> str:
    """`clusters`: of each topic; one that is there in several languages is one topic."""
    written, chosen, unseen, made = (
        len({clusters[key] for key in keys})
        for keys in (plan.written_from, plan.chosen_on, plan.unseen, plan.made_from)
    )
    return (
        f"{plan.name}: instructions for {plan.judge} are written from labels of {written} topics and chosen on "
        f"{chosen} more; the one chosen is measured on {unseen} others, and is asked about none of the {made}"
    )


def _say_nothing_better(plan: Alignment, tried: Outcome, as_json: bool) -> None:
    if as_json:
        printing.print_json(
            {"judge": plan.judge, "aligned": None, "variants": tried.tried, "usd": tried.spent, "ended": tried.ended}
        )
        return
    typer.echo(
        f"none of {tried.tried} variants agreed with people more often than {plan.judge} as it is "
        f"({100 * tried.start.mean:.1f} %) on the topics to choose on; {usd(tried.spent)} USD{_ended(tried)}. "
        "Nothing is entered, and nothing had to be measured"
    )


def _ended(tried: Outcome) -> str:
    return f"; {tried.ended} ended it before all were tried" if tried.ended else ""


def _enter(
    engine: Any, study_id: int, path: Path, definition: JudgeDefinition, plan: Alignment, tried: Outcome
) -> JudgeDefinition:
    """Write the prompt and one more [[judge]] beside the others, and keep which topics it must not be asked about."""
    from annotation.errors import AnnotationError
    from annotation.items.shown import item_code
    from annotation.judges.aligning.align_plan import items_on
    from annotation.judges.asking.examples import keep_topics_shown
    from annotation.judges.defining.judge_file import read_judges
    from db.connect import transaction
    from db.tables import Study

    with transaction(engine) as session:
        study = session.get_one(Study, study_id)
        protocol = opening.protocol_of(study)
        _refuse_to_overwrite(session, study, path, plan.name)
        keep_topics_shown(session, study, plan.name, plan.made_from, tried.best.template)
        items = [item_code(item) for item in items_on(session, study, plan.made_from)]
    prompt = _prompt_of(path, plan.name)
    known = [one.name for one in read_judges(path, protocol)]
    if plan.name not in known:
        prompt.parent.mkdir(exist_ok=True)
        prompt.write_text(tried.best.template, encoding="utf-8")
        text = path.read_text(encoding="utf-8")
        path.write_text(f"{text.rstrip()}\n\n{_entry(text, definition, plan, tried, items)}", encoding="utf-8")
    (added,) = (one for one in read_judges(path, protocol) if one.name == plan.name)
    if added.prompt_text != tried.best.template:
        raise AnnotationError("taken", f"{path}: {plan.name!r} is another judge already; give a --name of its own")
    return added


def _entry(text: str, definition: JudgeDefinition, plan: Alignment, tried: Outcome, items: list[str]) -> str:
    """The [[judge]] as TOML: the judge's own keys, with the prompt that was made and the items that it must not see."""
    import tomlkit

    from annotation.files.decoding import read_toml

    (own,) = (table for table in read_toml(text)["judge"] if table["name"] == definition.name)
    keys = tomlkit.inline_table()
    keys.update({
        "name": plan.name, **{key: value for key, value in own.items() if key not in NOT_COPIED},
        "prompt": f"prompts/{plan.name}.txt", "examples": items,
    })  # fmt: skip
    said = f"made from {plan.judge} by calipers judge align: the best of {tried.tried} variants"
    lines = (f"{key} = {tomlkit.item(value).as_string()}" for key, value in keys.items())  # a bool comes back bare
    return "\n".join([f"[[judge]]  # {said}", *lines, ""])


def _measure(engine: Any, study_id: int, added: JudgeDefinition, plan: Alignment, shown: bool) -> bool:
    """Ask the new judge like any other, with what is left of the budget; whether all of its calls were made."""
    from annotation.judges.aligning.spending import left_of
    from annotation.judges.planning.plan import plan_judges
    from annotation.judges.running.run import run_judges

    own = added.model_copy(update={"max_cost": left_of(engine, study_id, plan)})
    plan_judges(engine, study_id, [own])
    with live(shown) as on_progress:
        ran = run_judges(engine, study_id, [own], on_progress=on_progress)
    if ran.interrupted:
        typer.echo("interrupted; the same command goes on where this one ended", err=True)
        raise typer.Exit(130)
    return ran.judges[0].complete


def _show(
    engine: Any, study_id: int, path: Path, before: JudgeDefinition, after: JudgeDefinition, plan: Alignment,
    tried: Outcome, as_json: bool,
) -> None:  # fmt: skip
    from annotation.judges.aligning.measuring import beside
    from annotation.judges.aligning.spending import spent_on
    from calibration.inference.stress_effect import stress_effect
    from db.connect import reading
    from db.tables import Study

    with reading(engine) as session:
        found = beside(session, session.get_one(Study, study_id), before, after, plan)
    scores, spent = found.agreement, spent_on(engine, study_id, plan)
    gain = stress_effect(scores.before, scores.after, scores.clusters).difference
    learnt = shortcuts(found)
    if as_json:
        printing.print_json(
            {"judge": before.name, "aligned": after.name, "gain": asdict(gain), "shown": gain.low > 0,
             "shortcuts": learnt, "variants": tried.tried, "usd": spent, "seen": plan.made_from, "ended": tried.ended}
        )  # fmt: skip
        return
    typer.echo(gain_in_words(plan, gain, tried, spent))
    for name in learnt:
        typer.echo(f"careful: it answers {name}, {learnt[name]}; what it learnt may be that")
    typer.echo(f"{path} has {after.name} with {_prompt_of(path, after.name)}; what changed:")
    for line in difference(tried.start.template, tried.best.template, before.name, after.name):
        typer.echo(line)


def gain_in_words(plan: Alignment, gain: Any, tried: Outcome, spent: float) -> str:
    """The gain on unseen topics with its interval, or that none is shown, and what was tried for it."""
    if gain.low != gain.low:
        interval = "no interval: all topics differ alike" if gain.note == "zero_variance" else "no interval"
    else:
        interval = f"[{100 * gain.low:.1f}, {100 * gain.high:.1f}]"
    how = (
        f"{100 * gain.value:+.1f} points {interval} on {gain.clusters} topics it never saw ({gain.n:,} answers); the "
        f"best of {tried.tried} variants{_ended(tried)}, {usd(spent)} USD"
    )
    if gain.low > 0:
        return f"{plan.name} agrees with people more often than {plan.judge}: {how}"
    if gain.high < 0:
        return f"{plan.name} agrees with people less often than {plan.judge}: {how}. Stay with {plan.judge}"
    return f"no gain is shown: {how}. Stay with {plan.judge}, or label more topics"


def shortcuts(found: Beside) -> dict[str, str]:
    """Rules that need no reading and that the new judge follows more than the old one and than people, in words."""
    from calibration.inference.stress_effect import stress_effect

    told = {}
    for name, columns in found.shortcuts.items():
        change = stress_effect(columns.before, columns.after, columns.clusters).difference
        if change.low > 0 and _mean(columns.after) > columns.people + NEAR_PEOPLE:
            told[name] = _shares(columns)
    return told


def _shares(columns: Columns) -> str:
    before, after = (f"{100 * _mean(one):.0f} %" for one in (columns.before, columns.after))
    return f"in {after} of answers, {before} before and {100 * columns.people:.0f} % of people's"


def _mean(values: tuple[float, ...]) -> float:
    return sum(values) / len(values) if values else float("nan")


def difference(before: str, after: str, name: str, new: str) -> list[str]:
    """The lines of a prompt that came and went, long ones cut."""
    lines = [
        line if len(line) <= WIDTH else f"{line[:WIDTH]} […]"
        for line in difflib.unified_diff(before.splitlines(), after.splitlines(), name, new, n=1, lineterm="")
    ]
    return lines if len(lines) <= LINES else [*lines[:LINES], f"({len(lines) - LINES} more lines are in the file)"]
