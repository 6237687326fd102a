"""What judges alone say: no answer where it says so itself; else it may be one, and nobody but the user knows."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from calibration.tidying.mapping import ANSWER
from calibration.tidying.value_sets import BLANK, MAY_ANSWER, STATUS, TIES, TRUTH, is_blank, plain, recognise, to_be_cut
from plain.typed_options import typed

FEW, RARE = 4, 0.05  # people's words beside which another one is doubtful, where it is at most this part of a judge's
SHOWN = 5
NONE = ("invalid", "missing", "refused")  # what a word that is no answer is called, unless people answer so
_I = r"\bi (?:cannot|can ?not|can['’]t|could(?: not|n['’]t)|am (?:unable|not able)|won['’]t|refuse|decline)\b"
_ERROR = r"^error(?:$| ?[^\w\s]| ?\d| (?:code|parsing|calling|from)\b)|\w+(?:error|exception):"
NO_ANSWER = re.compile(
    rf"{_I}|{_ERROR}|\bi['’]m (?:unable|sorry|not able)\b|\b(?:sorry|as an ai|as a language model|time ?out|timed out"
    r"|rate limit|(?:api|http|server|json|pars(?:e|ing)|limit) error"
    r"|(?:unable to|failed to|could(?: not|n['’]t)) (?:parse|decode|connect|load|fetch))\b"
    r"|\bich kann\b.*\bnicht\b|\bkann ich\b.*\bnicht\b|\blo siento\b|\bno puedo\b|désolé|抱歉|对不起|我(?:无法|不能)"
)


@dataclass(frozen=True)
class Alone:
    """Words that judges alone say. `failed`: each that is no answer -> its status; `doubtful`: those that may be one.

    `known`: people's words, of which a doubtful one may be a spelling; `kept_as`: what a failed one could be instead.
    """

    failed: Mapping[str, str] = field(default_factory=dict)
    doubtful: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    kept_as: str = ANSWER


def says_none(word: str, of_people: Collection[str]) -> str:
    """The status of a word that can only stand for no answer beside people's words: `null`, `ERROR 429`, `I cannot
    judge this.`; "" for any other.
    """
    text = plain(word)
    may_answer = text in MAY_ANSWER and not (text == "error" and len(of_people) > 1)
    if may_answer or (text in BLANK and not is_blank(word, of_people)):
        return ""
    return STATUS.get(text) or "invalid" * bool(NO_ANSWER.search(text))


def said_alone(of_people: Collection[str], of_judges: Mapping[str, float], is_paired: bool) -> Alone:
    """What of judges' words no person says; each with its largest part of one judge's answers.

    In doubt are words that may be a class or a failure (`failed`, `none`, `I cannot decide` where people say `I cannot
    tell`), and whatever is rare beside people's two to four words. Beside verdicts and numbers such words are no
    answers. Without any people nothing is known.
    """
    known = {plain(word): word for word in of_people}
    if not known:
        return Alone()
    read_as = recognise([*known.values()], "", is_paired).answers.read_as
    is_open, is_closed = read_as == "words" and not is_paired, 2 <= len(known) <= FEW
    say_so_too = is_open and any(map(NO_ANSWER.search, known))
    failed, doubtful = dict[str, str](), list[str]()
    for word, share in of_judges.items():
        if (text := plain(word)) in known:
            continue
        is_rare = is_closed and share <= RARE and text not in TIES and not {text, *known} <= TRUTH.keys()
        status = says_none(word, of_people) or STATUS.get(text, "") * (not is_open)
        if status and (text in STATUS or not say_so_too):
            failed[word] = "missing" if status == "not_applicable" else status
        elif status or (is_open and (is_rare or text in STATUS)):
            doubtful.append(word)
    kept_as = ANSWER if is_open else "" if read_as == "scores" else "tie"
    return Alone(failed, tuple(doubtful), tuple(known.values()), kept_as)


def answered(alone: Alone) -> set[str]:
    """Which statuses are answers of people, such as `invalid` beside `valid`."""
    return {*NONE} & {*alone.known} if alone.kept_as == ANSWER else set()


def told(alone: Alone) -> str:
    """What was taken for no answer, with the option that keeps it; "" where nothing was."""
    if not alone.failed:
        return ""
    listed = ", ".join(f"{word!r} is {status}" for word, status in alone.failed.items())
    keep = typed("--map-label", *(f"{word}={alone.kept_as}" for word in alone.failed))
    return f"what judges alone say is no answer: {listed}" + f" (where they are answers: {keep})" * bool(alone.kept_as)


def asked(alone: Alone) -> str:
    """The sentence that asks about what may be an answer; "" where nothing may."""
    if not alone.doubtful:
        return ""
    words = sorted(alone.doubtful)
    if cut := to_be_cut(words, alone.known):
        return cut
    shown = ", ".join(map(repr, words[:SHOWN])) + f" and {len(words) - SHOWN} more" * (len(words) > SHOWN)
    status = next((one for one in NONE if one not in alone.known), NONE[0])
    keep, none = (typed("--map-label", *(f"{word}={what}" for word in words)) for what in (ANSWER, status))
    likely = " or ".join(f"={word}" for word in sorted(alone.known)[:SHOWN])
    return (
        f"judges alone say {shown}, which may be an answer of its own or none: {keep} where it is one, {none} where it "
        f"is none; {likely} where it stands for that"
    )
