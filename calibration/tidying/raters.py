"""Who is a person and who a judge, by names that say it; and raters and criteria in the heads of a wide table."""

import re
from collections.abc import Collection, Sequence
from itertools import product

from calibration.table.other_languages import HEADS, MADE_OF_OTHERS, language_of
from calibration.table.roles import NAMES, in_english
from calibration.tidying.mapping import Spread
from plain.model_names import ANY_FAMILY, PERSONS
from plain.typed_options import by_map, typed

_OPEN = {"juez", "jueza", "juge"}  # may be a machine's as well, as judge is in English
_ABROAD = sorted({word for heads in HEADS.values() for word in heads["rater_id"].casefold().split()} - _OPEN)
_CHINESE = "|".join(["专家", "志愿者", "人工", "人类", *HEADS["Chinese"]["rater_id"].split()])
PEOPLE = re.compile(
    r"(?:human|annotator|annot|ann|anno|person|expert|author|worker|crowd(?:worker)?|participant|labell?er|coder"
    r"|student|turker|reviewer|rater|assessor|people|volunteer|editor|linguist|mensch|human[oa]|humaine?|expert[eo]"
    rf"|expertin|experta|studentin|estudiante|étudiante?|{'|'.join(_ABROAD)})"
    r"(?:(?:e?s|en|nen)?[ _.:#-]*\d*|[ _.:#-].*)"
    rf"|(?:{_CHINESE})(?:{'|'.join(HEADS['Chinese']['label'].split())}|\w?\d*|[ _.:#-].*)"
)
# a part of a name that is no person's, whatever stands beside it
_MACHINE = re.compile(rf"llm|lm|ai|bot|ki|ia|model|modell|modelo|modèle|.*(?:{ANY_FAMILY}|claude|模型|机器).*")
JUDGES = re.compile(
    rf"(?:.*(?:{ANY_FAMILY}|claude(?! (?!opus|sonnet|haiku|instant)[^\W\d_]+$)|(?:{'|'.join(PERSONS)})[ _.:/-]?[a-z]?\d"
    r"|palm-?2|command-?r|prometheus|pandalm|judgelm|auto-?j|sonnet|haiku|opus|sonar|大模型|机器|人工智能|sprachmodell).*"
    r"|(?:.*[ _.:/-])?(?:llm|judge|lm|bot)"
    r"(?:[ _.:#/-]*\d*|[ _.:#/-].*)|model|modell|modelo|modèle|machine|judges\..*"
    r"|o[1345](?:-.*)?|(?:phi|glm|yi|nova|jamba)[ _-]?\d.*)"
)
_WORK = "(?:reviewer|rater|annotator|grader|evaluator|assessor|assistant)"
# AI, KI and IA, which are names of people too: as an abbreviation is written, or in a name that says judge or model
_ABBREVIATED = re.compile(
    r"(?=.*[^\W\d_A-Z]|(?:AI|KI|IA)[\W\d_]*$)(?:.*[_.:/-])?(?:AI|KI|IA)(?:[ _.:#/-]*\d*|[ _.:#/-].*)"
    rf"|(?:ai(?:[ _.:/-]{_WORK})?|{_WORK}[_.:/-]ai)[ _.:#/-]*v?[\d.]*"
)
_BESIDE = {*_OPEN, "richter", "richterin", "model", "modell", "modelo", "modèle"}
KIND_WORDS = {
    **dict.fromkeys(("human", "person", "people", "expert", "crowd", "annotator", "humans", "manual", "user"), "human"),
    **dict.fromkeys(
        ("mensch", "menschen", "menschlich", "experte", "expertin", "humain", "humaine", "humano", "humana", "umano",
         "persona", "人", "人工", "人类", "专家"), "human",
    ),
    **dict.fromkeys(
        ("judge", "llm", "model", "ai", "machine", "auto", "automatic", "llm judge", "llm-judge", "llm_judge",
         "llm as judge",
         "automated", "bot", "eval", "annotator_llm",
         "modell", "ki", "ia", "maschine", "modelo", "máquina", "modèle", "模型", "机器",
         "大模型", "人工智能"), "judge",
    ),
}  # fmt: skip
ANSWER_WORDS = frozenset(
    ("label", "labels", "score", "scores", "rating", "ratings", "verdict", "verdicts", "vote", "votes", "answer",
     "answers", "choice", "choices", "preference", "winner", "grade", "judgment", "judgement", "judgments",
     "annotation", "annotations", "value", "response", "chosen", "preferred")
)  # fmt: skip
TOGETHER = re.compile(r"(?:human|people|expert|annotator|rater|reviewer|assessor|coder|labell?er|participant|worker)s?")
HELD = frozenset(("judge", "judges", "models", "llms"))
ALONE = re.compile(r"[^\W\d_]+[ _.:#-]*(?:[a-z]|\d*)")  # a word for a person, and which of them
OF_ALL = MADE_OF_OTHERS | {
    "count", "n", "number", "agreement", "majority", "consensus", "kappa", "min", "max", "final", "adjudicated", "均分",
    "中位数", "众数", "一致率",
}  # fmt: skip
UNSPACED = tuple(word for word in OF_ALL if not word.isascii())  # written without a mark: 标注员平均分
RUNS = frozenset(("run", "seed", "sample", "rep", "iteration", "iter", *NAMES["run"]))
MARKS = (".", "__", "/", ":", "_", "-", " ")
HAS_ID = re.compile(r"(?:^|[\W_]|(?-i:(?<=[a-z])(?=I)))ids?(?![^\W\d_])", re.I)  # `Worker ID 2`, `annotatorID2`


def kind_of_name(name: str) -> str:
    """`human` or `judge` where the name says so, else ""."""
    spelt = re.sub(r"(?<=[a-z])(?=[A-Z]\d*$)", " ", name.strip())  # annotatorA, but not Anna
    text = spelt.casefold()
    parts = re.split(r"[ _.:#/-]+|\d+", text)
    if PEOPLE.fullmatch(text) and not any(map(_MACHINE.fullmatch, parts)):
        return "human"
    is_beside = {"ai", "ki", "ia"} & {*parts} and _BESIDE & {*parts}
    return "judge" if JUDGES.fullmatch(text) or _ABBREVIATED.fullmatch(spelt) or is_beside else ""


def kind_of_word(word: str) -> str:
    """What a column that tells people from judges means by a word, else ""."""
    text = word.strip().casefold()
    return KIND_WORDS.get(text) or KIND_WORDS.get(text.rpartition(".")[2].removesuffix("s"), "")


def person_of(column: str, people: Collection[str]) -> str:
    """Whose answers a column of JSON may hold by its dotted head: one of `people`, `experts.mara`, `annotator_1`."""
    before, _, last = column.rpartition(".")
    name = bare_name(last)
    if {column, last, name} & {*people}:
        return next(one for one in (last, name, column) if one in people)
    if is_of_all(last) or {in_english(name), in_english(f"{name}id")} & {*NAMES["rater_id"]}:
        return ""  # made of several people's answers, or the name of whoever gave another column's
    if TOGETHER.fullmatch(before.rpartition(".")[2].casefold()):
        return name
    return name if kind_of_name(name) == "human" and ALONE.fullmatch(name.casefold()) else ""


def is_of_all(column: str) -> bool:
    """Whether a head ends in a word for what is made of several answers: `annotator_mean`, `human_majority`."""
    name = bare_name(column).casefold()
    return re.split(r"[ _.:/#-]+", name)[-1] in OF_ALL or name.endswith(UNSPACED)


def called(name: str, raters: Collection[str]) -> str:
    """The rater of this name, or the only one whose dotted name ends in it (`mara` is `experts.mara`), or the other way
    round; else "".
    """
    ends = [one for one in raters if one.rpartition(".")[2] == name or (one and name.endswith(f".{one}"))]
    return name if name in raters else ends[0] if len(ends) == 1 else ""


def own_key(name: str) -> str:
    """A rater's name without the object that holds it: `judges.gpt-4o` is gpt-4o, `experts.mara` mara."""
    before, sign, own = name.partition(".")
    is_held = TOGETHER.fullmatch(before.casefold()) or before.casefold() in HELD
    return own if sign and is_held and not own.isdigit() else name


def bare_name(column: str) -> str:
    """The head of a column of answers without the word that says they are answers: `gpt4_score` is gpt4."""
    parts = re.split(r"([ _.:/-]+)", column)
    kept = [place for place in range(0, len(parts), 2) if parts[place].casefold() not in ANSWER_WORDS]
    if not kept or len(kept) == (len(parts) + 1) // 2:
        return column
    return "".join(parts[kept[0] : kept[-1] + 1])


def run_of(head: str) -> tuple[str, str]:
    """A head without what counts repeats, and the number: `score_run2` is (score, 2); (head, "") where nothing does."""
    parts = re.split(r"([ _.:/#-]+)", head)
    for place in range(0, len(parts), 2):
        word = parts[place].rstrip("0123456789")
        number, after = parts[place][len(word) :], place
        if not number and place + 2 < len(parts) and parts[place + 2].isdecimal():
            number, after = parts[place + 2], place + 2
        if number and (in_english(word) in RUNS or language_of("run", word)):
            rest = "".join(parts[: max(0, place - 1)]) + "".join(parts[after + 1 :])
            return rest.strip(" _.:/#-"), number
    return head, ""


def are_asked_about(likely: Sequence[str], raters: Sequence[str]) -> str:
    """Whether columns that answer as the raters do, but whose names say nothing, are people, judges or neither."""
    names = [bare_name(name) for name in likely]
    several = len(names) > 1
    listed = (
        f"{', '.join(names[:-1])} and {names[-1]} look like raters" if several else f"{names[0]} looks like a rater"
    )
    judges, them = ("they are judges", "them") if several else ("it is a judge", "it")
    return (
        f"{listed} too: {people_of([*raters, *likely])}; {people_of(raters)} {by_map('rater_id', *raters, *likely)} "
        f"where {judges}; "
        f"{by_map('rater_id', *raters)} leaves {them} out"
    )


def people_of(columns: Sequence[str]) -> str:
    """`--people` with the raters of these columns that no name calls a judge."""
    return typed("--people", *([name for name in map(bare_name, columns) if kind_of_name(name) != "judge"] or ["none"]))


def crossed(columns: Sequence[str], people: Collection[str] = ()) -> tuple[Spread, ...]:
    """The columns as every rater with every criterion, one mark between; () where the heads do not say it.

    Told apart by names of raters, and by `people`: all heads of one side say who answers, or some and no other.
    """
    heads = [_without_containers(one) for one in columns]
    for mark, from_left, place in product(MARKS, (True, False), range(2)):
        pairs = [_split(one, mark, from_left) for one in heads]
        spelt = {pair[1 - place].casefold(): pair[1 - place] for pair in reversed(pairs)}  # Clarity and clarity are one
        own = [(pair[place], spelt[pair[1 - place].casefold()]) for pair in pairs]
        raters, criteria = (dict.fromkeys(side) for side in zip(*own, strict=True)) if own else ({}, {})
        if min(len(raters), len(criteria)) < 2 or "" in {*raters, *criteria} or {*own} != {*product(raters, criteria)}:
            continue
        is_rater = [[bool(kind_of_name(name)) or name in people for name in side] for side in (raters, criteria)]
        if len({*own}) == len(own) and (all(is_rater[0]) or (any(is_rater[0]) and not any(is_rater[1]))):
            return tuple(Spread(name, *pair) for name, pair in zip(columns, own, strict=True))
    return ()


def names_a_part(head: str, people: Collection[str]) -> bool:
    """Whether a head is a rater with something beside the name: `Gutachter1_Klarheit`."""
    sides = [_split(_without_containers(head), mark, from_left) for mark in MARKS for from_left in (True, False)]
    return any(bool(kind_of_name(one)) or one in people for pair in sides for one in pair if one)


def _without_containers(head: str) -> str:
    """A dotted head without the objects that hold all answers: `judgments.gpt-4o.scores.depth` is gpt-4o.depth."""
    parts = head.split(".")
    kept = [part for part in parts if part.casefold() not in ANSWER_WORDS]
    return ".".join(kept) if len(kept) > 1 else head


def _split(name: str, mark: str, from_left: bool) -> tuple[str, str]:
    one, sign, other = name.partition(mark) if from_left else name.rpartition(mark)
    return (one, other) if sign else ("", "")
