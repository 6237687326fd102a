"""A protocol is read whole or refused by file and key."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pydantic import ValidationError

from annotation.errors import AnnotationError
from annotation.protocol import parse_protocol, problems, protocol_sha256, read_protocol, shipped_protocols
from plain.wording import speaking
from tests.small_study import PROTOCOL

RATING = PROTOCOL.replace("pairwise_choice", "pointwise_rating").replace(
    "allow_tie = true", "scale = {min = 0, max = 10}"
)
PROBE = PROTOCOL.replace("pairwise_choice", "probe_label").replace(
    "allow_tie = true", 'probe = "claim"\nlabels = [{id = "yes", text = "Yes"}, {id = "no", text = "No"}]'
)
AGGREGATED = "aggregate = [{name = 'x', rule = 'RULE', criteria = ['dark']}]\n" + PROTOCOL


@pytest.mark.parametrize("name", shipped_protocols())
def test_every_shipped_protocol_reads_and_is_named_after_its_file(name: str) -> None:
    protocol, text = read_protocol(name)
    assert protocol.name == name
    assert protocol.summary
    assert len(protocol_sha256(text)) == 64


def test_wiki_live_challenge_has_its_39_criteria_in_five_groups() -> None:
    protocol, _ = read_protocol("wlc_writing_39")
    groups: dict[tuple[str, str], int] = {}
    for criterion in protocol.criterion:
        groups[criterion.category, criterion.subcategory] = (
            groups.get((criterion.category, criterion.subcategory), 0) + 1
        )
    assert list(groups.values()) == [3, 7, 11, 8, 10]
    assert protocol.choices == ("left", "right", "not_applicable")
    assert protocol.rationale.required


def test_the_quick_start_has_five_criteria() -> None:
    assert len(read_protocol("quick_start")[0].criterion) == 5


@pytest.mark.parametrize(
    ("text", "choices"),
    [
        (PROTOCOL, ("left", "right", "tie")),
        (PROTOCOL.replace("allow_tie = true", "allow_not_applicable = true"), ("left", "right", "not_applicable")),
        (PROBE, ("yes", "no")),
        (RATING, ()),
    ],
)
def test_the_allowed_answers_stand_in_key_order(text: str, choices: tuple[str, ...]) -> None:
    assert parse_protocol(text).choices == choices


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a = 1\nb = = 2", r"^p\.toml: not TOML: .*line 2.*; correct that place$"),
        (PROTOCOL.replace("calipers-protocol/1", "other/2"), r"^p\.toml: format: .*calipers-protocol/1"),
        (PROTOCOL + "[answer]\n", r"^p\.toml: unknown key 'answer'; remove it or correct its spelling"),
        (PROTOCOL.replace("allow_tie", "alow_tie"), r"unknown key 'answers\.alow_tie'"),
        (PROTOCOL.replace('title = "A small study"', ""), r"key 'title' is required but missing; add it"),
        (PROTOCOL.replace('id = "deep"', 'id = "clear"'), r"criterion id 'clear' appears twice; ids must be unique"),
        (PROTOCOL.replace('id = "deep"', 'id = "all"'), r"criterion\[2\]: the id 'all' is reserved"),
        (PROTOCOL.replace('id = "deep"', 'id = "a b"'), r"criterion\[2\]\.id: .*\(found 'a b'\)"),
        (PROTOCOL.split("[[criterion]]")[0], r"no \[\[criterion\]\]; add at least one"),
        (
            PROTOCOL.replace("allow_tie = true", "scale = {min = 0, max = 5}"),
            r"answers\.scale belongs to pointwise_rating, not to pairwise_choice",
        ),
        (RATING.replace("scale = {min = 0, max = 10}", ""), r"answers\.scale is required for pointwise_rating"),
        (RATING.replace("max = 10", "max = 0"), r"max \(0\) must be above min \(0\)"),
        (PROBE.replace('probe = "claim"', ""), r"answers\.probe is required"),
        (
            PROBE.replace('{id = "no", text = "No"}', '{id = "yes", text = "No"}'),
            r"answers\.labels id 'yes' appears twice",
        ),
        (PROTOCOL.replace("min_length = 5", "min_length = -1"), r"rationale\.min_length: .*\(found -1\)"),
    ],
)
def test_what_is_wrong_is_refused_by_file_and_key(text: str, says: str) -> None:
    with pytest.raises(AnnotationError, match=says):
        parse_protocol(text, "p.toml")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "latin.toml").write_bytes(b'title = "caf\xe9"')
    (tmp_path / "other.toml").write_text(PROTOCOL)
    for name, says in [
        (tmp_path / "none.toml", r"none\.toml: No such file"),
        (tmp_path / "latin.toml", r"latin\.toml: byte 0xe9 at 12 is not UTF-8; re-save it"),
        (tmp_path / "other.toml", r"name is 'small' but must be the file's stem 'other'"),
        ("nonsense", r"no protocol called 'nonsense'; shipped are dr3_checklist, .*, wlc_writing_39"),
    ]:
        with pytest.raises(AnnotationError, match=says):
            read_protocol(name)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        (PROTOCOL.replace("min_length = 5", "min_length = -1"), "rationale.min_length"),
        (PROTOCOL.replace("allow_tie = true", "allow_tie = 'maybe'"), "answers.allow_tie"),
        (PROTOCOL.replace('title = "A small study"', ""), "title"),
        (PROTOCOL.replace("topic_once", "topic_twice"), "study.topic_twice"),
        (PROTOCOL.replace('id = "deep"', 'id = "clear"'), "criterion"),
        (PROTOCOL.partition("[[criterion]]")[0], "criterion"),
        (PROTOCOL.replace("allow_tie = true", "scale = {min = 0, max = 5}"), "answers.scale"),
        (RATING.replace("max = 10", "max = 0"), "answers.scale"),
        (PROTOCOL.replace("[study]", "[study]\nadjudicate = ['dark']"), "study.adjudicate"),
        (AGGREGATED.replace("RULE", "mean"), "aggregate[1].rule"),
        (AGGREGATED.replace("RULE", "win_rate"), "aggregate[1].criteria"),
    ],
)
def test_what_is_refused_is_said_of_the_same_key_in_another_language(text: str, key: str) -> None:
    told = []
    for language in ("en", "zh_CN"):
        with speaking(language):
            with pytest.raises(AnnotationError) as refused:
                parse_protocol(text)
            assert isinstance(refused.value.__cause__, ValidationError)
            told += problems(refused.value.__cause__)
    assert [place for place, _ in told] == [key, key]
    assert [bool(re.search("[一-鿿]", said)) for _, said in told] == [False, True]
