"""Calls that failed: columns that say so, which may be the answers or go unread, and calls that were made again."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

import numpy as np
import pandas as pd

from calibration.table import roles
from calibration.table.other_languages import language_of
from calibration.table.roles import NAMES, all_numbers, in_english
from calibration.table.typed_cells import is_number
from calibration.table.verdicts import STATUSES
from calibration.tidying import keys, measures
from calibration.tidying.found import Found, some_of, words_of
from calibration.tidying.mapping import IGNORED, LabelMap
from calibration.tidying.measures import SPENT
from calibration.tidying.no_answers import NO_ANSWER
from calibration.tidying.value_sets import STATUS, plain
from plain.counting import counted
from plain.typed_options import by_map, typed

WORKED = dict.fromkeys(
    ("ok", "success", "succeeded", "successful", "done", "complete", "completed", "finished", "valid"), "ok"
)
UNSAID = ("none", "null", "nan", "<na>", "-", "--", ".")  # no answer as an answer; as a status perhaps no fault
KNOWN = WORKED | {word: said for word, said in STATUS.items() if word not in UNSAID}
# what nothing is read by: such a word is asked about or told
FAULT = re.compile(
    r"fehler|fail|error|time ?out|timed out|überschr|abort|abgebr|cancel|pending|offen|reject|skip|limit|^[45]\d\d$"
)
EXCLUDED = re.compile(r"ausgeschl|ausschl|exclu|withdrawn|zurückgez|widerruf|drop(?:ped)? ?out|retirad|排除|剔除")
BAD_STATUS = {*STATUSES} - {"ok"}
RETRIED = re.compile(
    r"(?:^|[\W_.])(?:attempts?|retry|retries|tries|try)(?:[\W_]*(?:no|number|nr|id|index|\d+))?$", re.I
)
HEADS = ("status", *NAMES["status"])
MOST, SPELT = 8, 5  # different words of such a column, and spellings of each, at most


def is_status(name: str, words: Collection[str]) -> bool:
    """Whether few words say that calls worked or failed, or stand under such a head; never numbers."""
    texts = {*map(plain, words)} if len(words) <= SPELT * MOST else set[str]()
    if not texts or len(texts) > MOST or any(map(is_number, texts)):
        return False
    return in_english(name.rpartition(".")[2]) in HEADS or bool(texts & WORKED.keys()) or all(map(says_failed, texts))


def says_failed(word: str) -> bool:
    """Whether a word of such a column says that there is no answer, as far as it can be known."""
    text = plain(word)
    return KNOWN.get(text, "ok") != "ok" or bool(FAULT.search(text) or NO_ANSWER.search(text))


def says_excluded(word: str) -> bool:
    """Whether a word of such a column may say that a row was taken out of the study."""
    return bool(EXCLUDED.search(plain(word)))


def read_words(found: Found) -> None:
    """What the words of the column of statuses mean, as the user says; those that nobody knows are asked about."""
    (name,) = found.columns.get("status", ("",))[:1]
    words = words_of(found.table[name]) if name in found.table else []
    said = found.asked.of_column(name)
    found.statuses = {word: said[word] for word in words if said.get(word) in STATUSES}
    unknown = [word for word in words if plain(word) not in KNOWN and word not in found.statuses]
    if unknown:
        found.problems.append(
            f"{name!r} says {some_of([*map(repr, unknown)], 4)}, which is none of {', '.join(STATUSES)}: "
            f"{_meant(found, name, unknown)}; {by_map('ignore', name)} where it says nothing of the answers"
        )


def ask_of_answers(found: Found) -> None:
    """A column that was taken for the answers is asked about where it says what became of calls, by its head and some
    words or by all of them, and numbers beside it may be the answers.
    """
    (name,) = found.columns.get("label", ("",))[:1]
    if not name or "label" in found.asked.columns:
        return
    words = words_of(found.table[name])
    last, of_calls = name.rpartition(".")[2], [plain(word) in WORKED or says_failed(word) for word in words]
    is_named = in_english(last) in HEADS and any(of_calls)
    is_answer = in_english(last) in ("label", *NAMES["label"]) or language_of("label", last)
    numbers = [*numbers_beside(found)] if is_named or (all(of_calls) and not is_answer) else []
    if numbers and is_status(name, words):
        found.columns["label"], found.columns["status"] = (numbers[0],), (name,)  # as all else is asked at once
        said = [word for word in words if plain(word) not in KNOWN]
        meant = f" {_meant(found, name, said)}" if said else ""
        found.problems.append(
            f"{name!r} says {some_of([*map(repr, words)], 4)}: the answers, or whether there is one? "
            f"{' and '.join(map(repr, numbers))} may hold them: "
            f"{typed('--map', f'label={numbers[0]}', f'status={name}')}{meant} where {numbers[0]!r} does, "
            f"{by_map('label', name)} where {name!r} does"
        )


def unread(found: Found) -> None:
    """Tell of answers beside which a column that is not read says that there was none."""
    if len(found.columns.get("label", ())) != 1 or "status" in found.columns:
        return
    answered = found.table[found.columns["label"][0]].str.strip().ne("")
    for name in found.free():
        words = words_of(found.table[name])
        failed = [word for word in words if says_failed(word)] if is_status(name, words) else []
        count = int((answered & found.table[name].isin(failed)).sum())
        if count:
            said = [word for word in words if plain(word) not in KNOWN]
            meant = f" {_meant(found, name, said)}" if said else ""
            found.told.append(
                f"{counted(count, 'answer')} beside {some_of([*map(repr, failed)], 4)} in {name!r}, which is not read: "
                f"{by_map('status', name)}{meant} leaves them out"
            )


def may_be_score(name: str) -> bool:
    """Whether a column of numbers may hold scores by its head: no price, size, time or number of anything."""
    is_price = measures.MONEY.search(name) or measures.OTHER_CURRENCY.search(name)
    is_other = is_price or keys.WHEN.search(name) or measures.measure_of(f"one {name}")[1]
    return not is_other and in_english(name) not in measures.NO_ANSWER


def numbers_beside(found: Found) -> Iterator[str]:
    """Columns of numbers without a part that may be scores, and no count of the rows."""
    for name in filter(may_be_score, found.free()):
        cells = found.table[name][found.table[name].str.strip().ne("")]
        if cells.empty or not all_numbers(cells):
            continue
        numbers = pd.to_numeric(cells)
        if not (numbers.is_unique and numbers.mod(1).eq(0).all()):
            yield name


def _meant(found: Found, name: str, words: Collection[str]) -> str:
    """The option for words of the column `name`: rows that were taken out are left out, and so are those of several
    raters of which one word says that something failed; a failed call is invalid, what has no answer missing, the rest
    ok.
    """
    columns = [*found.columns.get("label", ()), *(one.column for one in found.spread)]
    failed = IGNORED if any(one.rater_id for one in found.spread) else "invalid"
    each: dict[str, str] = {}
    for word in words:
        has_answer = (found.table.loc[found.table[name].eq(word), columns] != "").to_numpy().any()
        each[word] = "ok" if has_answer or not columns else "missing"
        if says_excluded(word) or says_failed(word):
            each[word] = IGNORED if says_excluded(word) else failed
    said = typed("--map-label", *(f"{name}:{word}={meant}" for word, meant in each.items()))
    return f"{said} (=invalid where a word says that the call failed, ={IGNORED} where its rows are to be left out)"


def without_retries(out: pd.DataFrame, mapping: LabelMap, told: list[str], times: pd.DataFrame) -> pd.DataFrame:
    """Without a rater's failed answers to what it answered too, or but for the last where all failed, where nothing but
    an attempt's number or time tells them apart: a call made anew, and no repeat. The last bears what they cost.

    `times`: columns that say when a row was written, aligned with `out`. Where neither a number nor a time tells a
    judge's rows apart they are repeats, but in one run that a head names.
    """
    of_run = ("run",) if any(one.run for one in mapping.spread) else ()
    head = "" if of_run else mapping.columns.get("run", ("",))[0]
    if head and (not RETRIED.search(head) or not roles.all_numbers(out["run"][out["run"].ne("")])):
        return out
    of = [out[name] for name in ("item_id", "criterion", "rater_id", "presentation", *of_run) if name in out]
    failed = out["label"].eq("") | (out["status"].isin(BAD_STATUS) if "status" in out else False)
    number = pd.to_numeric(out["run"]).fillna(1) if head else pd.Series(range(len(out)), index=out.index)
    order = number + np.where(failed, 0.0, number.max() + 1)  # a usable one stands behind all that failed
    is_last = order.eq(order.groupby(of).transform("max"))
    again = failed & ~is_last
    if not again.any():
        return out
    is_told = pd.Series(bool(head or of_run), index=out.index)
    for name in times:
        is_told |= times[name].groupby(of).transform("nunique").gt(1)
    out, left_out = _as_repeats(out, of, failed, again & ~is_told, told)
    again &= is_told
    for part in [one for one in SPENT if one in out]:
        cells = pd.to_numeric(out[part], errors="coerce")
        lost = cells.where(again).groupby(of).transform("sum")
        out[part] = out[part].mask(is_last & lost.gt(0), (cells.fillna(0) + lost).map(repr))
    told += [
        f"calls that failed and were made again, left out but for what they cost: {int(again.sum()):,}"
        + f" (where {head!r} numbers repeats, call the column run)" * bool(head)
    ] * bool(again.any())
    if head:  # what is left of an answer is numbered by itself: its second attempt may be its first run
        left = number.where(~again).groupby(of).rank("dense")
        out["run"] = left.map(lambda one: f"{one:g}", na_action="ignore")
    return out[~again & ~left_out].reset_index(drop=True)


def _as_repeats(
    out: pd.DataFrame, of: list[pd.Series[str]], failed: pd.Series[bool], again: pd.Series[bool], told: list[str]
) -> tuple[pd.DataFrame, pd.Series[bool]]:
    """A judge's failed answers beside one that did not fail numbered as its runs, and where a person's are left out."""
    judged, usable = out["rater_kind"].eq("judge"), (~failed).groupby(of).transform("sum")
    repeated = judged & usable.le(1) & again.groupby(of).transform("any")
    if repeated.any():
        out = out.assign(run=out.groupby(of).cumcount().add(1).astype("str").where(repeated, "1"))
    told += [
        "answers of judges that failed beside another to the same, counted as repeats: "
        f"{int((again & repeated).sum()):,} (where these calls were made anew, number them in a column attempt)"
    ] * bool(repeated.any())
    left_out = again & ~judged
    told += [f"blank answers of people who answered the same too, left out: {int(left_out.sum()):,}"] * bool(
        left_out.any()
    )
    return out, left_out
