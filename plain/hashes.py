"""Hashes of texts, files and values, and canonical JSON (RFC 8785): one text for one value, here and in a browser."""

import hashlib
import hmac
import json
import math
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

LONE_SURROGATE = re.compile("[\ud800-\udfff]")
EXACT = 2**53  # integers up to here are exact in a browser
WORDS = {None: "null", True: "true", False: "false"}


def canonical(value: Any) -> bytes:
    """Members sorted by UTF-16 units, no blanks, numbers as a browser writes them, UTF-8.

    Half of a surrogate pair, which UTF-8 cannot hold, is written as a browser does: \\ud800. Raises ValueError for
    what JSON has not, for numbers that a browser cannot hold, and for bottomless nesting.
    """
    try:
        return _text(value).encode()
    except RecursionError:
        raise ValueError("nested too deeply") from None


def read_json(raw: bytes) -> Any:
    """The value of a JSON text that came from outside. Raises ValueError, also for NaN and bottomless nesting."""
    try:
        return json.loads(raw, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _text(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return WORDS[value]
    if isinstance(value, str):
        return LONE_SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", json.dumps(value, ensure_ascii=False))
    if isinstance(value, int | float):
        return _number(value)
    if isinstance(value, list | tuple):
        return f"[{','.join(map(_text, value))}]"
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
        return f"{{{','.join(f'{_text(name)}:{_text(value[name])}' for name in names)}}}"
    raise ValueError(f"{type(value).__name__} is no JSON")


def _number(value: float) -> str:
    """The shortest digits that read back as the same double, laid out as ECMAScript's Number::toString does."""
    if isinstance(value, int) and abs(value) <= EXACT:
        return str(value)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError("a number that a browser cannot hold")
    if number == 0:
        return "0"
    sign, parts, exponent = Decimal(repr(number)).normalize().as_tuple()
    assert isinstance(exponent, int)
    digits, point = "".join(map(str, parts)), len(parts) + exponent
    return ("-" if sign else "") + _laid_out(digits, point)


def _laid_out(digits: str, point: int) -> str:
    """0.digits times ten to the power of `point`."""
    if len(digits) <= point <= 21:
        return digits + "0" * (point - len(digits))
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"0.{'0' * -point}{digits}"
    rest = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{digits[0]}{rest}e{point - 1:+d}"


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def text_sha256(text: str) -> str:
    """The sha256 of the text's UTF-8 bytes, as hex."""
    return hashlib.sha256(text.encode()).hexdigest()


def keyed(key: str, text: str) -> str:
    """HMAC-SHA256 of the text, hex."""
    return hmac.new(key.encode(), text.encode(), hashlib.sha256).hexdigest()


def canonical_sha256(value: Any) -> str:
    """The sha256 of canonical JSON, as hex: sorted keys, no blanks, nothing escaped that need not be, no NaN."""
    return text_sha256(CANONICAL.encode(value))


def file_sha256(path: Path) -> str:
    """The sha256 of a file of any size, as hex, as `sha256sum` prints it."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def identity_digest(*identity: object) -> bytes:
    """32 bytes that order or draw by identity, not by luck: the same names give the same on every machine and day."""
    return hashlib.sha256("|".join(map(str, identity)).encode()).digest()
