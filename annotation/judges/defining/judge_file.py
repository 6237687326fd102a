"""judges.toml: which models judge, with which settings, and who made them.

What cannot be run as written is refused in one sentence.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, ValidationError, field_validator, model_validator

from annotation.errors import AnnotationError
from annotation.files.decoding import read_toml, wanted
from annotation.judges.defining.own_files import CODE, as_code, as_written, is_file, texts_of
from annotation.protocol import Batching, Code, Order, Part, Protocol
from plain.model_names import BEGINNINGS
from plain.wording import worded

Rung = Literal["json_schema", "json_object", "plain"]
PLAIN, PARAPHRASED = "plain", "paraphrased"
PROMPTS = (PLAIN, PARAPHRASED)  # a new one is TASK.NAME.txt in asking/templates/ and its name here
LADDER: tuple[Rung, ...] = ("json_schema", "json_object", "plain")
Usd = Annotated[float, Field(ge=0, allow_inf_nan=False)]

# set by calipers itself, or never sent: one reply per call, and no retry that nobody counts
RESERVED_PARAMS = (
    "model", "messages", "n", "stream", "response_format", "max_tokens", "max_completion_tokens", "timeout",
    "num_retries", "max_retries", "api_base", "base_url", "drop_params", "mock_response", "tools", "tool_choice",
    "fallbacks",
)  # fmt: skip
# described in the manual, not built yet: refusing is kinder than ignoring
NOT_YET = {"max_input_chars": "cutting long prompts"}
HIDDEN = (
    "code_sha256",
    "folder",
    "system_text",
    "prompt_text",
    "examples_drawn",
    "template",
)  # made from other keys, never written
SECRET_NAME = re.compile(r"(?i)(^|[_-])(api_?key|key|token|secret|password|passwd|authorization|bearer|credentials?)$")
SECRET_VALUE = re.compile(r"^(sk-|sk_|xai-|gsk_|hf_|AIza|ghp_|Bearer )|^(?=.*\d)(?=.*[A-Za-z])[A-Za-z0-9]{32,}$")


class Price(Part):
    """USD per million tokens. `cached` is the price of input tokens read from the provider's cache; else as `input`.

    `call` is the price of a request, whatever it reads and writes; alone, tokens cost nothing. `batch_…` are the
    prices of requests that are lines of a batch.
    """

    input: Usd
    output: Usd
    cached: Usd | None = None
    call: Usd | None = None
    batch_input: Usd | None = None
    batch_output: Usd | None = None
    batch_cached: Usd | None = None

    @model_validator(mode="before")
    @classmethod
    def _by_the_call(cls, given: Any) -> Any:
        return {"input": 0, "output": 0, **given} if isinstance(given, dict) and given.keys() == {"call"} else given


class JudgeDefinition(Part):
    """One [[judge]] with [defaults] and the protocol's defaults filled in."""

    name: Code
    python: Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$")] | None = None
    command: Annotated[str, StringConstraints(pattern=r"\S")] | None = None
    url: Annotated[str, StringConstraints(pattern=r"^https?://[^\s@]+$")] | None = None
    baseline: Literal["longer", "first", "more_headings", "random"] | None = None
    model: Annotated[str, StringConstraints(pattern=r"^\S+$")]
    api_base: Annotated[str, StringConstraints(pattern=r"^https?://[^\s@?]+$")] | None = None
    api_key_env: Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=64)] | None = None
    prompt: str = PLAIN  # a name of PROMPTS, or a file beside the judges file
    system: str | None = None  # a file with a system message of one's own
    params: dict[str, Any] = Field(default_factory=dict)
    price: Price | None = None
    rpm: float | None = Field(None, gt=0, allow_inf_nan=False)
    tpm: float | None = Field(None, gt=0, allow_inf_nan=False)
    structured: tuple[Rung, ...] = LADDER
    max_cost: float | None = Field(None, gt=0, allow_inf_nan=False)
    order: Order = "both"
    first_report: Literal["A", "reference", "other"] = "A"
    batching: Batching = "all"
    items_per_call: int = Field(1, ge=1)
    repeats: int = Field(1, ge=1, le=1000)
    concurrency: int = Field(64, ge=1, le=128)
    timeout_s: float = Field(180, gt=0, allow_inf_nan=False)
    max_output_tokens: int = Field(8000, ge=16)
    images: bool = False  # the judge is shown the figures of reports, as images where they stand
    batch_api: bool = False  # first requests go through the provider's batch API
    examples: tuple[str, ...] = ()  # item_ids it was shown or trained on with their answers: no estimate rests on them
    example_chars: int = Field(4000, ge=100)  # of each text of an example that is drawn
    # read from what the file names; see HIDDEN
    system_text: str = ""
    prompt_text: str = ""
    examples_drawn: int = 0  # topics
    folder: str = ""  # of the judges file
    code_sha256: str = ""
    template: str = ""  # of a judge that was planned before, as it was kept

    @property
    def code(self) -> str:
        """Which kind of code the judge is; "" for a model."""
        return next((kind for kind in CODE if getattr(self, kind)), "")

    @property
    def is_paced(self) -> bool:
        """Whether its calls keep to a known rate."""
        return self.rpm is not None or self.tpm is not None

    @field_validator("name")
    @classmethod
    def _not_reserved(cls, name: str) -> str:
        if name in ("all", "each_annotator", "majority", "others"):
            raise ValueError(f"the name {name!r} stands for people in every report; choose another")
        return name

    @field_validator("prompt")
    @classmethod
    def _written(cls, prompt: str) -> str:
        if prompt not in PROMPTS and not is_file(prompt):
            raise ValueError(
                f"there is no prompt {prompt!r}; choose one of {', '.join(PROMPTS)}, or a file such as prompts/own.txt"
            )
        return prompt

    @field_validator("params")
    @classmethod
    def _sendable(cls, params: dict[str, Any]) -> dict[str, Any]:
        for name in params:
            if name in RESERVED_PARAMS:
                raise ValueError(f"params.{name} is set by calipers or never sent; remove it")
        try:
            json.dumps(params, allow_nan=False)
        except (TypeError, ValueError):
            raise ValueError("params must be numbers, texts, true or false; a date or nan cannot be sent") from None
        return params

    @field_validator("structured")
    @classmethod
    def _a_ladder(cls, structured: tuple[Rung, ...]) -> tuple[Rung, ...]:
        if not structured or len(set(structured)) < len(structured):
            raise ValueError("structured names each step of the ladder once, best first, and at least one")
        return structured


class PanelDefinition(Part):
    """One [[panel]]: judges whose verdicts are counted as votes. `weights` are given, or fitted by the command line on
    `fit_share` of the topics, for which the panel then has no verdicts. `learned` votes come from a model of people's
    answers, fitted on other topics than it is asked about."""

    name: Code
    members: tuple[Code, ...] = Field(min_length=1)
    rule: Literal["majority", "weighted", "learned"] = "majority"
    weights: dict[str, Annotated[float, Field(ge=0, allow_inf_nan=False)]] | Literal["measured"] | None = None
    fit_share: float = Field(0.3, gt=0, lt=1)

    @model_validator(mode="after")
    def _votes_can_be_counted(self) -> PanelDefinition:
        if len(set(self.members)) < len(self.members):
            raise ValueError("a member appears twice; name each judge once")
        if (self.rule == "weighted") != (self.weights is not None):
            raise ValueError("rule = 'weighted' and weights go together: give both, or neither")
        if isinstance(self.weights, dict) and set(self.weights) != set(self.members):
            raise ValueError("weights must name every member and nobody else")
        if isinstance(self.weights, dict) and not any(self.weights.values()):
            raise ValueError("weights are all 0; give at least one member a vote")
        return self


@dataclass(frozen=True)
class JudgeFile:
    """What a judges.toml holds."""

    judges: tuple[JudgeDefinition, ...]
    panels: tuple[PanelDefinition, ...]


def read_judge_file(path: str | Path, protocol: Protocol) -> JudgeFile:
    """The judges and panels of a file, in its order. Raises AnnotationError naming the file, the key and the remedy."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise AnnotationError("unknown_judges", f"{path}: {error.strerror}; give the path of a judges.toml") from None
    except UnicodeDecodeError as error:
        raise AnnotationError("bad_judges", f"{path}: byte {error.start} is not UTF-8; re-save it") from None
    return parse_judge_file(text, protocol, str(path))


def parse_judge_file(text: str, protocol: Protocol, source: str = "judges.toml") -> JudgeFile:
    """The same from `text`. A value that may be a secret is never repeated in an error's text."""
    try:
        raw = read_toml(text)
    except ValueError as error:
        raise AnnotationError("bad_judges", f"{source}: not TOML: {error}; correct that place") from None
    try:
        judges = _judges(raw, protocol, Path(source).parent)
        return JudgeFile(judges, _panels(raw, protocol, [judge.name for judge in judges]))
    except ValueError as error:
        raise AnnotationError("bad_judges", f"{source}: {error}") from None


def read_judges(path: str | Path, protocol: Protocol) -> tuple[JudgeDefinition, ...]:
    """The judges of a file alone; its panels are checked all the same."""
    return read_judge_file(path, protocol).judges


def parse_judges(text: str, protocol: Protocol, source: str = "judges.toml") -> tuple[JudgeDefinition, ...]:
    """The judges in `text` alone."""
    return parse_judge_file(text, protocol, source).judges


def _judges(raw: Mapping[str, Any], protocol: Protocol, folder: Path) -> tuple[JudgeDefinition, ...]:
    for place in _secrets(raw):
        raise ValueError(
            f"{place} looks like a secret; put the key into an environment variable and its name into api_key_env"
        )
    for key in raw:
        if key not in ("defaults", "judge", "panel"):
            raise ValueError(f"unknown key {key!r}; a judges file has [defaults], [[judge]] and [[panel]]")
    defaults, judges = raw.get("defaults", {}), raw.get("judge", [])
    if not isinstance(defaults, dict) or not isinstance(judges, list) or not judges:
        raise ValueError("no [[judge]]; add at least one with a name and a model")
    if "name" in defaults:
        raise ValueError("defaults.name: a name belongs to one [[judge]]; move it there")
    from_protocol = {
        "order": protocol.judge.order,
        "batching": protocol.judge.batching,
        "items_per_call": protocol.judge.items_per_call,
    }
    found: list[JudgeDefinition] = []
    for number, own in enumerate(judges, 1):
        name = own.get("name")
        place = f"judge {name!r}" if isinstance(name, str) else f"judge[{number}]"
        merged = {**from_protocol, **defaults, **own}
        for key, meaning in NOT_YET.items():
            if merged.pop(key, False):
                raise ValueError(f"{place}: {key}: {meaning} is not supported yet; remove the key")
        try:
            definition = JudgeDefinition.model_validate(as_code(as_written(merged), own))
            files = definition.prompt, definition.system, definition.python, definition.command
            definition = definition.model_copy(update=texts_of(folder, *files))
        except ValidationError as error:
            raise ValueError(f"{place}: {_first_problem(error)}") from None
        except ValueError as error:
            raise ValueError(f"{place}: {error}") from None
        if definition.name in [before.name for before in found]:
            raise ValueError(f"{place}: the name appears twice; names must be unique")
        found.append(definition)
    return tuple(found)


def _panels(raw: Mapping[str, Any], protocol: Protocol, judges: Sequence[str]) -> tuple[PanelDefinition, ...]:
    tables = raw.get("panel", [])
    if not isinstance(tables, list):
        raise ValueError("panel is a list of tables; write [[panel]]")
    if tables and protocol.task_type == "pointwise_rating":
        raise ValueError("a panel counts votes, and scores are no votes; remove [[panel]]")
    found: list[PanelDefinition] = []
    for number, own in enumerate(tables, 1):
        place = f"panel {own['name']!r}" if isinstance(own.get("name"), str) else f"panel[{number}]"
        try:
            panel = PanelDefinition.model_validate(own)
        except ValidationError as error:
            raise ValueError(f"{place}: {_first_problem(error)}") from None
        if panel.name in [*judges, *(before.name for before in found)]:
            raise ValueError(f"{place}: the name appears twice; names must be unique")
        for member in panel.members:
            if member not in judges:
                raise ValueError(f"{place}: no [[judge]] called {member!r} (there are: {', '.join(judges)})")
        found.append(panel)
    return tuple(found)


def _secrets(value: Any, place: str = "") -> Iterator[str]:
    """Places of keys or values that look like a secret."""
    if isinstance(value, dict):
        for key, inner in value.items():
            here = f"{place}.{key}" if place else str(key)
            if key != "api_key_env" and isinstance(inner, str) and SECRET_NAME.search(key):
                yield here
            yield from _secrets(inner, here)
    elif isinstance(value, list):
        for number, inner in enumerate(value, 1):
            yield from _secrets(inner, f"{place}[{number}]")
    elif isinstance(value, str) and SECRET_VALUE.search(value):
        yield place


def _first_problem(error: ValidationError) -> str:
    first = error.errors()[0]
    place = ".".join(str(step) for step in first["loc"])
    more = worded(" (and {others} more)", others=error.error_count() - 1) if error.error_count() > 1 else ""
    if first["type"] == "extra_forbidden":
        return worded("unknown key {place!r}; remove it or correct its spelling", place=place) + more
    if first["type"] == "missing":
        return worded("key {place!r} is required but missing; add it", place=place) + more
    # api_base and api_key_env may hold a pasted key, so their values are not repeated
    is_told = first["type"] != "value_error" and not place.startswith("api_")
    found = worded(" (found {found})", found=f"{first['input']!r:.60}") if is_told else ""
    return f"{place}: {wanted(first)}{found}{more}"


@dataclass(frozen=True)
class ModelFacts:
    """What is known of a model before a call: parameters it takes, price, context window in tokens."""

    params: Mapping[str, Any]  # the effective ones
    dropped: tuple[str, ...]  # asked for, but not accepted
    takes_seed: bool
    price: Price | None
    price_source: str
    context_tokens: int | None


def maker(model: str) -> str:
    """The maker of a model by its litellm name, '' when the name does not say.

    A router's or a local server's prefix says nothing about who made the model.
    """
    name = model.rsplit("/", 1)[-1].casefold()
    return next((who for who, beginning in BEGINNINGS.items() if re.match(beginning, name)), "")


def is_of_family(theirs: str, family: str) -> bool:
    """Whether a system whose family its owner calls `theirs`, or which bears such a name, is by the maker `family`."""
    return bool(family) and family in (theirs.casefold(), maker(theirs))


def own_family(judge: str, family: str, systems: Iterable[tuple[str, str]]) -> list[str]:
    """One warning per system, given as (name, family), that comes from the judge's own maker."""
    return [
        f"judge {judge!r} and system {name!r} are both of {family}: a judge may favour its own family"
        for name, theirs in systems
        if is_of_family(theirs, family)
    ]
