"""Everything the template of the methods section may say, worked out once from a report and its facts."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from calibration.choosing.choice_words import without_advice
from calibration.results import CalibrationReport
from calibration.study.bounding import FEW_CLUSTERS
from calibration.systems.pass_rates import ROGAN_GLADEN
from calibration.table.verdicts import BOTH_ORDERS
from exports.bibliography import PROTOCOLS, keys_of
from exports.cells import number, shown
from exports.facts import StudyFacts
from exports.sheets.alone import alone
from exports.sheets.judges import another_question
from exports.sheets.passing import WHOLE, rates_shown, said_of
from exports.tables import BASELINES, PEOPLE
from exports.words import methods_numbers as numbers
from exports.words.grammar import amount, between, listed, opening, percent, points, verb
from exports.words.judges_asked import described, in_common, own_family
from exports.words.notes import nearness, usable_differ
from exports.words.sentences import alone_words, compared, judges_alone
from exports.words.sentences import opening as opening_of
from plain.counting import counted
from plain.wording import ENGLISH, several, spoken, worded, worded_of

WORDS: dict[str, Any] = {
    "counted": counted, "opening": opening, "verb": verb, "listed": listed, "percent": percent, "points": points,
    "amount": amount, "between": between, "several": several, "worded": worded, "shown": lambda count: shown(count)[0],
    "number": lambda value: number(value, 2),
}  # fmt: skip
INTERVALS = {
    "wilson_effective_n": "shares by Wilson's formula with an effective sample size",
    "cluster_bootstrap_expanded": "coefficients such as κ by a bootstrap with expanded percentiles ({drawn})",
    "cluster_bootstrap_percentile": "coefficients such as κ by a bootstrap with percentiles ({drawn})",
    "cluster_t": "means and differences by t over clusters, of differences with the jackknife's error",
    "confidence_sequence": "all as confidence sequences, which hold at every number of clusters at once",
    "cluster_bootstrap_t": "the gaps that the choice rests on by its test turned round, a studentised bootstrap whose "
    "error reckons with faults not seen ({drawn})",
    "exact_bound": "a gap that nearly all clusters share by an exact bound",
    "two_way_t": "agreement and gaps by a two-way t over clusters and annotators",
}
NOTHING_COMPARED = "No two raters share an answer that could be compared."
COMPUTING = {  # what made the numbers, as a reader knows it
    "calipers": "calipers", "python": "Python", "numpy": "NumPy", "pandas": "pandas", "scipy": "SciPy",
    "scikit-learn": "scikit-learn", "krippendorff": "krippendorff",
}  # fmt: skip
DESIGNS = {  # of a plan, where its name does not say enough
    "balanced": "a balanced incomplete block design over the systems",
    "file": "a list of pairs written by hand",
}
DECIDED = {"keep": "{count:,} kept", "mask": "{count:,} masked", "exclude": "{count:,} left out with their report"}
NAMED_STRATA = 8  # of more the counts are summed up
PURPOSES = {"training": "training label", "attention": "attention label", "adjudicate": "adjudicator's label"}
STATUSES = {"invalid": "{count:,} invalid", "missing": "{count:,} missing", "refused": "{count:,} refused"}
BIASES = {
    "first_rate": "order", "order_effect": "order", "flip_direction": "order", "score_shown_first": "order",
    "longer": "length", "length_coefficient": "length", "self_preference": "own family", "tie_rate_gap": "ties",
    "score_gap": "leniency", "changed_answers": "repeats",
}  # fmt: skip


def told(report: CalibrationReport, facts: StudyFacts) -> dict[str, Any]:
    """Names of the template -> values; an empty one is not spoken of."""
    return {
        **WORDS,
        "f": facts,
        "d": report.labels,
        "s": report.settings,
        "cluster": numbers.clusters(report),
        "named": numbers.NAMED,
        **_material(facts),
        **_judges(report, facts),
        **_agreement(report),
        **_choice(report),
        **_left_out(report, facts),
    }


def sources(statistic: str) -> tuple[str, ...]:
    """Keys of a statistic's sources."""
    return keys_of(statistic) or ()


def _material(facts: StudyFacts) -> dict[str, Any]:
    marks = [f"version {facts.protocol_version}"] if facts.protocol_version else []
    marks += [f"sha256 {facts.protocol_sha256[:12]}"] if facts.protocol_sha256 else []
    protocol = facts.protocol or ""
    decided = {name: facts.flags.get(name, 0) for name in DECIDED}
    sides = facts.orders.get("A", 0) + facts.orders.get("B", 0)
    return {
        "bare": facts == StudyFacts(versions=facts.versions),
        "protocol_marks": marks,
        "design": _design(facts.design) if facts.design else "",
        "strata": _strata(facts.strata) if facts.strata and facts.strata.get("drawn") else "",
        "protocol_sources": next((keys for name, keys in PROTOCOLS.items() if protocol.startswith(name)), ()),
        "decided": sum(decided.values()),
        "decisions": [worded(DECIDED[name], count=count) for name, count in decided.items() if count],
        "sides": sides,
        "made_here": facts.made_here,
        "given": sum(facts.labels.values()) - facts.purposes.get("adjudicate", 0),
        "allowed": _allowed(facts),
        "software": listed(
            [f"{COMPUTING[name]} {facts.versions[name]}" for name in COMPUTING if name in facts.versions]
        ),
    }


def _design(name: str) -> str:
    return worded(DESIGNS[name]) if name in DESIGNS else worded("design {name}", name=name)


def _strata(drawn: Mapping[str, Any]) -> str:
    """How claims were drawn by stratum, and what a share over all of them is."""
    judge = drawn["judge"]
    verdict = (
        worded("the verdict of {judge}", judge=judge) if judge else worded("the most frequent verdict of the judges")
    )
    by = listed([verdict if name == "verdict" else worded("the {name}", name=worded(name)) for name in drawn["by"]])
    rows: list[tuple[list[str], int, int]] = drawn["drawn"]
    if len(rows) > NAMED_STRATA:
        taken, among = (sum(count) for count in zip(*(counts for _, *counts in rows), strict=True))
        each = worded("up to {each:,} from each of {strata} strata, {taken:,} of {among:,} in all",
                      each=drawn["each"], strata=len(rows), taken=taken, among=among)  # fmt: skip
    else:
        each = listed([worded("{count:,} of {of:,} ({values})", count=count, of=of, values=_values(names))
                       for names, count, of in rows])  # fmt: skip
    return worded(
        "Claims were drawn by chance within strata of {by}: {each}. A number over several strata is that of the drawn "
        "claims, among which strata are not as frequent as among all.", by=by, each=each,
    )  # fmt: skip


def _values(names: Sequence[str]) -> str:
    return worded(", ").join(value or worded("none") for value in names)


def _allowed(facts: StudyFacts) -> str:
    tie, none = facts.allow_tie, facts.allow_not_applicable
    if tie is None or none is None:
        name, is_allowed = ("Ties were", tie) if none is None else ("“Not applicable” was", none)
        return "" if is_allowed is None else f"{name} {'' if is_allowed else 'not '}allowed."
    return {
        (True, True): "Ties and “not applicable” were allowed.",
        (True, False): "Ties were allowed, “not applicable” was not.",
        (False, True): "“Not applicable” was allowed, ties were not.",
        (False, False): "Neither ties nor “not applicable” were allowed.",
    }[tie, none]


def _judges(report: CalibrationReport, facts: StudyFacts) -> dict[str, Any]:
    asked = [judge for judge in facts.judges if judge.name and not judge.imported]
    made = numbers.made_of_others(report)
    return {
        "asked": asked,
        "common": in_common(asked) if asked else [],
        "described": described(asked),
        "brought": [judge.name for judge in facts.judges if judge.name and judge.imported],
        "own_family": own_family(asked),
        "named_judges": [name for name in report.labels.judges if name not in made],
        "made_of_others": made,
        "both_orders": any(name.endswith(BOTH_ORDERS) for name in _candidates(report)),
    }


def _candidates(report: CalibrationReport) -> list[str]:
    named = [estimate.rater for estimate in report.estimates]
    return named + ([candidate.judge for candidate in report.choice.candidates] if report.choice else [])


def _agreement(report: CalibrationReport) -> dict[str, Any]:
    main, ceiling = numbers.headline(report), numbers.ceiling(report)
    people, judges = numbers.of_people(report, main), numbers.of_judges(report, main)
    pooled = any(estimate.criterion == "all" for estimate in report.estimates if estimate.statistic == main)
    is_compared = compared(report)
    return {
        "main": main,
        "ties": numbers.tie_rule(report),
        "usable_differ": usable_differ(report),
        "main_of_judges": judges if pooled and is_compared else None,
        "kappa_of_judges": numbers.of_judges(report, "cohen_kappa") if is_compared else None,
        "scores_of_judges": numbers.correlations_of_judges(report) if is_compared else [],
        "baseline": _baseline(report),
        "main_of_people": people,
        "people_beside": numbers.beside(report) if people else [],
        "ceiling": ceiling,
        "nearness": nearness(ceiling.statistic.rpartition("_")[2], report) if ceiling else "",
        "passing": passing(report),
        "nothing_compared": "" if is_compared else judges_alone(report) or worded(NOTHING_COMPARED),
        "not_pooled": bool(main) and not pooled,
        "intervals": list(_intervals(report)),
        "few": _few(report),
        "looked_for": list(
            dict.fromkeys(
                words
                for bias in report.biases
                for name, words in BIASES.items()
                if bias.estimate.statistic.startswith(name)
            )
        ),
        "alt": numbers.alt_tests(report),
        "another_question": next(another_question(report), ""),
    }


def _baseline(report: CalibrationReport) -> str:
    best: dict[str, float] = {}
    for name in BASELINES:
        for rater, estimate in numbers.pooled(report, name, PEOPLE).items():
            if not rater.endswith(BOTH_ORDERS) and not math.isnan(estimate.value):
                best[rater] = max(estimate.value, best.get(rater, 0.0))
    if not best:
        return ""
    low, high = number(min(best.values()), 2), number(max(best.values()), 2)
    return (
        low if low == high else worded("{low} to {high}, depending on the labels a judge answered", low=low, high=high)
    )


def _intervals(report: CalibrationReport) -> Iterator[tuple[str, str]]:
    """(method, how it made its brackets)"""
    settings = report.settings
    drawn = worded("{resamples}, seed {seed}", resamples=several(settings.resamples, "resample"), seed=settings.seed)
    shown_too = (row.estimate for row in report.card)  # the gap of a card is that of its test
    present = {estimate.method for estimate in (*report.estimates, *shown_too) if not math.isnan(estimate.low)}
    for method, words in INTERVALS.items():
        if method in present:
            yield method, worded(words, **({"drawn": drawn} if "{drawn}" in words else {}))


def _few(report: CalibrationReport) -> str:
    clusters = int(report.labels.clusters)
    if clusters >= FEW_CLUSTERS or not any(not math.isnan(estimate.low) for estimate in report.estimates):
        return ""
    word = numbers.clusters(report)
    return f"With {counted(clusters, word)}, fewer than {FEW_CLUSTERS}, intervals rest on few independent units."


def _choice(report: CalibrationReport) -> dict[str, Any]:
    choice = report.choice if report.choice is not None and report.choice.candidates else None
    candidates = choice.candidates if choice else ()
    return {
        "choice": choice,
        "found": without_advice(choice.sentence if spoken() == ENGLISH else opening_of(report)) if choice else "",
        "look": without_advice(choice.look) if choice else "",
        "tested": any(candidate.claim is not None for candidate in candidates),
        "alone": [
            alone_words(delegation, numbers.clusters(report), report.settings.level, report.labels.money)
            for delegation in alone(report)
        ],
        "simultaneous": any(candidate.agreement.method == "max_t" for candidate in candidates),
    }


def _left_out(report: CalibrationReport, facts: StudyFacts) -> dict[str, Any]:
    parts = [*_facts_left_out(facts), *_rows_left_out(report)]
    known = (facts.items_excluded, facts.stale_labels, facts.criteria_retired)
    unusable = _unusable(report)
    return {
        "left_out": parts,
        "nothing_left_out": not parts and None not in known and not unusable,
        "unusable": unusable,
    }


def _facts_left_out(facts: StudyFacts) -> Iterator[str]:
    if facts.items_excluded:
        items, labels = several(facts.items_excluded, "item"), _with(facts.excluded_item_labels)
        yield worded("{items} taken out{labels}", items=items, labels=labels)
    if facts.stale_labels:
        yield worded("{labels} on texts that were replaced later", labels=several(facts.stale_labels, "label"))
    if facts.criteria_retired:
        criteria, labels = several(facts.criteria_retired, "criterion"), _with(facts.retired_labels)
        yield worded("{criteria} whose words were changed or dropped{labels}", criteria=criteria, labels=labels)
    yield from (several(facts.purposes[name], PURPOSES[name]) for name in PURPOSES if facts.purposes.get(name))
    for judge, count in facts.examples.items():
        yield worded_of(
            count,
            "answers of {judge} to {n:,} item that its prompt shows as an example",
            "answers of {judge} to {n:,} items that its prompt shows as examples",
            judge=judge,
        )


def _with(labels: int | None) -> str:
    return worded(" with {labels}", labels=several(labels, "label")) if labels else ""


def _rows_left_out(report: CalibrationReport) -> Iterator[str]:
    dropped = numbers.not_applicable(report)
    if dropped and report.settings.not_applicable == "drop":
        labels = several(dropped, "label")
        yield worded("comparisons where either side says not applicable ({labels})", labels=labels)
    unjoined = numbers.unjoined(report)
    if unjoined:
        named = listed(unjoined) if len(unjoined) <= numbers.NAMED else several(len(unjoined), "judge")
        yield worded("annotators' labels without a judge's answer beside them ({named})", named=named)


def _unusable(report: CalibrationReport) -> str:
    answers = numbers.answers(report)
    found = {status: count for status, count in answers.items() if status != "ok"}
    if not found:
        return ""
    kinds = listed([worded(STATUSES[status], count=count) for status, count in found.items()])
    where = worded("; in the choice of a judge each counts as disagreement") if report.choice is not None else ""
    return worded(
        "{count:,} of {answers} of judges could not be used ({kinds}){where}.", count=sum(found.values()),
        answers=several(sum(answers.values()), "answer"), kinds=kinds, where=where,
    )  # fmt: skip


CALLED = {
    "true_positive_rate": "the true positive rate (recall)", "true_negative_rate": "the true negative rate",
    "precision": "precision", "f1_score": "F1", "youden_j": "Youden's J",
}  # fmt: skip
BY = {"named": "as the settings name it", "recognised": "known by its word"}


def passing(report: CalibrationReport) -> Mapping[str, Any] | None:
    """What passes and how often judges are right about it; None where no answer is known to pass."""
    counts = [counted for counted in said_of(report) if counted.chosen]
    if not counts:
        return None
    found = [numbers.of_judges(report, name) for name in rates_shown(report)] if counts[0].criterion == WHOLE else []
    positive = list(dict.fromkeys((counted.positive, counted.chosen) for counted in counts))
    return {
        "positive": worded(" or ").join(
            worded("{name} ({kind})", name=label, kind=worded(BY[chosen])) for label, chosen in positive
        ),
        "rates": [(worded(CALLED[spoken.statistic]), spoken) for spoken in found if spoken is not None],
        "is_corrected": any(estimate.statistic == ROGAN_GLADEN for estimate in report.estimates),
    }
