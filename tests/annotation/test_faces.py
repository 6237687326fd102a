"""What somebody else's code imports stays importable, wherever the code behind it stands."""

from __future__ import annotations

from importlib import import_module

import pytest

PUBLIC = {
    "citations": "strip_citations Stripped Span",
    "blinding": "find_provenance find_self_identification Flag canonical_format formatting_counts audit_blinding",
    "importing.prepare": "prepare_report Prepared",
    "rendering": "render_report RENDERER_VERSION",
    "pairing": "plan_pairs plan_singles",
    "verdicts": "load_verdicts unblind",
    "judges.prompt": "build_prompt template_of",
    "judges.reply": "parse_reply PARSER_VERSION",
    "judges.client": "ask describe",
    "judges.run": "run_judges",
    "judges.prices": "snapshot estimate cost",
    "judges.panel": "panel_verdicts",
}


@pytest.mark.parametrize("face", PUBLIC)
def test_the_documented_names_stay_importable(face: str) -> None:
    module = import_module(f"annotation.{face}")
    assert [name for name in PUBLIC[face].split() if not hasattr(module, name)] == []
