"""A protocol: what raters are asked and what they may answer, with every default, read from one TOML file.

An unknown key, a duplicate id, a missing value or a key of another task type is refused by file and key.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from annotation.canonical import form, plain
from annotation.errors import AnnotationError
from annotation.files.decoding import read_toml, wanted
from plain.hashes import text_sha256
from plain.wording import worded

TaskType = Literal["pairwise_choice", "pointwise_rating", "probe_label"]
Aid = Literal["undo", "spell_check", "breaks", "pace", "bookmarks", "notes"]
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, pattern=r"^[^\n]*$")]
Code = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.-]+$")]
Batching = Literal["all", "by_category", "one_criterion"]
Order = Literal["both", "random", "first_only"]


class Part(BaseModel):
    """A frozen table of the file: unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Rationale(Part):
    required: bool = False
    min_length: int = Field(0, ge=0, le=10_000)  # characters


class Reports(Part):
    strip_citations: bool = True
    unresolved_flags: Literal["refuse", "allow"] = "refuse"
    images: Literal["show", "caption", "remove"] = "caption"


class JudgeDefaults(Part):
    batching: Batching = "all"
    items_per_call: int = Field(1, ge=1)
    order: Order = "both"


class Scale(Part):
    """`shown_times` multiplies a value where it is printed; step 0 allows any number from min to max."""

    min: float
    max: float
    step: float = Field(1, ge=0)
    shown_times: float = 1
    anchors: dict[str, str] = {}

    @model_validator(mode="after")
    def _ascending(self) -> Self:
        if self.max <= self.min:
            raise ValueError(worded("max ({max:g}) must be above min ({min:g})", max=self.max, min=self.min))
        return self


class ProbeAnswer(Part):
    id: Code
    text: Line
    weight: float = 1.0
    on_scale: bool = True  # of ordered answers: false where it is none of the scale, such as a source nobody can read


class Answers(Part):
    allow_tie: bool = False
    allow_not_applicable: bool = False
    confidence: bool = False
    scale: Scale | None = None
    paired_view: Literal["none", "reference", "evidence", "both"] = "none"
    probe: Literal["claim", "statement", "fact", "key point", "insight", "document", "requirement"] | None = None
    context: Literal["report", "sources", "both"] = "report"
    labels: tuple[ProbeAnswer, ...] = ()
    ordered: bool = False


class Attention(Part):
    every: int = Field(20, ge=1)
    policy: Literal["note", "warn", "pause"] = "note"


class Training(Part):
    items: int = Field(0, ge=0)
    pass_mark: float = Field(0.7, ge=0, le=1)
    attempts: int = Field(2, ge=1)


class Pay(Part):
    rate: float = Field(0.0, ge=0)  # per active hour
    currency: str = "USD"
    look_above: float = Field(3.0, ge=1)  # times the usual time: a crowd's bonus for more is accepted by hand


class Limits(Part):
    idle_s: int = Field(120, ge=1)
    stale_h: float = Field(24, gt=0)
    invite_days: int = Field(30, ge=1)
    single_use_invites: bool = False


class Apart(Part):
    """Scores that lie more than so far apart are in dispute; in the scale's own numbers."""

    apart: float = Field(gt=0)


class StudyDefaults(Part):
    next: Literal["all", "active"] = "all"  # which topics people get: all that are planned, or batches that are drawn
    layout: form.Layout = "canonical"
    overlap: int = Field(1, ge=1)
    topic_once: bool = True
    criteria_order: Literal["protocol", "shuffled"] = "protocol"
    retest_share: float = Field(0.05, ge=0, le=1)
    attention: Attention = Attention()
    training: Training = Training()
    consent: str = ""
    pay: Pay = Pay()
    limits: Limits = Limits()
    adjudicate: Literal["any", "no_majority"] | tuple[Code, ...] | Apart = "any"
    guess_system: bool = False
    aids: tuple[Aid, ...] = get_args(Aid)  # each may steer
    earlier_reasons: bool = False  # raters may read their own for the same criterion, which may steer
    blind_until: Literal["closed", "open"] = "closed"
    may_see_and_label: bool = False


class Aggregate(Part):
    name: Line
    rule: Literal["win_rate", "mean", "weighted_mean", "share", "target_share", "majority"]
    labels: tuple[str, ...] = ()
    criteria: tuple[Code, ...] = ()  # none: all
    by: str = ""
    several: Literal["any", "all"] = "all"


class CriterionText(Part):
    id: Code
    label: Line
    text: Text
    category: str = ""
    subcategory: str = ""
    weight: float = Field(1.0, ge=0)
    scale: Scale | None = None

    @model_validator(mode="after")
    def _not_reserved(self) -> Self:
        if self.id == "all":
            raise ValueError("the id 'all' is reserved for pooled estimates")
        return self


SHIPPED = Path(__file__).parent / "protocols"
FORMER_LAYOUTS: Mapping[Any, form.Layout] = {"off": "kept", "spacing": "spacing", "full": "canonical"}


class Protocol(Part):
    format: Literal["calipers-protocol/1"]
    name: Code
    title: Line
    summary: str = ""
    source: str = ""
    language: str = "en"
    task_type: TaskType
    task: Text
    guidance: str = ""
    criteria_from: Literal["protocol", "topics"] = "protocol"
    rationale: Rationale = Rationale()
    reports: Reports = Reports()
    judge: JudgeDefaults = JudgeDefaults()
    calibration: dict[str, Any] = Field({"cluster": "topic"})
    aggregate: tuple[Aggregate, ...] = ()
    answers: Answers = Answers()
    study: StudyDefaults = StudyDefaults()
    criterion: tuple[CriterionText, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _layout_by_its_name(cls, raw: Any) -> Any:
        """Protocols of before `study.layout` say `reports.canonical`, in words of its own."""
        reports = raw.get("reports") if isinstance(raw, Mapping) else None
        if not isinstance(reports, Mapping) or "canonical" not in reports:
            return raw
        rest = {key: value for key, value in reports.items() if key != "canonical"}
        study = raw.get("study", {})
        if not isinstance(study, Mapping) or "layout" in study:
            raise ValueError("reports.canonical is the older name of study.layout; keep study.layout alone")
        if reports["canonical"] not in FORMER_LAYOUTS:
            raise ValueError("reports.canonical is the older name of study.layout; write that instead")
        return {**raw, "reports": rest, "study": {**study, "layout": FORMER_LAYOUTS[reports["canonical"]]}}

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        for one in self.criterion if self.study.layout == "plain" else ():
            if asked := plain.about_layout(one.label, one.text):
                raise ValueError(f"study.layout = 'plain': {plain.taken_by_plain(one.id, asked)}")
        refuse_keys_of_other_tasks(self.task_type, self.answers, self.criterion)
        if repeated := first_repeated([c.id for c in self.criterion]):
            raise ValueError(worded("criterion id {id!r} appears twice; ids must be unique", id=repeated))
        if self.criteria_from == "protocol" and not self.criterion:
            raise ValueError("no [[criterion]]; add at least one, or set criteria_from = 'topics'")
        if self.criteria_from == "topics" and self.criterion:
            raise ValueError("criteria_from = 'topics' and [[criterion]] exclude each other; remove one")
        chosen = self.study.adjudicate if isinstance(self.study.adjudicate, tuple) else ()
        if self.criteria_from == "protocol" and (odd := {*chosen} - {c.id for c in self.criterion}):
            raise ValueError(worded("study.adjudicate names {id!r}, which is no criterion id; correct it", id=min(odd)))
        if isinstance(self.study.adjudicate, Apart) and self.task_type != "pointwise_rating":
            raise ValueError("study.adjudicate: apart is a distance of scores; use any, no_majority or criterion ids")
        refuse_aggregates(self.aggregate, self.task_type, self.answers, self.criterion)
        if self.calibration.get("cluster", "topic") not in ("topic", "item"):
            raise ValueError("calibration.cluster must be 'topic' or 'item'")
        if self.calibration.get("after_reveal", "keep") not in ("keep", "leave_out"):
            raise ValueError("calibration.after_reveal must be 'keep' or 'leave_out'")
        return self

    @property
    def rates_both(self) -> bool:
        """Whether a page asks about both of the reports it shows."""
        return self.answers.paired_view == "both"

    @property
    def choices(self) -> tuple[str, ...]:
        """The stored answers that are allowed, in key order; empty for a rating, whose scale says it."""
        not_applicable = ("not_applicable",) if self.answers.allow_not_applicable else ()
        if self.task_type == "pairwise_choice":
            return ("left", "right", *(("tie",) if self.answers.allow_tie else ()), *not_applicable)
        if self.task_type == "probe_label":
            return (*(label.id for label in self.answers.labels), *not_applicable)
        return not_applicable


def read_protocol(name_or_path: str | Path) -> tuple[Protocol, str]:
    """A shipped protocol by name, or one from a file; with the text it was read from.

    Raises AnnotationError naming the file, the key and the remedy.
    """
    path = Path(name_or_path)
    if path.suffix != ".toml":
        path = SHIPPED / f"{name_or_path}.toml"
        if not path.exists():
            raise AnnotationError(
                "unknown_protocol",
                f"no protocol called {str(name_or_path)!r}; shipped are {', '.join(shipped_protocols())}, "
                "or give the path of a .toml file",
            )
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise AnnotationError("unknown_protocol", f"{path}: {error.strerror}; give a shipped name or the path of a "
                              ".toml file") from None  # fmt: skip
    except UnicodeDecodeError as error:
        raise AnnotationError(
            "bad_protocol", f"{path}: byte {error.object[error.start]:#04x} at {error.start} is not UTF-8; re-save it"
        ) from None
    protocol = parse_protocol(text, str(path))
    if protocol.name != path.stem:
        raise AnnotationError(
            "bad_protocol", f"{path}: name is {protocol.name!r} but must be the file's stem {path.stem!r}; rename one"
        )
    return protocol, text


@lru_cache(maxsize=64)
def parse_protocol(text: str, source: str = "protocol") -> Protocol:
    """The protocol in `text`. Raises AnnotationError naming `source`, the line or key, and the remedy."""
    try:
        raw = read_toml(text)
    except ValueError as error:
        raise AnnotationError("bad_protocol", "{source}: not TOML: {error}; correct that place", source=source,
                              error=error) from None  # fmt: skip
    try:
        return Protocol.model_validate(raw)
    except ValidationError as error:
        (_, first), *others = problems(error)
        more = worded(" (and {others} more)", others=len(others)) if others else ""
        raise AnnotationError("bad_protocol", f"{source}: {first}{more}") from error


def protocol_sha256(text: str) -> str:
    """What a study stores to know its protocol again: sha256 of the file's UTF-8 bytes, as hex."""
    return text_sha256(text)


def shipped_protocols() -> list[str]:
    """Names of the protocols that come with calipers, sorted."""
    return sorted(path.stem for path in SHIPPED.glob("*.toml"))


def problems(error: ValidationError) -> list[tuple[str, str]]:
    """(key, `key: what is wrong; what to do`) each; of a rule over several keys, the one that its words begin with."""
    return [_problem(one) for one in error.errors()]


def _problem(one: Any) -> tuple[str, str]:
    place = ""
    for step in one["loc"]:
        place += f"[{step + 1}]" if isinstance(step, int) else f"{'.' if place else ''}{step}"
    if one["type"] == "extra_forbidden":
        return place, worded("unknown key {place!r}; remove it or correct its spelling", place=place)
    if one["type"] == "missing":
        return place, worded("key {place!r} is required but missing; add it", place=place)
    found = "" if one["type"] == "value_error" else worded(" (found {found})", found=f"{one.get('input')!r:.60}")
    said = worded(": ").join(filter(None, (place, wanted(one) + found)))
    return place or said.removeprefix("no [[").partition(" ")[0].strip("];:"), said


TASKS = {
    "win_rate": ("pairwise_choice",),
    "mean": ("pointwise_rating", "probe_label"),
    "weighted_mean": ("pointwise_rating",),
    "target_share": ("pointwise_rating",),
    "share": ("probe_label",),
    "majority": ("probe_label",),
}
ANSWERS_OF = {  # keys of `answers` that no other task has
    "pairwise_choice": {"allow_tie"},
    "pointwise_rating": {"scale", "paired_view"},
    "probe_label": {"probe", "context", "labels", "ordered"},
}
COUNTING = ("share", "majority")  # the rules that count answers


def refuse_aggregates(
    aggregates: Sequence[Aggregate], task: TaskType, answers: Answers, criteria: Sequence[CriterionText]
) -> None:
    """Raises ValueError naming the first key of an `aggregate` that a protocol of this task cannot have."""
    names: set[str] = set()
    for number, aggregate in enumerate(aggregates, start=1):
        wrong = _wrong(aggregate, task, answers, criteria)
        if aggregate.name in names or aggregate.name == "all":
            wrong = worded("name: {name!r} is taken; every aggregate needs a name of its own", name=aggregate.name)
        names.add(aggregate.name)
        if wrong:
            raise ValueError(f"aggregate[{number}].{wrong}")


def _wrong(aggregate: Aggregate, task: TaskType, answers: Answers, criteria: Sequence[CriterionText]) -> str:
    """The key, what is wrong with it and what to do; nothing where all is well."""
    if task not in TASKS[aggregate.rule]:
        fitting = ", ".join(rule for rule, tasks in TASKS.items() if task in tasks)
        return worded("rule: {rule} is for {its}, not for {task}; use one of {fitting}", rule=aggregate.rule, task=task,
                      its=worded(" and ").join(TASKS[aggregate.rule]), fitting=fitting)  # fmt: skip
    known = [label.id for label in answers.labels]
    if unknown := [label for label in aggregate.labels if label not in known]:
        return worded("labels: {id!r} is none of answers.labels ({known}); correct it", id=unknown[0],
                      known=", ".join(known))  # fmt: skip
    if aggregate.rule in COUNTING and not aggregate.labels:
        return worded("labels: {rule} counts some of the answers; name them, such as labels = [{id!r}]",
                      rule=aggregate.rule, id=known[0])  # fmt: skip
    if aggregate.by and (aggregate.by != "tag" or task != "probe_label"):
        return worded("by: only 'tag' can be averaged over, and only of probe_label (found {by!r}); leave it out",
                      by=aggregate.by)  # fmt: skip
    if "several" in aggregate.model_fields_set and aggregate.rule not in COUNTING:
        return worded("several: only share and majority count a claim with several sources once; leave it out")
    asked = sorted(criterion.id for criterion in criteria)
    if strange := [name for name in aggregate.criteria if asked and name not in asked]:
        return worded("criteria: {id!r} is no criterion id ({all}); correct it", id=strange[0], all=", ".join(asked))
    return _wrong_with_target_share(answers, criteria) if aggregate.rule == "target_share" else ""


def _wrong_with_target_share(answers: Answers, criteria: Sequence[CriterionText]) -> str:
    if answers.paired_view != "both":
        return worded("rule: target_share needs both reports rated in one view; set answers.paired_view = 'both'")
    scales = [answers.scale, *(criterion.scale for criterion in criteria)]
    if any(scale is not None and scale.min < 0 for scale in scales):
        return worded("rule: target_share divides totals; let every scale start at 0 or above")
    return ""


def refuse_keys_of_other_tasks(asked: TaskType, answers: Answers, criteria: Sequence[CriterionText]) -> None:
    """Raises ValueError naming the first key of `answers` that this task cannot have, or lacks."""
    for task, keys in ANSWERS_OF.items():
        for key in sorted(keys & answers.model_fields_set):
            if task != asked and (asked, key, answers.paired_view) != ("pairwise_choice", "paired_view", "evidence"):
                told = worded("{key} belongs to {task}, not to {asked}; remove it", key=key, task=task, asked=asked)
                raise ValueError(f"answers.{told}")
    if asked == "pointwise_rating" and answers.scale is None:
        raise ValueError("answers.scale is required for pointwise_rating, e.g. scale = {min = 0, max = 10}")
    if asked != "pointwise_rating" and any(c.scale for c in criteria):
        raise ValueError(worded("a criterion's scale belongs to pointwise_rating, not to {one}; remove it", one=asked))
    if asked == "probe_label":
        if answers.probe is None:
            raise ValueError("answers.probe is required for probe_label, e.g. probe = 'claim'")
        if len(answers.labels) < 2:
            raise ValueError("answers.labels needs at least two answers for probe_label")
        if repeated := first_repeated([label.id for label in answers.labels]):
            raise ValueError(worded("answers.labels id {id!r} appears twice; ids must be unique", id=repeated))


def first_repeated(names: list[str]) -> str | None:
    """The first name that is there a second time."""
    return next((name for k, name in enumerate(names) if name in names[:k]), None)
