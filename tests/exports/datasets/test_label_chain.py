"""A chain of rows holds as it was made, and any one change is found and named."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exports.datasets.label_rows import broken, chained
from plain.hashes import canonical_sha256

CELL = st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5)


def rows(answers: list[tuple[int, str]]) -> list[dict[str, Any]]:
    return [
        {"assignment": f"assignment-{number:05d}", "criterion": "clear", "revision": place, "rationale": why}
        for place, (number, why) in enumerate(answers)
    ]


many = st.lists(st.tuples(st.integers(1, 3), st.text(max_size=5)), min_size=1, max_size=8)


def test_the_hash_is_of_canonical_json() -> None:
    # keys sorted, nothing escaped, no blanks: a hash that any tool can make again
    assert canonical_sha256({"b": "中", "a": None}) == hashlib.sha256('{"a":null,"b":"中"}'.encode()).hexdigest()


def test_each_row_holds_the_hash_of_the_one_before_it_in_its_assignment() -> None:
    first, other, second = chained(rows([(1, "a"), (2, "b"), (1, "c")]))
    assert (first["previous_sha256"], other["previous_sha256"]) == ("", "")
    assert second["previous_sha256"] == first["sha256"]
    assert first["sha256"] == canonical_sha256({name: first[name] for name in first if name != "sha256"})


@given(many)
def test_an_untouched_chain_holds(answers: list[tuple[int, str]]) -> None:
    assert list(broken(chained(rows(answers)))) == []


@given(many, st.data())
def test_any_one_changed_field_is_found_and_its_row_is_named(
    answers: list[tuple[int, str]], data: st.DataObject
) -> None:
    made = list(chained(rows(answers)))
    place = data.draw(st.integers(0, len(made) - 1))
    name = data.draw(st.sampled_from(sorted(made[place])))
    made[place][name] = data.draw(
        CELL.filter(lambda cell: (cell, type(cell)) != (made[place][name], type(made[place][name])))
    )
    found = list(broken(made))
    assert found[0].startswith(f"row {place + 1} (")


@given(many, st.data())
def test_a_changed_row_that_was_hashed_anew_breaks_at_the_next_one(
    answers: list[tuple[int, str]], data: st.DataObject
) -> None:
    made = list(chained(rows([*answers, (answers[0][0], "last")])))
    changed = next(row for row in made if row["assignment"] == made[0]["assignment"])
    changed["rationale"] += "!"
    changed["sha256"] = canonical_sha256({name: changed[name] for name in changed if name != "sha256"})
    (found,) = broken(made)
    assert "does not follow the row before it" in found


@pytest.mark.parametrize("gone", [0, 1])
def test_a_row_that_was_taken_out_is_missed_by_the_next(gone: int) -> None:
    made = list(chained(rows([(1, "a"), (1, "b"), (1, "c")])))
    del made[gone]
    (found,) = broken(made)
    assert (
        found
        == f"row {gone + 1} (assignment-00001, clear, revision {gone + 1}): does not follow the row before it in its assignment"
    )
