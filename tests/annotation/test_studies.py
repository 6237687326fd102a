"""What a study may be called."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine

from annotation.errors import AnnotationError
from annotation.studies import built_once, init_study
from db.connect import transaction
from db.tables import Study
from tests.small_study import PROTOCOL


@pytest.mark.parametrize("name", ["wlc-39_v1.0", "Ünï", "中文", "हिन्दी"])
def test_a_name_may_be_of_any_script(engine: Engine, name: str) -> None:
    with transaction(engine) as session:
        assert init_study(session, name, PROTOCOL, 7).name == name


@pytest.mark.parametrize(
    ("name", "better"),
    [
        ("a/b", "a-b"), ("my study", "my-study"), ("x\ny", "x-y"), ("labels.csv", "labels"), ("-x", "x"),
        ("..", "mystudy"), ("*", "mystudy"), ("a" * 99, "a" * 60),
    ],
)  # fmt: skip
def test_what_a_shell_or_a_folder_would_read_otherwise_is_refused_with_a_better_name(
    engine: Engine, name: str, better: str
) -> None:
    with pytest.raises(AnnotationError, match=f"alone; take '{better}'$"), transaction(engine) as session:
        init_study(session, name, PROTOCOL, 7)


def test_a_study_that_is_called_otherwise_already_goes_on(engine: Engine) -> None:
    with transaction(engine) as session:
        init_study(session, "mine", PROTOCOL, 7).name = "my study"
    with transaction(engine) as session:
        assert init_study(session, "my study", PROTOCOL.replace("clearer", "lucid"), 7).protocol_version == 2


def test_a_statement_is_built_once_until_the_protocol_changes(engine: Engine) -> None:
    built: list[str] = []

    @built_once
    def words(study: Study) -> str:
        built.append(study.protocol_text)
        return study.protocol_text

    other = PROTOCOL.replace("clearer", "lucid")
    with transaction(engine) as session:
        mine, yours = init_study(session, "mine", PROTOCOL, 7), init_study(session, "yours", PROTOCOL, 7)
        assert [words(mine), words(mine), words(yours)] == [PROTOCOL] * 3
        assert [words(init_study(session, "mine", other, 7)), words(yours)] == [other, PROTOCOL]
    assert built == [PROTOCOL, PROTOCOL, other], "once for each of two studies, and anew for a new protocol"
