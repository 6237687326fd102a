"""What each warning says: sentences by code, into which its facts are put last, in the language that is set."""

from collections.abc import Mapping
from string import Formatter
from typing import Any, TypeAlias

from plain import counting, wording

# Told where all facts that it names are known; of a list every one, of a tuple the first that can be told
Clause: TypeAlias = "str | list[Clause] | tuple[Clause, ...]"
SENTENCES: Mapping[str, Clause] = {
    "aligned": (
        "{rater} is the best of {tried} wordings of {judge} that were tried on {topics} topics; it has no label "
        "there, and of these wordings it alone was asked about the others: say how many were tried"
    ),
    "baseline_not_beaten": [
        ("agreement by distance {near:.3f}", "agreement {agreement:.3f}"),
        " is not shown to be above {bound:.3f}, which the best constant answer (for every criterion and every two "
        "systems its own, where there are labels enough) reaches",
        " (one-sided p = {p:.2g} over all judges tried)",
        (
            ": at this look, of {clusters} clusters, no p of its test would be small enough",
            ": it has not shown that it reads the reports",
        ),
    ],
    "changed_after_labels": (
        "the protocol is at version {version}, changed after labels existed: {left_out} label revisions answer "
        "words that are no longer asked, and are left out",
        "the comparison is not the one planned when a result was first shown (plan {plan}): {changes:change}; "
        "report what changed, and why",
        "criteria, ties rule, margin or epsilon are not those of the plan that was fixed before labels were seen; "
        "report what changed, and why",
    ),
    "copied_labels": (
        "{rater} gave {judge}'s label in {agreed:.1f} % of {shared:.0f} answers and the other annotators' in "
        "{with_people:.1f} %: ask whether a person labelled; if not, leave {rater} out, for a judge is no evidence "
        "for itself"
    ),
    "copied_rationale": (
        "{count} of {rater}'s {written} rationales are, byte for byte, those of {judge} on the same item and "
        "criterion; ask who wrote them"
    ),
    "derived_preferences": (
        "{verdicts} verdicts of {rater} are derived from scores, {ties} of them ties; say so, and print the tie rule"
    ),
    "drawn_topics": (
        "{labelled} of {topics} topics were drawn for people with unequal known probabilities ({least:.3f} to "
        "{most:.3f}), worth {effective:.0f} drawn alike: agreement, the gap, κ and win rates are weighted by 1 / "
        "draw_probability, and what is not weighted is a dash"
    ),
    "duplicate_raters": (
        "{rater} and {twin} gave identical labels on all {shared} they share: check that they are two people"
    ),
    "examples_in_reference": (
        "{rater} was shown {items} of the items it labelled as examples, with their answers ({named:named}): its "
        "{rows} rows on them, of {of}, are left out of every estimate; take examples from items outside the study"
    ),
    "far_score": [
        "{rater} gave {item} a score of {score:g} for {criterion}, where other scores lie from {low:g} to {high:g}",
        (", one of {count} such scores that are", ": it is"),
        " {share:.0f} % of the variance of all {scores:,} scores, so correlations, alpha and means hang on it, and "
        "agreement and the gate where it sets the range of the scale; correct a slip in the file, or declare the "
        "scale, which refuses it: scales= in calipers.read, or a protocol",
    ],
    "few_clusters": "{clusters} clusters: intervals rest on few independent units; label at least {least}",
    "few_systems": [
        "{statistic!t} of the systems by {one!t} and by {other!t} is {value:.2f} over {systems} systems",
        " (one of {found} such)",
        ", fewer than {least}: say that it is over systems, and never compare it with a correlation over reports",
    ],
    "fixed_panel": (
        "intervals speak of other annotators too, but the choice and its test hold for this panel only; say so"
    ),
    "join_loss": (
        "{lost} of {rows} annotators' rows ({percent:.1f} %) have no row of {rater} on the same item and criterion "
        "(first: item '{first_item}', criterion '{first_criterion}'): check that item_ids agree and that A and B "
        "were named once per pair"
    ),
    "labels_dropped": (
        "{percent:.1f} % of the annotators' {rows} rows are compared with {rater}; {unasked} have no row of the "
        "judge, {judge_dropped} an unusable or not_applicable answer of it, {people_dropped} one of the annotator, "
        "{ties:.0f} dropped as ties: say so beside the value"
    ),
    "many_labels": (
        "{criterion} has {answers} different answers, more than {most}: no agreement is computed; code the answers "
        "into fewer labels"
    ),
    "maybe_transposed": (
        "{annotators} annotators and {units} labels to give: item_id and rater_id may be exchanged, and alpha is "
        "refused; check the columns"
    ),
    "mirrored_items": (
        "on {items} of the items only people answered, and only judges on their mirror image: name A and B once per "
        "pair"
    ),
    "missing_answers": (
        "no usable answer in {failed} of {rows} rows of {rater} ({causes}): agreement leaves them out, the choice of a "
        "judge counts them as disagreement"
    ),
    "mixed_criteria": (
        "criteria of different kinds or scales are never pooled: {kinds}; every criterion is reported by itself"
    ),
    "mixed_settings": (
        "{rater} answered {before} of its {passes} passes over items with earlier settings alone, and they count "
        "beside those of the settings that the methods section names; run it to the end, or enter it under a new name"
    ),
    "named_sides": (
        "no item has more than two of the {words} words in label, whichever these are: they look like names of the "
        "two sides, and κ and α are wrong for them; give system_a and system_b, and write A, B or tie"
    ),
    "nested_labels": [
        "N = {comparisons:.0f} comparisons in C = {clusters:cluster} (N/C = {each:.1f}, ",
        ("icc {icc:.3f}, ", "icc unknown, "),
        ("design effect {deff:.2f}) are worth {worth:.0f} independent ones; ", "design effect unknown); "),
        "only intervals that resample clusters are shown; more clusters help where more labels in each do not",
    ],
    "not_shown_equal": [
        "{who!t} minus {rater} is {gap:.1f} points, interval {low:.1f} points to {high:.1f} points in "
        "{clusters:{cluster}}: no difference was shown, and neither was its absence within the margin of "
        "{margin:.1f} points; cannot tell",
        (
            ", label {more:more {cluster}}",
            "; the gap seen is no smaller than the margin, so no number of {hopeless!t} is likely to show it smaller",
        ),
    ],
    "nothing_alone": (
        "which items a judge may decide alone at an error of {percent:g} % cannot be said: that takes a judge and "
        "an annotator, on criteria that share a scale of at most {most} answers; give the rows of such criteria"
    ),
    "one_annotator": (
        "{who!t}: how far people agree with each other is unknown; have each item labelled by two at least"
    ),
    "order_inconsistent": (
        "{rater} keeps its verdict in {percent:.1f} % of {labels} labels made in both orders; report the candidate "
        "made of both orders too"
    ),
    "order_unknown": (
        "presentation is empty in {unknown} of {rows} pairwise rows ({named:raters}): position bias cannot be seen "
        "there; fill presentation with AB or BA"
    ),
    "out_of_range": (
        "{statistic} of {rater} is {value}, not a share",
        "{costly} of {rows} rows of {rater} cost more than 100 times the median ({money} {median:.2g}); check that "
        "cost_usd is each row's share",
    ),
    "own_family": (
        "{rater} labels reports of its own family {family} ({systems}): compare its wins for them with those that "
        "people give"
    ),
    "panel": [
        "{rater} is derived from its members' votes over both orders and all repeats ({how}; weights {weights}): ",
        "{decided} of {questions} questions {verb!t}; its cost is the sum of all members'",
        "; it has no verdict on {unasked} items about which a member was not asked",
        "; no member beats a constant answer, so it decides nothing: use rule = '{better}', or other members",
    ],
    "panel_sensitive": [
        (
            "first two systems by the annotators: {places:place} with all, {orders:order}; judge chosen: "
            "{decided:decided} with all, {choices:decided}",
            "first two systems by the annotators: {places:place} with all, {orders:order}",
            "judge chosen: {decided:decided} with all, {choices:decided}",
        ),
        " ({changed} of {raters} raters, left out one at a time, change a headline); say so beside it, and add "
        "annotators or pairs",
    ],
    "pooled_criteria": (
        "kappa is {pooled:.2f} over all criteria together and {within:.2f} within criteria: part of it is knowledge "
        "of the criteria's base rates; report both"
    ),
    "position_bias": (
        "{rater} prefers the report shown first in {percent:.1f} % of {rows} decisive rows (cluster t-test, p = "
        "{p:.2g}); label in both orders and report both"
    ),
    "positive_unknown": (
        "answers are {one} and {other}, and neither is known as the one that passes: no true positive rate, "
        "precision or pass rate is given; name it, such as positive = '{one}' under [calibration]"
    ),
    "repeated_topics": (
        "the reports of some topics are those of another, byte for byte ({reports:groups}): intervals and tests "
        "take one topic under several names for several independent ones; leave all but one out",
        "the labels of some topics are the same throughout, by people and judges ({labels:groups}): if they are one "
        "topic under several names, intervals and tests take it for several independent ones; give it one cluster_id",
    ),
    "revealed": "labels were joined with systems before the study closed, on {day}",
    "score_left_out": (
        "{rater} is no candidate: {judge} scored two reports of {system} in cluster {cluster} on {score}; make "
        "cluster_id the topic, or number repeats in the column run",
        "{rater} is no candidate: item {item} has no system_a, so nobody knows whose report it scored; fill it",
        "{rater} is no candidate: none of its {unusable} answers to this criterion is a number",
    ),
    "selected_judge": (
        "{rater} is one of {tried} judges, prompts or settings that were tried: its own 95 % interval is too narrow "
        "for one picked for its result (of a best of 10 it holds the truth 61 to 72 times in 100); quote the "
        "interval that is simultaneous over all tried, and how many were tried"
    ),
    "shared_clusters": (
        "{topics} topics lie in {clusters} clusters, as their cluster_id says, and every interval takes a cluster for "
        "one topic, such as one question in several languages; if it says anything else, make the topic the cluster_id"
        ", in the file or in a new study"
    ),
    "skewed_reference": (
        "always giving the same answer agrees in {bound:.3f}: high agreement says little; look at kappa"
    ),
    "still_blind": (
        "systems are numbered until the study is closed or revealed: no judge's preference for its own family is "
        "looked for, since that would tell which system is of it"
    ),
    "thin_criteria": (
        "{criteria} criteria on {clusters} clusters: single criteria get no interval and must not be ranked; with "
        "10 pairs, criteria that are all truly .80 show values from .50 to 1.00"
    ),
    "thin_rater_pairs": (
        "{thin} of {pairs} pairs of annotators share fewer than {least} labels ({one} and {other} {shared}): means "
        "over pairs are weighted by what they share"
    ),
    "two_annotators": "2 annotators: nothing separates one unusual annotator from a hard task; add a third",
    "unbalanced_order": (
        "{rater} saw A first in {percent:.0f} % of {items} items: a habit of side looks like a verdict; balance the "
        "sides"
    ),
    "undeclared_scale": (
        "{criterion} holds {scores} different scores and declares no scale: weighted kappa and ordinal alpha go by an "
        "answer's place among all points of the scale, used or not, and are left out; declare it: scales = "
        '{{"{criterion}" = [1, 2, 3, …]}} in calibration.toml, scales= in calipers.read, or a protocol'
    ),
    "undefined_shown_as_dash": "undefined for {rater}, shown as a dash or left out: {lacking:lacking}",
    "unlike_references": [
        "{rater}: {statistic!t} {value:.3f} with {reference!t}",
        ", people {people:.3f} with each other",
        ": a majority is easier to agree with (a judge exactly as good as a person of .745 scores .807 against "
        "three); set the judge beside leave_one_out_ceiling, on identical references",
        " ({ceiling:.3f} here)",
    ],
    "unlike_second_labels": [
        (
            "{rater} agrees to {near_twice:.1f} %, by the distance of the scores where people labelled twice and "
            "to {once:.1f} % where they labelled once (p = {p:.1g})",
            "{rater} agrees in {twice:.1f} % of labels where people labelled twice and in {once:.1f} % where they "
            "labelled once (p = {p:.1g})",
        ),
        ": people were compared with each other on {kind!t} items than the judge is to stand in for; label twice "
        "what is drawn at random",
    ],
    "unlike_scales": [
        (
            "{rater}'s scores for {criterion} lie from {from:g} to {to:g} and people's from {low:g} to {high:g}",
            "{rater}'s scores fall where people's rise (ρ = {rho:.2f}, {least:.2f} to {most:.2f})",
        ),
        ": where the scales differ, or one counts from the best, write one in the other's numbers first "
        "(--map-label ONE=OTHER); agreement of these scores says nothing until then",
    ],
    "unpaired_judges": (
        "{rater} and {other} share {percent:.1f} % of the labels that either has: only the {shared:,} shared ones "
        "are compared; run both on the same items"
    ),
    "unread_topics": (
        "the column topic is not read: topic {topic} lies in several clusters ({count} of {all} topics do); correct "
        "them, or call the column category where it holds subject matters",
        "the column topic is not read: item {item} lies in several topics ({count} of {all} items do); correct them, "
        "or call the column category where it holds subject matters",
    ),
    "words_of_one_kind": (
        "only people answer {people} and only judges {judges} to {criterion}: each counts as a disagreement; where "
        "one stands for no answer, or for the other, say so (--map-label WORD=missing, --map-label ONE=OTHER)",
        "only people answer {people} to {criterion}, which counts as an answer; where it stands for none, say so "
        "(--map-label WORD=missing)",
        "only judges answer {judges} to {criterion}, which counts as an answer; where it stands for none, say so "
        "(--map-label WORD=missing)",
    ),
}
# What is put between several, and each of them: of facts that hold facts of their own.
PARTS: Mapping[str, tuple[str, Clause]] = {
    "change": ("; ", ("{name} added: {added}", "{name} left out: {gone}", "{name} {before} became {after}")),
    "decided": (", ", [("{judge}", "{status!t}"), " without {without}"]),
    "group": ("; ", "{names:and}"),
    "groups": ("", ("{names:group} and {more} more groups", "{names:group}")),
    "lacking": (
        ", ",
        [
            (
                "interval of {statistic} ({no_interval:.1f} % undefined)",
                "resamples of {statistic} ({left_out:.2g} % undefined)",
                "{statistic} ({reason})",
            ),
            " × {count}",
        ],
    ),
    "named": ("", ("{names} and {more} more", "{names}")),
    "order": (", ", ("{places:place} without {without}", "no order without {without}")),
    "place": (" before ", ("{system}", "{tied:and} together")),
    "raters": ("", ("{names} and {more} more raters", "{names}")),
}


def warning_text(code: str, facts: Mapping[str, Any]) -> str:
    """The sentence of a warning; raises KeyError for a code that has none, and where it lacks a fact that it needs."""
    text = told(SENTENCES[code], facts)
    if not text:
        raise KeyError(f"{code}: its sentence cannot be told from {sorted(facts)}")
    return text


def told(clause: Clause, facts: Mapping[str, Any]) -> str:
    """None and nan are facts that are not known; "" where the clause, or the first of a list, names one of these."""
    if isinstance(clause, str):
        known = all(facts.get(name) is not None and facts[name] == facts[name] for name in named_in(clause))
        return wording.judge_named(_FACTS.vformat(wording.worded(clause), (), facts)) if known else ""
    if isinstance(clause, tuple):
        return next(filter(None, (told(one, facts) for one in clause)), "")
    first, *more = (told(one, facts) for one in clause)
    return first and "".join([first, *more])


def named_in(clause: str) -> set[str]:
    """The names of the facts that a clause tells."""
    return {name for _, name, _, _ in Formatter().parse(clause) if name}


class _Facts(Formatter):
    """Besides Python's own forms: a list, `{x!t}` for a word of ours, `{n:topic}` for a count, and `PARTS`."""

    def convert_field(self, value: Any, conversion: Any) -> Any:
        return wording.worded(value) if conversion == "t" else super().convert_field(value, conversion)

    def format_field(self, value: Any, format_spec: str) -> str:
        if format_spec in PARTS:
            between, clauses = PARTS[format_spec]
            return wording.worded(between).join(
                told(clauses, one) for one in (value if isinstance(value, list) else [value])
            )
        if isinstance(value, list | tuple):
            return wording.worded(" and " if format_spec == "and" else ", ").join(map(str, value))
        if format_spec[:1].isalpha() and len(format_spec) > 1:
            more, _, thing = format_spec.rpartition(" ")
            return counting.counted(value, thing, more) if more else wording.several(value, thing)
        return format(value, format_spec)


_FACTS = _Facts()
