"""Lines that announce a list of sources, in the languages reports are written in."""

import html
import re
from functools import lru_cache

# Patterns for the word in front of a source within a sentence or under a figure, in other languages than English.
LABELS_ABROAD = (
    r"quellen?|fuentes?|fontes?|fonti|bron(?:nen)?|källa|källor|źródł[oa]|zdroje?|kaynak|источники?|来源|來源|出处"
    r"|出典|资料来源|資料來源|数据来源|출처"
)
POINTERS_ABROAD = r"vgl\.|siehe(?: auch)?|voir|véase|cfr?\.?|vedi|zie|см\."

# What a heading may consist of. A heading counts when every word is known and at least one names a list of sources;
# `Sources of funding` and `Cultural references` hold a word that is not here.
_NAMES_ = """
    reference references citation citations source sources endnotes endnote footnotes footnote works literature urls
    bibliographical refs referenced sourced
"""
_WEAK_NAMES_ = """
    bibliography notes note reading links link resources webography urls url footnotes
"""
_COMPANIONS_ = """
    and & / + the a of in this for to cited consulted used utilized utilised list lists key main selected select
    primary secondary additional full complete other others web online external internet further supporting digital
    numbered inline report article document answer research information data materials material documents websites
    websites: pages articles publications academic scholarly general all my our source-list details index section
    appendix with from by scientific news official annotated related important major core relevant sample
    reference-list accessed inventory ledger register registry log catalogue catalog publication dates
    read but not unused
"""
_FOREIGN_ = """
    参考文献 参考资料 参考来源 参考 引用 引文 引用来源 引用文献 关键引用 主要引用 资料来源 信息来源 数据来源 来源
    文献 参考链接 相关链接 主要参考文献 参考书目 引用列表 参考文献列表 引文列表 来源列表 脚注 尾注 文献来源 引用资料
    主要参考资料 参考资料来源 信息来源与参考 参考与引用 參考文獻 參考資料 參考來源 資料來源 引用來源 引用文獻
    主要參考文獻 關鍵引用 註腳 參考書目 出典 参照 参考サイト 参照文献 出典一覧 脚注一覧 참고문헌 참고자료 출처 인용
    주석 quellen quellenverzeichnis literatur literaturverzeichnis einzelnachweise belege nachweise referenzen
    fußnoten références référence notes-et-références bibliographie sources-citées œuvres-citées referencias fuentes
    bibliografía citas referências fontes bibliografia riferimenti fonti citazioni referenties bronnen literatuur
    literatuurlijst voetnoten referenser källor källförteckning referanser kilder litteratur kildeliste lähteet
    źródła przypisy zdroje reference kaynakça
    quellenangaben quellenangabe quellennachweis quellennachweise literaturangaben quellenliste literaturliste
    fonte fuente citations bronnenlijst bronvermelding referentielijst referenslista litteraturlista lähdeluettelo
    źródeł źródło piśmiennictwo prameny источников литературы источник مراجع مصادر والمراجع والمصادر 인용문헌 引用元
    참고 인용 referanslar referans
    referințe surse reference-uri kaynaklar daftar-pustaka referensi источники литература примечания
    ссылки список-литературы использованные-источники джерела джерел література المراجع المصادر tài-liệu-tham-khảo संदर्भ
    tham-khảo
"""
_WEAK_FOREIGN_ = """
    延伸阅读 注释 注釋 相关链接 外部链接 扩展阅读 bibliographie bibliografía bibliografia literatur literatura
    литература примечания ссылки weiterführende-literatur weblinks note 参考书目 參考書目 来源 參照 参照
"""
_FOREIGN_COMPANIONS_ = """
    und der die das des verwendete verwendeter zitierte weitere genutzte wichtige wichtigste ausgewählte online
    et de la le les du en citées cités citée consultées consultés utilisées utilisés principales complètes liste
    bibliographiques documentaires web y e del los las con citadas consultadas utilizadas principais principales
    bibliográficas bibliográficos lista utilizados consultados dos das da do i ed della dei delle di bibliografici
    bibliografiche citate consultate principali oraz wykorzystane wykorzystana lista a použité použitá seznam
    literatury en van gebruikte geraadpleegde och og ja
    ve si dan використаних список использованных использованной использованные
    использованная цитируемой и основные та перелік قائمة و 및 자료 문헌 목록 주요 と 主な 一覧 internet
"""
_NAMES, _WEAK_NAMES, _COMPANIONS, _FOREIGN, _WEAK_FOREIGN, _FOREIGN_COMPANIONS = (
    frozenset(words.split())
    for words in (_NAMES_, _WEAK_NAMES_, _COMPANIONS_, _FOREIGN_, _WEAK_FOREIGN_, _FOREIGN_COMPANIONS_)
)
_STRONG_FOREIGN = _FOREIGN - _WEAK_FOREIGN
_CJK_COMPOUND = re.compile(  # 参考网站, 引用文献一覧: a word for citing and words for what is listed
    r"(?:本文|本报告|主要|主な|关键|關鍵|重要|部分|全部)?(?:参考|參考|参照|引用|引文|文献|文獻|出典|信息来源|資訊來源)"
    r"(?:文献|文獻|资料|資料|来源|來源|网站|網站|网址|网页|书目|書目|链接|連結|サイト|元|列表|清单|清單|目录|目錄|一覧|リスト|信息){1,2}"
)
_SUBJECTS = frozenset(("data", "information", "material", "materials", "primary", "secondary", "news", "official"))
_HINT = re.compile(
    r"refer|sourc|cit|biblio|works|notes?\b|reading|links?\b|urls?\b|resource|webogr|litera|"
    r"参|參|引|来源|資料|资料|來源|文献|文獻|出典|脚注|註|注释|尾注|延伸|链接|扩展|참고|출처|인용|주석|quelle"
    r"|nachweis|beleg|fußnot|référ|"
    r"fuente|bibliograf|fonte|fonti|riferim|bronnen|voetnot|källor|källf|kilder|lähteet|źród|przyp|zdroj|kaynak"
    r"|daftar|lähd|bronverm|piśmien|prameny|surse|مراجع|مصادر|"
    r"источник|литерат|примеч|ссылк|джерел|літерат|المراجع|المصادر|tham|संदर्भ",
)
_SOURCES = re.compile(rf"\b(?:sources?|references?|citations?)\b|{LABELS_ABROAD}|ソース|소스|参考|引用", re.IGNORECASE)
_LEAD = re.compile(
    r"(?:[#>\s*_\-•·–—:：【\[(（]|[\u2600-\u27bf\U0001f300-\U0001faff\ufe0f])*+"
    r"(?:(?:appendix|annex|section|附录)\s*[a-z0-9]*\s*[:：.]\s*|\(?[0-9]{1,3}(?:\\?\.[0-9]{1,3})*\\?[.)、．:]?\s+"
    r"|[ivxlc]{1,6}\\?[.)]\s+"
    r"|[a-z]\\?[.)]\s+|[(（]?[一二三四五六七八九十]{1,3}[)）、.．]\s*"
    r"|第[一二三四五六七八九十0-9]{1,3}[章节節部分]+\s*)?[*_\s【\[]*",
    re.IGNORECASE,
)
_TAG = re.compile(r"</?[a-z][^<>\n]{0,80}>", re.IGNORECASE)
_TAIL = re.compile(r"[\s#*_:：.\]】)）]*$")
_MARK_TAIL = re.compile(r"(?<=[:*：])\W{0,6}[0-9]{1,3}\s*$")
_PARENTHESIS = re.compile(r"\s*[(（][^()（）]{0,40}[)）][\s#*_:：.]*$")


@lru_cache(maxsize=512)  # a text is read again until nothing more goes
def announces_sources(line: str) -> str | None:
    """`strong` (References, Works cited …), `medium` (Sources), `weak` (Notes, Bibliography …) or None.

    `line` is one line, heading signs and numbering included.
    """
    if len(line) > 120 or not _HINT.search(line.lower()):
        return None
    words = _words(line)
    if not words or len(words) > 9:
        return None
    joined = "-".join(words)
    if joined in _FOREIGN or joined in _WEAK_FOREIGN:
        return "weak" if joined in _WEAK_FOREIGN else "strong"
    if foreign := _foreign_strength(words):
        return foreign
    names = [word for word in words if word in _NAMES]
    weak = [word for word in words if word in _WEAK_NAMES]
    if not names and not weak:
        return None
    if not all(word in _NAMES or word in _WEAK_NAMES or word in _COMPANIONS for word in words):
        return None
    if names == ["works"] and "cited" not in words and "consulted" not in words and "referenced" not in words:
        return None
    if names == ["literature"] and "cited" not in words:
        return "weak"
    if not names:
        return "weak"
    if all(word.startswith(("source", "footnote")) for word in names) and "cited" not in words:
        return "weak" if _SUBJECTS.intersection(words) else "medium"
    return "strong"


def hints_at_sources(line: str) -> bool:
    """Does a short `line` without a full stop name sources at all? Weaker than `announces_sources`."""
    return len(line) <= 80 and bool(_SOURCES.search(line)) and not line.rstrip().endswith((".", "。", "!", "?"))


def _foreign_strength(words: list[str]) -> str | None:
    """`Références bibliographiques`, `参考文献・出典`: all words known, at least one of them a foreign name."""
    strong = [word for word in words if word in _STRONG_FOREIGN or _CJK_COMPOUND.fullmatch(word)]
    weak = [word for word in words if word in _WEAK_FOREIGN]
    known = (_FOREIGN, _WEAK_FOREIGN, _FOREIGN_COMPANIONS, _NAMES, _WEAK_NAMES)
    if not all(_CJK_COMPOUND.fullmatch(word) or any(word in heading for heading in known) for word in words):
        return None
    if strong or weak:
        return "strong" if strong else "weak"
    abroad = any(word in _FOREIGN_COMPANIONS - _COMPANIONS for word in words)
    return "medium" if abroad and any(word.startswith(("source", "citation")) for word in words) else None


def _words(line: str) -> list[str]:
    line = html.unescape(line) if "&" in line else line
    line = _TAG.sub("", line) if "<" in line else line
    if "](" in line or "http" in line:
        return []
    line = _MARK_TAIL.sub("", line.replace("\\", "").replace("\u200b", ""))
    line = _TAIL.sub("", _PARENTHESIS.sub("", line))
    if lead := _LEAD.match(line):
        line = line[lead.end() :]
    return [
        word
        for word in re.split(r"[\s,、/&・／*_]+|(?<=[\u4e00-\u9fff])[与和及與](?=[\u4e00-\u9fff])", line.lower())
        if word
    ]
