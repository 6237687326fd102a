"""Where a judge and the annotators differ: filters and counts, why, a list, and one question whole."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from html import escape
from typing import Any

import pandas as pd
import streamlit as st

from annotation.errors import AnnotationError
from annotation.judges.reviewing import disagreements, inspecting
from annotation.people.principals import Principal
from app.results.kept import Version
from app.results.shown_file import ShownFile, Source, one_of_file
from app.screens import look, report_page, waiting
from app.screens.look import table
from app.settings import database
from calibration.comparing.disagreement_kinds import DisagreementKind, DisagreementKinds
from db.connect import reading
from plain.wording import several, worded

NAMES = {
    "person": "One annotator stands apart",
    "ambiguous": "People differ there too",
    "unstable": "It contradicts itself",
    "order": "It follows the order of the two",
    "length": "It takes the longer one",
    "criterion": "A criterion is read otherwise",
    "other": "None of these",
}
DO = {
    "person": "Look at their work under Progress, and go through the guidance with them.",
    "ambiguous": "No other judge helps here. Sharpen the question, or allow a tie.",
    "unstable": "Ask several times and take the majority: repeats, and a panel of this judge alone.",
    "order": "Ask in both orders, and let unequal answers be a tie.",
    "length": "Say in its prompt that length is no merit; measure it with judge stress --kind padding.",
    "criterion": "Say with an example, in the protocol and the prompt, what the criterion asks.",
    "other": "Read the reasons beside each other, below.",
}
PAGE = 8  # lines of the list at once
AT = "disagreement_at"
CHOOSE = "Choose a judge to see why it and the annotators differ."
NO_TEXTS = "A labels file holds answers and reasons, and not the texts they are about."
HOW_FAR = (
    '<a href="/judges" target="_self">Judges</a> and <a href="/progress" target="_self">Progress</a> say how far '
    "each is."
)


def show(source: Source) -> None:
    """Browse the questions that were answered differently. Systems are named only once the study may show them."""
    version, _ = report_page.page_head(source)
    kept = waiting.computed("disagreements", source, version, doing="Comparing answers")
    if kept is None:
        return
    compared: pd.DataFrame = kept.value
    if compared.empty:
        report_page.empty(
            worded("Nothing to compare yet"),
            f"<p>{worded('A judge and an annotator must have answered the same question.')}</p>"
            + ("" if isinstance(source, ShownFile) else f"<p>{worded(HOW_FAR)}</p>"),
        )
        return
    head = st.container()
    filters = _filters(compared)
    compared = _why(source, version, compared, filters.judge)
    of_all_kinds = disagreements.narrowed(compared, replace(filters, kind=""))
    lines = disagreements.narrowed(of_all_kinds, disagreements.Filters(kind=filters.kind))
    lines = lines[lines["unlike"] > 0]  # in order already
    said = count_sentence(of_all_kinds, filters.kind)
    head.html(f'<div class="c-page"><p class="c-answer">{escape(said)}</p></div>')
    if lines.empty:
        st.html(f'<div class="c-page"><p class="c-soft">{worded("Take a filter away to see more.")}</p></div>')
        return
    at = min(st.session_state.setdefault(AT, 0), len(lines) - 1)
    listed, beside = st.columns([3, 7], gap="medium")
    with listed:
        _list(lines, at)
        st.expander(worded("Counts by criterion")).html(f'<div class="c-page">{counts_table(of_all_kinds)}</div>')
    with beside:
        _one(source, lines.iloc[at])


def _why(source: Source, version: Version, compared: pd.DataFrame, chosen: str) -> pd.DataFrame:
    """Say why one judge and the annotators differ; return the questions of the reason that is chosen, or all."""
    judges = sorted(compared["judge"].unique())
    judge = chosen or (judges[0] if len(judges) == 1 else "")
    if not judge:
        st.html(f'<div class="c-page"><p class="c-soft">{worded(CHOOSE)}</p></div>')
        return compared
    kept = waiting.computed("kinds", source, version, judge, doing="Looking for reasons")
    if kept is None:
        return compared
    found: DisagreementKinds = kept.value
    st.html(f'<div class="c-page"><p>{escape(why_sentence(found))}</p></div>')
    if found.by_question.empty:
        return compared
    with st.expander(worded("Why they differ, by kind")):
        st.html(f'<div class="c-page">{why_table(found)}</div>')
        narrow, _ = st.columns([2, 5])
        why = narrow.selectbox(
            worded("Show only"), ["", *kinds_to_choose(found)], format_func=lambda kind: worded(NAMES.get(kind, "All")),
            key="why", on_change=_go, args=(0,), bind="query-params",
        )  # fmt: skip
    if not why:
        return compared
    of_kind = found.by_question[found.by_question["kind"] == why]
    asked = pd.MultiIndex.from_frame(of_kind[["item_id", "criterion"]].astype(str))
    own = compared[compared["judge"] == judge]
    return own[pd.MultiIndex.from_frame(own[["item_id", "criterion"]].astype(str)).isin(asked)]


def _filters(compared: pd.DataFrame) -> disagreements.Filters:
    """Only those that have something to choose from; the address holds what was chosen, so that a link can."""
    systems = sorted({*compared["system_a"].fillna(""), *compared["system_b"].fillna("")} - {""})
    offered = {
        "judge": (worded("Judge"), sorted(compared["judge"].unique())),
        "criterion": (worded("Criterion"), sorted(set(compared["criterion"]))),
        "category": (worded("Category"), sorted(set(compared["category"]) - {""})),
        "system": (worded("System"), systems),
        "kind": (worded("Kind"), list(disagreements.KINDS)),
    }
    useful = {name: (title, options) for name, (title, options) in offered.items() if len(options) > 1}
    columns = st.columns(5)
    chosen = {}
    for column, (name, (title, options)) in zip(columns, useful.items(), strict=False):
        said = (lambda one: worded(one or "All")) if name == "kind" else (lambda one: one or worded("All"))
        chosen[name] = column.selectbox(
            title, ["", *options], format_func=said, key=name, on_change=_go, args=(0,), bind="query-params"
        )
    return disagreements.Filters(**{name: value or "" for name, value in chosen.items()})


def _list(lines: pd.DataFrame, at: int) -> None:
    first = at // PAGE * PAGE
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center", gap="xsmall"):
        st.button(worded("Previous"), key="previous", disabled=at == 0, on_click=_go, args=(at - 1,))
        st.html(f'<p class="c-place">{worded("{at:,} of {lines:,}", at=at + 1, lines=len(lines))}</p>', width="content")
        st.button(worded("Next"), key="next", disabled=at + 1 == len(lines), on_click=_go, args=(at + 1,))
    rows = st.container(gap="xsmall")
    for number, line in enumerate(lines.iloc[first : first + PAGE].itertuples(), start=first):
        button, words = rows.columns([2, 7], gap="small", vertical_alignment="center")
        button.button(
            f"{number + 1:,}", key=f"go_{number - first}", type="primary" if number == at else "secondary",
            on_click=_go, args=(number,), width="stretch",
        )  # fmt: skip
        words.html(line_html(line))


def _one(source: Source, line: pd.Series[str]) -> None:
    if isinstance(source, ShownFile):
        answered = one_of_file(source, line["judge"], line["item_id"], line["criterion"])
        st.html(f'<div class="c-page">{answers_html(answered)}<p class="c-soft">{worded(NO_TEXTS)}</p></div>')
        return
    principal = source
    try:
        with reading(database()) as session:
            question = disagreements.look_at(session, principal, line["judge"], line["item_id"], line["criterion"])
    except AnnotationError as error:
        st.html(f'<div class="c-page"><p class="c-soft">{escape(error.text)}</p></div>')
        return
    st.html(f'<div class="c-page">{answers_html(question)}{panes_html(question)}</div>')
    _sent(principal, question)


def _sent(principal: Principal, question: disagreements.OneDisagreement) -> None:
    """The judge's calls, folded: each holds both reports again."""
    for answer in question.judge:
        if answer.call_id is None:
            continue
        with reading(database()) as session:
            call = disagreements.sent_call(session, principal, answer.call_id)
        summary = f"<summary>{escape(_title(answer, question.judge))}</summary>"
        st.html(f'<div class="c-page"><details class="c-fold">{summary}{sent_html(call)}</details></div>')


def _title(answer: disagreements.Given, all_of: Sequence[disagreements.Given]) -> str:
    which = worded(", pass {pass_no}", pass_no=answer.pass_no) if len(all_of) > 1 else ""
    return worded("The prompt that was sent, and the reply{which}", which=which)


def _go(at: int) -> None:
    st.session_state[AT] = at


TOO_LONG = "The prompt is longer than the model's context window."
KINDS_TOLD = {
    "hard": "a judge and an annotator contradict each other",
    "unlike scores": "their scores differ, on a scale so fine that nothing says which are neighbours",
    "soft": "one of the two says tie or not applicable, or they are neighbours on a scale",
}
TURNED = ": “left” in the reason below is Right here"
CHANGED = "A text or a question changed after it was planned, or no prompt can be built from them."


def count_sentence(compared: pd.DataFrame, kind: str = "") -> str:
    """Say how many questions were answered differently, and how; of `kind` alone where one is wanted.

    `compared`: of every kind, for a count says nothing without all that it is of.
    """
    kinds = compared["kind"].value_counts()
    hard, fine, soft, total = *(int(kinds.get(name, 0)) for name in disagreements.KINDS), len(compared)
    if not total:
        return worded("No question passes these filters.")
    if kind and not kinds.get(kind):
        return worded(
            "No {kind} difference among {questions}: {kinds_told}.",
            kind=worded(kind), questions=several(total, "question"), kinds_told=worded(KINDS_TOLD[kind]),
        )  # fmt: skip
    if not hard + soft + fine:
        return worded("No difference: {questions} answered alike.", questions=several(total, "question"))
    if kind:
        return worded(
            "A {kind} difference in {kinds:,} of {questions}: {kinds_told}.", kind=worded(kind), kinds=kinds[kind],
            questions=several(total, "question"), kinds_told=worded(KINDS_TOLD[kind]),
        )  # fmt: skip
    if fine:
        return worded(
            "{differ:,} of {total:,} questions are answered differently by a judge and an annotator: {hard:,} hard, "
            "{soft:,} soft, {fine:,} in scores so fine that nothing says which are neighbours.",
            differ=hard + soft + fine, total=total, hard=hard, soft=soft, fine=fine,
        )  # fmt: skip
    return worded(
        "{soft:,} of {total:,} questions are answered differently by a judge and an annotator: "
        "{hard:,} hard (contradictory), {soft2:,} soft (a tie against a winner, or neighbours "
        "on a scale).",
        soft=hard + soft, total=total, hard=hard, soft2=soft,
    )  # fmt: skip


def counts_table(compared: pd.DataFrame) -> str:
    """Criterion × compared, hard, soft; the most disputed first."""
    counts = pd.crosstab(compared["criterion"], compared["kind"])
    counts = counts.reindex(columns=[*disagreements.KINDS, ""], fill_value=0)
    counts["all"] = counts.sum(axis=1)
    ordered = counts.sort_values(["hard", "soft"], ascending=False)
    rows = [
        (escape(str(name)), f"{row['hard']:,}", f"{row['soft']:,}", f"{row['all']:,}")
        for name, row in ordered.iterrows()
    ]
    return look.table("Counts by criterion", ("Criterion", "Hard", "Soft", "Compared"), rows)


def line_html(line: Any) -> str:
    """A row of the list: what was asked about what, and how far the answers differ."""
    about = worded(
        "{criterion} · {judge} · {kind}, {unlike} of {compared} differ",
        criterion=line.criterion, judge=line.judge, kind=worded(line.kind), unlike=line.unlike, compared=line.compared,
    )  # fmt: skip
    return f'<div class="c-line">{escape(line.topic)}<small>{escape(about)}</small></div>'


def answers_html(question: disagreements.OneDisagreement) -> str:
    """The question, then the judge's answers beside the annotators'."""
    about = f'<p class="c-probe">{escape(question.probe)}</p>' if question.probe else ""
    category = f" · {escape(question.category)}" if question.category else ""
    return (
        f'<p class="c-soft">{escape(question.topic)}{category} · {escape(question.criterion)}</p>'
        f'<h1>{escape(question.label)}</h1><p class="c-soft">{escape(question.question)}</p>{about}'
        f'<div class="c-answers"><section><h2>{worded("Judge")}</h2>{"".join(map(_given, question.judge))}</section>'
        f"<section><h2>{worded('Annotators')}</h2>{''.join(map(_given, question.people))}</section></div>"
    )


def panes_html(question: disagreements.OneDisagreement) -> str:
    """The texts as raters saw them. Their HTML is sanitised and asks for nothing from outside."""
    panes = "".join(
        f'<section class="c-pane" tabindex="0" aria-label="{escape(worded(pane.name))}"><h2>{escape(worded(pane.name))}'
        f"{f' <small>{escape(pane.system)}</small>' if pane.system else ''}</h2>"
        f'<div class="c-report">{pane.html}</div></section>'
        for pane in question.panes
    )
    return f'<div class="c-panes">{panes}</div>'


def sent_html(call: inspecting.ShownCall) -> str:
    """Every try of a call: messages as sent, and the raw reply; then what is still to be sent. Text only, never read
    as Markdown or HTML.
    """
    head = worded(
        "Call {call_id} of {judge} ({model}), criteria {criteria}",
        call_id=call.call_id, judge=call.judge, model=call.model, criteria=worded(", ").join(call.criteria),
    )  # fmt: skip
    tries = "".join(map(_attempt, call.attempts))
    if call.to_send:
        prompt = f"<summary>{worded('Prompt <small>as it will be sent</small>')}</summary>{_messages(call.to_send)}"
        tries += f'<h2>{worded("Not sent yet")}</h2><details class="c-fold" open>{prompt}</details>'
    elif not call.attempts:
        why = worded(TOO_LONG if call.outcome == "input_too_long" else CHANGED)
        tries = f"<h2>{worded('Nothing was sent')}</h2><p>{why}</p>"
    return f'<p class="c-soft">{escape(head)}</p>{tries}'


def _given(given: disagreements.Given) -> str:
    notes = [given.rater]
    if given.kind == "judge":
        repeat = worded(", repeat {run}", run=given.run) if given.run > 1 else ""
        notes.append(worded("pass {pass_no}", pass_no=given.pass_no) + repeat)
    if given.swapped:
        turned = worded(TURNED) if given.rationale else ""
        notes.append(worded("saw the two reports the other way round{turned}", turned=turned))
    lost_quote = worded("not found in the text")
    lost = "".join(f"<li>{escape(quote)} <small>{lost_quote}</small></li>" for quote in given.lost_quotes)
    quotes = "".join(f"<li><mark>{escape(quote)}</mark></li>" for quote in given.quotes) + lost
    ours = given.choice in disagreements.WORDS.values()  # a study's own answer is in no language
    said, answer = escape(given.rationale), escape(worded(given.choice) if ours else given.choice)
    if not given.choice:
        answer = f'<span class="c-red">{worded("no answer: {status}", status=escape(worded(given.status)))}</span>'
    elif not given.rationale:
        said = f'<span class="c-soft">{worded("no reason given")}</span>'
    return (
        f'<div class="c-given"><p><strong>{answer}</strong> <small>{escape(" · ".join(notes))}</small></p>'
        f'<p class="c-why">{said}</p>{f"<ul>{quotes}</ul>" if quotes else ""}</div>'
    )


def _attempt(attempt: inspecting.ShownAttempt) -> str:
    proved = worded("proved by sha256 {prompt_sha256}", prompt_sha256=attempt.prompt_sha256)
    proof = proved if attempt.messages else worded(attempt.unproved)
    reply = attempt.raw_reply if attempt.raw_reply is not None else attempt.error or worded("none")
    ended = worded("{kind}, {outcome}", kind=worded(attempt.kind), outcome=worded(attempt.outcome))
    return (
        f"<h2>{worded('Try {n}', n=attempt.attempt_no)}: {escape(ended)}</h2>"
        f'<details class="c-fold"><summary>{worded("Prompt")} <small>{escape(proof)}</small></summary>'
        f"{_messages(attempt.messages)}</details>"
        f'<details class="c-fold"><summary>{worded("Raw reply")}</summary>{_raw(reply)}</details>'
    )


def _messages(messages: Iterable[Mapping[str, str]]) -> str:
    return "".join(f"<h3>{escape(message['role'])}</h3>{_raw(message['content'])}" for message in messages)


def _raw(text: str) -> str:
    """Scrolls by itself, so the keyboard must get there."""
    return f'<pre class="c-raw" tabindex="0">{escape(text)}</pre>'


def why_sentence(found: DisagreementKinds) -> str:
    """Which kind is foremost, with its share and interval, or why none is called so."""
    if not found.compared:
        return worded("{judge}: nothing to look into, for scores have no kinds.", judge=found.judge)
    if not found.foremost:
        return worded(
            "Why {judge} and the annotators differ, these labels cannot tell: {reason}.",
            judge=found.judge, reason=found.reason,
        )  # fmt: skip
    (kind,) = (one for one in found.kinds if one.kind == found.foremost)
    of = f" ({worded(', ').join(kind.of)})" if kind.of else ""
    what = worded(NAMES[kind.kind])
    what = what[0].lower() + what[1:]
    rest = next(one for one in found.kinds if one.kind == "other")
    return worded(
        "Why {judge} and the annotators differ, most often: {what}{of}, in {percent} of "
        "{comparisons} over {topics}. {compared:.1f} % differ, {value:.1f} % for no reason that "
        "shows.",
        judge=found.judge, what=what, of=of, percent=_percent(kind), comparisons=several(found.compared, "comparison"),
        topics=several(found.topics, "topic"), compared=100 * found.unlike / found.compared,
        value=100 * rest.share.value,
    )  # fmt: skip


def why_table(found: DisagreementKinds) -> str:
    """Every kind that there is or that could not be seen, the most frequent first."""
    ordered = sorted(found.kinds, key=lambda one: -(one.share.value if one.share.n else 0.0))
    rows = [_row(one) for one in ordered if one.questions or one.unseen]
    return table("Why they differ", ("Why", "Of comparisons", "Questions", "What to do"), rows, "c-remarks")


def kinds_to_choose(found: DisagreementKinds) -> list[str]:
    """The kinds that some question has most of."""
    there = set(found.by_question["kind"])
    return [kind for kind in NAMES if kind in there]


def _row(one: DisagreementKind) -> Sequence[str]:
    of = f" <small>{escape(worded(', ').join(one.of))}</small>" if one.of else ""
    name = f"{escape(worded(NAMES[one.kind]))}{of}"
    if one.unseen:
        return (
            name,
            worded("not seen"),
            "–",
            _wrapped(worded("{lead}.", lead=worded(one.unseen[0].upper() + one.unseen[1:]))),
        )
    return name, escape(_percent(one)), f"{one.questions:,}", _wrapped(worded(DO[one.kind]))


def _wrapped(text: str) -> str:
    return f'<span class="c-wrap">{escape(text)}</span>'


def _percent(one: DisagreementKind) -> str:
    share = one.share
    bounds = "" if share.low != share.low else f" [{100 * share.low:.1f}, {100 * share.high:.1f}]"
    return f"{100 * share.value:.1f} %{bounds}"
