"""Prompts that a judges.toml brings as files: made whole with a shipped one, and checked before anything is planned.

A file with the blocks `system` and `user` is a whole prompt. One without blocks is the user message, beneath the
shipped system message or a file of one's own.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from jinja2 import TemplateSyntaxError, meta, nodes

from annotation.errors import AnnotationError
from annotation.judges.asking.own_code import template_of_code
from annotation.judges.asking.prompt import PART, SEES, Material, build_prompt, environment, template_of, within_limits
from annotation.judges.defining.judge_file import PLAIN, JudgeDefinition
from annotation.judges.defining.own_files import is_file
from annotation.protocol import Protocol
from annotation.texts.figures import are_shown

# what an own prompt may name, as docs/judges.md lists it
NAMES = (
    "task", "guidance", "topic", "first_report", "second_report", "report", "reference", "evidence", "sources",
    "probes", "criteria", "answers", "confidence", "reply_format", "texts_are_data", "examples",
)  # fmt: skip
# and what the shipped ones are written with, for a copy of one
SHIPPED_NAMES = (
    "nonce", "schema", "topic_title", "topic_prompt", "first", "second", "texts", "probe_kind", "meanings",
)  # fmt: skip
BLOCKS = frozenset({"system", "user"})
BLOCK = re.compile(r"{% block (system|user) %}\n(.*?){% endblock %}", re.DOTALL)  # of a shipped prompt
SENTINEL = "qzx{}vk"  # stands for a text, to see where it comes out
CHANGEABLE = " ÄRGER  über  <b>&amp;\"'</b> %s {} https://example.org/\n\n- one\n\t2.50\n"
LONG = 200_000  # characters: longer than nearly every report, so that a prompt that cuts reports is seen to
CRITERIA = re.compile(r"'[\w.]+\.(Asked|Listed) object' has no")  # as Jinja says it
ONE_BY_ONE = "; criteria one by one are {% for one in criteria %}{{ one.code }}: {{ one.text }}{% endfor %}"
BESIDE = 200  # characters between a criterion's id and its text, where the model is to see that they belong together
MOST = 1_000_000  # characters of a prompt without its texts


def is_own(definition: JudgeDefinition) -> bool:
    """Whether the judge brings words of its own."""
    return bool(definition.prompt_text or definition.system_text)


def own_template(protocol: Protocol, definition: JudgeDefinition, *, reworded: bool = False) -> str:
    """The judge's template without examples; `reworded`: the shipped one that asks for the same in other words.

    Raises AnnotationError `no_prompt` where there is none, `bad_prompt` as `whole_template`.
    """
    if definition.images and (definition.code or not are_shown(protocol.reports.images, protocol.answers.paired_view)):
        why = "code is given no pictures" if definition.code else 'the protocol shows none: reports.images = "show"'
        raise AnnotationError("no_prompt", "judge {name!r}: images = true, but {why}", name=definition.name, why=why)
    if definition.code:
        if reworded:
            raise AnnotationError("no_prompt", "judge {name!r} is code; it reads no wording", name=definition.name)
        if definition.baseline and protocol.task_type != "pairwise_choice":
            raise AnnotationError(
                "no_prompt", "judge {name!r}: a baseline chooses between two reports", name=definition.name
            )
        return template_of_code(definition)
    if reworded and is_own(definition):
        raise AnnotationError(
            "no_prompt",
            "judge {name!r} has a prompt of its own, and nobody wrote the same in other words; enter the other "
            "wording as one more judge and compare the two", name=definition.name,
        )  # fmt: skip
    shipped = template_of(protocol, PLAIN if is_file(definition.prompt) else definition.prompt, reworded=reworded)
    if is_own(definition):
        shipped = whole_template(shipped, definition.prompt_text, definition.system_text, source_of(definition))
    return SEES + shipped if definition.images else shipped


def source_of(definition: JudgeDefinition) -> str:
    """Where the judge's words come from, for a refusal."""
    own = (definition.prompt, definition.prompt_text), (definition.system, definition.system_text)
    return " and ".join(name for name, text in own if text and name)


def whole_template(shipped: str, user: str, system: str, source: str) -> str:
    """One template of two blocks from what was given; `user` or `system` is "" where the shipped one's is taken.

    Raises AnnotationError `bad_prompt` naming `source`, for a text that is no Jinja or has other blocks.
    """
    blocks = {**_blocks(user, source), "system": system} if system else _blocks(user, source)
    if system and "system" in _blocks(user, source):
        raise _bad(source, "it has a block `system` of its own; remove that, or the key `system`")
    if system:
        _parsed(system, source)
    if blocks.keys() >= BLOCKS and not system:
        return user
    usual = {name: text for name, text in BLOCK.findall(shipped)}
    made = {**usual, **blocks}
    return "".join(f"{{% block {name} %}}\n{made[name].rstrip()}\n{{% endblock %}}\n" for name in ("system", "user"))


def with_examples(template: str, examples: str) -> str:
    """The template with this text as its `examples`; one that does not name them has them before its user message."""
    literal = json.dumps(examples, ensure_ascii=False)  # a Jinja string as well: no text in it is ever a template
    names = "examples" in _parts(template).names
    said = "" if names else "{{ examples }}\n\n"
    given = f"{{% set examples = {literal} %}}\n"
    template = template.replace("{% block system %}\n", f"{{% block system %}}\n{given}", 1) if names else template
    return template.replace("{% block user %}\n", f"{{% block user %}}\n{given}{said}", 1)


def refuse_named_systems(protocol: Protocol, definition: JudgeDefinition, systems: Iterable[str]) -> None:
    """Raises AnnotationError `bad_prompt` where the judge's own words name one of the systems that are compared.

    A word that the shipped prompt uses too, such as `reference`, names nothing.
    """
    own = f"{definition.prompt_text}\n{definition.system_text}"
    _refuse_names(systems, own, template_of(protocol), source_of(definition))


def refuse_composed_names(
    protocol: Protocol, template: str, material: Material, source: str, systems: Iterable[str]
) -> None:
    """The same of names that the template writes nowhere and that filling it in puts together: `{{ "at" ~ "las" }}`."""
    material = _sentinels(material, template)
    said, shipped = (_rendered(one, material, source) for one in (template, template_of(protocol)))
    for text in material.texts:
        said = said.replace(text, "")
    _refuse_names(systems, said, f"{shipped}\n{template}", source)


def _refuse_names(systems: Iterable[str], said: str, harmless: str, source: str) -> None:
    for system in systems:
        name = re.compile(rf"(?<!\w){re.escape(system)}(?!\w)", re.IGNORECASE)
        if len(system) > 1 and name.search(said) and not name.search(harmless):
            raise _bad(source, f"it names the system {system!r}, and judges are blind to that; remove the name")


def refuse_unfit(template: str, material: Material, source: str) -> None:
    """Raises AnnotationError `bad_prompt` for a prompt that cannot be asked, or leaves something out.

    `material`: of the study's form; words that nothing else holds take the place of its texts and questions.
    """
    parts = _parsed(template, source)
    material = _sentinels(material, template)
    if unknown := sorted(parts.names - {*NAMES, *SHIPPED_NAMES}):
        how = ONE_BY_ONE * (unknown[0] == "criterion")
        raise _bad(source, f"there is no {{{{ {unknown[0]} }}}}; the names are {', '.join(NAMES)}{how}")
    said = _rendered(template, material, source)
    for name, text in zip(material.names, material.texts, strict=True):
        part, within = PART.get(name, name), rf"<{name}-(\w+)>\n{re.escape(text)}\n</{name}-\1>"
        if part in parts.names and not re.search(within, said):
            raise _bad(
                source, f"it cuts a tag of the {name} off; put {{{{ {part} }}}} there with no filter and no slice"
            )
    for probe in material.probes:
        if probe.text not in said:
            raise _bad(source, "the model never sees what is to be labelled; put {{ probes }} where it belongs")
    for asked in material.criteria:
        text, code = re.escape(asked.text), rf"(?<![\w-]){re.escape(asked.code)}(?![\w-])"
        if not re.search(rf"{code}.{{0,{BESIDE}}}?{text}|{text}.{{0,{BESIDE}}}?{code}", said, re.DOTALL):
            raise _bad(
                source,
                f"the model is never asked {asked.code!r} by its id beside its text; put {{{{ criteria }}}} at the end",
            )
    if "judgments" not in said:
        raise _bad(source, "the model is never told how to reply; put {{ reply_format }} into the system message")


def _sentinels(material: Material, template: str) -> Material:
    """The same material with words in the place of texts that nothing else holds.

    Those of reports are long, and hold what filters change: capitals, marks, lines, and every text that the template
    itself writes down, as `replace` does.
    """
    written = _parts(template).written
    body = "".join((CHANGEABLE, *written, " ", " ".join(written))).ljust(LONG, ".")[:LONG]
    texts = tuple(f"{SENTINEL.format(number)}{body}" for number in range(len(material.texts)))
    probes = tuple(replace(one, text=SENTINEL.format(f"p{number}")) for number, one in enumerate(material.probes))
    asked = tuple(replace(one, text=SENTINEL.format(f"c{number}")) for number, one in enumerate(material.criteria))
    return replace(material, texts=texts, probes=probes, criteria=asked)


def _rendered(template: str, material: Material, source: str) -> str:
    try:
        prompt = build_prompt(replace(material, template=template), "plain")
    except AnnotationError as error:
        said, of_criteria = CRITERIA.subn("of criteria there is no", error.text)
        raise _bad(source, said + ONE_BY_ONE * of_criteria) from None
    if (own := prompt.characters - sum(map(len, material.texts))) > MOST:
        raise _bad(source, f"it has {own:,} characters without its texts; at most {MOST:,} are sent")
    return "\n".join(message["content"] for message in prompt.messages)


def _blocks(template: str, source: str) -> dict[str, str]:
    """The blocks of a text: the whole of it as `user` where it has none, nothing where it is empty."""
    if not template:
        return {}
    found = _parsed(template, source).blocks
    if not found:
        return {"user": template}
    if found != BLOCKS:
        raise _bad(source, "write the two blocks `system` and `user`, or none at all")
    return dict.fromkeys(BLOCKS, template)


class Parts(NamedTuple):
    """What a template asks for, its blocks, and the values that it writes down."""

    names: frozenset[str]
    blocks: frozenset[str]
    written: tuple[str, ...]


def parts_of(template: str) -> Parts:
    """Raises TemplateSyntaxError."""
    tree = environment().parse(template)
    names = meta.find_undeclared_variables(tree)  # a filter that there is not is found by none but the compiler
    blocks = frozenset(block.name for block in tree.find_all(nodes.Block))
    return Parts(frozenset(names), blocks, tuple(str(const.value) for const in tree.find_all(nodes.Const)))


@lru_cache(maxsize=16)
def _parts(template: str) -> Parts:
    return within_limits(template, parts_of, template)


def _parsed(template: str, source: str) -> Parts:
    try:
        return _parts(template)
    except TemplateSyntaxError as error:
        raise _bad(f"{source}, line {error.lineno}", error.message or "not a Jinja template") from None
    except AnnotationError as error:
        raise _bad(source, error.text) from None


def _bad(source: str, text: str) -> AnnotationError:
    return AnnotationError("bad_prompt", f"{source}: {text}")
