"""One line of a list of sources or with sources: how sure we are that it is one, and which number it carries."""

import re

from annotation.source_lists.reference_headings import LABELS_ABROAD, announces_sources
from annotation.texts.scripts import QUOTED, is_prose

_ADDRESS = re.compile(r"(?:https?|ftp)(?:://|www\.?)|\bwww\.[\w-]+\.|\]\(\s*<?(?:https?:|www\.)", re.IGNORECASE)
_LEAD = r"[ \t>\ufdd0]*(?:&nbsp;|&#x20;|[-*•·+][ \t]+|\*\*|[0-9]{1,3}\\?[.)][ \t]+)*[ \t]*"
_MARK = r"\\?[\[［【]\^?[ \t]*([0-9]{1,3})[ \t]*\^?\\?[\]］】]"
LEADING_MARKS = re.compile(_LEAD + r"((?:(?:\\?\[)?" + _MARK + r"[:：,]?[ \t]*)+)")
FOOTNOTE = re.compile(r"[ \t>]{0,3}\\?\[\^[^\]\n\s]{1,40}\\?\][:：]")
_LETTER_AND_DIGIT = r"(?=[^\]]{0,30}[0-9])(?=[^\]]{0,30}[A-Za-z#])"
_LABEL = re.compile(_LEAD + rf"\\?\[\^?({_LETTER_AND_DIGIT}[\w#:.+-]{{2,30}})\\?\](?!\()")
_LEADING_SIGN = re.compile(r"[ \t>]*(?:[-*•·+][ \t]+)?(?:<sup>)?([†‡]{1,3})")
_LEADING_NUMBER = re.compile(r"[ \t>]*(?:[-*•·+][ \t]+)?[({]?([0-9]{1,3})(?:\\?[.)}、:：]\)?|\b)[ \t]+(?=\S)")
_LINKED_NUMBER = re.compile(_LEAD + r"\[\\?\[?\(?([0-9]{1,3})[^\]\w]{0,3}\\?\]\]?\(")
_TRAILING_MARKS = re.compile(r"((?:\\?\[[0-9]{1,3}\\?\][ \t]*)+)[.;]?\s*$")
_NUMBERS = re.compile(r"[0-9]{1,3}")
_NOTE = re.compile(r"[ \t>]{0,3}\\?\[\^([0-9]{1,3})")
_BARE_NUMBERS = re.compile(r"[ \t>\-*]*[0-9]{1,3}(?:[ \t]*[,;][ \t]*[0-9]{1,3})*[.\s]*$")
_RECORD = re.compile(
    r"\b(?:doi|arxiv|isbn|issn|pmid|pmcid)\b[\s:.]|\b10\.[0-9]{4,9}/|\b(?:accessed|retrieved|last (?:visited"
    r"|accessed)|abgerufen|zuletzt besucht|consulté|consultad[oa]|consultato|accesso|acesso em|dostęp|geraadpleegd"
    r"|hämtad|дата обращения|viewed [0-9])\b"
    r"|閲覧"
    r"|(?:访问|检索|查阅)(?:日期|时间|于)|\bturn[0-9]+(?:search|news|view)|[\w-]\.(?:com|org|net|edu|gov|io"
    r"|info)(?:/\S*)?\W*$"
    r"|\bURL:",
    re.IGNORECASE,
)
_SITE_LEAD = re.compile(  # `- **example.com**: Tide tables`
    r"[ \t>]*(?:[-*•·+]|[0-9]{1,3}\\?[.)])[ \t]+[*_]{0,2}(?:[a-z0-9-]{1,63}\.){1,5}[a-z]{2,24}[*_]{0,2}"
    r"(?:[:：]|[ ][-–—|])"
)
_YEAR = re.compile(r"(?<![0-9])(?:1[5-9]|20)[0-9]{2}[a-z]?(?![0-9])|\bn\.d\.|\(forthcoming\)|\bin press\b")
_RECORD_WORDS = re.compile(
    r"\b(?:vol|no|pp?|ed|eds|et al|trans|chap|ch)\.|\b(?:journal|press|university|publish\w*|proceedings|conference"
    r"|review"
    r"|magazine|times|news|archive|quarterly|bulletin|annals|transactions|thesis|dissertation|report|edition|blog"
    r"|wikipedia"
    r"|institute|museum|encyclop\w+|library|database|website|britannica|guardian|post)\b|[《〈][^》\n]{1,80}[》〉]"
    r"|出版|学报|期刊",
    re.IGNORECASE,
)
_AUTHOR_LEAD = re.compile(  # `Surname, A. B.` or `Surname AB,` and what follows an author in front of a title
    r"[ \t>*•·+_-]{0,6}(?:(?:van|von|de|der|den|di|da|del|la|le|ten|ter)[ ]){0,2}[^\W\d_][\w’'‑-]{1,30}"
    r"(?:[ ][^\W\d_][\w’'‑-]{1,30})?,?[ ](?:[A-ZÀ-ÖØ-ÞА-Я](?:\.|\b)[ -]?){1,3}"
)
# a label in parentheses in front of an entry: `3. (ito2004silting pages 1-2): Ito, A. …`
_KEY = re.compile(
    r"[ \t>]*(?:[-*•][ \t]+|[0-9]{1,3}\\?[.)][ \t]+)"
    r"\((?=[^()\n]{0,160}[0-9])(?=[^()\n]{0,160}[^\W\d_])([^()\n]{3,160})\)[:：][ \t]"
)
_SHAPE = re.compile(r"[ \t>]*(?:[-*•·+]|[0-9]{1,3}\\?[.)])[ \t]")
RULE = re.compile(
    r"[ \t>]*(?:(?:[-*_=⁂][ \t]*){3,}|⁂|<div[^>\n]*>[ \t]*⁂?[ \t]*(?:</div>)?|</?(?:div|details|ol|ul|p)>"
    r"|<br ?/?>|&nbsp;)[ \t]*$"
)


def has_address(line: str) -> bool:
    """Whether an address of the web stands in `line`."""
    signs = ("://", "](", "ww.", "WW.", "wW.", "Ww.")
    return any(sign in line for sign in signs) and _ADDRESS.search(line) is not None


def spacing(line: str) -> str:
    """`blank` or `rule`, empty for a line of text. Far quicker than `grade`, which says the same of such lines."""
    if not line.strip(" \t\ufdd0>"):
        return "blank"
    return "rule" if RULE.match(line) else ""


def grade(line: str, cited: frozenset[int] = frozenset()) -> str:
    """`blank`, `rule`, `hard` (an address, a mark in front, an access date), `tagged`, `soft`, `numbered` or `text`.

    `tagged` is a sentence with an address or a line with a mark behind it, `soft` a book's record without either.

    `cited` are the numbers of the bracket marks in the body: a numbered line whose number is cited is `hard`.
    """
    if between := spacing(line):
        return between
    if len(line) > 2500:
        return "text"
    if _KEY.match(line) and (has_address(line) or _YEAR.search(line)):
        return "hard"
    if ("[" in line or "【" in line or "［" in line) and LEADING_MARKS.match(line):
        return "hard"
    prose = is_prose(line)
    if has_address(line):
        if not prose:
            return "hard"
        return "text" if len(line) > 500 else "tagged"
    if FOOTNOTE.match(line) or _LINKED_NUMBER.match(line) or _BARE_NUMBERS.match(line):
        return "hard"
    if not prose and _trailing_marks(line):
        return "hard" if _RECORD.search(line) else "tagged"
    numbered = _LEADING_NUMBER.match(line)
    if numbered and int(numbered[1]) in cited and len(line) < 500:
        return "hard"
    if prose:
        return "text"
    if _RECORD.search(line) or _SITE_LEAD.match(line):
        return "hard"
    if (
        len(line) <= 400
        and _YEAR.search(line)
        and (_RECORD_WORDS.search(line) or _SHAPE.match(line) or QUOTED.search(line) or _AUTHOR_LEAD.match(line))
    ):
        return "soft"
    if len(line) <= 400 and QUOTED.search(line) and (_RECORD_WORDS.search(line) or numbered):
        return "soft"
    return "numbered" if numbered and len(line) <= 300 else "text"


def _trailing_marks(line: str) -> re.Match[str] | None:
    return _TRAILING_MARKS.search(line) if line.rstrip().rstrip(".; \t").endswith("]") else None


def label_of(line: str) -> str | None:
    """A label with letters and digits in front of an entry (`[S4]`, `[Ito2004]`), its sign (`†`, `‡‡`), or None."""
    match = (_LABEL.match(line) if "[" in line else None) or _LEADING_SIGN.match(line)
    return match[1] if match else None


def key_of(line: str) -> str | None:
    """A label in parentheses in front of an entry (`ito2004silting pages 1-2`), or None."""
    match = _KEY.match(line)
    return match[1] if match else None


def numbers_of(line: str) -> set[int]:
    """Numbers that `line` gives to its source; years and page numbers are not among them."""
    found: set[int] = set()
    if lead := LEADING_MARKS.match(line):
        found |= {int(n) for n in _NUMBERS.findall(lead[1])}
    elif linked := _LINKED_NUMBER.match(line):
        found.add(int(linked[1]))
    elif numbered := _LEADING_NUMBER.match(line):
        found.add(int(numbered[1]))
    if trail := _trailing_marks(line):
        found |= {int(n) for n in _NUMBERS.findall(trail[1])}
    if note := _NOTE.match(line):
        found.add(int(note[1]))
    return {n for n in found if 0 < n <= 999}


_ONE_LINE = re.compile(r"([ \t>*_\-#]*[^\n:：]{2,40})[:：][*_]{0,3}[ \t]*(\S[^\n]*)$")
_NOT_RESIDUE = re.compile(
    r"\[[^\[\]\n]{0,200}\]\([^\s()]*(?:\([^\s()]*\)[^\s()]*)*\)|<?(?:https?://|www\.)[^\s<>]+>?"
    r"|\\?\[\^?[0-9, –-]+\^?\\?\]|[\W_0-9]|\band\b",
    re.IGNORECASE,
)
_MARKED_PARTS = re.compile(r"(?:\\?\[\^?[0-9]{1,3}\\?\][^\[\]\n]{1,150}){1,40}+$")
# a superscript that an export flattened, with nothing else left of the line: `**Citations used:**.1`
_GLUED_ONLY = re.compile(r"\.[ \t]?[0-9]{1,3}(?:[ \t]?[,;–-][ \t]?[0-9]{1,3}){0,30}[ \t]*$")
_EMPHASISED = re.compile(
    rf"[ \t>]{{0,4}}([*_]{{1,3}})(?:data )?(?:sources?|{LABELS_ABROAD})[:：][^\n]{{2,200}}\1[ \t]*$", re.IGNORECASE
)


def is_source_line(line: str) -> bool:
    """A label for sources, then nothing but addresses or marks, marked titles, or (in emphasis) any short record."""
    if len(line) > 3000:
        return False
    match = _ONE_LINE.match(line)
    if not match or not announces_sources(match[1] + ":"):
        return False
    content = match[2]
    if _GLUED_ONLY.match(content):
        return True
    if is_prose(content):
        return False
    if _MARKED_PARTS.match(content) or (len(line) <= 250 and _EMPHASISED.match(line)):
        return True
    return has_address(content) and len(_NOT_RESIDUE.sub("", content)) <= 0.4 * len(content)
