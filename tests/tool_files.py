"""Labels for the formats of annotation tools: hostile rows, drawn tables, and files on disk."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from hypothesis import strategies as st

from exports.datasets.argilla import to_argilla
from exports.datasets.label_studio import to_label_studio
from exports.datasets.potato import to_potato
from exports.datasets.tool_labels import Criteria, ToolFiles

EXPORTERS: Mapping[str, Callable[[pd.DataFrame, Criteria], ToolFiles]] = {
    "label_studio": to_label_studio, "argilla": to_argilla, "potato": to_potato,
}  # fmt: skip
COLUMNS = (
    "item_id", "rater_id", "rater_kind", "criterion", "label", "cluster_id", "system_a", "system_b", "presentation",
    "category", "len_a", "len_b", "run", "pass_no", "seconds", "cost_usd", "status", "rationale", "evidence",
)  # fmt: skip
HOSTILE = (
    "=cmd()", 'comma, "quotes"', "two\nlines", "😀 中文", r"\input{x} 100% a_b & c#", "<b x='1'>&amp;</b>", "a.b", "-1",
    "tab\there", "line\u2028end", "$report", "clear", "Clear", "clear-rationale", "rater", "topic", "id", "../../etc",
)  # fmt: skip


def labels_table(*rows: Mapping[str, Any]) -> pd.DataFrame:
    """Each row starts from a person's answer to one criterion of one pair."""
    usual = {
        "item_id": "item-00001", "rater_id": "annotator-01", "rater_kind": "human", "criterion": "clear", "label": "A",
        "cluster_id": "tides", "system_a": "alpha", "system_b": "beta", "presentation": "BA", "category": "",
        "len_a": 61.0, "len_b": 70.0, "run": 1, "pass_no": 1, "seconds": None, "cost_usd": None, "status": "ok",
        "rationale": "", "evidence": "",
    }  # fmt: skip
    return pd.DataFrame([usual | dict(row) for row in rows], columns=list(COLUMNS))


def hostile_table() -> pd.DataFrame:
    """Every hostile text as criterion and rationale, some as raters and topics: of people, judges, and failures."""
    rows: list[dict[str, Any]] = [{"criterion": text, "rationale": text} for text in HOSTILE]
    rows += [
        {"criterion": text, "rationale": text, "rater_id": f"judge {text}", "rater_kind": "judge", "label": "tie"}
        for text in HOSTILE
    ]
    rows += [
        {"criterion": text, "rationale": text, "label": None, "status": status, "pass_no": 2, "presentation": "AB"}
        for text, status in zip(HOSTILE, ("invalid", "missing", "refused") * 9, strict=False)
    ]
    rows += [{"cluster_id": text, "item_id": f"item-{n:05d}"} for n, text in enumerate(HOSTILE, start=2)]
    return labels_table(*rows)


def put_files(root: Path, made: ToolFiles) -> Path:
    """The files as the command line writes them."""
    for name, content in made.files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8", newline="")
    return root


def _kept(text: str) -> bool:
    """Names are compared in NFC and trimmed."""
    return unicodedata.normalize("NFC", text) == text == text.strip() != ""


NAMES = st.one_of(
    st.sampled_from(HOSTILE), st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
).filter(_kept)
TEXTS = st.one_of(
    st.sampled_from(HOSTILE), st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)
)
CHOICES = {
    "pair": ["A", "B", "tie", "not_applicable"], "score": ["0", "7", "2.5", "100", "7.0", "not_applicable"],
    "probe": ["full", "part", "007", "source <x>", "false", "0", "text_box"],
}  # fmt: skip


@st.composite
def tables(draw: st.DrawFn) -> pd.DataFrame:
    """A labels table of one kind of study, in which nobody answers a criterion of a pass twice."""
    kind = draw(st.sampled_from(sorted(CHOICES)))
    criteria = draw(st.lists(NAMES, min_size=1, max_size=3, unique=True))
    raters = draw(st.lists(st.tuples(st.sampled_from(["human", "judge"]), NAMES), min_size=1, max_size=3, unique=True))
    reports = draw(st.sampled_from(["alpha", None])) if kind == "probe" else "alpha"
    topics = draw(st.lists(NAMES, min_size=1, max_size=2, unique=True))
    rows = []
    for number, topic in enumerate(topics, start=1):
        for rater_kind, rater in raters:
            shown = draw(st.sampled_from(["AB", "BA", None])) if kind == "pair" else None
            pass_no = draw(st.integers(1, 2))
            for criterion in criteria:
                status = draw(st.sampled_from(["ok", "ok", "ok", "invalid", "missing", "refused"]))
                rows.append(
                    {
                        "item_id": f"item-{number:05d}", "cluster_id": topic, "rater_kind": rater_kind,
                        "rater_id": rater, "criterion": criterion, "presentation": shown, "pass_no": pass_no,
                        "status": status, "label": draw(st.sampled_from(CHOICES[kind])) if status == "ok" else None,
                        "rationale": draw(TEXTS), "system_a": reports,
                        "system_b": "beta" if kind == "pair" else None,
                        "len_b": 70.0 if kind == "pair" else None,
                    }
                )  # fmt: skip
    return labels_table(*rows)
