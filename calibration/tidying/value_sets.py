"""Answers as people write them: sets of words that are recognised as verdicts, scores or a probe's answers.

A set is read where it allows one reading alone; where two are possible, the sentence that asks is returned.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from calibration.table.roles import FAILS, PASSES, is_denied
from calibration.table.typed_cells import is_number, number_text, percent_number
from calibration.tidying import ordered_words
from calibration.tidying.mapping import Answers
from plain.typed_options import TO_FILL, typed

WHAT = (
    "(?:model|system|assistant|report|answer|response|output|option|candidate|summary|text|agent|completion"
    "|modell|antwort|bericht|modelo|respuesta|modèle|réponse)"
)
MORE = (
    "(?: (?:is |ist |es |est )?(?:much |slightly |significantly |far |a bit |marginally )?"
    "(?:better|wins|won|preferred|besser|mejor|mieux|meilleure?))?"
)
SIDE = re.compile(rf"(?:{WHAT} (?P<named>[ab12])|(?P<bare>[ab])){MORE}")
AROUND = re.compile(r"(?:(?:the |my |final )*(?:answer|verdict|winner|choice)(?: is|:) )?(.*?)(?:,? because .*)?")
ORDERED = re.compile(r"(?P<one>[ab])(?P<sign>>{1,3}|<{1,3}|=+|~)(?P<other>[ab])")
CHINESE = re.compile(
    "(?:(?:模型|系统|回答|答案|回复|选项|报告) ?(?P<named>[ab12])|(?P<bare>[ab])) ?(?:更好|更优|较好|好|胜出?|赢)?"
)
SIDES = {
    **dict.fromkeys(("left", "first", "links", "izquierda", "gauche", "左", "左边"), "A"),
    **dict.fromkeys(("right", "second", "rechts", "derecha", "droite", "右", "右边"), "B"),
}
SHOWN = re.compile(rf"(?:the )?(?P<side>{'|'.join(SIDES)})(?: (?:one|side|{WHAT}))?{MORE}")
TIES = frozenset(
    ("tie", "ties", "tied", "draw", "equal", "equally good", "equally bad", "same", "the same", "about the same",
     "both",
     "both good", "both bad", "bothbad", "tie (bothbad)", "tie (both bad)", "tie (bothgood)", "tie (inconsistent)",
     "tie inconsistent", "neither", "no preference", "no winner", "similar", "none is better", "even",
     "unentschieden", "gleichstand", "gleich gut", "gleich", "beide gleich", "平局", "平手", "一样好", "一样", "差不多",
     "相同", "不分上下", "empate",
     "iguales", "égalité", "egalite")
)  # fmt: skip
WON = {"win": "A", "wins": "A", "won": "A", "lose": "B", "loses": "B", "lost": "B", "loss": "B"}
STATUS = {
    "error": "invalid", "invalid": "invalid", "failed": "invalid", "parse error": "invalid", "unparsed": "invalid",
    "parsing error": "invalid", "could not parse": "invalid", "unparsable": "invalid", "unparseable": "invalid",
    "nan": "missing", "null": "missing", "none": "missing", "no response": "missing", "no answer": "missing",
    "missing": "missing", "skip": "missing", "skipped": "missing", "-": "missing", "--": "missing", ".": "missing",
    "refused": "refused", "refusal": "refused", "n/a": "not_applicable", "na": "not_applicable", "#n/a": "missing",
    "not applicable": "not_applicable", "<na>": "missing", "n.a": "not_applicable", "n. a": "not_applicable",
    **dict.fromkeys(
        ("k.a", "k. a", "keine angabe", "keine antwort", "sin respuesta", "sans réponse", "未作答", "未回答", "未标注"),
        "missing",
    ),
}  # fmt: skip
# of these what may be a class of its own beside other words (pass and failed, valid and invalid, mild and none), and
# what is no answer even there, whoever wrote it
MAY_ANSWER = frozenset(("error", "failed", "invalid", "missing", "none", "refused", "refusal", "skip", "skipped"))
BLANK = frozenset(
    ("nan", "null", "<na>", "#n/a", "-", "--", ".", "n/a", "na", "n.a", "n. a", "k.a", "k. a", "not applicable")
)
STARTS = re.compile(r"([+-]?\d+(?:\.\d+)?)\s*(?:[-–—:=.)]|\()\s*\D.*")
ENDS = re.compile(r"\D.*[\[(]([+-]?\d+(?:\.\d+)?)[\])]")
OF = re.compile(r"(\d+(?:\.\d+)?)\s*/\s*(\d+)")
COUNTED = re.compile(r"(\d+(?:\.\d+)?) ?(?:stars?|points?|pts?)")
DRAWN = re.compile("([★⭐]+)[☆✩]*")
NUMBERED = re.compile(
    r"(?P<head>[^\d]*(?:\b(?:note|score|rating|severity|tier)|grade?|level|stage|stadium|stufe|grado|nivel|niveau"
    r"|等级|级))[ .:#]?(?P<number>\d+)"
)  # of a scale by its word; a class, a team or a model that has a number has no order by it
ALIKE = 0.8  # share of letters from which two words are one, spelt otherwise
LEVELS = 3  # such words, at least, before they may be a scale
TRUTH = {
    **dict.fromkeys(("true", "yes", "y", "t", "1", "1.0", "ja", "wahr", "sí", "si", "oui", "vrai", "是"), True),
    **dict.fromkeys(("false", "no", "n", "f", "0", "0.0", "nein", "falsch", "non", "faux", "否"), False),
}
SCORES = ("score", "scores", "rating", "ratings", "grade", "points", "stars", "likert")
CALLED = re.compile(rf"(?:[a-z]+ )*(?:{'|'.join(SCORES)}) ?[:=] ?(\d+(?:\.\d+)?)(?: ?/ ?(?P<of>\d+))?", re.I)
ASK = "say what they mean: "


@dataclass(frozen=True)
class Read:
    """How a set of words is read, in words; `ask`: the sentence that asks instead, where two readings are possible."""

    answers: Answers
    told: str = ""
    ask: str = ""


def plain(word: str) -> str:
    """A word as sets know it: without case, brackets, quotes, a full stop, and signs between its parts."""
    text = word.strip().casefold().strip("\"'`* ")
    while text.startswith("[") and text.endswith("]"):
        text = text[1:-1].strip()
    text = re.sub(r"[\s_]+|(?<=\w)-(?=\w)", " ", text).strip()
    return re.sub(r"\s*([<>=~≫≪]+)\s*", r"\1", text.removesuffix(".") or text).replace("≫", ">>").replace("≪", "<<")


def recognise(
    words: Collection[str], named: str, is_paired: bool, labels_are: str = "", of_all: Collection[str] = (),
    often: Collection[str] = (),
) -> Read:  # fmt: skip
    """How the answers `words` are read. `named`: what the file calls them; `is_paired`: two systems are named;
    `of_all`: the answers to every criterion; `often`: those that some rater gives too often to be no answers.
    """
    written = sorted(word for word in words if word.strip())
    usable = [word for word in written if plain(word) not in STATUS]
    if usable and all(is_number(word) for word in usable) and labels_are != "words":
        return _beside(_numbers(usable, named, is_paired, labels_are), _statuses(written))
    if usable and (
        found := _verdicts(usable, labels_are)
        or _scores(usable, labels_are)
        or _ordered(usable, labels_are, of_all, often)
        or _numbered(usable, labels_are, often)
    ):
        return _beside(found, _statuses(written))
    blank = _statuses(word for word in written if is_blank(word, written))
    words = [word for word in written if word not in blank and word != "n/a"]
    return _beside(_truth(usable, labels_are) or _words(words), blank)


def is_blank(word: str, beside: Iterable[str]) -> bool:
    """Whether a word stands for nothing among other words: `null`, and `-` but beside `+`."""
    return plain(word) in BLANK and not (plain(word) in ("-", "--") and any(one.startswith("+") for one in beside))


def _beside(read: Read, statuses: Mapping[str, str]) -> Read:
    """What was read, and which words beside it are no answers."""
    told = ", ".join(filter(None, (read.told, _spelt(statuses))))
    return Read(Answers(read.answers.read_as, {**read.answers.words, **statuses}), told, read.ask)


def _statuses(written: Iterable[str]) -> dict[str, str]:
    return {word: STATUS[plain(word)] for word in written if plain(word) in STATUS and word != "n/a"}


def _numbers(usable: list[str], named: str, is_paired: bool, labels_are: str) -> Read:
    values = {float(word) for word in usable}
    shown = ", ".join(sorted({number_text(word) for word in usable})[:6])
    if labels_are == "scores" or (not is_paired and not {1.0, 2.0} <= values <= {-1.0, 0.0, 1.0, 2.0}):
        return Read(Answers("scores"))
    if is_paired and (values == {1.0, 2.0} or (values == {0.0, 1.0, 2.0} and labels_are in ("verdicts", "sides"))):
        meant = {word: {1.0: "A", 2.0: "B"}.get(float(word), "tie") for word in usable}
        told = "1 is system_a, 2 is system_b" + ", 0 is a tie" * (0.0 in values)
        return Read(Answers("verdicts", meant), told)
    if not is_paired and any(one in plain(named) for one in SCORES):
        return Read(Answers("scores"))
    what = f"the answers are the numbers {shown}, "
    if is_paired:
        what += "and two systems are named: a number is no verdict on a pair; "
        otherwise = (
            "or as they were meant; where they are scores, leave out the column of the second system (ignore in --map)"
        )
        return Read(Answers("scores"), ask=f"{what}{ASK}{typed('--map-label', *meanings(usable))}, {otherwise}")
    what += "which may be scores, or the first, the second and a tie of a pair: --labels-are scores, or "
    return Read(Answers("scores"), ask=f"{what}{ASK}{typed('--map-label', *meanings(usable))}")


def meanings(numbers: Collection[str]) -> list[str]:
    """Numbers that say who won a pair as --map-label takes them, by the meaning that is most common."""
    values = {word: float(word) for word in sorted(numbers, key=float, reverse=True)}
    if min(values.values()) < 0:
        meant = {word: "A" if one > 0 else "B" if one else "tie" for word, one in values.items()}
    elif {*values.values()} <= {0.0, 0.5, 1.0}:
        meant = {word: {1.0: "A", 0.0: "B"}.get(one, "tie") for word, one in values.items()}
    elif {*values.values()} <= {0.0, 1.0, 2.0, 3.0}:
        upwards = sorted(values, key=lambda word: values[word] or 9)
        meant = {word: {1.0: "A", 2.0: "B"}.get(values[word], "tie") for word in upwards}
    else:
        half = (min(values.values()) + max(values.values())) / 2
        meant = {word: "A" if one < half else "B" if one > half else "tie" for word, one in values.items()}
    return [f"{word}={verdict}" for word, verdict in meant.items()]


def which_is_which(words: Sequence[str], known: Sequence[str]) -> str:
    """The option that says each word as one of `known`, where each is spelt much as another of them, or both lists are
    one word that passes and one that fails; else a form of it, since nothing says what is meant.
    """
    near = {word: _spelt_alike(word, known) for word in words}
    if len(words) == len(known) == 2 and not all(near.values()):
        near = _alike_by_sense(words, known)
    if all(near.values()) and len({*near.values()}) == len(words):
        return typed("--map-label", *map("=".join, near.items()))
    return f"{typed('--map-label', f'{words[0]}=')}{TO_FILL} (and so on, with one of these for each {TO_FILL})"


def _spelt_alike(word: str, known: Sequence[str]) -> str:
    """The one of `known` that is spelt much as a word, "" where none is, or its denial: unsafe is not safe."""
    texts = {plain(one): one for one in known}
    (near,) = get_close_matches(plain(word), texts, 1, ALIKE) or ("",)
    return texts[near] if near and not is_denied(plain(word), near) else ""


def _alike_by_sense(words: Sequence[str], known: Sequence[str]) -> dict[str, str]:
    """Each of two words -> the other list's that passes, or fails, as it does; "" where one list says it no better than
    by yes and no, which may be yes to a fault.
    """
    senses = [{_passes(word): word for word in side} for side in (words, known)]
    are_plain = [all(plain(word) in TRUTH for word in side) for side in (words, known)]
    is_known = are_plain[0] == are_plain[1] and all({*sense} == {True, False} for sense in senses)
    return {word: senses[1][_passes(word)] if is_known else "" for word in words}


def _passes(word: str) -> bool | None:
    text = plain(word)
    return True if text in PASSES else False if text in FAILS else TRUTH.get(text)


def to_be_cut(words: Collection[str], known: Collection[str]) -> str:
    """What to do where one side answers in fractions, such as a probability, and the other in words; "" elsewhere."""
    texts, numbers = sorted((words, known), key=lambda own: bool(own) and all(map(is_number, own)))
    if not texts or any(map(is_number, texts)) or not numbers or not all(map(is_number, numbers)):
        return ""
    if all(float(one).is_integer() for one in numbers):
        return ""
    listed = ", ".join(map(repr, sorted(texts)[:4]))
    return f"fractions beside {listed}: nothing says from where on which word is meant; cut them into these words first"


def _verdicts(usable: list[str], labels_are: str) -> Read | None:
    bracketed = any(word.strip().startswith("[[") for word in usable)
    meant: dict[str, str] = {}
    sided = 0
    for word in usable:
        found = AROUND.fullmatch(plain(word))
        text = plain(found[1] if found else word)
        shown = SHOWN.fullmatch(text)
        verdict = "tie" if bracketed and text == "c" else _verdict(text)
        if shown:
            verdict, sided = SIDES[shown["side"]], sided + 1
        if not verdict:
            return None
        meant[word] = verdict
    if not {"A", "B"} & {*meant.values()}:
        return None
    return Read(
        Answers("sides" if sided or labels_are == "sides" else "verdicts", _other_than_ours(meant)), _spelt(meant)
    )


def _verdict(text: str) -> str:
    side, order = SIDE.fullmatch(text) or CHINESE.fullmatch(text), ORDERED.fullmatch(text)
    if text in TIES or text == "not applicable":
        return "tie" if text in TIES else "not_applicable"
    if text in WON:
        return WON[text]
    if side:
        return "A" if (side["named"] or side["bare"]) in ("a", "1") else "B"
    if order and order["one"] != order["other"]:
        won = order["one"] if order["sign"].startswith(">") else order["other"]
        return "tie" if order["sign"][0] in "=~" else won.upper()
    return ""


def _other_than_ours(meant: Mapping[str, str]) -> dict[str, str]:
    return {word: verdict for word, verdict in meant.items() if word != verdict}


def _spelt(meant: Mapping[str, str]) -> str:
    return ", ".join(f"{word!r} is {ours}" for word, ours in _other_than_ours(meant).items())


def _scores(usable: list[str], labels_are: str) -> Read | None:
    """Numbers beside their words (`4 - good`, `good (4)`, `Score: 4`, `4/5`, `4 stars`), one number for each."""
    if all(percent_number(word) for word in usable):
        return Read(Answers("scores"), "percentages are read as the numbers before the sign")
    meant, whole = {}, set()
    for word in usable:
        text = word.strip()
        of = OF.fullmatch(text)
        called, drawn = CALLED.fullmatch(text), DRAWN.fullmatch(text)
        found = STARTS.fullmatch(text) or ENDS.fullmatch(text) or COUNTED.fullmatch(text.casefold()) or of or called
        if not found and not drawn and not is_number(word):
            return None
        whole |= {of[2]} if of else {called["of"]} - {None} if called else set()
        meant[word] = number_text(found[1] if found else str(len(drawn[1])) if drawn else word)
    if len(whole) > 1:
        return None
    return Read(Answers("scores", _other_than_ours(meant)), _spelt(meant))


def _ordered(usable: list[str], labels_are: str, of_all: Collection[str], often: Collection[str]) -> Read | None:
    """Words of a scale as the numbers of their levels, where its whole scale is used, here or by all criteria."""
    known = {word: plain(word) for word in usable}
    asked = [{*map(plain, words)} - STATUS.keys() for words in (usable, of_all)]
    scales = [*map(ordered_words.whole_scale, asked)]
    if labels_are in ("words", "verdicts", "sides", "systems"):
        return None
    if found := next((scale for scale in scales if scale.keys() >= {*known.values()}), None):
        meant = {word: str(found[text]) for word, text in known.items()}
        return Read(Answers("scores", meant), f"{_spelt(dict(sorted(meant.items(), key=lambda one: one[1])))}")
    near = ordered_words.nearest_scale({*known.values()})
    if not near:
        return None
    each = {word: str(near.get(text) or no_answer(word, often)) for word, text in known.items()}
    listed = typed("--map-label", *(f"{word}={meant}" for word, meant in sorted(each.items(), key=lambda one: one[1])))
    rest = ", ".join(repr(word) for word, text in known.items() if text not in near)
    what = f"of which {rest} is no level" if rest else "of which nobody uses all levels"
    return Read(
        Answers("words"),
        ask=f"{', '.join(map(repr, usable[:6]))} may be words of a scale, {what}: {listed}, or as they were meant"
        + "; --labels-are words where they have no order",
    )  # fmt: skip


def _numbered(usable: list[str], labels_are: str, often: Collection[str]) -> Read | None:
    """A scale's word with several numbers (`Grade 0` to `Grade 4`), which may have an order, and what stands beside."""
    found = {word: NUMBERED.fullmatch(plain(word)) for word in usable}
    heads = Counter(match["head"] for match in found.values() if match)
    if labels_are or not heads:
        return None
    ((head, count),) = heads.most_common(1)
    numbers = {word: match["number"] for word, match in found.items() if match and match["head"] == head}
    if count < LEVELS or len({*numbers.values()}) < count or len(usable) >= 2 * count:
        return None
    rest = [word for word in usable if word not in numbers]
    each = {**numbers, **{word: no_answer(word, often) for word in rest}}
    meant = typed("--map-label", *map("=".join, each.items()))
    return Read(
        Answers("words"),
        ask=f"{', '.join(map(repr, numbers))} may be levels in the order of their numbers"
        + f", and {', '.join(map(repr, rest[:5]))} none of them" * bool(rest)
        + f": {meant} where they are; --labels-are words where they have no order",
    )


def no_answer(word: str, often: Collection[str], otherwise: str = "missing") -> str:
    """What a word that fits no other is proposed as: no answer, or where raters give it often nothing but a form."""
    return TO_FILL if word in often else otherwise


def _truth(usable: list[str], labels_are: str) -> Read | None:
    """Yes and no where raters write them in several ways: TRUE, 1, ja and yes are one answer."""
    meant = {word: TRUTH.get(plain(word)) for word in usable}
    if not usable or labels_are or None in meant.values() or len({*map(plain, usable)}) == len({*meant.values()}):
        return None
    words = _other_than_ours({word: "yes" if is_true else "no" for word, is_true in meant.items()})
    return Read(Answers("words", words), _spelt(words))


def _words(usable: list[str]) -> Read:
    """Words of any other list: spellings that differ in case, brackets or a full stop alone are one word."""
    spelt: dict[str, list[str]] = {}
    for word in usable:
        spelt.setdefault(plain(word), []).append(word)
    several = {text: group for text, group in spelt.items() if len(group) > 1}
    meant = {word: text for text, group in several.items() for word in group if word != text}
    told = ", ".join(f"{' and '.join(map(repr, group))} are one word" for group in several.values())
    return Read(Answers("words", meant), told)
