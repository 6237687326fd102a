"""Words by which a report may name its maker. They are shown to the study's owner, never deleted.

A product's name is content as often as not (`Claude Monet`, a report about Gemini), so only a person can decide.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from annotation.leaks.addressed import ADDRESSED, MOST_SHOWN


@dataclass(frozen=True)
class Flag:
    """Characters `start` to `end` (end excluded) of a report, what they may give away, and the words themselves."""

    start: int
    end: int
    kind: str  # one of KINDS
    text: str


LOST = "lost"  # what a conversion left behind, which no words of the text show: its place is the beginning
FIGURE = (
    "figure"  # a picture that several reports of one system show, as they do a logo; its text is the picture's name
)
KINDS = (
    "system", "product", "maker", "assistant", "cutoff", "search", "policy", "judge", "title", "tracking", LOST, FIGURE,
)  # fmt: skip
NAMES = KINDS[:3]  # a name and no more: a mask in its place leaves a sentence

_WORD = r"A-Za-z0-9_\u00c0-\u024f"
_I = r"\bI(?:['’](?:ve|m)| have| am)?"
# Names that are words, people or places too (Claude, Gemini, Mistral) need a capital, or what their makers add.
_PRODUCTS = re.compile(
    rf"(?<![{_WORD}])(?:"
    r"(?i:chat[- ]?gpt|open[- ]?ai|gpt[- ]?[345](?:\.[0-9])?(?:[- ]?(?:o|turbo|mini|nano|pro))?|anthropic|deep[- ]?mind"
    r"|deep[- ]?seek|langchain|langgraph|gpt[- ]?researcher|notebooklm|chatglm|hugging ?face|moonshot ai|mistral ai"
    r"|meta ai|bing chat|google bard|perplexity(?:\.ai| ai)|kimi k[0-9]|manus ai|minimax ai|doubao|tongyi(?: qianwen)?"
    r"|ernie bot|hunyuan|wenxin yiyan|le chat|command r\+?|deep research agent)"
    r"|x\.?AI|Claude(?: (?:Opus|Sonnet|Haiku|Code|[0-9](?:\.[0-9])?)){0,3}|Gemini(?: (?:Advanced|Ultra|Pro|Flash|Nano"
    r"|[0-9](?:\.[0-9])?)){0,3}|Grok(?:[- ][0-9](?:\.[0-9])?)?|Perplexity|Copilot|L[Ll]a[Mm][Aa][- ]?[0-9](?:\.[0-9])?"
    r"|Qwen[0-9.]{0,4}(?:-[A-Za-z0-9]{1,12})?|Manus|GLM-[0-9](?:\.[0-9])?|QwQ|o[134]-(?:mini|pro|preview|deep-research)"
    rf")(?![{_WORD}])"
    "|通义(?:千问)?|千问|豆包|文心一言|智谱清言|混元大模型|月之暗面|深度求索|字节跳动豆包"
)
_MACHINE = r"(?:AI|artificial intelligence|(?:large )?language model)"
_BUILT = r"(?:developed|trained|created|made|built|designed|provided)"
_PHRASES = (
    (
        "assistant",
        rf"\bas an? {_MACHINE}(?: (?:language )?model| assistant| system| chatbot| agent)?"
        rf"(?=[,.;:]| I\b| {_BUILT}\b|\s*$)"
        rf"|{_I} an? {_MACHINE}\b"
        r"|作为(?:一个|一名|一款)?(?:AI|人工智能|大?语言模型)(?:助手|模型|系统)?",
    ),
    (
        "cutoff",
        r"\b(?:knowledge|training)(?:[- ]data)? cut[- ]?off\b|\bmy (?:training|knowledge) (?:data|base|cut[- ]?off)\b"
        r"|\b(?:as of|until|up to|since) my (?:last|latest|most recent) (?:knowledge |training )?(?:update|training)\b"
        r"|知识截止|训练数据截止|截至我的(?:知识|训练)",
    ),
    (
        "search",
        rf"{_I} (?:searched|browsed|googled)\b"
        r"|\bI (?:could not|couldn['’]t|was unable to|was not able to|cannot) (?:find|access|retrieve|verify|locate"
        r"|browse|open)\b"
        r"|\bmy (?:web )?search(?:es)? (?:found|show|returned|did|turned|revealed|yielded)"
        r"|\bsearch results (?:show|indicate|suggest|returned|provided|did|do not|contain)"
        r"|\b(?:the )?(?:provided|supplied|retrieved) (?:search results|snippets|sources|context|documents)\b"
        r"|我(?:已|已经)?(?:搜索|检索|查询|浏览)了?|搜索结果(?:显示|表明|中|未)|根据(?:所?提供的|搜索)(?:资料|结果|来源)",
    ),
    (
        "policy",
        r"\b(?:required|mandated|prohibited|restricted) (?:by|under) (?:the |my |our )?(?:research|content|safety|usage"
        r"|platform|system|model)(?: \w+)? polic(?:y|ies)\b",
    ),
    (
        "title",
        r"\bdeep[- ]research (?:report|article|analysis|brief|study)\b|深度研究报告"
        r"|^#{1,6} [^\n]{0,80}\bresearch report (?:on|about|into)\b",
    ),
    ("tracking", r"\b(?:utm_[a-z]+|baike_source|referrer)=[^\s&)\]>]{0,60}"),
)
# A maker nobody has listed is known by how it signs. Its name is a flag of its own, so that masking it leaves a
# sentence; the notice around it, which then still says that something made the report, is another.
_MADE = r"(?:written|generated|prepared|produced|compiled|created|authored|researched|conducted|wrote)"
_NAME = r"(?P<name>\[system\]|[A-Z][\w'’-]{0,40}(?:[ .](?:[A-Z]|v?[0-9])[\w'’-]{0,40}|\.[a-z]{2,3}\b){0,5})"
_BY = rf"{_MADE} (?:automatically |entirely )?(?:by|with|using) (?:the |an? )?"
_TEXT = r"(?:report|response|answer|article|essay|text|document|paper|research|review)"
_ROLE = r"(?:agent|assistant|model|system|tool|bot|chatbot|researcher|AI)"
_MAKERS = (
    re.compile(rf"\b(?P<notice>(?i:(?:this|our) {_TEXT} (?:was|is|has been) {_BY})){_NAME}"),
    re.compile(  # a sentence of its own
        rf"(?:^|(?<=[.!?:*_] ))[>*_ ]{{0,4}}(?P<notice>(?i:(?:{_TEXT} )?{_BY})){_NAME}(?: (?:on|in|at) [^.\n]{{1,40}})?"
        r"[*_)]*(?:\.[*_]*(?= |$)|$)",
        re.MULTILINE,
    ),
    re.compile(
        rf"\b(?P<notice>)(?:I am|I['’]m|[Mm]y name is) {_NAME}(?=, (?:an?|the|your) (?:[\w-]+ ){{0,3}}{_ROLE}\b"
        rf"|,? and I(?: have|['’]ve)? {_MADE}\b)"
    ),
    re.compile(rf"\b(?P<notice>)(?i:(?:as|I am|I['’]m) an? {_MACHINE}(?: \w+){{0,2}} {_BUILT} by ){_NAME}"),
    re.compile(
        r"(?P<notice>本(?:报告|文章?|研究)由)(?P<name>[^\n。，,、；：]{1,20}?)(?:自动|协助)?(?:撰写|生成|编写|整理|完成|制作)"
    ),
)
_NEAR = 600  # characters from the beginning and the end of a report: where it is signed
_COMPILED = (
    *((kind, re.compile(pattern, re.IGNORECASE | re.MULTILINE)) for kind, pattern in _PHRASES), ("judge", ADDRESSED),
)  # fmt: skip
_PARTS = re.compile(r"[\s_-]+")


def find_self_identification(markdown: str, names: Iterable[str]) -> tuple[Flag, ...]:
    """Places that may say who wrote `markdown`, ascending, without overlap, code included. Never raises.

    `names`: the study's systems, public names and keys alike. A name of one word counts with a capital only, so that
    `to grok` and `in perplexity` stay unmarked; a name of several words, or with a digit, counts in any case, its parts
    joined by blanks, hyphens or underscores. Names of one character are not looked for.
    """
    found = [*_names(markdown, names)]
    found += [_flag(match, "product") for match in _PRODUCTS.finditer(markdown)]
    found += _makers(markdown)
    for kind, pattern in _COMPILED:
        found += [_flag(match, kind) for match in pattern.finditer(markdown)]
    flags: list[Flag] = []
    for flag in sorted(found, key=lambda flag: (flag.start, -flag.end, KINDS.index(flag.kind))):
        if not flags or flag.start >= flags[-1].end:
            flags.append(flag)
    return tuple(flags)


def _flag(match: re.Match[str], kind: str) -> Flag:
    return Flag(match.start(), match.end(), kind, match[0][:MOST_SHOWN])


def _makers(markdown: str) -> Iterator[Flag]:
    """Names by which a report signs near its beginning or end, whoever they are, and its words around them."""
    last = len(markdown) - _NEAR
    for pattern in _MAKERS:
        for match in pattern.finditer(markdown):
            if match.start() < _NEAR or match.end() > last:
                yield from _signature(markdown, match)


def _signature(markdown: str, match: re.Match[str]) -> Iterator[Flag]:
    for kind, (start, end) in (("assistant", match.span("notice")), ("maker", match.span("name"))):
        words = markdown[start:end].rstrip()
        if words and words != "[system]":  # the mask: that name is decided about
            yield Flag(start, start + len(words), kind, words[:MOST_SHOWN])


def _names(markdown: str, names: Iterable[str]) -> Iterator[Flag]:
    split = {tuple(_PARTS.split(name.strip().lower())) for name in names if len(name.strip()) > 1}
    if not split:
        return
    either = "|".join(
        r"[\s_-]{1,3}".join(re.escape(part) for part in parts)
        for parts in sorted(split, key=lambda parts: (-sum(map(len, parts)), parts))
    )
    for match in re.finditer(rf"(?<![{_WORD}])(?:{either})(?![{_WORD}])", markdown, re.IGNORECASE):
        if not (match[0].isalpha() and match[0].islower()):
            yield _flag(match, "system")
