"""One disagreement as HTML: its line in the list, the answers side by side, the reports, what a judge was sent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

import pandas as pd

from annotation.disputes.one_disagreement import Given, OneDisagreement
from annotation.judges.inspecting import ShownAttempt, ShownCall
from app.screens.look import table
from exports.words.grammar import counted

TOO_LONG = "The prompt is longer than the model's context window."
KINDS = {
    "hard": "a judge and an annotator contradict each other",
    "soft": "one of the two says tie or not applicable, or their scores are neighbours",
}
TURNED = ": “left” in the reason below is Right here"
CHANGED = "A text or a question changed after it was planned, or no prompt can be built from them."


def count_sentence(compared: pd.DataFrame, kind: str = "") -> str:
    """How many questions were answered differently, and how; of `kind` alone where one is wanted.

    `compared`: of every kind, for a count says nothing without all that it is of.
    """
    kinds = compared["kind"].value_counts()
    hard, soft, total = int(kinds.get("hard", 0)), int(kinds.get("soft", 0)), len(compared)
    if not total:
        return "No question passes these filters."
    if kind and not kinds.get(kind):
        return f"No {kind} difference among {counted(total, 'question')}: {KINDS[kind]}."
    if not hard + soft:
        return f"No difference: {counted(total, 'question')} answered alike."
    if kind:
        return f"A {kind} difference in {kinds[kind]:,} of {counted(total, 'question')}: {KINDS[kind]}."
    return (
        f"{hard + soft:,} of {total:,} questions are answered differently by a judge and an annotator: "
        f"{hard:,} hard (contradictory), {soft:,} soft (a tie against a winner, or the next score)."
    )


def counts_table(compared: pd.DataFrame) -> str:
    """Criterion × compared, hard, soft; the most disputed first."""
    counts = pd.crosstab(compared["criterion"], compared["kind"]).reindex(columns=["hard", "soft", ""], fill_value=0)
    counts["all"] = counts.sum(axis=1)
    ordered = counts.sort_values(["hard", "soft"], ascending=False)
    rows = [
        (escape(str(name)), f"{row['hard']:,}", f"{row['soft']:,}", f"{row['all']:,}")
        for name, row in ordered.iterrows()
    ]
    return table("Counts by criterion", ("Criterion", "Hard", "Soft", "Compared"), rows)


def line_html(line: Any) -> str:
    """A row of the list: what was asked about what, and how far the answers differ."""
    about = f"{line.criterion} · {line.judge} · {line.kind}, {line.unlike} of {line.compared} differ"
    return f'<div class="c-line">{escape(line.topic)}<small>{escape(about)}</small></div>'


def answers_html(one: OneDisagreement) -> str:
    """The question, then the judge's answers beside the annotators'."""
    about = f'<p class="c-probe">{escape(one.probe)}</p>' if one.probe else ""
    category = f" · {escape(one.category)}" if one.category else ""
    return (
        f'<p class="c-soft">{escape(one.topic)}{category} · {escape(one.criterion)}</p>'
        f'<h1>{escape(one.label)}</h1><p class="c-soft">{escape(one.question)}</p>{about}'
        f'<div class="c-answers"><section><h2>Judge</h2>{"".join(map(_given, one.judge))}</section>'
        f"<section><h2>Annotators</h2>{''.join(map(_given, one.people))}</section></div>"
    )


def panes_html(one: OneDisagreement) -> str:
    """The texts as raters saw them. Their HTML is sanitised and asks for nothing from outside."""
    panes = "".join(
        f'<section class="c-pane" tabindex="0" aria-label="{escape(pane.name)}"><h2>{escape(pane.name)}'
        f"{f' <small>{escape(pane.system)}</small>' if pane.system else ''}</h2>"
        f'<div class="c-report">{pane.html}</div></section>'
        for pane in one.panes
    )
    return f'<div class="c-panes">{panes}</div>'


def sent_html(call: ShownCall) -> str:
    """Every try of a call: messages as sent, and the raw reply; then what is still to be sent. Text only, never read
    as Markdown or HTML.
    """
    head = f"Call {call.call_id} of {call.judge} ({call.model}), criteria {', '.join(call.criteria)}"
    tries = "".join(map(_attempt, call.attempts))
    if call.to_send:
        prompt = f"<summary>Prompt <small>as it will be sent</small></summary>{_messages(call.to_send)}"
        tries += f'<h2>Not sent yet</h2><details class="c-fold" open>{prompt}</details>'
    elif not call.attempts:
        tries = f"<h2>Nothing was sent</h2><p>{TOO_LONG if call.outcome == 'input_too_long' else CHANGED}</p>"
    return f'<p class="c-soft">{escape(head)}</p>{tries}'


def _given(given: Given) -> str:
    notes = [given.rater]
    if given.kind == "judge":
        notes.append(f"pass {given.pass_no}" + (f", repeat {given.run}" if given.run > 1 else ""))
    if given.swapped:
        notes.append(f"saw the two reports the other way round{TURNED if given.rationale else ''}")
    lost = "".join(f"<li>{escape(quote)} <small>not found in the text</small></li>" for quote in given.lost_quotes)
    quotes = "".join(f"<li><mark>{escape(quote)}</mark></li>" for quote in given.quotes) + lost
    said, answer = escape(given.rationale), escape(given.choice)
    if not given.choice:
        answer = f'<span class="c-red">no answer: {escape(given.status)}</span>'
    elif not given.rationale:
        said = '<span class="c-soft">no reason given</span>'
    return (
        f'<div class="c-given"><p><strong>{answer}</strong> <small>{escape(" · ".join(notes))}</small></p>'
        f'<p class="c-why">{said}</p>{f"<ul>{quotes}</ul>" if quotes else ""}</div>'
    )


def _attempt(attempt: ShownAttempt) -> str:
    proof = f"proved by sha256 {attempt.prompt_sha256}" if attempt.messages else attempt.unproved
    reply = attempt.raw_reply if attempt.raw_reply is not None else attempt.error or "none"
    return (
        f"<h2>Try {attempt.attempt_no}: {escape(attempt.kind)}, {escape(attempt.outcome)}</h2>"
        f'<details class="c-fold"><summary>Prompt <small>{escape(proof)}</small></summary>'
        f"{_messages(attempt.messages)}</details>"
        f'<details class="c-fold"><summary>Raw reply</summary>{_raw(reply)}</details>'
    )


def _messages(messages: Iterable[Mapping[str, str]]) -> str:
    return "".join(f"<h3>{escape(one['role'])}</h3>{_raw(one['content'])}" for one in messages)


def _raw(text: str) -> str:
    """Scrolls by itself, so the keyboard must get there."""
    return f'<pre class="c-raw" tabindex="0">{escape(text)}</pre>'
