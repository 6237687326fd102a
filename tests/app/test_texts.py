"""The words of the interface: one catalogue, every word in it used, every word used in it, translations checked."""

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from annotation.offline.packets import PacketFile
from app import texts
from app.component import OFFLINE, PARTS, packet_html
from app.texts import (
    PLURALS,
    SHIPPED,
    Text,
    TextsError,
    catalogues,
    forms,
    missing_keys,
    placeholders,
    read_catalogue,
    texts_accepted,
    texts_for,
)

APP = SHIPPED.parent
NARROW = {ord("（"): "(", ord("）"): ")"}
ENGLISH = read_catalogue(SHIPPED / "en.toml")
# "section.key" wherever it stands in a program, and `section.${…}` or f"section.{…}", which means all that begin so
WHOLE = re.compile(r"[\"'`]((?:screens\.)?[a-z_]+\.[a-z_]+)[\"'`]")
BEGINNING = re.compile(r"`((?:[a-z]+\.)+[a-z_]*)\$\{|f\"((?:[a-z]+\.)+(?:[a-z_]+\.)?[a-z_]*)\{")
# comments first, then texts: whatever of them stands in a program of the component
TOKENS = re.compile(r"//[^\n]*|/\*.*?\*/|(?P<text>\"(?:[^\"\\\n]|\\.)*\"|`[^`]*`)", re.DOTALL)
FILLED = re.compile(r"\$\{[^}]*\}")
# before a text that nobody reads: a class, a reference to ids, a style, a selector
UNREAD = re.compile(
    r"(class: |\"class\", |aria-describedby\": |style: |cssText = |matches\(|closest\(|querySelector(All)?\(|d: )$"
)
NAMES = {
    # of keys, of requests and their parts, of types
    "Enter", "Escape", "Esc", "Delete", "Del", "Home", "End", "ArrowDown", "ArrowUp", "ArrowRight", "ArrowLeft",
    "Ctrl Enter", "Ctrl Shift Enter", "Ctrl Z", "Control+Z", "Space", "Alt ↑", "Alt ↓", "POST", "Content-Type", "X-Calipers-Token",
}  # fmt: skip


def component() -> dict[str, str]:
    folder = APP / "component"
    return {name: (folder / name).read_text() for name in (*PARTS, *OFFLINE, "sign_out.js")}


def told_keys() -> set[str]:
    """Every key that a part of the component names, whole or by its beginning."""
    named: set[str] = set()
    for text in component().values():
        named |= {key for key in WHOLE.findall(text) if key.split(".")[0] in sections()}
        named |= {key for start, _ in BEGINNING.findall(text) if start for key in ENGLISH if key.startswith(start)}
    return named


def sections() -> set[str]:
    return {key.split(".")[0] for key in ENGLISH}


def test_every_word_that_the_component_names_is_in_the_catalogue() -> None:
    assert sorted(told_keys() - ENGLISH.keys()) == []


def test_no_word_of_the_component_is_left_over_in_the_catalogue() -> None:
    of_component = {key for key in ENGLISH if not key.startswith("screens.")}
    assert sorted(of_component - told_keys()) == []


def test_every_word_of_the_screens_is_used_by_one() -> None:
    programs = "\n".join(path.read_text() for path in APP.rglob("*.py"))
    left = [
        key for key in ENGLISH
        if key.startswith("screens.") and not re.search(rf"\b{key.split('.')[-1].split('_')[0]}", programs)
    ]  # fmt: skip
    assert left == []


def said(program: str) -> list[str]:
    """The texts of a program that read like words for people: two words, or one that begins large."""
    found = []
    for token in TOKENS.finditer(program):
        text = token["text"]
        if text is None or UNREAD.search(program[: token.start()]):
            continue
        words = FILLED.sub("", text[1:-1]).strip()
        if words not in NAMES and re.search(r"[A-Za-z]{2,} [A-Za-z]{2,}|^[A-Z][a-z]+", words):
            found.append(text)
    return found


@pytest.mark.parametrize(("language", "holds"), [("zh-CN", ["en", "zh"]), ("fr", ["en"])])
def test_a_packet_holds_the_words_of_its_own_language_and_english_ones(language: str, holds: list[str]) -> None:
    html = packet_html(PacketFile("p", "R1", {"language": language}, "", ""))
    told = re.search(r"const TEXTS = (.*);\n", html)
    assert told
    assert sorted(json.loads(told[1])) == holds


@pytest.mark.parametrize("part", [*PARTS, *OFFLINE, "sign_out.js"])
def test_the_component_says_nothing_that_is_not_in_the_catalogue(part: str) -> None:
    assert said(component()[part]) == []


@pytest.mark.parametrize("program", ['make("p", {}, "no answer")', "title: `Item ${n}`", 'text("Submit")'])
def test_a_word_that_is_not_in_the_catalogue_would_be_found(program: str) -> None:
    assert said(program)


@pytest.mark.parametrize(
    ("language", "speaks", "way"),
    [("en", "en", "ltr"), ("en-GB", "en", "ltr"), ("xx", "en", "ltr"), ("", "en", "ltr"), ("EN", "en", "ltr")],
)
def test_a_language_without_a_catalogue_is_spoken_in_english(language: str, speaks: str, way: str) -> None:
    assert (texts_for(language).language, texts_for(language).dir) == (speaks, way)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of translations beside the shipped ones."""
    monkeypatch.setenv("CALIPERS_TEXTS", str(tmp_path))
    texts.catalogues.cache_clear()
    yield tmp_path
    texts.catalogues.cache_clear()


def test_a_translation_is_one_more_file_and_what_it_lacks_is_english(folder: Path) -> None:
    (folder / "he.toml").write_text('[form]\nsubmit = "שליחה"\n[screens.items]\none = "פריט"\nother = "{n} פריטים"\n')
    hebrew = texts_for("he-IL")
    assert (hebrew.language, hebrew.dir) == ("he", "rtl")
    assert hebrew.tell("form.submit") == "שליחה"
    assert [hebrew.tell("screens.items", n=n) for n in (1, 3)] == ["פריט", "3 פריטים"]
    assert hebrew.tell("form.reopen") == "Reopen"
    assert set(missing_keys("he")) == ENGLISH.keys() - {"form.submit", "screens.items"}


def test_a_file_of_a_language_that_ships_changes_the_words_it_has(folder: Path) -> None:
    (folder / "de.toml").write_text('[form]\nsubmit = "Absenden"\n')
    assert [texts_for("de").tell(key) for key in ("form.submit", "form.reopen")] == ["Absenden", "Wieder öffnen"]
    assert missing_keys("de") == []


def test_a_browser_is_spoken_to_in_the_first_language_it_prefers(folder: Path) -> None:
    (folder / "zh.toml").write_text('[form]\nsubmit = "提交"\n')
    assert texts_accepted("fr;q=0.9, zh-CN;q=0.8, en;q=0.7").language == "zh"
    assert texts_accepted("en, zh;q=0.8").language == "en"
    assert texts_accepted("").language == "en"
    assert texts_accepted("zh;q=nonsense,,;").language == "zh"


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ('[form]\nsubmitt = "x"\n', "unknown key 'form.submitt'"),
        ("[form]\nsubmit = 3\n", "form.submit is no text"),
        ('[form]\nsubmit = " "\n', "form.submit is no text"),
        ('[form]\nsubmit = "<b>x</b>"\n', "form.submit holds markup"),
        ('[form]\nto_go = "{m} left"\n', "names {m}, which English does not fill in"),
        ('[form]\nto_go = { one = "one" }\n', "form.to_go has no form 'other'"),
        ("[form\n", "correct the file"),
    ],
)
def test_a_translation_with_a_mistake_is_refused_by_file_and_key(folder: Path, wrong: str, says: str) -> None:
    path = folder / "zh.toml"
    path.write_text(wrong)
    with pytest.raises(TextsError, match=re.escape(says)) as refused:
        read_catalogue(path, ENGLISH)
    assert str(path) in str(refused.value)


def test_every_shipped_translation_is_complete() -> None:
    assert {tag: missing_keys(tag) for tag in catalogues()} == {"ar": [], "de": [], "en": [], "zh": []}


# the forms that CLDR has for each language, where English has forms; Python's pages know one and other
FORMS = {"ar": PLURALS, "de": {"one", "other"}, "zh": {"other"}}
KEYS = re.compile(r"(?<![A-Za-z])(?:Ctrl|Cmd|Shift|Alt|Enter|Esc|PgUp|PgDn|Home|End)(?![A-Za-z])|\((?:[a-z/?+-])\)")


INSCRIBED = {  # in German, where English has
    "Strg": "Ctrl", "Umschalt": "Shift", "Eingabe": "Enter", "Bild ↑": "PgUp", "Bild ↓": "PgDn", "Pos1, Ende": "Home, End",
}  # fmt: skip


def keys_of(text: Text, inscribed: Mapping[str, str] = {}) -> set[str]:
    """The keys of the keyboard that a text names."""
    told = " ".join(forms(text)).translate(NARROW)
    for own, english in inscribed.items():
        told = re.sub(rf"\b{own}(?!\w)", english, told)
    return set(KEYS.findall(told))


@pytest.mark.parametrize("language", FORMS)
def test_a_shipped_translation_fills_in_what_english_does_and_names_the_same_keys_and_forms(language: str) -> None:
    for key, text in catalogues()[language].items():
        english = ENGLISH[key]
        assert placeholders(text) == placeholders(english), key
        assert keys_of(text, INSCRIBED if language == "de" else {}) == keys_of(english), key
        if isinstance(text, str):
            assert isinstance(english, str) or FORMS[language] == {"other"} or len(set(forms(english))) == 1, key
        else:
            assert text.keys() == ({"one", "other"} if key.startswith("screens.") else FORMS[language]), key


def test_a_date_is_set_apart_in_text_from_the_right() -> None:
    assert "\u20682026-11-27\u2069" in texts_for("ar").tell("screens.consent.given", day="2026-11-27")
    assert "\u2068" not in texts_for("zh").tell("screens.consent.given", day="2026-11-27")


def test_what_is_quoted_stands_between_the_marks_of_its_language_and_is_known_again_as_a_quote() -> None:
    marks = {tag: text["quote.marks"] for tag, text in catalogues().items()}
    assert marks == {"ar": "«…»", "de": "„…“", "en": "“…”", "zh": "“…”"}
    known = re.search(r"\[\^:\]\+: (\[\S+\])\(\.\*\)(\[\S+\])\$", (APP / "component" / "others.js").read_text("utf-8"))
    assert known is not None
    assert all(re.fullmatch(f"{known[1]}…{known[2]}", text) for text in marks.values())


def test_a_share_in_arabic_keeps_its_sign_to_its_right() -> None:
    assert all("\u2066{needed}%\u2069" in form for form in texts.forms(catalogues()["ar"]["training.score"]))


def test_chinese_uses_full_width_marks_and_one_word_for_you() -> None:
    for key, text in catalogues()["zh"].items():
        for form in forms(text):
            assert not re.search(r"[\u4e00-\u9fff}] ?[,;:!()]|\?$|你", form), key


def test_english_has_a_form_for_every_number() -> None:
    for key, text in ENGLISH.items():
        assert isinstance(text, str) or {"one", "other"} == text.keys(), key
        assert all(form == form.strip() for form in forms(text)), key
