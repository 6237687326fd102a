"""What people and judges typed, without what would name a person, an account or a machine."""

import os
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import orm, select

from db import people_tables, tables
from plain.hashes import text_sha256

PLACES = "names_in_texts"  # the audit line of where names stand in what was typed that are stored nowhere else any more
NAMELESS = " (name deleted)"  # behind the pseudonym that has taken a name's place
KINDS = ("e-mail", "name", "key", "path")
SECRET_NAMES = ("_KEY", "_TOKEN", "_SECRET")  # how the names of environment variables that hold one end
SHORTEST_SECRET, SHORTEST_NAME, SHORTEST_PART = 8, 3, 4
SHORTEST_SPACELESS = 2  # 王芳 is a whole name
SPACELESS = "⺀"  # from here on, scripts are written without blanks, so a name there has no edges

LETTER = r"A-Za-z0-9À-ɏЀ-ӿ._%+-"
E_MAIL = rf"(?<![{LETTER}])[{LETTER}]+@(?:[\w-]+\.)+[^\W\d_]{{2,}}"
# what is only a word with a dash or an underscore, such as sk-learn, has no digit
KEY = "|".join(
    (
        r"(?<=://)[^\s/@:]+:[^\s/@]+(?=@)",  # user:password of an address
        r"(?<=/invite/)[\w-]{16,}",
        r"\bBearer\s+(?=[\w.~+/=-]{0,99}\d)[\w.~+/=-]{16,}",
        r"\b(?:sk|pk|rk|gsk|xai|pplx|nvapi|glpat)-(?=[\w-]{0,99}\d)[\w-]{16,}",
        r"\b(?:sk|pk|rk|gsk|gh[pousr]|github_pat|hf|r8|npm)_(?=\w{0,99}\d)\w{16,}",
        r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
        r"\bAIza[\w-]{30,}",
        r"\bxox[abeoprs]-[\w-]{10,}",
        r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*",  # a signed token
        r"(?<![\w-])(?=[\w-]{0,42}[a-z])(?=[\w-]{0,42}[A-Z])(?=[\w-]{0,42}\d)[A-Za-z0-9_-]{43}(?![\w-])",  # a cookie
        r"(?<![\w-])(?=[a-f\d]{0,31}[a-f])(?=[a-f\d]{0,31}\d)[a-f\d]{32}(?![\w-])",  # what a page calls its work
    )
)
LONG = re.compile(r"[A-Za-z0-9_.-]{14,}")  # what every key has that is no address
WORD = re.compile(r"\w+")
HOMES = r"home|Users|root|tmp|var/tmp|var/folders|private/tmp|private/var"
REST = r"[^\s\"'`<>|)\]},;]+"
PATH = rf"(?:\bfile://|(?<![\w./\\:~-]))(?:/(?:HOMES)/{REST}|[A-Za-z]:[\\/](?:Users|Temp|Windows[\\/]Temp)[\\/]{REST})"
URL = r"\b(?!file:)[A-Za-z][A-Za-z0-9+.]{0,20}://[^\s<>\"]+"


@dataclass
class Redactor:
    """Takes the same things out of many texts. `removed` counts them by kind: e-mail, name, key, path.

    `places`: a text's sha256 -> where a name stands in it that is in no list any more, as (begin, end), in order.
    """

    names: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    removed: Counter[str] = field(default_factory=Counter)
    places: Mapping[str, Sequence[Sequence[int]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        words = {name: _word_of(name) for name in _spelt(self.names)}
        self._words = {word for word in words.values() if word}
        self._literals = (*(name for name, word in words.items() if not word), *self.secrets)
        keys = "|".join((*map(re.escape, self.secrets), KEY))
        parts = [("key", keys), ("e-mail", E_MAIL), ("name", names_pattern(self.names))]
        self._within_url = _any_of(parts)
        homes = "|".join((HOMES, *(re.escape(folder.strip("/")) for folder in self.folders)))
        # an address is read as one piece: a folder inside it is no folder of anybody's machine
        self._anywhere = _any_of([("url", URL), *parts, ("path", PATH.replace("HOMES", homes))])

    def __call__(self, text: str) -> str:
        """`text` with `[e-mail removed]`, `[name removed]`, `[key removed]`, `[path removed]` for what they say."""
        for begin, end in reversed(self.places.get(text_sha256(text), ()) if self.places else ()):
            text = f"{text[:begin]}[name removed]{text[end:]}"
            self.removed["name"] += 1
        return self._anywhere.sub(self._replaced, text) if self._may_hold(text) else text

    def names_in(self, text: str) -> Iterator[tuple[int, int]]:
        """Where one of the names stands and nothing else is taken out, in order."""
        for match in self._anywhere.finditer(text) if self._may_hold(text) else ():
            inside = self._within_url.finditer(match.group()) if match.lastgroup == "url" else ()
            yield from ((match.start() + m.start(), match.start() + m.end()) for m in inside if m.lastgroup == "name")
            if match.lastgroup == "name":
                yield match.span()

    def _may_hold(self, text: str) -> bool:
        """False for most texts, fifty times as fast as looking closely."""
        return (
            "@" in text
            or "/" in text
            or ":\\" in text
            or LONG.search(text) is not None
            or not self._words.isdisjoint(WORD.findall(text))
            or any(literal in text for literal in self._literals)
        )

    def _replaced(self, match: re.Match[str]) -> str:
        kind = match.lastgroup or ""
        if kind == "url":
            return self._within_url.sub(self._replaced, match.group())
        kind = kind.replace("_", "-")
        self.removed[kind] += 1
        return f"[{kind} removed]"


def redactor_of(session: orm.Session, study: tables.Study, environment: Mapping[str, str] = os.environ) -> Redactor:
    """For the texts of `study`: the names of its people, whatever their role, and the secrets of `environment`.

    Of names that were deleted only the places are known where they stood by then; see `names_in`.
    """
    rows = session.execute(
        select(people_tables.Rater.handle, people_tables.Enrollment.pseudonym)
        .join(people_tables.Enrollment, people_tables.Enrollment.rater_id == people_tables.Rater.id)
        .where(people_tables.Enrollment.study_id == study.id, people_tables.Rater.handle != people_tables.SERVERS_OWN)
    )
    # who was imported is called as in the file: that name is the pseudonym, and may be a word such as `expert`
    names = tuple(handle for handle, called in rows if handle != called and not handle.endswith(NAMELESS))
    places: dict[str, list[list[int]]] = {}
    kept = tables.Event.study_id == study.id, tables.Event.kind == "audit", tables.Event.what == PLACES
    for line in session.scalars(select(tables.Event.data).where(*kept)):
        for sha256, spans in line["texts"].items():
            places[sha256] = _apart(places.get(sha256, []) + spans)
    return Redactor(names, secrets_of(environment), folders_of(environment), places=places)


def _apart(spans: Iterable[list[int]]) -> list[list[int]]:
    """In order, what overlaps as one."""
    found: list[list[int]] = []
    for begin, end in sorted(spans):
        if found and begin < found[-1][1]:
            found[-1][1] = max(end, found[-1][1])
        else:
            found.append([begin, end])
    return found


def secrets_of(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Values of 8 characters or more under names that end in _KEY, _TOKEN or _SECRET; the longest first."""
    found = {value for name, value in environment.items() if name.upper().endswith(SECRET_NAMES)}
    return tuple(
        sorted(
            (secret for secret in found if len(secret) >= SHORTEST_SECRET), key=lambda secret: (-len(secret), secret)
        )
    )


def folders_of(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Where this account and its scratch files live, wherever that is."""
    found = {environment.get(name, "").rstrip("/") for name in ("HOME", "TMPDIR")}
    return tuple(sorted(part for part in found if part.startswith("/") and len(part) >= SHORTEST_PART))


def names_pattern(handles: Iterable[str]) -> str:
    """Whole words: each handle of 3 characters or more (2 without blanks between words), its parts of 4 or more.

    As they are written and in capitals; a name of several parts in small letters too, while `mark` stays a word.
    """
    return "|".join(map(_whole, _spelt(handles)))


def _spelt(handles: Iterable[str]) -> list[str]:
    names = set()
    for handle in map(str.strip, handles):
        parts = handle.split()
        if len(parts) > 1:
            names |= {handle.lower(), *(part for part in parts if len(part) >= SHORTEST_PART)}
        if len(handle) >= (SHORTEST_SPACELESS if handle[:1] >= SPACELESS else SHORTEST_NAME):
            names.add(handle)
    names |= {name.upper() for name in names}
    spelt = {unicodedata.normalize(form, name) for name in names for form in ("NFC", "NFD")}
    return sorted(spelt, key=lambda name: (-len(name), name))


def _whole(name: str) -> str:
    before = r"(?<!\w)" if name[0] < SPACELESS else ""
    after = r"(?!\w)" if name[-1] < SPACELESS else ""
    return before + re.escape(name) + after


def _word_of(name: str) -> str:
    """A word that stands by itself wherever `_whole` finds this name, the longest; empty where there is none."""
    first, last = int(name[0] < SPACELESS), int(name[-1] < SPACELESS)
    alone = (word for word in WORD.finditer(name) if word.start() + first > 0 and word.end() - last < len(name))
    return max((word.group() for word in alone), key=len, default="")


def _any_of(parts: Iterable[tuple[str, str]]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?P<{kind.replace('-', '_')}>{pattern})" for kind, pattern in parts if pattern))
