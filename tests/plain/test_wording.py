"""Evaluators' pages in another language: every sentence is in its catalogue, with its fields, and none is left over."""

from __future__ import annotations

import ast
import json
import pickle
import re
import string
import threading
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from plain import wording

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted(
    path
    for folder in ("annotation", "app", "exports", "calibration", "plain")
    for path in (ROOT / folder).rglob("*.py")
)
OTHERS = [language for language in wording.LANGUAGES if language != wording.ENGLISH]


@cache
def catalogue(language: str) -> dict[tuple[str, str], list[str]]:
    """(Context, English) -> what is said of it, every form."""
    from babel.messages import pofile

    told: dict[tuple[str, str], list[str]] = {}
    for path in sorted((wording.FOLDER / language).glob("*.po")):
        with path.open("rb") as file:
            for one in pofile.read_po(file, language):
                ids = one.id if isinstance(one.id, tuple) else (one.id,)
                for key in filter(None, ids):
                    assert (one.context or "", key) not in told, f"{path.name} says twice: {key}"
                    told[one.context or "", key] = [one.string] if isinstance(one.string, str) else [*one.string]
    return told


@cache
def trees() -> list[tuple[Path, ast.Module]]:
    return [(path, ast.parse(path.read_text("utf-8"))) for path in FILES]


def called(node: ast.AST) -> str:
    if not isinstance(node, ast.Call):
        return ""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def texts(node: ast.AST) -> Iterator[str]:
    """The strings that an argument may be: one, one of two, or what a constant of this file holds."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from texts(node.body)
        yield from texts(node.orelse)


def constants(tree: ast.Module) -> dict[str, list[str]]:
    """Name -> strings of what is set beside the functions; of a mapping its values."""
    found: dict[str, list[str]] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            parts = node.value.values if isinstance(node.value, ast.Dict) else [node.value]
            found[node.targets[0].id] = [text for part in parts for text in texts(part)]
    return found


REFUSING = {"AnnotationError": slice(1, 2), "CalibrationError": slice(1, 2), "ImportingError": slice(1)}
SAYING = REFUSING | {
    "worded": slice(1), "Sentence": slice(1), "lettered": slice(1), "worded_of": slice(1, 3), "several": slice(1, 2), "table": slice(1),
    "_page": slice(1),
}  # fmt: skip
OF_NO_PAGE = (  # what these refuse is told by commands, by whoever calls them, or to annotators by its code
    "annotation/importing/claims", "annotation/importing/labels", "annotation/importing/published_labels",
    "annotation/judges/aligning", "annotation/judges/stress_tests", "annotation/labelling.py", "annotation/offline",
    "annotation/people/door_limits.py", "app/commands", "app/reproducing", "app/results/looks.py", "app/server",
    "calibration/arithmetic", "calibration/inference", "calibration/sampling", "calibration/totals",
)  # fmt: skip


def of_no_page(path: Path) -> bool:
    return any(path.is_relative_to(ROOT / place) for place in OF_NO_PAGE)


def asked() -> Iterator[tuple[Path, str, str, set[str]]]:
    """File, context, English sentence and the names that are filled in, of every call that the source makes."""
    for path, tree in trees():
        known = constants(tree)
        for node in ast.walk(tree):
            name = called(node)
            if name in ("table", "_page") and not path.is_relative_to(ROOT / "app"):
                continue  # a table of the database
            if not isinstance(node, ast.Call) or name not in SAYING or (name in REFUSING and of_no_page(path)):
                continue
            fields = {word.arg for word in node.keywords if word.arg} | ({"n"} if name == "worded_of" else set())
            heads = (
                node.args[1].elts
                if name == "table" and len(node.args) > 1 and isinstance(node.args[1], ast.Tuple)
                else []
            )
            for argument in [*node.args[SAYING[name]], *heads]:
                whose = argument.value if isinstance(argument, ast.Subscript) else argument
                keys = [*texts(argument), *(known.get(whose.id, []) if isinstance(whose, ast.Name) else [])]
                yield from ((path, wording.COUNTED if name == "several" else "", key, fields) for key in keys)


def fields_of(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


@pytest.mark.parametrize("language", OTHERS)
def test_every_sentence_is_translated_with_the_fields_that_its_call_fills_in(language: str) -> None:
    told, seen = catalogue(language), 0
    for path, context, key, fields in asked():
        if not re.search("[A-Za-z]{2}", re.sub(r"\{[^}]*\}", "", key)):
            continue  # signs and numbers
        seen += 1
        where = f"{path.relative_to(ROOT)}: {key!r}"
        assert (context, key) in told, f"no {language} for {where}"
        for form in told[context, key]:
            assert form, f"empty in {language}: {where}"
            if fields:
                assert fields_of(form) <= fields, f"a field that no one fills in: {where}"
                assert fields_of(form) == fields_of(key) or "n" in fields, where  # one form may leave the number out
    assert seen > 150, "the walk found too few sentences to mean anything"


def test_every_call_fills_in_the_fields_that_its_sentence_has_and_no_other() -> None:
    """Of commands too. An f-string with fields is wrong: the braces of its values would be filled in."""
    wrong, seen = [], 0
    for path, tree in trees():
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call) or (name := called(node)) not in {
                *REFUSING,
                "worded",
                "Sentence",
                "worded_of",
            }:
                continue
            given = {word.arg for word in node.keywords} | ({"n"} if name == "worded_of" else set())
            sentence = node.args[SAYING[name]][: 2 if name == "worded_of" else 1]
            written = [text for one in sentence for text in texts(one)]
            has = set().union(*map(fields_of, written)) | ({"n"} if name == "worded_of" else set())
            seen += bool(written and given)
            told = written and None not in given  # a mapping given whole is not read here
            if (told and has != given) or (given and any(isinstance(one, ast.JoinedStr) for one in sentence)):
                wrong.append(f"{path.relative_to(ROOT)}:{node.lineno}: {has ^ given}")
    assert wrong == []
    assert seen > 600, "the walk found too few sentences to mean anything"


def at_import(node: ast.AST) -> Iterator[ast.AST]:
    """What runs once for all readers: nothing inside a function, but its decorators and defaults."""
    yield node
    inner = list(ast.iter_child_nodes(node))
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        inner = [*getattr(node, "decorator_list", []), *node.args.defaults, *filter(None, node.args.kw_defaults)]
    for one in inner:
        yield from at_import(one)


def test_no_sentence_is_worded_once_for_all_readers_when_its_file_is_imported() -> None:
    speak = ("worded", "worded_of", "several", "lettered", "spoken")
    found = [f"{path.name}:{node.lineno}" for path, tree in trees() for node in at_import(tree)
             if isinstance(node, ast.Call) and called(node) in speak]  # fmt: skip
    assert found == []


@pytest.mark.parametrize("language", OTHERS)
def test_no_catalogue_says_what_no_source_asks_for(language: str) -> None:
    nodes = [node for _, tree in trees() for node in ast.walk(tree)]
    written = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    written |= {node.id for node in nodes if isinstance(node, ast.Name)}
    written |= {node.arg for node in nodes if isinstance(node, ast.keyword) and node.arg}  # facts of the audit trail
    known = written | {text[:1].upper() + text[1:] for text in written}  # heads of tables
    known |= {text.replace("_", " ") for text in written}  # names of the report's fields
    assert [key for _, key in catalogue(language) if key not in known] == []


def test_what_is_kept_of_a_sentence_is_english_and_what_is_told_of_it_is_not() -> None:
    with wording.speaking("zh_CN"):
        kept = wording.Sentence(
            "columns left out {left} ({names}): {why}", left=1, names="yes", why=wording.Sentence("they hold bytes")
        )
        told = pickle.loads(pickle.dumps(kept)).text
        refused = wording.Refusal("still_blind", "study {name!r} is {status}", name="yes", status=kept)
    assert kept == json.loads(json.dumps({"note": kept}))["note"] == "columns left out 1 (yes): they hold bytes"
    assert told == "未采用的列 1 个（yes）：它们含有字节数据", "names stay as they are"
    assert str(refused) == f"study 'yes' is {kept}"
    with wording.speaking("zh_CN"):
        assert refused.text == f"study 'yes' is {told}"


def test_a_sentence_is_english_where_nothing_is_set_and_in_a_thread_of_its_own() -> None:
    heard: list[str] = []
    with wording.speaking("zh_CN"):
        assert wording.worded("Next") == "下一条"
        assert wording.worded("nobody wrote {this}", this="mini [both orders]") == "nobody wrote mini [两种顺序]"
        assert (wording.several(2400, "topic"), wording.several(2, "no such thing")) == (
            "2,400 个主题",
            "2 no such things",
        )
        other = threading.Thread(target=lambda: heard.append(wording.worded("Next")))
        other.start()
        other.join()
        with wording.speaking():
            heard.append(wording.worded("Next"))
    assert heard == ["Next", "Next"]
    assert wording.worded("") == ""
    assert (wording.worded_of(1, "{n} day", "{n} days"), wording.worded_of(2, "{n} day", "{n} days")) == (
        "1 day",
        "2 days",
    )


@pytest.mark.parametrize(
    ("tag", "language"), [("zh-CN", "zh_CN"), ("zh-Hans-SG", "zh_CN"), ("zh", "zh_CN"), ("de-DE", "en"), ("", "en")]
)
def test_a_browser_gets_the_language_that_is_nearest(tag: str, language: str) -> None:
    assert wording.nearest(tag) == language
