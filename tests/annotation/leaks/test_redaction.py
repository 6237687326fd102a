"""What was typed leaves without names, addresses, keys and folders, and with every other word."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine

from annotation.leaks.redaction import KINDS, Redactor, folders_of, redactor_of, secrets_of
from db.connect import transaction
from db.people_tables import Enrollment, Rater
from db.tables import Study
from tests.small_study import a_person, make_study

NAMES = ("Ada Lovelace", "Bea", "May Lee", "José Núñez", "王小明", "Li", "d'Arcy")
SECRETS = ("hunter22-hunter22",)
COOKIE = "aB3_" + "xY9-kQ" * 6 + "abc"


@pytest.mark.parametrize(
    ("typed", "kept", "kinds"),
    [
        ("Ask ada@example.org about it.", "Ask [e-mail removed] about it.", ("e-mail",)),
        ("<mailto:a.b+c@mail.example.co.uk>", "<mailto:[e-mail removed]>", ("e-mail",)),
        ("请联系ada@example.org。", "请联系[e-mail removed]。", ("e-mail",)),
        ("josé@exämple.org", "[e-mail removed]", ("e-mail",)),
        ("I, Ada Lovelace, agree.", "I, [name removed], agree.", ("name",)),
        ("Lovelace said so; Bea's view.", "[name removed] said so; [name removed]'s view.", ("name", "name")),
        ("May Lee left.", "[name removed] left.", ("name",)),
        ("Jose\u0301 Nu\u0301n\u0303ez wrote", "[name removed] wrote", ("name",)),
        ("王小明说左边更好", "[name removed]说左边更好", ("name",)),
        ("key sk-proj-abcDEF0123456789xyz.", "key [key removed].", ("key",)),
        ("sk-ant-api03-AbCdEf0123456789", "[key removed]", ("key",)),
        ("ghp_0123456789abcdefABCDEF and hf_AbCdEfGhIjKlMnOp12", "[key removed] and [key removed]", ("key", "key")),
        ("Authorization: Bearer abc.def-0123456789", "Authorization: [key removed]", ("key",)),
        ("AKIAABCDEFGHIJ234567", "[key removed]", ("key",)),
        ("the word hunter22-hunter22 it is", "the word [key removed] it is", ("key",)),
        (f"cookie {COOKIE}", "cookie [key removed]", ("key",)),
        (f"https://x.org/invite/{COOKIE}", "https://x.org/invite/[key removed]", ("key",)),
        ("postgresql://me:pa55word@db/x", "postgresql://[key removed]@db/x", ("key",)),
        ("page 0123456789abcdef0123456789abcdef", "page [key removed]", ("key",)),
        ("see /home/ada/notes.md, then", "see [path removed], then", ("path",)),
        ("(/tmp/x/y) file:///Users/bea/a.txt", "([path removed]) [path removed]", ("path", "path")),
        (r"C:\Users\bea\a.txt", "[path removed]", ("path",)),
        ("https://x.org/@me?mail=ada@example.org", "https://x.org/@me?mail=[e-mail removed]", ("e-mail",)),
        ("https://x.org/Lovelace", "https://x.org/[name removed]", ("name",)),
    ],
)
def test_what_names_a_person_an_account_or_a_machine_goes(typed: str, kept: str, kinds: tuple[str, ...]) -> None:
    redact = Redactor(NAMES, SECRETS)
    assert redact(typed) == kept
    assert redact.removed == Counter(kinds)


@pytest.mark.parametrize(
    "typed",
    [
        "It may be true. May it be so; the bead, bea, Beatrice and Adaptive stay.",
        "Li is too short a name, and li too.",
        "@ada wrote @ 5 pm; foo@1.2.3 is a version, a@b is nothing.",
        "https://example.org/home/ada/x, http://x.org/tmp/y?a=/home/b and ftp://x.org/Users/me stay.",
        "The home/school divide; and/or; /home and /tmp are folders; 3/tmp/4.",
        "key-performance-indicators, sk-learn-and-others-like-it, npm_config_registry_url_of",
        "a sha256 " + "0f" * 32 + " stays, and so does 12345678901234567890123456789012",
        "Bearer of the responsibilities-of-all",
        '=cmd(), commas, "quotes",\nnew lines, \\LaTeX{}, emoji 🙂, 中文 and server\'s own words',
        "",
    ],
)
def test_ordinary_prose_and_addresses_stay_as_they_are(typed: str) -> None:
    redact = Redactor(NAMES, SECRETS)
    assert redact(typed) == typed
    assert not redact.removed


@given(st.text(max_size=60), st.text(max_size=60))
def test_once_removed_nothing_is_left_to_remove(before: str, after: str) -> None:
    redact = Redactor(NAMES, SECRETS)
    once = redact(f"{before} ada@example.org /home/ada/x Bea {after}")
    assert set(redact.removed) <= set(KINDS)
    assert "ada@example.org" not in once
    assert "/home/ada" not in once
    assert Redactor(NAMES, SECRETS)(once) == once


@pytest.mark.parametrize("hostile", ["a" * 200_000, "a." * 100_000, "sk-" * 70_000, "a@" * 100_000, "/tmp" * 50_000])
def test_no_text_makes_it_slow(hostile: str) -> None:
    began = time.process_time()
    Redactor(NAMES, SECRETS)(hostile)
    assert time.process_time() - began < 5


def test_secrets_are_told_by_the_names_of_their_variables() -> None:
    environment = {
        "A_KEY": "longer than eight", "B_TOKEN": "also long", "C_SECRET": "short", "D_KEY": "also long",
        "PATH": "/usr/bin:/bin", "KEYBOARD": "a whole keyboard",
    }  # fmt: skip
    assert secrets_of(environment) == ("longer than eight", "also long")


def test_the_folders_of_this_account_go_wherever_they_are() -> None:
    folders = folders_of({"HOME": "/srv/people/ada/", "TMPDIR": "/scratch", "PWD": "/srv/x"})
    redact = Redactor(folders=folders)
    assert redact("/srv/people/ada/a.txt, /scratch/b, /srv/other/c") == "[path removed], [path removed], /srv/other/c"


@pytest.mark.databases("sqlite")
def test_every_person_of_the_study_goes_whatever_their_role_and_nobody_elses_words(
    engine: Engine, tmp_path: Path
) -> None:
    study_id = make_study(engine, tmp_path)
    other = make_study(engine, tmp_path, name="other")
    with transaction(engine) as session:
        a_person(session, study_id, "Ada Lovelace")
        a_person(session, study_id, "Eve Owner", "evaluator")
        a_person(session, study_id, "server's own key", "admin")
        a_person(session, other, "Zoe")
        imported = Rater(kind="human", handle="expert")
        session.add(imported)
        session.flush()
        session.add(Enrollment(study_id=study_id, rater_id=imported.id, role="annotator", pseudonym="expert"))
        redact = redactor_of(session, session.get_one(Study, study_id), {"X_API_KEY": "opensesame"})
    assert redact("Ada Lovelace, Owner, server's, Zoe, an expert: opensesame") == (
        "[name removed], [name removed], server's, Zoe, an expert: [key removed]"
    )


SIGNS = st.text("ab A'.-_é王芳e\u0301ß", max_size=6)


@given(names=st.lists(SIGNS.filter(str.strip), max_size=3), before=SIGNS, after=SIGNS, which=st.integers(0, 99))
def test_no_name_is_missed_by_the_quick_look_that_most_texts_end_with(
    names: list[str], before: str, after: str, which: int
) -> None:
    redact = Redactor(tuple(names))
    written = sorted({spelt for name in names for spelt in (name, name.strip().upper(), name.strip().lower())})
    text = before + (written[which % len(written)] if written else "") + after
    assert redact(text) == redact._anywhere.sub(redact._replaced, text)
