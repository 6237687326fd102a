"""A study in Chinese and one in Arabic: protocol, criteria, topics and reports; and pseudo-languages of the interface."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from app.texts import SHIPPED, Text, read_catalogue
from tests.small_study import PROTOCOL

PSEUDO, FROM_RIGHT = "en-XA", "ar-XB"  # catalogues that only tests have
CHINESE = """
format = "calipers-protocol/1"
name = "chinese"
title = "深度研究报告对比研究"
language = "zh"
task_type = "pairwise_choice"
task = "请通读两份报告，逐条判断哪一份更好。"
guidance = "请**完整阅读**两份报告，再作答。"
rationale = {required = true, min_length = 10}
[answers]
allow_tie = true
[study]
topic_once = false
retest_share = 0.0
blind_until = "open"
consent = "您可以随时**停止**参与。答案将匿名发布。"
[[criterion]]
id = "evidence"
label = "证据质量"
text = "哪一份报告的论断有更充分的证据支持？"
category = "内容"
[[criterion]]
id = "structure"
label = "结构清晰"
text = "哪一份报告的结构更清晰、更便于查找？"
category = "写作"
"""
ARABIC = """
format = "calipers-protocol/1"
name = "arabic"
title = "دراسة مقارنة التقارير البحثية"
language = "ar"
task_type = "pairwise_choice"
task = "اقرأ التقريرين كاملين، ثم احكم أيهما أفضل في كل معيار."
guidance = "اقرأ **النصين كاملين** قبل الإجابة."
rationale = {required = true, min_length = 10}
[answers]
allow_tie = true
[study]
topic_once = false
retest_share = 0.0
blind_until = "open"
[[criterion]]
id = "evidence"
label = "جودة الأدلة"
text = "أي التقريرين يدعم أقواله بأدلة أقوى؟"
category = "المحتوى"
[[criterion]]
id = "structure"
label = "وضوح البنية"
text = "أي التقريرين أوضح بنية وأسهل بحثًا؟"
category = "الكتابة"
"""
CHINESE_TOPICS = {"tides": "潮汐能发电", "bread": "面包发酵", "noise": "城市噪声"}
ARABIC_TOPICS = {"tides": "طاقة المد والجزر", "bread": "تخمير الخبز", "noise": "ضوضاء المدن"}
SYSTEMS = ("alpha", "beta", "gamma")
# a claim for each section; systems differ in their order and in what they add
CHINESE_SECTIONS = (
    ("## 背景", "{topic}的研究始于上世纪，主要依据长期观测资料。学界普遍认为，其影响因素包括气候、地形与人类活动。"),
    ("## 证据", "三项对照试验显示，{topic}的效果在统计上显著（p < 0.05），但样本量较小，结论仍需谨慎对待。"),
    ("## 结论", "总体而言，{topic}具有可观的应用前景；**成本**是目前最大的障碍，政策支持可以降低风险。"),
)
ARABIC_SECTIONS = (
    ("## الخلفية", "بدأت دراسة {topic} في القرن الماضي، واعتمدت على بيانات رصد طويلة الأمد، ويرى الباحثون أن المناخ عامل مهم."),
    ("## الأدلة", "أظهرت 3 تجارب أن أثر {topic} واضح إحصائيًا (p < 0.05)، غير أن حجم العينة صغير."),
    ("## الخلاصة", "إجمالًا، تبدو آفاق {topic} واعدة؛ غير أن **التكلفة** هي العقبة الكبرى اليوم."),
)  # fmt: skip
TABLES = {
    "zh": "| 年份 | 装机容量 |\n|---|---|\n| 2020 | 12 兆瓦 |\n| 2024 | 31 兆瓦 |\n\n> 引文：数据来自公开报告。\n\n- 第一点\n- 第二点",
    "ar": "| السنة | القدرة |\n|---|---|\n| 2020 | 12 |\n| 2024 | 31 |\n\n> اقتباس: البيانات منشورة.\n\n- النقطة الأولى\n- النقطة الثانية",
}  # fmt: skip


def write_reports(root: Path, language: str, length: int = 4, systems: Sequence[str] = SYSTEMS) -> Path:
    """A tree for `read_folder`: three systems, three topics with titles and prompts in this language."""
    topics, sections = {"zh": (CHINESE_TOPICS, CHINESE_SECTIONS), "ar": (ARABIC_TOPICS, ARABIC_SECTIONS)}[language]
    root.mkdir(parents=True, exist_ok=True)
    lines = [f"{key},{title},{title},{language}" for key, title in topics.items()]
    (root / "topics.csv").write_text("\n".join(["topic,title,prompt,language", *lines]) + "\n", encoding="utf-8")
    for turn, system in enumerate(systems):
        (root / system).mkdir(exist_ok=True)
        for key, title in topics.items():
            order = sections[turn:] + sections[:turn]
            body = "\n\n".join(f"{head}\n\n{text.format(topic=title) * length}" for head, text in order)
            (root / system / f"{key}.md").write_text(f"# {title}\n\n{body}\n\n{TABLES[language]}\n", encoding="utf-8")
    return root


def write_pseudo(folder: Path, *languages: str) -> Path:
    """Catalogues in which every text stands in ⟦ ⟧, so that whatever does not is no text of the catalogue."""
    english = read_catalogue(SHIPPED / "en.toml")
    for language in languages:
        lines = (f'"{key}" = {_wrapped(text)}' for key, text in english.items())
        (folder / f"{language}.toml").write_text(_nested(lines), encoding="utf-8")
    return folder


def _nested(lines: Iterable[str]) -> str:
    tables: dict[str, list[str]] = {}
    for line in lines:
        key, _, text = line.partition(" = ")
        section, _, name = key.strip('"').rpartition(".")
        tables.setdefault(section, []).append(f"{name} = {text}")
    # a table before the tables within it
    return "".join(f"[{section}]\n" + "\n".join(tables[section]) + "\n" for section in sorted(tables))


def _wrapped(text: Text) -> str:
    if isinstance(text, Mapping):
        return "{ " + ", ".join(f"{form} = {_wrapped(words)}" for form, words in text.items()) + " }"
    return json.dumps(f"⟦{text}⟧", ensure_ascii=False)


def pseudo_protocol(language: str, protocol: str = PROTOCOL) -> str:
    """The small study's protocol in a pseudo-language; what the study itself says holds no Latin letter."""
    told = {
        "A small study": "Μελέτη", "Which report is better?": "Ποια;", "Read **both**.": "Διάβασε.", "Clear": "Σαφής",
        "Which is clearer?": "Ποια είναι σαφής;", "Writing": "Γραφή", "Deep": "Βαθύ", "Which goes deeper?": "Ποια;",
        "Content": "Ύλη",
    }  # fmt: skip
    for english, greek in told.items():
        protocol = protocol.replace(f'"{english}"', f'"{greek}"')
    return protocol.replace('name = "small"', f'name = "small"\nlanguage = "{language}"')


def unwrapped(words: str) -> str:
    """What is left of a text of the page once the catalogue's words are taken out."""
    while (inner := re.sub(r"⟦[^⟦⟧]*⟧", "", words)) != words:
        words = inner
    return words.strip()
