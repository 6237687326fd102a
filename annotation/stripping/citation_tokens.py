"""Marks that are citations whatever surrounds them: tool tokens, lenticular brackets, footnotes, named sources."""

import re
from collections.abc import Iterator

from annotation.source_lists.reference_headings import LABELS_ABROAD
from annotation.texts.spans import Span

_LETTER_FIRST = r"(?=[^\W\d_])"  # most brackets hold a number, and forty words are slow to try
_SOURCE = (
    _LETTER_FIRST
    + r"(?:sources?|refs?|references?|citations?|cites?|cited|long_context|context|docs?|documents?|web(?:_?page"
    r"|_?search)?"
    r"|search(?:_?results?)?|files?|images?|figures? from|videos?|posts?|pages?|news|memory|attached_(?:file|image)s?"
    r"|snippets?"
    r"|chunks?|passages?|x_posts?|tool|retrieved|kb|来源|來源|引用|参考|參考|文献|出处|资料|资料来源|网页|图片|文件"
    r"|搜索结果)"
)
_NAMED = (
    _LETTER_FIRST
    + r"(?:sources?|refs?|references?|citations?|cites?|cited|long_context|docs?|documents?|web_?pages?|files?|images?"
    r"|来源|來源|引用|参考|參考|文献|出处|资料来源|图片|文件)"
)
_LABEL = rf"(?:sources?|{LABELS_ABROAD})"
_IDENTIFIER = (  # what a retriever calls its documents: `source_id:57073447242`
    r"(?:source|doc|document|chunk|citation|passage|snippet)_ids?[ ]?[:=][ ]?"
    r"[\"']?(?=[\w-]{0,40}[0-9])\w[\w-]{0,60}[\"']?"
    r"(?:,[ ]?(?=[\w-]{0,40}[0-9])\w[\w-]{0,60}){0,20}+"
)
_N = "[0-9]{1,4}"
_TURN = r"turn[0-9]{1,3}[a-z_]{2,20}[0-9]{1,4}"
_FILE = r"[^\[\]\n\"“”]{1,120}\.(?:md|pdf|txt|docx?|csv|tsv|xlsx?|pptx?|html?|json|jsonl|png|jpe?g|epub|rtf|mp[34])"
_ADDRESS = r"\((?:[^\s()]|\([^\s()]{0,300}\)){0,2000}+\)"

# (a string without which the pattern cannot match, the pattern, the kind); the hint keeps plain reports fast, and so
# does a first character: a backslash in front of it is a group, and goes with the match
_BRACKET = r"\[(?:(?<=(\\)\[))?"
_TAG = r"(?:\\<|<)"  # with a backslash, as a document that shows its tags is written
_ARGUMENT = _TAG + r"argument name=[^>\n]{0,120}>[^<\n]{0,200}(?:</argument\\?>)?"
_PATTERNS: tuple[tuple[str, re.Pattern[str], str], ...] = tuple(
    (hint, re.compile(pattern, flags), kind)
    for hint, pattern, flags, kind in (
        (
            "contentReference[",
            r":?contentReference\[oaicite:[^\]\n]{0,40}\](?:\{?index=[0-9]{1,4}\}?|\{[^}\n]{0,80}\})?",
            0,
            "tool_token",
        ),
        ("oai", rf"\[\\?oai_?cit[^\]\n]{{0,300}}\](?:{_ADDRESS})?"
            rf"|:?oaicite:[0-9]+(?:\{{[^}}\n]{{0,40}}\}})?", 0, "tool_token"),
        ("cite", r"\[cite_?(?:start|end)\]|\[cite:[^\]\n]{0,120}\]", re.I, "tool_token"),
        ("span_", r"\[span_[0-9]+\](?:\([^()\s]{0,500}\b(?:start|end)_span\))?", 0, "tool_token"),
        ("grok_", r"\[[^\]\n]{0,80}\]\(grok_[^\n]{0,1000}?\}\)", 0, "tool_token"),
        ("<argument", rf"{_ARGUMENT}(?:\s{{0,3}}{_ARGUMENT}){{0,9}}(?:\s{{0,3}}\\?</grok:\w+\\?>)?", 0, "tool_token"),
        ("<", _TAG + r"/?(?:grok[:\-_]\w+|reference|argument|citation|citations|source|oai[:\-]\w+|co"
            r"|cite)(?=[\s>/\\])[^<>\n]{0,400}>", re.I, "tool_token"),
        ("antml:", r"[{<＜]/?antml:\w+[^{}<>＜＞\n]{0,400}[}>＞]", 0, "tool_token"),
        ("@ref", r"\\?\[[0-9]{1,3}(?:[,-][0-9]{1,3}){0,20}\\?\]\(@ref\)", 0, "tool_token"),
        ("source_group_", r"\[{0,2}\bsource_group_\w{1,40}\]{0,2}", 0, "tool_token"),
        ("_id", rf"[ \t]?\b{_IDENTIFIER}(?=[ \t]*(?:[.;,。，；)\]|]|\n|$))", re.I, "tool_token"),
        ("<ref", r"<ref(?:\s[^<>\n/]{0,200})?/>|<ref(?:\s[^<>\n/]{0,200})?>[^<\n]{0,600}</ref>", re.I, "tool_token"),
        ("index=", rf"(?:{_TAG}|\\\(|\()\s?cite\s+index=[\"“'][^\"”'\n]{{0,120}}[\"”']\s?\\?>", 0, "tool_token"),
        ("{", r"\{\{(?:cite|sfn|citation|efn)[^{}\n]{0,600}\}\}|~?\\(?:no|paren|auto|foot|super|text|full|smart)?"
            r"cite(?:p|t|alp|author|year)?s?\*?(?:\[[^\]\n]{0,60}\]){0,2}\{[^{}\n]{1,200}\}", re.I, "tool_token"),
        ("[", rf"\[{_SOURCE}[:_]\s?{_N}(?:\s?[,;–-]\s?(?:{_SOURCE}[:_])?\s?{_N}){{0,20}}\]", re.I, "tool_token"),
        ("[", rf"\[{_SOURCE}_[0-9]{{1,4}}(?:\s?[,;–-]\s?(?:{_SOURCE}_)?[0-9]{{1,4}}){{0,20}}\]", re.I, "tool_token"),
        ("@", r"\[(?:(?:see|cf\.|e\.g\.,?)(?: also)? )?(?:-?@[\w:.#$%&+?<>~/-]{1,80}[^\[\]@\n]{0,60};?\s?){1,9}\]", 0,
            "tool_token"),
        ("【", r"【\s?\\?\[?\^?(?:[0-9]{1,3}(?=\s?[†‡:,，、;；】\]\-–—^L])|" + _TURN
            + r"|source|(?:来源|citation|ref|web)[: ]?[0-9]"
            r"|†)[^】【\n]{0,40}?】", 0, "lenticular"),
        ("【", r"【[0-9]{1,3}†(?:source|[A-Z]?[0-9:\-–]{0,8}(?:L?[0-9]{1,6}(?:-L?[0-9]{1,6})?)?)", 0, "lenticular"),
        ("†", r"\[[0-9]{1,3}(?::[0-9]{1,3})?†[^\]\n]{0,40}\]", 0, "lenticular"),
        ("[^", _BRACKET + r"\^(?:[0-9]{1,3}(?:[_-][0-9]{1,3})?\^?|[A-Za-z][\w-]{0,39})\\?\](?!:)", 0, "footnote"),
        (
            "[",
            rf"{_BRACKET}(?:see )?{_SOURCE}\s?(?:\bno\b)?[.:：#]?\s?{_N}(?:\s?[,;，、–-]\s?{_N}){{0,30}}\\?\]",
            re.I,
            "named",
        ),
        ("[", rf"\[{_NAMED}(?:_ids?)?\s?[:：]\s?[^\[\]\n]{{1,200}}+\]", re.I, "named"),
        ("(", r"\((?:see )?(?:sources?|refs?|references?|citations?)\.?\s?[0-9]{1,3}"
            r"(?:\s?(?:[,;–-]|and|&)\s?[0-9]{1,3}){0,20}\)", re.I, "named"),
        (":", rf"\((?:data )?{_LABEL}[ ]?:[ ]?+(?!see\b|un|none\b)[^()\n:?!]{{2,120}}+\)", re.I, "named"),
        ("：", rf"[(（]{_LABEL}\s?：\s?[^()（）\n。]{{2,60}}+[)）]", re.I, "named"),
        ("^[", r"\^\[(?=[^\[\]\n]{0,300}(?:\b(?:1[5-9]|20)[0-9]{2}\b|https?:|\bpp?\.))"
            r"[^\[\]\n]{1,300}+\]", 0, "footnote"),
        ("[", rf"\[(?=[^\[\]\n]{{1,210}}+\](?!\()){_FILE}(?:\s?[,，:：;][^\[\]\n]{{0,80}})?\](?!\()", re.I, "named"),
        ("PM", r"[(\[](?:PMC?ID|PMC)s?[:：]?\s?(?:PMC)?[0-9]{4,9}"
            r"(?:\s?[,;]\s?(?:(?:PMC?ID|PMC)s?[:：]?\s?)?(?:PMC)?[0-9]{4,9}){0,30}+(?:\)|\](?!\())", 0, "named"),
        ("[", r"\[(?:news|journal|web|blog|press|article|report|paper|website)\s"
            r"\((?:19|20)[0-9]{2}-[0-9]{2}-[0-9]{2}\)\](?!\()", re.I, "named"),
        ("《", r"\[[《\"“][^\[\]\n]{1,150}[》\"”],?\s?(?:第|p\.|page|chunk)[^\[\]\n]{0,30}\]", re.I, "named"),
    )
)  # fmt: skip
_SIGNS = {sign for hint, _, _ in _PATTERNS for sign in hint if sign.isascii() and not sign.isalnum()}
_TURNS = re.compile(rf"{_TURN}(?:[ \t,]{{0,2}}{_TURN}){{0,20}}+(?:L[0-9]+(?:-L?[0-9]+)?)?")
_TURN_LEAD = re.compile(r"(?:filecite|cite|navlist)$")
_PRIVATE_CITATION = re.compile(r"\ue200[^\ue200\ue201\n]{0,400}+\ue201")
_PRIVATE_USE = re.compile(r"[\ue000-\uf8ff]+")
_GROK_BLOCK = re.compile(rf"{_TAG}grok:render(?:[^<]|<(?!/?grok:render)){{0,2000}}</grok:render\\?>")


def find_tokens(text: str, private: bool) -> Iterator[Span]:
    """Every such mark in `text`, pattern by pattern (not in order of place). Text inside paired tags stays.

    `private`: whether there may be characters of private use.
    """
    blocks = _GROK_BLOCK.finditer(text) if "<grok:render" in text else ()
    yield from (Span(*match.span(), "tool_token") for match in blocks)
    yield from (Span(*match.span(), "tool_token") for match in (_PRIVATE_CITATION.finditer(text) if private else ()))
    missing = {sign for sign in _SIGNS if sign not in text}  # one sign is found far faster than a word
    for hint, pattern, kind in _PATTERNS:
        if missing.isdisjoint(hint) and hint in text:
            for match in pattern.finditer(text):
                yield Span(match.start() - bool(match.lastindex), match.end(), kind)
    for match in _TURNS.finditer(text):
        lead = _TURN_LEAD.search(text, max(0, match.start() - 12), match.start())
        if lead or not text[match.start() - 1 : match.start()].isalnum():
            yield Span(lead.start() if lead else match.start(), match.end(), "tool_token")
    for match in _PRIVATE_USE.finditer(text) if private else ():
        yield Span(match.start(), match.end(), "tool_token")
