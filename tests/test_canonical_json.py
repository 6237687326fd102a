"""Canonical JSON: the examples of RFC 8785, and what must hold for any value."""

from __future__ import annotations

import functools
import json
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plain.hashes import canonical, read_json


# RFC 8785, appendix B: IEEE 754 bits and the text of the number
@pytest.mark.parametrize(("bits", "text"), [
    ("0000000000000000", "0"),
    ("8000000000000000", "0"),
    ("0000000000000001", "5e-324"),
    ("8000000000000001", "-5e-324"),
    ("7fefffffffffffff", "1.7976931348623157e+308"),
    ("ffefffffffffffff", "-1.7976931348623157e+308"),
    ("4340000000000000", "9007199254740992"),
    ("c340000000000000", "-9007199254740992"),
    ("4430000000000000", "295147905179352830000"),
    ("44b52d02c7e14af5", "9.999999999999997e+22"),
    ("44b52d02c7e14af6", "1e+23"),
    ("44b52d02c7e14af7", "1.0000000000000001e+23"),
    ("444b1ae4d6e2ef4e", "999999999999999700000"),
    ("444b1ae4d6e2ef4f", "999999999999999900000"),
    ("444b1ae4d6e2ef50", "1e+21"),
    ("3eb0c6f7a0b5ed8c", "9.999999999999997e-7"),
    ("3eb0c6f7a0b5ed8d", "0.000001"),
    ("41b3de4355555553", "333333333.3333332"),
    ("41b3de4355555557", "333333333.33333343"),
    ("becbf647612f3696", "-0.0000033333333333333333"),
])  # fmt: skip
def test_a_number_is_written_as_the_standard_says(bits: str, text: str) -> None:
    assert canonical(struct.unpack(">d", bytes.fromhex(bits))[0]) == text.encode()


def test_a_whole_value_is_written_as_the_standard_says() -> None:
    # RFC 8785, sections 3.2.2 and 3.2.3
    value = {
        "numbers": [333333333.33333329, 1e30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000f\u000aA'\u0042\u0022\u005c\\\"/",
        "literals": [None, True, False],
    }
    assert (
        canonical(value)
        == (
            '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
            '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
        ).encode()
    )
    names = ["\u20ac", "\r", "\ufb33", "1", "\U0001f600", "\u0080", "\u00f6"]
    told = json.loads(canonical(dict.fromkeys(names, 0)))
    assert list(told) == ["\r", "1", "\u0080", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]


DEEP = functools.reduce(lambda inside, _: [inside], range(5_000), [0])


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 10**400, {1, 2}, b"x", DEEP])
def test_what_json_has_not_is_refused(value: object) -> None:
    with pytest.raises(ValueError):
        canonical(value)


@pytest.mark.parametrize("raw", [b"NaN", b"[-Infinity]", b"{", b"\xff", b"[" * 100_000])
def test_what_is_no_json_is_refused(raw: bytes) -> None:
    with pytest.raises(ValueError):
        read_json(raw)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(), max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@given(VALUES)
def test_reading_it_back_gives_the_same_value_and_the_same_text(value: object) -> None:
    told = canonical(value)
    assert json.loads(told, parse_int=float) == value  # as a browser reads it: every number is a double
    assert canonical(read_json(told)) == told
