"""The page: one file that fetches nothing and runs nothing, whatever things are called and whatever is missing."""

from __future__ import annotations

import base64
import re
from collections import Counter
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from calibration.calibrate import calibrate
from calibration.remarks import undefined
from calibration.results import CalibrationSettings
from exports.bibliography import entries
from exports.cells import DASH
from exports.page import TITLE, methods_html, report_page, sources_of
from exports.tables import agreement_table
from exports.words.sentences import opening
from tests.calibration.studies import made_pairs, made_ratings
from tests.exports.hostile_page import HOSTILE, hostile_report, page_of, parts_of, plain_report
from tests.exports.toy import NAN, toy_report
from tests.exports.toy_choice import toy_choice

TAGS = {
    "html", "head", "meta", "title", "style", "body", "div", "header", "h1", "h2", "h3", "p", "ul", "li", "main",
    "details", "summary", "figure", "figcaption", "img", "table", "thead", "tbody", "tr", "th", "td", "span", "dl",
    "dt", "dd", "code", "strong", "em",
}  # fmt: skip
FEW = CalibrationSettings(resamples=20, per_criterion=True)


class Read(HTMLParser):
    """Tags with their attributes, and text, as a browser would find them."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if data.strip():
            within = self.open[-2:] == ["summary", "h2"]
            self.texts.append(("summary h2" if within else self.open[-1] if self.open else "", data.strip()))

    @property
    def folded(self) -> list[str]:
        """The headings of what stands behind the one page."""
        return [text for tag, text in self.texts if tag == "summary h2"]

    def all(self, name: str) -> list[str]:
        return [str(attrs[name]) for _, attrs in self.found if name in attrs]


@pytest.fixture(scope="module")
def reports():
    return {
        "hostile": hostile_report(),
        "plain": plain_report(),
        "chosen": toy_choice(),
        "ratings": calibrate(made_ratings(), FEW),
        "without people": calibrate(made_pairs().query("rater_kind == 'judge'"), FEW),
        "one cluster": calibrate(made_pairs(1, 1), FEW),
        "nothing known": _unknown(calibrate(made_pairs(), FEW)),
    }


@pytest.fixture(scope="module")
def page(reports):
    """The page of a report by its name, as a browser finds it; tables and figures are made once."""
    parts = cache(lambda name: parts_of(reports[name]))
    return cache(lambda name, methods="": Read(report_page(reports[name], *parts(name), methods)))


def _unknown(report):
    why = (undefined("no_items", "nothing"),)
    bare = [replace(one, value=NAN, low=NAN, high=NAN, method="none", remarks=why) for one in report.estimates]
    return replace(report, estimates=tuple(bare), choice=None, biases=(), card=())


NAMES = (
    "hostile", "plain", "chosen", "ratings", "without people", "one cluster", "nothing known",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_page_fetches_nothing_runs_nothing_and_every_address_is_within(page, name):
    page = page(name)
    assert page.open == []
    assert {tag for tag, _ in page.found} <= TAGS
    attributes = {attribute for _, attrs in page.found for attribute in attrs}
    assert not [one for one in attributes if one.startswith("on") or one in ("style", "srcset", "action", "background")]
    assert all(one.startswith("data:image/svg+xml;base64,") for one in page.all("src"))
    ids = page.all("id")
    assert [one for one, count in Counter(ids).items() if count > 1] == []
    assert {one.removeprefix("#") for one in page.all("href")} <= {*ids}
    assert {*page.all("aria-describedby"), *page.all("aria-labelledby")} <= {*ids}
    policy = next(attrs["content"] for _, attrs in page.found if attrs.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; img-src data:")
    styles = " ".join(text for tag, text in page.texts if tag == "style")
    assert "url(" not in styles
    assert "@import" not in styles


@pytest.mark.parametrize("name", NAMES)
def test_a_page_opens_with_the_answer_and_folds_what_it_holds(reports, page, name):
    page = page(name, "One paragraph.\n\nAnother one.")
    texts = [text for tag, text in page.texts if tag not in ("style", "title")]
    assert texts[0] == TITLE
    assert opening(reports[name]).startswith(texts[1])
    headings = page.folded
    assert headings[-3:] == ["Methods", "What this folder holds", "How it was computed"]
    notes = sum(tag == "summary" for tag, _ in page.texts)
    assert len([tag for tag, _ in page.found if tag == "details"]) == len(headings) + notes
    assert not [attrs for tag, attrs in page.found if tag == "details" and "open" in attrs]
    assert ("p", "Another one.") in page.texts


def test_parts_stand_in_the_order_of_the_question(page):
    assert page("plain").folded == [
        "Which judge to use", "Before you use a number", "Agreement", "Criterion by criterion", "Biases", "Systems",
        "Annotators", "What this folder holds", "How it was computed",
    ]  # fmt: skip


def test_hostile_names_change_text_and_nothing_else(page):
    """The same tags in the same order as with plain names, in the parts that do not sort by name."""
    hostile, plain = page("hostile"), page("plain")
    assert Counter(tag for tag, _ in hostile.found) == Counter(tag for tag, _ in plain.found)
    said = " ".join(text for tag, text in hostile.texts if tag != "style")
    for name in HOSTILE.values():
        assert " ".join(name.split()) in " ".join(said.split()), name


def test_a_hostile_title_and_methods_are_text():
    page = Read(page_of(toy_report(), "<script>alert(1)</script>\n\n{{ 7 * 7 }}", "</title><script>alert(2)</script>"))
    assert "script" not in {tag for tag, _ in page.found}
    assert ("title", "</title><script>alert(2)</script>") in page.texts
    assert ("p", "{{ 7 * 7 }}") in page.texts


def test_methods_cite_by_name_and_list_their_sources():
    methods = (
        "**Agreement.** κ [@cohen1960coefficient] of my\\_judge \\[\\@x\\] [@nobody]; ![x](http://evil.example) <b>"
    )
    page = Read(page_of(toy_report(), methods))
    assert ("strong", "Agreement.") in page.texts
    assert ("p", "κ (Cohen 1960) of my_judge [@x] [@nobody]; ![x](http://evil.example) <b>") in page.texts
    listed = [text for tag, text in page.texts if tag == "li" and text.startswith("Cohen, Jacob")]
    assert listed == [
        "Cohen, Jacob. A Coefficient of Agreement for Nominal Scales. Educational and Psychological Measurement. 1960. "
        "doi:10.1177/001316446002000104."
    ]


@pytest.mark.parametrize(
    ("key", "cited"),
    [
        ("cohen1960coefficient", "Cohen 1960"),
        ("hayes2007answering", "Hayes and Krippendorff 2007"),
        ("angelopoulos2023ppi", "Angelopoulos et al. 2023"),
    ],
)
def test_a_citation_is_names_and_a_year(key, cited):
    assert methods_html(f"x [@{key}]") == f"<p>x ({cited})</p>\n"


def test_every_source_of_the_bibliography_can_be_cited():
    keys = list(entries())
    lines = sources_of(" ".join(f"[@{key}]" for key in keys))
    assert len(lines) == len(keys)
    assert any("João" in line for line in lines)
    assert all(re.search(r"\d{4}", line) and not set(line) & set("{}\\$") for line in lines)


def test_every_table_and_figure_given_is_on_the_page_once(reports):
    tables, figures = parts_of(reports["plain"])
    odd = replace(tables[0], name="preset_wlc", title="Table 4 of the paper")
    page = Read(report_page(reports["plain"], [odd, *tables], figures))
    titles = [text for tag, text in page.texts if tag == "h3"]
    assert {table.title for table in tables} <= {*titles}
    assert titles.count(odd.title) == 1
    assert ("summary h2", "More tables") in page.texts
    assert sorted(text for tag, text in page.texts if tag == "figcaption") == sorted(one.caption for one in figures)
    assert len(page.all("src")) == len(figures)


def test_images_are_whole_svgs_without_script_or_address(page):
    for source in page("hostile").all("src"):
        root = ElementTree.fromstring(base64.b64decode(source.split(",")[1]))
        assert root.tag.endswith("svg")
        tags = {one.tag.rpartition("}")[2] for one in root.iter()}
        assert not tags & {"script", "foreignObject", "image", "a"}
        links = [value for one in root.iter() for key, value in one.attrib.items() if key.endswith("href")]
        assert all(link.startswith("#") for link in links)


def test_the_same_report_is_the_same_page(reports):
    assert page_of(reports["hostile"]) == page_of(reports["hostile"])


def test_what_has_no_value_is_a_dash_and_never_nan(page):
    page = page("nothing known")
    assert ("td", DASH) in page.texts
    assert not [text for tag, text in page.texts if tag != "style" and re.search(r"\bnan\b", text, re.IGNORECASE)]


def test_the_page_says_how_it_was_computed(reports, page):
    report = reports["chosen"]
    texts = page("chosen").texts
    facts = [text for tag, text in texts[texts.index(("summary h2", "How it was computed")) :] if tag in ("dt", "dd")]
    said = dict(zip(facts[::2], facts[1::2], strict=True))
    assert said["SHA-256 of the verdicts"] == report.labels.verdicts_sha256
    assert said["SHA-256 of the plan"] == report.choice.plan.plan_sha256
    assert (said["margin"], said["resamples"], said["per_criterion"]) == ("0.05", "9999", "no")
    assert said["families"] == "gpt-5_mini: openai; gpt-4: openai"
    assert {"python", "calipers", "numpy"} <= {*said}


def test_a_page_of_one_table_alone_is_a_page():
    report = replace(toy_report(), warnings=())
    page = Read(report_page(report, [agreement_table(report)], []))
    assert page.folded == ["Agreement", "What this folder holds", "How it was computed"]


def test_a_brief_page_is_the_one_page_alone(reports):
    tables, figures = parts_of(reports["plain"])
    page = Read(report_page(reports["plain"], tables, figures, "Methods.", brief=True))
    assert page.folded == ["How it was computed"]
    assert len(page.all("src")) == 1
    assert ("p", "Methods.") not in page.texts


def test_a_simulated_study_says_so_at_the_top_and_under_every_table() -> None:
    report = toy_report()
    made_up = replace(report, is_simulated=True)
    page = page_of(made_up)
    assert page.index("Simulated answers") < page.index("Agreement of judges with annotators")
    assert "Simulated answers" not in page_of(report)
    assert agreement_table(made_up).notes[-1].startswith("Simulated answers")
