"""What a study's files imply for each row of its walk, worked out from what was planted and never by calipers.

For each group of a row's pattern: a text that it is; a number that was planted, which its interval holds or which it is
rounded from; a function of the desk and its people that works out of the labels and files what is printed, with the ends
of its interval where one is printed; or None for what only the run can tell.
"""

from __future__ import annotations

import random
import re
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import starmap
from typing import Any

from annotation.protocol import read_protocol
from tests.studies import (
    from_bill,
    from_labels,
    from_shares,
    test_deepresearchgym,
    test_dr3_eval,
    test_race,
    test_reportbench,
    test_wlc,
)
from tests.studies.desk import Decide, Desk
from tests.studies.intervals import Interval, by_t, over_rows
from tests.studies.recogniser import recognised

Value = str | float | Interval | None
Implied = Value | from_labels.Worked
EXACT = 1e-6  # of a number, or of 1: sums come in another order here
_NUMBER = re.compile(r"[−-]?(?:\d[\d,]*\.?\d*|\.\d+)")


def worked_out(implied: Implied, desk: Desk, decide: Mapping[str, Decide]) -> Value:
    return implied(desk, decide) if callable(implied) else implied


def agrees(group: str, value: Value, *, printed: bool = False) -> bool:
    """Whether what stands in the output is what the files imply. `printed`: the number itself, not its interval."""
    if value is None or isinstance(value, str):
        return value in (None, group)
    numbers = [found.replace("−", "-").replace(",", "") for found in _NUMBER.findall(group)]
    if isinstance(value, Interval):
        return value.holds([*map(float, numbers)], [*map(_rounding, numbers)])
    if len(numbers) == 3:
        _, low, high = map(float, numbers)
        return not printed and low <= value <= high  # a number that is worked out has its ends
    return bool(abs(float(numbers[0]) - value) <= _rounding(numbers[0]))


def unrounded(value: Value, told: Any) -> bool:
    """Whether a command's JSON holds the number that was worked out, or the value and the two ends, to all its digits."""
    if isinstance(told, dict):
        ends = [told.get(name) for name in ("value", "low", "high")]
        if (
            isinstance(value, Interval)
            and None not in ends
            and value.holds(ends, [EXACT * max(1, abs(end)) for end in ends])
        ):
            return True
    if isinstance(told, (dict, list)):
        return any(unrounded(value, one) for one in (told.values() if isinstance(told, dict) else told))
    return (
        isinstance(value, float) and isinstance(told, float | int) and abs(told - value) <= EXACT * max(1, abs(value))
    )


def _rounding(number: str) -> float:
    return 0.5001 * 10.0 ** -len(number.partition(".")[2])


def shown(values: Sequence[Value], printed: Sequence[bool]) -> str:
    """As the page has it; `=` for what must be printed, – for what the files do not imply; "" where they imply nothing."""
    if set(values) <= {None}:
        return ""
    return ", ".join(starmap(_cell, zip(values, printed, strict=True)))


def _cell(value: Value, printed: bool) -> str:
    if value is None or isinstance(value, str):
        return "–" if value is None else "="
    if isinstance(value, Interval):
        ends = zip((value.low, value.high), value.slack, strict=True)
        return f"= {value.value:.3g} [{', '.join(f'{end:.3g}' + f' ± {slack:.1g}' * (slack > EXACT) for end, slack in ends)}]"
    return f"= {value:.3g}" if printed else f"{value:.3g}"


def _half(worth: Mapping[str, float]) -> list[str]:
    return sorted(worth, key=worth.__getitem__)[len(worth) // 2 :]


def _conditions() -> dict[str, tuple[float, float]]:
    """Task -> what one system's report is worth in two conditions, which share how easy the task is."""
    draw = random.Random(23)
    eased = [(f"{number:03}", draw.uniform(0.35, 0.75)) for number in range(1, 21)]
    return {
        task: (round(ease + draw.gauss(0, 0.1), 3), round(ease + 0.08 + draw.gauss(0, 0.1), 3)) for task, ease in eased
    }


CONDITIONS = _conditions()
BEST_TASKS = _half(  # of claude beside the others: an effect of the domain is planted, and one domain is the larger
    {
        task: sum(
            sum(scores.values()) * (5 if by == "claude" else -1)
            for (on, by), scores in test_dr3_eval.QUALITIES.items()
            if on == task
        )
        for task in test_dr3_eval.TASKS
    }
)[2:]
LEADS = dict.fromkeys(test_reportbench.SURVEYS, 0.0)  # correct statements of gemini-dr more than of the other
for survey, by, truth in test_reportbench.STATEMENTS.values():
    LEADS[survey] += (truth == "correct") * (1 if by == "gemini-dr" else -1)
BEST_SURVEYS = _half(LEADS)

GROUPS = Counter(criterion.category for criterion in read_protocol("wlc_writing_39")[0].criterion)
LED = sum(-(-size // 4) for size in GROUPS.values()) / GROUPS.total()  # every fourth criterion of a call


def led(desk: Desk, decide: Mapping[str, Decide]) -> Value:
    """What was planted in the judge `led`."""
    found = by_t(from_labels.turned("led"), "wlc", 39)(desk, decide)
    assert abs(found.value - LED) < 1e-9
    return found


WLC: Mapping[int, tuple[Implied, ...]] = {
    1: ("12 topics, 3 systems (1 reference), 36 reports", "36 of 36 texts", "2 of 2 names as registered, reference wikipedia"), 3: ("72 of 72",), 5: (from_labels.lakes,),
    6: ("1", "1 with a byte order mark", "1 with Windows line ends", "1 with a name in decomposed letters", "13 of 13 texts"),
    7: (from_labels.cut("wlc_files/test_data/atlas/md_data/*.md"),
        from_labels.cut("wlc_files/wiki_data/cleaned_data/article/*.md")),
    8: (recognised("wlc"),), 9: ("10 of 10 items",), 10: (from_labels.answers("wlc", 741),),
    11: ("741 labels of 5 people on 39 criteria", "Broad in its coverage: 8, Neutral: 10, Well-written: 21"),
    12: ("20 labels of 2 people on 1 criteria", from_labels.answers("overall", 20)), 14: (from_labels.alike_over_topics("citations"),),
    15: ("120 of 120",), 18: ("refused, incomplete",), 19: from_labels.seen("wlc", "atlas")[:2],
    20: (from_labels.not_applicable("wlc"),), 21: ("2: 9 items, 1: 1 items",),
    22: ("19 of 20 slots are handed in",), 24: (from_bill.calls("fake-acc-0.85", 10 * 3 * 2), "780 labels ok", "1,560 labels as replied"), 25: (by_t(lambda desk, _: from_labels.alike(desk, "wlc", "careful") - from_labels.alike(desk, "wlc", "local"), "wlc"),),
    26: ("invalid 1 ok 232 missing 1", "234 of 234"), 27: (by_t(from_labels.turned("careful"), "wlc", 39), led), 29: (from_bill.cost("wlc", "careful", 20), ""),
    30: (from_labels.percent(from_labels.alike_over_topics("wlc", "local")), from_labels.wikipedia_always),
    31: (from_labels.among_people,), 35: tuple(map(from_labels.order_of_wins, ("careful", "local", "turned"))), 36: (from_labels.alike_over_topics("wlc", "careful"),),
    37: from_labels.apart_by(lambda desk: from_labels.rates(desk, "facts", "consistent"), "atlas", "borealis"),
    38: from_labels.variance(from_labels.written, "atlas", test_wlc.LAKES), 39: (from_labels.with_links,), 40: (from_labels.won("wlc", "wikipedia", "atlas"),),
    42: ("234 of 234", "wikipedia 232"), 43: ("3,861 rows of labels", "36 reports", "20 as they were read"), 44: ("0 of 4 names in 10 items",),
}  # fmt: skip

gym = test_deepresearchgym
GYM: Mapping[int, tuple[Implied, ...]] = {
    2: ("42 topics, 4 systems, 168 reports", "168 of 168 texts"), 3: ("492 of 492",), 5: (from_labels.clicks,), 6: ("1", "1 with a byte order mark", "1 with Windows line ends", "11 of 11 texts"),
    7: (from_labels.cut("gym_files/reports/atlas/*.a"),), 8: (recognised("preference"),), 9: ("60 of 60 items",),
    10: (from_labels.answers("preference", 125),),
    12: ("125 labels of 7 people on 1 criteria",), 13: ("22 of 22",),
    14: ("672 of 672",),
    15: ("123 probes (key point) on 41 topics, about 164 reports",),
    19: from_labels.seen("preference", "atlas")[:2], 20: ("0 of 125 not applicable, a tie refused, not_applicable refused",), 21: ("3: 41 items, 2: 1 items",),
    22: ("125 of 126 slots are handed in",), 24: (from_bill.calls("fake-score-0.1", 168 * 6), "1,008 labels ok", "1,008 labels as replied"),
    25: tuple(map(from_labels.by_sign_either_way, ("coarse", "fine"))),
    26: ("ok 32 missing 1", "33 of 33"), 29: from_bill.ledger("fine", (0.4, 1.6), 168), 31: (from_labels.two_by_two,),
    32: from_labels.by_sign(lambda _: gym.recalled()),
    34: from_labels.by_sign(lambda desk: dict(from_labels.clarity(desk).stack().items())),
    35: (from_labels.orders,), 36: (from_labels.alike_over_topics("points", gym.READER),),
    37: from_labels.apart_by(from_labels.clarity, "atlas", "atlas_custom"),
    40: (from_labels.won("preference", "atlas", "borealis"),),
    41: (over_rows(lambda desk: [from_labels.clarity(desk)[["atlas", "atlas_custom"]]], from_labels.spearman),),
    42: ("672 of 672",), 43: ("125 rows of labels", "168 reports", "84 as they were read"), 44: ("0 of 4 names in 42 items",),
}  # fmt: skip

DR3: Mapping[int, tuple[Implied, ...]] = {
    3: (from_labels.prompts,), 4: ("10 topics, 5 systems, 50 reports", "50 of 50 texts"), 5: (from_labels.of_category("dr3", "Water", BEST_TASKS),), 6: ("1", "1 with a byte order mark", "1 with Windows line ends", "11 of 11 texts"),
    7: (from_labels.cut("dr3/results/128k/claude/*/*.md"),), 8: (recognised("dr3"),), 9: ("50 of 50 items",),
    13: ("995 labels of 4 people on 5 criteria", from_labels.scored_anew("dr3")),
    14: (from_labels.alike_over_topics("factual", "gpt-5.1"), from_labels.alike_over_topics("factual"), "30 of 30", "30 of 30"), 15: (from_labels.alike_over_topics("insights", "gpt-5.1"), "33 of 33"),
    16: (from_labels.alike_over_topics("checklist"), "8 of 8"), 18: ("refused, incomplete",), 19: from_labels.seen("sided", "claude"),
    21: ("4: 49 items, 3: 1 items",), 22: ("199 of 200 slots are handed in",), 23: (from_labels.apart("dr3", 15),),
    24: (from_bill.calls("fake-label", 11 * 2), "33 labels ok", "33 labels as replied"), 25: (by_t(from_labels.nearer("dr3", "judge-a", "judge-b", 100), "dr3"),), 26: ("ok 31 missing 2", "33 of 33"), 28: (by_t(from_labels.spread("dr3", "judge-a"), "dr3"),),
    29: (from_bill.cost("dr3", "judge-a", 50),),
    31: (from_labels.alpha_of("dr3"),), 33: (from_labels.with_experts(from_labels.r_of), from_labels.experts_two_by_two), 34: (from_labels.with_experts(from_labels.pairs_in_order),),
    35: (from_labels.orders_of("judge-a", "judge-b"), from_labels.orders_of("judge-a", "people")), 36: (from_labels.alpha_of("dr3", "judge-a"),),
    37: (from_labels.difference, from_labels.difference_p),
    38: from_labels.variance(from_labels.scored("dr3", test_dr3_eval.SYSTEMS), "claude", BEST_TASKS),
    41: (from_labels.conditions_together,), 42: ("33 of 33",),
    43: ("1,995 rows of labels", "50 reports", "50 as they were read"),
    44: ("0 of 5 names in 50 items",), 45: ("4 reports", 4 * 4 * (12 * 8 + 11)),  # four experts and reports, of sentences and a title in characters
}  # fmt: skip

REPORTBENCH: Mapping[int, tuple[Implied, ...]] = {
    3: ("10 topics, 2 systems, 20 reports", "20 of 20 texts"), 5: (from_labels.of_category("rb", "Physics", BEST_SURVEYS),), 6: ("1", "1 with a byte order mark", "1 with Windows line ends", "5 of 5 texts"), 9: ("40 of 40 items",),
    14: (from_labels.alike_over_topics("cited"), "60 of 60"), 18: ("refused, incomplete",), 21: ("2: 79 items, 1: 1 items",), 22: ("159 of 160 slots are handed in",),
    23: (from_labels.apart("rb"),), 24: (from_bill.calls("fake-label", 80 * 3), "480 labels as replied"),
    25: (by_t(lambda desk, _: from_labels.alike(desk, "rb", "flash") - from_labels.alike(desk, "rb", "pro"), "rb"),),
    26: ("ok 85 invalid 5", "90 of 90"), 28: from_labels.voted(),
    29: from_bill.ledger("pro", (1.25, 10.0), 240),
    30: (from_labels.alike_over_topics("rb", "pro"),),
    31: (from_labels.fleiss,),
    36: (from_labels.kappa_with("rb", "pro"),),
    37: from_labels.apart_by(from_labels.correct, "gemini-dr", "openai-dr"),
    38: from_labels.variance(from_labels.scored("rb", test_reportbench.SYSTEMS), "gemini-dr", BEST_SURVEYS),
    42: ("90 of 90",), 43: ("180 rows of labels", "60 reports", "40 as they were read"), 44: ("0 of 2 names in 80 items",), 45: ("85",),
}  # fmt: skip

FINANCE = (2, 5, 7)  # tasks of another topic than the rest
SOURCES = "\n## References\n\n[1] https://example.org/source\n"  # added to its reports

RACE: Mapping[int, tuple[Implied, ...]] = {
    3: ("8 topics, 5 systems (1 reference), 40 reports", "40 of 40 texts"), 5: (from_labels.of_category("race", "Science", [str(task) for task in test_race.TASKS if task not in FINANCE], views=2),), 6: ("1", "1 with a byte order mark", "1 with Windows line ends", "1", "17 of 17 texts"),
    7: (statistics.median(from_labels.cited(test_race.article(task, "gemini") + SOURCES) for task in test_race.TASKS),),
    8: (recognised("race"),), 9: ("64 of 64 items",),
    10: (from_labels.answers("overall", 30),), 13: ("960 labels of 3 people on 5 criteria", from_labels.scored_anew("race")), 14: (from_labels.alike_over_topics("cited", "gemini-2.5-flash"), from_labels.alike_over_topics("cited"), "48 of 48", "48 of 48"),
    16: (from_labels.alike_over_topics("listed"), "200 of 200"), 17: (*(test_race.weights(task)["insight_2"] for task in (1, 2)), "40 of 40"),
    19: from_labels.seen("race", "gemini"), 21: ("3: 64 items",), 22: ("15 of 48 slots are handed in",),
    24: (from_bill.calls(f"fake-score-{test_race.OF_JUDGE}-lead-{test_race.LEAD}", 32, billed=32 + 2 * 32), "320 labels ok", "960 labels as replied"), 25: (by_t(from_labels.nearer("race", "as-published", "turned", 10), "race"),), 26: ("ok 68 missing 4", "72 of 72"), 27: (by_t(from_shares.higher_first, "race"),),
    28: (from_shares.changes,), 29: tuple(from_bill.cost("race", judge, 32) for judge in ("as-published", "both-orders")),
    31: (from_labels.alpha_of("race"),), 32: from_labels.by_sign(from_labels.insight_in_files, "chosen"),
    33: (over_rows(from_shares.BOTH_ORDERS, from_shares.of_means),),
    34: tuple(map(from_shares.par, (from_shares.BOTH_ORDERS, from_shares.of_raters()))),
    35: tuple(map(from_shares.order_with_people, ("both-orders", "turned"))),
    36: (from_shares.overall_over_tasks,),
    40: (from_labels.won("overall", "gemini", "grok"),),
    42: ("72 of 72",), 43: ("3,840 rows of labels", "40 reports", "40 as they were read"), 44: ("0 of 4 names in 14 items",), 45: (from_labels.words,),
}  # fmt: skip

IMPLIED = {
    "wlc": WLC,
    "deepresearchgym": GYM,
    "dr3_eval": DR3,
    "reportbench": REPORTBENCH,
    "race": RACE,
    "wlc_real": {
        1: (
            "5 topics, 12 systems (1 reference), 25 reports",
            "25 of 25 texts",
            "11 of 11 names as registered, reference wikipedia",
        ),
        6: ("5", "5", "5", "5", "5", "5", "5", "1", "36 of 36 gaps"),
        7: (
            from_labels.cut(
                "wlc_real/data/*/test_data/langchain_w_gpt5/md_data/*.md", r" ?(?:\[\d+(?:[,–-] ?\d+)*\])+"
            ),
            from_labels.cut("wlc_real/data/*/test_data/openai/md_data/*.md", r"(?:\[\d+\])+"),
        ),
        8: (recognised("wlc"),),
        14: ("3,036 of 3,036",),
        15: ("reports that are not there or empty 1", "2,256 of 2,336"),
        19: from_labels.sides("wlc", "wikipedia"),
        42: ("39 of 39", "wikipedia 39", "openai 2, wikipedia 37"),
    },
}
