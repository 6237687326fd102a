"""What a methods section says about a study beside its numbers. None and empty mean unknown, never no."""

import platform
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from importlib.metadata import PackageNotFoundError, version
from typing import Any

SOFTWARE = ("calipers", "numpy", "pandas", "scipy", "scikit-learn", "krippendorff", "litellm", "sqlalchemy")


@dataclass(frozen=True)
class JudgeFacts:
    """One judge as it was asked. Money in USD over every try; dates as `2026-11-20`."""

    name: str = ""
    model: str | None = None  # as asked for; without any path or host
    reported: tuple[str, ...] = ()  # as its provider named the model that replied
    provider: str | None = None  # "code" where no model was asked
    family: str | None = None
    own_family_systems: int | None = None  # systems under comparison by the maker of this judge
    template_version: str | None = None
    prompt_sha256: str | None = None  # of the prompt's template
    parameters: Mapping[str, Any] | None = None  # that were sent; what is absent is the provider's default
    not_sent: tuple[str, ...] = ()  # asked for, but not accepted by the model
    batching: str | None = None
    order: str | None = None  # both | one
    repeats: int | None = None
    settings_tried: int | None = None
    first_call: str | None = None
    last_call: str | None = None
    calls: int | None = None
    attempts: int | None = None
    cost: float | None = None
    wasted_share: float | None = None  # of the cost, 0 to 1: paid beyond the first reply of each call
    imported: bool | None = None  # its answers were made elsewhere


@dataclass(frozen=True)
class StudyFacts:
    """Counts and words of one study, as `annotation.facts.study_facts` reads them. No name, token, address or path."""

    name: str | None = None
    title: str | None = None
    protocol: str | None = None
    protocol_sha256: str | None = None
    protocol_version: int | None = None
    protocol_changed_after_labels: int | None = None  # how many times
    task_type: str | None = None
    task: str | None = None
    status: str | None = None
    is_simulated: bool | None = None
    seed: int | None = None
    # what was read
    topics: int | None = None
    systems: int | None = None
    reference_systems: int | None = None
    reports: int | None = None
    words_min: int | None = None
    words_max: int | None = None
    reports_without_text: int | None = None  # of the reports: never published, known by answers about them alone
    items: int | None = None
    criteria: int | None = None
    languages: tuple[str, ...] = ()
    # design
    design: str | None = None  # of the newest plan: reference | all | balanced | file
    per_category: int | None = None  # topics it drew of each category
    strata: Mapping[str, Any] | None = None  # of claims, where so many of each were drawn: by, each, judge, drawn
    roster: bool | None = None  # whether it said beforehand who labels what
    pairs: int | None = None
    pairs_possible: int | None = None  # of the ready reports on the topics used
    pairs_with_reference: int | None = None
    per_topic_min: int | None = None  # items
    per_topic_max: int | None = None
    overlap_min: int | None = None  # people that handed in an item, over items that anybody did
    overlap_max: int | None = None
    overlap_planned: int | None = None  # the most slots of an item, taken or not
    orders: Mapping[str, int] = field(default_factory=dict)  # people's: A on the left, B on the left, unknown
    # blinding
    citations_stripped: bool | None = None
    stripper_versions: tuple[str, ...] = ()
    layout: str | None = None  # kept | spacing | canonical | plain
    layout_versions: tuple[str, ...] = ()
    flags: Mapping[str, int] = field(default_factory=dict)  # keep, mask, exclude, open: passages
    edited_reports: int | None = None
    restored_reports: int | None = None
    excluded_reports: int | None = None
    blind_until: str | None = None
    revealed_at: str | None = None
    labels_after_reveal: int | None = None
    after_reveal_left_out: bool | None = None
    unproved_texts: int | None = None  # labels made elsewhere, whose file did not prove which text was read
    blinding_audit: Mapping[str, Any] | None = None  # see `annotation.facts.study_facts.audit_facts`
    # people
    annotators: int | None = None  # who handed in labels
    annotators_simulated: int | None = None
    roles: Mapping[str, int] = field(default_factory=dict)
    may_see_and_label: bool | None = None
    staff_labelled: int | None = None  # of the annotators, those of another role
    consent_sha256: str | None = None
    consented: int | None = None
    training_items: int | None = None
    training_passed: int | None = None
    active_hours: float | None = None
    pay_rate: float | None = None  # per active hour; 0 in a protocol means that none was stated
    pay_currency: str | None = None
    pay_total: float | None = None
    # labels
    labels: Mapping[str, int] = field(default_factory=dict)  # people's current ones by status
    labels_simulated: int | None = None  # of these
    judge_labels: Mapping[str, int] = field(default_factory=dict)
    purposes: Mapping[str, int] = field(default_factory=dict)
    imported_labels: int | None = None
    first_label: str | None = None
    last_label: str | None = None
    allow_tie: bool | None = None
    allow_not_applicable: bool | None = None
    rationale_required: bool | None = None
    rationale_min_length: int | None = None
    confidence_asked: bool | None = None
    # left out
    items_excluded: int | None = None  # some of them before anybody had seen them
    excluded_item_labels: int | None = None
    stale_labels: int | None = None  # on texts that were replaced since
    criteria_retired: int | None = None
    retired_labels: int | None = None
    examples: Mapping[str, int] = field(default_factory=dict)  # judge -> items its prompt shows with their answers
    # judges, plan, software
    judges: tuple[JudgeFacts, ...] = ()
    plan_root: str | None = None
    plan_roots: int | None = None  # that were kept: more than one where the plan was changed after the first
    plan_sha256: str | None = None  # of the first comparison plan that was kept
    plan_kept_at: str | None = None
    plans_kept: int | None = None
    labels_before_plan: int | None = None
    margin_in_protocol: bool | None = None
    epsilon_in_protocol: bool | None = None
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def made_here(self) -> bool:
        """Whether some labels were given in the application, which alone knows what was shown and in which order."""
        return (self.imported_labels or 0) < sum(self.labels.values())


def facts_of(found: Mapping[str, Any] | None = None) -> StudyFacts:
    """`annotation.facts.study_facts` as facts; None for a bare table of labels, of which only the software is known.

    Raises TypeError on a name that is no fact.
    """
    known: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in (found or {}).items()
    }
    if "canonical" in known:  # of a bundle from before the layouts had one name each
        known["layout"] = {"off": "kept", "full": "canonical"}.get(was := known.pop("canonical"), was)
        known["layout_versions"] = known.pop("canonical_versions", ())
    judges = tuple(_judge(one) for one in known.pop("judges", None) or ())
    facts = replace(StudyFacts(**known), judges=judges)
    return facts if facts.versions else replace(facts, versions=software_versions())


def software_versions() -> dict[str, str]:
    """Name -> version of Python and of every package that made a number."""
    found = {"python": platform.python_version()}
    for name in SOFTWARE:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _judge(found: Mapping[str, Any]) -> JudgeFacts:
    names = {field.name for field in fields(JudgeFacts)}
    if set(found) - names:
        raise TypeError(f"no fact of a judge is called {sorted(set(found) - names)[0]!r}")
    known: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in found.items()}
    return JudgeFacts(**known)
