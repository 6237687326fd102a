"""Judges described in the browser: a model with its price, a budget, the name of a key, and its prompt to read."""

import json
import shlex
import subprocess
from collections.abc import Collection, Mapping
from html import escape
from typing import Any

import streamlit as st

from annotation import errors, studies
from annotation.judges.defining.described import key_root, parse_described
from annotation.judges.defining.judge_file import JudgeDefinition
from annotation.judges.planning import previewing, requests
from annotation.people.principals import Principal, study_for
from app.screens import report_page
from app.settings import database
from calipers.own_folders import command_of
from db.connect import reading, transaction
from plain.wording import worded

TEXT = "judges_text"
TOLD = "A worker asks them, with the keys of its own machine: {command}. A key is named here, never written."


def show(principal: Principal) -> None:
    """Add a model, change the text, keep it; then read what the first of them would be asked."""
    with reading(database()) as session:
        study = study_for(session, principal, "admin")
        kept, protocol = requests.kept_text(session, study), studies.protocol_of(study)
        in_app = requests.described_judges(session, study)
    command = worker_for(study.name, in_app, in_app)
    st.session_state.setdefault(TEXT, kept)
    told = worded(TOLD, command=f"<code>{escape(command)}</code>")
    report_page.section(f'<h2>{worded("Describe judges")}</h2><p class="c-soft">{told}</p>')
    _add()
    text = st.text_area(worded("Judges, as TOML; a change counts once you leave the field"), key=TEXT, height=220)
    if not text.strip():
        return
    try:
        described = parse_described(text, protocol)
    except errors.AnnotationError as error:
        report_page.section(f'<p class="c-red">{escape(error.text)}</p>')
        return
    if text != kept and st.button(worded("Keep these judges"), key="judges_keep", type="primary"):
        with transaction(database()) as session:
            requests.keep_judges(session, principal, text)
        st.rerun()
    named = {judge.name: judge for judge in described}
    chosen = st.selectbox(
        worded("Read what it would be asked"), list(named), index=None, key="judges_preview", width=320
    )
    if chosen is not None:
        try:
            with reading(database()) as session:
                made = previewing.preview(session, study_for(session, principal, "admin"), named[chosen])
        except errors.AnnotationError as error:
            report_page.section(f'<p class="c-red">{escape(error.text)}</p>')
            return
        told = "".join(
            f'<h3>{one["role"]}</h3><pre class="c-raw" tabindex="0" role="region" aria-label="{one["role"]}">'
            f"{escape(str(one['content']))}</pre>"
            for one in made.messages
        )
        report_page.section(
            '<p class="c-soft">'
            + worded(
                "About {item}, some {characters:,} tokens.", item=escape(made.item), characters=made.characters // 4
            )
            + f"</p>{told}"
        )


def worker_for(
    study: str, judges: Collection[str], in_app: Mapping[str, JudgeDefinition], *, waits: bool = True
) -> str:
    """How a worker of `study` is started that asks `judges`, and with them all that are described in the app."""
    if not set(judges) <= set(in_app):
        return shlex.join(["calipers", "judge", "resume", study, "--judges", "judges.toml", *["--wait"] * waits])
    bases = sorted({f"--api-base={one.api_base}" for one in in_app.values() if one.api_base})
    return shlex.join(["calipers", "judge", "resume", study, "--from-app", "--wait", *bases])


def _add() -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        with st.spinner(worded("Reading litellm's list…")):
            known = _models()
        model = st.selectbox(
            worded("A model of litellm's list, USD per million tokens"), list(known), index=None, key="judges_model",
            width=460, format_func=lambda name: f"{name} · {priced(known[name])}",
            placeholder=worded("Type a part of its name"),
        )  # fmt: skip
        budget = st.number_input(worded("Budget, USD"), 0.01, 100_000.0, 5.0, key="judges_budget", width=140)
        st.button(
            worded("Add it"),
            key="judges_add",
            disabled=model is None,
            on_click=_added,
            args=(model and known[model], budget),
        )


def _added(model: dict[str, Any], budget: float) -> None:
    st.session_state[TEXT] = f"{st.session_state[TEXT].rstrip()}\n\n{as_toml(model, budget)}".lstrip()


def as_toml(model: dict[str, Any], budget: float) -> str:
    """One [[judge]] of this model, with the key that its provider's own documentation names."""
    name, price = model["model"].rpartition("/")[2], model["price"]
    of_provider = model["model"] if "/" in model["model"] else f"{model['provider']}/{name}"
    lines = [
        f"name = {json.dumps(name)}", f"model = {json.dumps(of_provider)}",
        f"api_key_env = {json.dumps(key_root(model['provider']) + '_API_KEY')}", f"max_cost = {budget}",
    ]  # fmt: skip
    lines += [f"price = {{input = {price['input']}, output = {price['output']}}}"] if price else []
    return "\n".join(["[[judge]]", *lines, ""])


def priced(model: dict[str, Any]) -> str:
    """`0.15 read, 0.6 written`."""
    price = model["price"]
    return (
        worded("{input:g} read, {output:g} written", input=price["input"], output=price["output"])
        if price
        else worded("no price known")
    )


@st.cache_data(show_spinner=False)
def _models() -> dict[str, dict[str, Any]]:
    """By name, the cheapest first. In a process of its own: the library is larger than the app."""
    command = command_of("app.command_line", "judge", "models", "--limit", "0", "--json")
    listed = subprocess.run(command, capture_output=True, check=True).stdout
    return {one["model"]: one for one in json.loads(listed)}
