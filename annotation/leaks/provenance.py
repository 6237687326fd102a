"""What a report says about its own making: reasoning blocks, comments, notices, chat around the report.

Only narrow patterns are found here, because what is found is deleted. A product name in a sentence is content.
"""

import re
import sys
from bisect import bisect_right
from collections.abc import Iterable, Iterator

from annotation.texts.spans import THINKING, Span, code_zones

_LONGEST_CHAT = 600  # characters of a preamble or an offer; anything longer is prose
_LONGEST_NOTICE = 300

_TAG = re.compile(rf"<(?:!--|/?(?:{'|'.join(THINKING)})>)", re.IGNORECASE)
_NOTICE_HINTS = tuple(  # one by one, each after plain letters, for which a text is searched faster; of each a rare sign
    (sign, re.compile(hint))
    for sign, hint in (
        ("A", "AI"),
        ("智", "人工智能"),
        ("模", "大(?:语言)?模型"),
        ("l", "anguage [Mm]odel(?<=[Ll]anguage .{5})"),
        ("r", "rtificial [Ii]nt(?<=[Aa]rtificial .{3})"),
    )
)
_NOTICE_WORDS = re.compile(
    r"(?:由|通过|使用|借助)\s*(?:AI|人工智能|大模型|大语言模型)\s*(?:自动|辅助)?\s*(?:生成|撰写|创作|整理)|AI\s*生成"
    r"|(?:本|此|该)[^。\n]{0,12}(?:由|为)\s*(?:AI|人工智能)[^。\n]{0,8}(?:生成|撰写|创作)"
    r"|\b(?:AI|artificial intelligence)[- ](?:generated|written|assisted)\b"
    r"|\b(?:generated|written|produced|created|compiled|drafted) (?:entirely |automatically |partly )?"
    r"(?:by|with|using) (?:an? |the help of )?(?:AI|artificial intelligence|(?:large )?language model)s?\b",
    re.IGNORECASE,
)
_NOTICE_SUBJECT = re.compile(
    r"^\W*(?:(?:note|disclaimer|notice|注|注意|说明|声明|提示|免责声明)\W*)?"
    r"(?:(?:(?:parts? of )?(?:this|the) (?:report|document|article|text|content|response|summary|answer|page)"
    r"(?: (?:is|was|has been|may be|may have been|might be|contains?|may contain))?|may|is|was"
    r"|content)\b[^.\n]{0,40})?\W*"
    r"(?:(?:本|此|该)?(?:文档|报告|文章|内容|回答|资料)[^。\n]{0,16})?\W*$",
    re.IGNORECASE,
)
_REPORT_WORD = (
    r"(?:report|article|analysis|overview|document|essay|paper|study|summary|review|entry|write-?up|draft|version"
    r"|survey|research|answer|response|findings|guide|briefing)"
)
_PREAMBLE = re.compile(
    r"(?:(?:sure|certainly|of course|absolutely|great|okay|ok|understood|thanks?|thank you|no problem"
    r"|alright)\b[^\n]{0,120}?"
    r"|(?:here(?:['’]s| is| are)|below (?:is|are)|the following is|attached is)\b[^\n]{0,200}?\b"
    + _REPORT_WORD
    + r"s?\b[^\n]*"
    r"|I(?:['’](?:ll|ve|m)| will| have| am)\s+(?:now |also |first |just |going to |happy to |pleased to ){0,3}"
    r"(?:research|creat|writ|prepar|provid|compil|conduct|generat|draft|produc|put |gather|assembl|analy[sz]|complet)"
    r"[^\n]{0,200}?\b" + _REPORT_WORD + r"s?\b[^\n]*"
    r"|let me\b[^\n]{0,200}?\b" + _REPORT_WORD + r"s?\b[^\n]*"
    r"|(?:好的|当然|没问题|明白了|收到)[,，。！!：:\s][^\n]{0,200}"
    r"|(?:我将|我会|我来|让我|下面是|以下是|以下为|这是)[^\n]{0,200}?(?:报告|文章|分析|综述|研究|总结|概述|回答|条目"
    r"|词条)[^\n]*)",
    re.IGNORECASE,
)
_OFFER = re.compile(
    r"(?:would you like (?:me|us) to\b|(?:please )?let (?:me|us) know (?:if|whether|how|which|what)\b"
    r"|(?:do|would) you (?:want|prefer|need) (?:me|us) to\b|shall I\b|should I\b[^\n]{0,120}\?"
    r"|(?:if you(?:['’]d)?(?: would)? (?:like|want|wish|need|prefer)|if (?:needed|desired|helpful"
    r"|useful))\b[^\n]{0,160}?"
    r"\bI(?: can| could| will|['’](?:ll|d)|['’]m happy)\b"
    r"|I(?:['’]m| am|['’]d be| would be) (?:happy|glad) to\b|I can (?:also )?(?:expand|provide|add|elaborate|prepare"
    r"|create)\b"
    r"|feel free to (?:ask|reach|let)\b|just let me know\b|want me to\b|is there anything else\b"
    r"|(?:如需|如果您?需要|如果你需要|若需|如有需要|如您需要|如果您?希望|如果你想|需要我)[^\n]{0,160}?"
    r"(?:请?(?:随时)?告诉我|请?告知|联系我|我可以|吗[？?])|请告诉我|还有什么(?:需要|可以))",
    re.IGNORECASE,
)
_QUOTES = "\"'“”‘’«»「」『』"
_HEADING = re.compile(r"[ \t]{0,3}(?:#{1,6}[ \t]|\*\*[^*\n]{1,100}\*\*[ \t]*(?:\n|$))")
_EMPTY_LINE = re.compile(r"\n[ \t\r]*+\n")
_RULE = re.compile(r"[ \t]*(?:[-*_][ \t]*){3,}$")


def find_provenance(markdown: str) -> tuple[Span, ...]:
    """Deletable traces of how `markdown` was made, ascending, without overlap, kind `provenance`.

    Whole reasoning blocks and HTML comments outside code, lines that are nothing but an AI notice, a preamble in the
    first block, an offer in the last. A preamble or an offer of over 600 characters is prose and stays, and so does
    all of it where deleting would leave no text. Never raises; empty for an empty text.
    """
    found = _ascending([*_tagged(markdown), *_notices(markdown)])
    code = sorted(code_zones(markdown)) if found else []
    found = [span for span in found if not _within(code, span.start)]
    chat = _ascending(_chat(markdown, found))
    everything = _ascending([*found, *chat])
    for choice in (everything, found):
        if _leaves_text(markdown, choice):
            return tuple(choice)
    return ()


def _within(zones: list[tuple[int, int]], place: int) -> bool:
    before = bisect_right(zones, (place, sys.maxsize)) - 1
    return before >= 0 and place < zones[before][1]


def _tagged(text: str) -> Iterator[Span]:
    """Reasoning blocks and comments. An opener without its end is left alone: it could swallow the whole report."""
    if not _TAG.search(text):
        return
    lowered = text.lower()
    if len(lowered) != len(text):  # a few capitals grow when lowered; offsets would slip
        lowered = text
    for opener, closer in [(f"<{name}>", f"</{name}>") for name in THINKING] + [("<!--", "-->")]:
        if opener not in lowered:
            if closer != "-->" and closer in lowered:  # only the end survived: the block began with the text
                end = lowered.find(closer) + len(closer)
                yield Span(0, end, "provenance")
            continue
        start = lowered.find(opener)
        while start >= 0:
            end = lowered.find(closer, start + len(opener))
            if end < 0:
                break
            yield Span(start, end + len(closer), "provenance")
            start = lowered.find(opener, end + len(closer))


def _notices(text: str) -> Iterator[Span]:
    """Lines that say only that a machine wrote the text."""
    done = 0
    hints = [hint for sign, hint in _NOTICE_HINTS if sign in text]
    for first, last in sorted(found.span() for hint in hints for found in hint.finditer(text)):
        if first < done:
            continue
        start = text.rfind("\n", max(0, first - _LONGEST_NOTICE), first) + 1
        end = text.find("\n", last, last + _LONGEST_NOTICE)
        end = len(text) if end < 0 else end
        if end - start > _LONGEST_NOTICE:
            continue
        done = end
        notice = _NOTICE_WORDS.search(text, start, end)
        if not notice:
            continue
        before, after = text[start : notice.start()], text[notice.end() : end]
        if len(re.findall(r"\w", after)) <= 30 and _NOTICE_SUBJECT.match(before) and '"' not in before + after:
            yield Span(start, end, "provenance")


def _chat(text: str, found: list[Span]) -> Iterator[Span]:
    """A preamble before the report and an offer after it."""
    start, end = _inner(text, found)
    first_end = _block_end(text, start, end)
    block = text[start:first_end]
    preamble = _PREAMBLE.match(block.lstrip("*_> "))
    if preamble and len(block) <= _LONGEST_CHAT and not block.startswith("#"):
        following = text[first_end:end].lstrip()
        heading_follows = bool(_HEADING.match(following)) or bool(_RULE.match(following.split("\n", 1)[0]))
        if "\n" in block.strip() and _HEADING.match(block.split("\n", 1)[1]):
            first_end = start + len(block.split("\n", 1)[0])
            yield Span(start, first_end, "provenance")
        elif block.rstrip("*_ \n").endswith((":", "：")) or heading_follows:
            yield Span(start, first_end, "provenance")
    last_start = _block_start(text, first_end, end)
    block = text[last_start:end]
    offer = _OFFER.match(block.lstrip("*_> -—\U0001f449✨"))
    if offer and len(block) <= _LONGEST_CHAT and block[0] not in _QUOTES and last_start > first_end:
        rule_start = _block_start(text, first_end, last_start)
        if _RULE.fullmatch(text[rule_start:last_start].strip()):
            last_start = rule_start
        yield Span(last_start, end, "provenance")
    elif len(block) > 0 and (tail := _closing_offer(block)) is not None:
        yield Span(last_start + tail, end, "provenance")


def _closing_offer(block: str) -> int | None:
    """Where an offer begins that is the last line of a longer block, or None."""
    line_start = block.rfind("\n") + 1
    line = block[line_start:]
    if line_start and len(line) <= _LONGEST_CHAT and _OFFER.match(line.lstrip("*_> ")):
        return line_start
    return None


def _inner(text: str, found: list[Span]) -> tuple[int, int]:
    """The text without blanks and spans of `found` at its two ends."""
    start, end = 0, len(text)
    for span in found:
        if not text[start : span.start].strip("\ufeff \t\r\n"):
            start = max(start, span.end)
    for span in reversed(found):
        if not text[span.end : end].strip():
            end = min(end, span.start)
    if start >= end:
        return 0, 0
    inside = text[start:end]
    start += len(inside) - len(inside.lstrip("\ufeff \t\r\n"))
    return min(start, end), max(start, end - (len(inside) - len(inside.rstrip())))


def _block_end(text: str, start: int, end: int) -> int:
    blank = _EMPTY_LINE.search(text, start, end)
    return blank.start() if blank else end


def _block_start(text: str, start: int, end: int) -> int:
    while end > start and text[end - 1].isspace():
        end -= 1
    line_start = end
    while True:
        line_start = text.rfind("\n", start, line_start) + 1
        if line_start <= start:
            return max(line_start, start) if text[start : start + 1].strip() else start + _blanks(text, start)
        if not text[text.rfind("\n", start, line_start - 1) + 1 : line_start - 1].strip():
            return line_start
        line_start -= 1


def _blanks(text: str, start: int) -> int:
    return len(text[start:]) - len(text[start:].lstrip())


def _ascending(spans: Iterable[Span]) -> list[Span]:
    result: list[Span] = []
    for span in sorted(spans, key=lambda s: (s.start, -s.end)):
        if not result or span.start >= result[-1].end:
            result.append(span)
        elif span.end > result[-1].end:
            result[-1] = Span(result[-1].start, span.end, "provenance")
    return result


def _leaves_text(text: str, spans: list[Span]) -> bool:
    done = 0
    for span in spans:
        if text[done : span.start].strip():
            return True
        done = span.end
    return bool(text[done:].strip())
