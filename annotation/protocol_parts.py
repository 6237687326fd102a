"""The tables inside a protocol's file, each with its defaults; an unknown key is refused."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

TaskType = Literal["pairwise_choice", "pointwise_rating", "probe_label"]
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
    canonical: Literal["full", "spacing", "off"] = "full"
    unresolved_flags: Literal["refuse", "allow"] = "refuse"


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
    def _ascending(self) -> Scale:
        if self.max <= self.min:
            raise ValueError(f"max ({self.max:g}) must be above min ({self.min:g})")
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
    paired_view: Literal["none", "reference", "both"] = "none"
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


class Limits(Part):
    idle_s: int = Field(120, ge=1)
    stale_h: float = Field(24, gt=0)
    invite_days: int = Field(30, ge=1)
    single_use_invites: bool = False


class StudyDefaults(Part):
    overlap: int = Field(1, ge=1)
    topic_once: bool = True
    criteria_order: Literal["protocol", "shuffled"] = "protocol"
    retest_share: float = Field(0.05, ge=0, le=1)
    attention: Attention = Attention()
    training: Training = Training()
    consent: str = ""
    pay: Pay = Pay()
    limits: Limits = Limits()
    adjudicate: Literal["any", "no_majority"] | tuple[Code, ...] = "any"
    guess_system: bool = False
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
    def _not_reserved(self) -> CriterionText:
        if self.id == "all":
            raise ValueError("the id 'all' is reserved for pooled estimates")
        return self
