"""Any text as TeX that prints it: what pdfLaTeX has no font for stays as it is, and is named."""

import re
import unicodedata
from collections.abc import Iterable, Iterator

TEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "`": r"\textasciigrave{}",
    "<": r"$<$",
    ">": r"$>$",
    "|": r"$|$",
    '"': r"\char34{}",  # \textquotedbl needs another font encoding than the default
    "\u00a0": "~",
    "\u00ad": r"\-",
    "\u200b": r"\hspace{0pt}",
    "\u2011": r"\mbox{-}",
    "\u202f": r"\,",
    "–": "--",
    "—": "---",
    "‘": r"\textquoteleft{}",
    "’": r"\textquoteright{}",
    "“": r"\textquotedblleft{}",
    "”": r"\textquotedblright{}",
    "…": r"\ldots{}",
    "²": r"\textsuperscript{2}",
    "³": r"\textsuperscript{3}",
    "−": r"$-$",
    "×": r"$\times$",
    "±": r"$\pm$",
    "·": r"$\cdot$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "≠": r"$\neq$",
    "≈": r"$\approx$",
    "∞": r"$\infty$",
    "→": r"$\rightarrow$",
    "←": r"$\leftarrow$",
}
NAMED_OTHERWISE = {"ε": "varepsilon", "φ": "varphi", "ς": "varsigma", "λ": "lambda", "Λ": "Lambda"}
LIKE_LATIN = dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΧ", "ABEZHIKMNOPTX", strict=True))
TEX |= {letter: rf"$\{unicodedata.name(letter).split()[-1].lower()}$" for letter in "αβγδζηθικμνξπρστυχψω"}
TEX |= {letter: rf"$\{unicodedata.name(letter).split()[-1].title()}$" for letter in "ΓΔΘΞΠΣΥΦΨΩ"}
TEX |= {letter: rf"$\{name}$" for letter, name in NAMED_OTHERWISE.items()}
TEX |= {letter: rf"$\mathrm{{{latin}}}$" for letter, latin in LIKE_LATIN.items()} | {"ο": "$o$"}
GREEK = {"\u0301": r"\acute", "\u0308": r"\ddot"}
ACCENTS = {
    "\u0300": "`", "\u0301": "'", "\u0302": "^", "\u0303": "~", "\u0304": "=", "\u0306": "u", "\u0307": ".",
    "\u0308": '"', "\u030a": "r", "\u030b": "H", "\u030c": "v", "\u0323": "d", "\u0327": "c", "\u0331": "b",
}  # fmt: skip
# What LaTeX's own table of utf8 prints in its default fonts, and what it prints in T1 only.
PLAIN = frozenset("¡¢£¤¥¦§¨©ª¬®¯°´µ¶¸¹º¼½¾¿ÆØßæ÷øıĲĳŁłŒœƒ‖†‡•‰€™")
T1 = frozenset("«»ÐÞðþĄąĐđĘęĮįŊŋŲųǪǫ‚„‹›")
LIGATURES = frozenset("-–—',")  # two of them in a row would melt into another sign
MELTS_NOT = r"{\kern0pt}"  # LuaTeX melts over an empty group
JOINERS = frozenset("\u200c\u200d")
FONTS = {  # of luaotfload
    "Chinese, Japanese or Korean": "Noto Serif CJK SC:",
    "emoji": "Noto Color Emoji:mode=harf;",
    "Arabic": "Noto Naskh Arabic:mode=harf;script=arab;",
    "Hebrew": "Noto Serif Hebrew:mode=harf;script=hebr;",
    "other": "Noto Serif:mode=harf;",
}
FROM_THE_RIGHT = frozenset({"Arabic", "Hebrew"})
EQUATED = ("n", "p", "B", TEX["ε"], TEX["ρ"], TEX["ω"])  # names of numbers in running text
LONG, EVERY = 16, 8  # letters of a word that may be broken, and after how many where it has no sign to break at


def escape(text: str) -> str:
    """Zero-width signs print nothing, line ends a space, other control characters their number."""
    return "".join(_marks(_clusters(text)))


def breakable(text: str) -> str:
    """As `escape`, with places where a line may end within long words: after / _ - : =, between Chinese letters."""
    parts = re.split(r"(\s+)", unicodedata.normalize("NFC", text))
    return "".join(" " if part.isspace() else r"\allowbreak{}".join(map(escape, _pieces(part))) for part in parts)


def prose(text: str) -> str:
    """As `breakable`, where no line ends before `%` or within `n = 180`."""
    glued = re.sub(r"(?<=\d) (?=\\%)", "~", breakable(text)).replace("C $-$ 1", "C~$-$~1")
    return re.sub(rf"(?<![\w\\])({'|'.join(map(re.escape, EQUATED))}) = ", r"\1~=~", glued)


def foreign(texts: Iterable[str]) -> list[str]:
    """The scripts that pdfLaTeX has no font for, such as `Arabic` or `emoji`, each once."""
    clusters = dict.fromkeys(cluster for text in texts for cluster in _clusters(text))
    return list(dict.fromkeys(script_of(mark) for cluster in clusters for mark in _mark(cluster) if _is_foreign(mark)))


def fonts_needed(texts: Iterable[str]) -> list[str]:
    """Lines of a preamble, the first in words, for what pdfLaTeX has no font for; none where it has all."""
    scripts = foreign(texts)
    if not scripts:
        return []
    fonts = dict.fromkeys(FONTS.get(script, FONTS["other"]) for script in scripts)
    listed = ",".join(f'"{font}"' for font in fonts)
    return [
        f"pdfLaTeX has no font for some of this text ({', '.join(scripts)}). LuaLaTeX prints it with these fonts:",
        *([r"\usepackage[english,bidi=basic]{babel}"] if FROM_THE_RIGHT & {*scripts} else []),
        rf"\usepackage{{fontspec}}\directlua{{luaotfload.add_fallback('wide',{{{listed}}})}}",
        r"\setmainfont{Latin Modern Roman}[RawFeature={fallback=wide}]",
    ]


def needs_t1(texts: Iterable[str]) -> bool:
    """Whether some letter is in the T1 encoding only, as Polish ą and « » are."""
    return any(mark in T1 for text in texts for mark in unicodedata.normalize("NFC", text))


def _clusters(text: str) -> list[str]:
    """Letters with the accents that are over them."""
    return re.findall(r"(?s).[\u0300-\u036f]*", unicodedata.normalize("NFC", text))


def together(text: str) -> list[str]:
    """What no line may end within: also the parts of one emoji."""
    return re.findall(r"(?s).(?:[\u0300-\u036f\u200d\ufe0f\U0001f3fb-\U0001f3ff]|(?<=\u200d).)*", text)


def _marks(clusters: list[str]) -> Iterator[str]:
    for before, cluster in zip(["", *clusters], clusters, strict=False):
        melts = before in LIGATURES and cluster in LIGATURES
        raw = before and _is_foreign(before[-1]) and cluster in JOINERS
        yield cluster if raw else f"{MELTS_NOT * melts}{_mark(cluster)}"


def _mark(cluster: str) -> str:
    if cluster in TEX:
        return TEX[cluster]
    if len(cluster) == 1 and ((cluster.isascii() and cluster.isprintable()) or cluster in PLAIN or cluster in T1):
        return cluster
    letter, *accents = list(unicodedata.normalize("NFD", cluster))
    if accents and all(accent in ACCENTS for accent in accents) and letter.isascii() and letter.isalnum():
        if len(cluster) == 1 and cluster <= "ž":
            return cluster
        return _accented(letter, accents)
    if accents and all(accent in GREEK for accent in accents) and letter in TEX:
        inner = TEX[letter].strip("$")
        for accent in accents:
            inner = f"{GREEK[accent]}{{{inner}}}"
        return f"${inner}$"
    return "".join(map(_single, cluster))


def _accented(letter: str, accents: list[str]) -> str:
    for accent in accents:
        letter = rf"\{ACCENTS[accent]}{{{letter}}}"
    return letter


def _single(mark: str) -> str:
    """A sign that TeX has no word for."""
    kind = unicodedata.category(mark)
    if mark.isspace():
        return " "
    if kind == "Cf" or "\ufe00" <= mark <= "\ufe0f":
        return ""
    if kind.startswith("C"):
        return rf"$\langle$U+{ord(mark):04X}$\rangle$"
    return TEX.get(mark, mark)


def _is_foreign(mark: str) -> bool:
    """Whether a sign that stands for itself has no glyph in the fonts of pdfLaTeX."""
    if mark.isascii() or mark in PLAIN | T1 or _mark(mark) != mark:
        return False
    letter, *accents = list(unicodedata.normalize("NFD", mark))
    return not (accents and letter.isascii())


def script_of(mark: str) -> str:
    """The script of a letter as people call it, such as `Arabic`."""
    name = unicodedata.name(mark, "other")
    first = name.split()[0]
    if first in {"CJK", "HIRAGANA", "KATAKANA", "HANGUL", "FULLWIDTH", "IDEOGRAPHIC", "BOPOMOFO"}:
        return "Chinese, Japanese or Korean"
    return "emoji" if unicodedata.category(mark) in {"So", "Sk"} else first.title()


def is_wide(mark: str) -> bool:
    return unicodedata.east_asian_width(mark) in "WF"


def _pieces(word: str) -> list[str]:
    """A word in the parts between which a line may end."""
    found = []
    for piece in re.findall(r"[^/_:=-]*[/_:=-]+|[^/_:=-]+", word) if len(word) > LONG else [word]:
        if any(map(is_wide, piece)):
            found += together(piece)
        elif len(piece) > 2 * LONG:
            clusters = together(piece)
            found += ["".join(clusters[at : at + EVERY]) for at in range(0, len(clusters), EVERY)]
        else:
            found.append(piece)
    return found
