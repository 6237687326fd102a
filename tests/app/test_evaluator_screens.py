"""Every page of the evaluator, from a study without a label to one that chooses among priced judges."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

import pandas as pd
import pytest
from sqlalchemy import Engine
from streamlit.testing.v1 import AppTest

import app.results.computing
import app.results.study_reports
from annotation.protocol import read_protocol
from plain.wording import speaking
from tests.app.drawing import drawn, html_of, page, read_on, shown
from tests.calibration.choosing.test_alone import made
from tests.calibration.passing.passed import made_answers
from tests.calibration.priced import EIGHT, priced
from tests.calibration.studies import made_ratings
from tests.disputed_study import SYSTEMS, make_disputed
from tests.small_study import PROBES, PROTOCOL, RATING, make_study

# what a study's own rows bring beside these made ones
OTHERS = {
    "system_b": None,
    "category": "",
    "presentation": None,
    "run": 1,
    "pass_no": 1,
    "status": "ok",
    "rationale": None,
}
PAGES = ("choice", "agreement", "reliability", "bias", "ranking", "paper")
READERS = (app.results.study_reports, app.results.computing)


@pytest.fixture
def study_of(engine_here: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """study_of(verdicts[, protocol]) -> a study whose labels are these."""

    def make(verdicts: pd.DataFrame, protocol: str = PROTOCOL) -> int:
        full = verdicts.assign(**{name: value for name, value in OTHERS.items() if name not in verdicts})
        for reader in READERS:
            monkeypatch.setattr(reader, "load_verdicts", lambda session, study: full)
        return make_study(engine_here, tmp_path / "reports", protocol=protocol)

    return make


@pytest.fixture
def priced_judges(study_of: Callable[..., int]) -> int:
    """Three judges: one that is no good, the cheapest adequate one, and a dearer one."""
    verdicts = priced({name: EIGHT[name] for name in ("small", "mini", "huge")}, pairs=80)
    number = verdicts["item_id"].str[-2:].astype(int)
    verdicts["category"] = number.mod(2).map({0: "Art", 1: "History"})
    verdicts["system_b"] = number.mod(3).map({0: "borealis", 1: "cirrus", 2: "cirrus"})
    verdicts["system_a"] = number.mod(3).map({0: "atlas", 1: "atlas", 2: "borealis"})
    return study_of(verdicts)


@pytest.mark.parametrize(
    ("protocol", "names"), [(PROTOCOL, PAGES), (RATING, ("choice", "ranking")), (PROBES, ("choice", "ranking"))],
    ids=["pairs", "rating", "probes"],
)  # fmt: skip
def test_before_anybody_handed_in_work_a_page_says_so_and_what_to_do(
    engine_here: Engine, tmp_path: Path, protocol: str, names: tuple[str, ...]
) -> None:
    study = make_study(engine_here, tmp_path / "reports", protocol=protocol)
    for name in names:
        words = shown(page(engine_here, study, name))
        assert "yet</h1>" in words, name
        assert "invite annotators" in words, name


def test_answers_that_pass_or_fail_have_their_tables_and_plots_beside_agreement(
    study_of: Callable[[pd.DataFrame], int], engine_here: Engine
) -> None:
    made = made_answers(labelled=24, people=2).assign(cost_usd=0.001)
    words = shown(page(engine_here, study_of(made), "agreement"))
    for said in (
        "How often judges are right about what passes", "Who says that what passes", "Youden's J",
        "Pass rates without the judge's errors", "Rogan–Gladen", "PPI++", "passes by j alone",
    ):  # fmt: skip
        assert said.replace("'", "&#x27;") in words or said in words, said


def test_people_alone_are_reported_and_what_a_judge_would_add_is_said(engine_here: Engine, tmp_path: Path) -> None:
    study = make_disputed(engine_here, tmp_path / "reports", judged=False)
    for name, said in {
        "choice": "No judge can be chosen yet",
        "agreement": "no judge can be compared with them yet",
        "reliability": "that takes a judge, two annotators who answered the same questions",
        "bias": "No bias of a judge can be looked for yet",
        "ranking": "is first: it wins",
    }.items():
        assert said in shown(page(engine_here, study, name)), name


def test_scores_rank_no_system_and_every_other_page_stands(engine_here: Engine, study_of: Callable[..., int]) -> None:
    study = study_of(made_ratings())
    words = {name: shown(page(engine_here, study, name)) for name in PAGES}
    assert "No system can be ranked" in words["ranking"]
    assert "data:image/svg+xml" in words["agreement"]
    assert all("What to know before you use a number" in said for said in words.values())


def test_one_judge_is_looked_at_like_several_and_a_hostile_name_stays_text_on_every_page(
    engine_here: Engine, study_of: Callable[..., int]
) -> None:
    evil = '<img src=x onerror="alert(1)">&'
    study = study_of(priced({evil: EIGHT["mini"]}, pairs=24))
    for name in PAGES:
        screen = page(engine_here, study, name)
        assert "<img src=x" not in "".join(html_of(screen)), name
        if name != "paper":
            assert f"disagreements?{urlencode({'judge': evil})}" in shown(screen), name


@pytest.mark.parametrize("name", PAGES)
def test_while_a_study_is_blind_no_page_names_a_system(engine_here: Engine, tmp_path: Path, name: str) -> None:
    study = make_disputed(engine_here, tmp_path / "reports", blind_until="closed")
    words = shown(page(engine_here, study, name))
    assert not any(system in words for system in SYSTEMS)
    assert ("Systems are numbered, not named" in words) is (name == "ranking")


def test_the_choice_stands_first_then_the_plot_the_judges_and_the_card_of_the_chosen_one(
    engine_here: Engine, priced_judges: int
) -> None:
    screen = page(engine_here, priced_judges, "choice")
    words = shown(screen)
    assert "decide without a person" not in words, "nobody asked"
    assert re.search(r">mini is the cheapest adequate judge of 3 tried, but not without [^<]+\.</p>", words)
    places = [words.index(part) for part in ("cheapest adequate", "data:image/svg+xml", "Sort by", "The card of one")]
    assert places == sorted(places)
    assert screen.selectbox(key="card_of").value == "mini"
    assert "It agrees in" in words
    assert "disagreements?judge=mini" in words
    drawn(screen.selectbox(key="card_of").select("huge").run())
    assert "disagreements?judge=huge" in shown(screen)


def test_where_the_protocol_states_an_error_the_page_says_what_each_judge_may_decide_alone(
    engine_here: Engine, study_of: Callable[..., int]
) -> None:
    labels = made(topics=30).assign(len_a=1_000, len_b=1_000)
    study = study_of(labels, f"{PROTOCOL}\n[calibration]\nalone_error = 0.2\n")
    words = shown(page(engine_here, study, "choice")).replace("\N{NO-BREAK SPACE}", " ")
    parts = ("mini: 75 % by the judge, the rest to people: 2.00 USD + 25.0 hours per 1,000 items",
             "What a judge may decide without a person", "mini may decide 75 % of items alone", "Decides alone</th>",
             "Error at each threshold")  # fmt: skip
    places = [words.index(part) for part in parts]
    assert places == sorted(places)


def table_of(screen: AppTest) -> str:
    """The table of judges."""
    return next(part for part in html_of(screen) if "Outcome</th>" in part and "chosen" in part)


def test_judges_are_sorted_by_any_column_either_way(engine_here: Engine, priced_judges: int) -> None:
    screen = page(engine_here, priced_judges, "choice")

    def order() -> list[str]:
        return sorted(("small", "mini", "huge"), key=lambda name: table_of(screen).index(f">{name}</td>"))

    assert order() == ["mini", "huge", "small"]  # the chosen one, then by how far they agree
    assert table_of(screen).count('<tr aria-current="true"><td class="c-said">mini</td>') == 1
    by = screen.selectbox(key="judges_by")
    assert screen.toggle(key="judges_falling").disabled
    drawn(by.select("Agreement").run())
    drawn(screen.toggle(key="judges_falling").set_value(True).run())
    assert order() == ["huge", "mini", "small"]
    drawn(screen.selectbox(key="judges_by").select("Judge").run())
    assert order() == ["small", "mini", "huge"]
    drawn(screen.toggle(key="judges_falling").set_value(False).run())
    assert order() == ["huge", "mini", "small"]


def test_a_map_shows_each_criterion_and_category_beside_people_and_leads_to_its_labels(
    engine_here: Engine, priced_judges: int
) -> None:
    screen = page(engine_here, priced_judges, "reliability")
    words = shown(screen)
    assert "mini is furthest behind a left-out annotator on" in words
    assert "disagreements?judge=mini&amp;criterion=c0&amp;category=Art" in words
    drawn(screen.selectbox(key="reliability_of").select("small").run())
    assert "small is furthest behind" in shown(screen)


def test_a_ranking_is_shown_by_people_by_a_judge_and_corrected_with_how_firm_it_is(
    engine_here: Engine, priced_judges: int
) -> None:
    screen = page(engine_here, priced_judges, "ranking")
    words = shown(screen)
    assert "is first: it wins" in words
    assert "mini, corrected by people" in words
    assert "Stays first" in words
    assert "order the systems alike" in words
    drawn(screen.selectbox(key="ranking_by").select("huge").run())
    assert "huge, corrected by people" in shown(screen)


def test_biases_are_counted_in_a_sentence_that_says_what_cannot_be_told(
    engine_here: Engine, priced_judges: int
) -> None:
    words = shown(page(engine_here, priced_judges, "bias"))
    assert "biases looked for in judges" in words
    assert "that these labels cannot tell" in words


def test_a_study_can_be_the_pilot_of_the_plan(engine_here: Engine, priced_judges: int) -> None:
    screen = page(engine_here, priced_judges, "planner")
    assert "Pilot of 80 topics: small agrees" in shown(screen)  # its agreement varies most
    drawn(screen.selectbox(key="plan_of_judge").select("huge").run())
    assert "Pilot of 80 topics: huge agrees" in shown(screen)
    assert screen.slider(key="plan_tried_True").value == 3


@pytest.mark.slow
def test_a_slider_changes_the_plan(engine_here: Engine, priced_judges: int) -> None:
    screen = page(engine_here, priced_judges, "planner")
    drawn(screen.radio(key="plan_basis").set_value("Assumptions").run())
    assert screen.slider(key="plan_criteria").value == 2  # of this study
    screen.slider(key="plan_criteria").set_value(39).run()
    # STATISTICS.md: 39 criteria, an ICC of .1, agreement of .8
    assert "It takes 33 topics to know agreement to" in shown(screen)
    drawn(screen.slider(key="plan_half_width").set_value(10.0).run())
    assert "It takes 11 topics to know agreement to" in shown(screen)
    assert "never more than 1 / ICC = 10.0" in shown(screen)
    drawn(screen.number_input(key="plan_minutes").set_value(30.0).run())
    assert "25 hours of annotators" in shown(screen)  # of 50 topics


def test_the_planner_shows_topics_at_random_and_drawn_beside_each_other_with_the_price_of_both(
    engine_here: Engine, priced_judges: int
) -> None:
    screen = page(engine_here, priced_judges, "planner")
    assert screen.slider(key="plan_topics_True").value == 160  # twice the pilot's
    drawn(screen.slider(key="plan_topics_True").set_value(5).run())
    assert "Topics drawn where they say most" not in shown(screen)  # of 5 topics none is spared
    screen.slider(key="plan_topics_True").set_value(500)
    screen.number_input(key="plan_minutes").set_value(30.0)
    drawn(screen.number_input(key="plan_rate").set_value(15.0).run())
    table = shown(screen).split("Topics drawn where they say most")[1]
    assert re.search(r"±[\d.]+ points take \d+ topics at random and \d+ drawn", table)
    assert all(head in table for head in ("At random", "Drawn", "Judged", "Saved", "Hours saved", "USD saved"))


@pytest.mark.slow
def test_looks_take_topics_of_the_claim_and_leave_the_interval_as_it_is(
    engine_here: Engine, priced_judges: int
) -> None:
    screen = page(engine_here, priced_judges, "planner")
    drawn(screen.radio(key="plan_basis").set_value("Assumptions").run())
    once = aimed(screen)
    drawn(screen.slider(key="plan_looks").set_value(6).run())
    six = aimed(screen)
    drawn(screen.radio(key="plan_mode").set_value("Whenever one likes").run())
    any_time = aimed(screen)
    assert not [slider for slider in screen.slider if slider.key == "plan_looks"]  # none are counted then
    assert once["to know"] == six["to know"] == any_time["to know"]
    claims = [found["to show"] for found in (once, six, any_time)]
    assert claims[0] < claims[1] <= 1.1 * claims[0] < claims[2] <= 1.36 * claims[0]


def aimed(screen: AppTest) -> dict[str, int]:
    """Topics of each aim, by how the Planner's sentence begins it."""
    return {aim: int(count) for count, aim in re.findall(r"(\d+) topics (to know|to show)", shown(screen))}


def test_a_study_that_is_no_pilot_says_what_is_missing(engine_here: Engine, tmp_path: Path) -> None:
    screen = page(engine_here, make_study(engine_here, tmp_path / "reports"), "planner")
    drawn(screen.radio(key="plan_basis").set_value("This study's labels").run())
    assert "Nobody has handed in work in this study yet" in shown(screen)


def test_an_address_narrows_the_disagreements_and_what_it_does_not_know_is_left_out(
    engine_here: Engine, tmp_path: Path
) -> None:
    study = make_disputed(engine_here, tmp_path / "reports")
    screen = page(engine_here, study, "disagreements", judge="steady", criterion="deep", kind="nonsense", more="x")
    assert screen.selectbox(key="judge").value == "steady"
    assert "2 of 2 questions are answered differently" in shown(screen)
    assert screen.selectbox(key="kind").value == ""


# names of this study, its people and its files, of commands and their options, of statistics and their authors; codes
NAMES = re.findall(
    r"\w+",
    "A small study Eva mini huge clear deep Clear Deep atlas borealis cirrus alpha beta gamma tides bread noise Art History "
    "Ada Ben admin evaluator here calipers invite small NAME litellm Prolific MTurk CloudResearch Connect Sona json jsonl "
    "csv toml zip pdf Secured External URL "
    "html topics prompt title category language topic id system model response text presentation AB BA repeats run len "
    "folder wlc table deepresearchgym deepresearch bench reportbench dr eval race ar de en zh pairs design active for gap "
    "difference agreement answer report calibration CALIPERS BACKUP FOLDER CSV JSON TOML PDF SVG PNG LaTeX "
    "BibTeX Markdown USD UTC ICC CC BY sha Cohen Krippendorff Pearson Spearman Kendall Bradley Terry Holm Wilson Steiger "
    "Dirichlet max judges labels bundle",
)
SHIPPED = [one.label for one in read_protocol("quick_start")[0].criterion]
APART = re.compile(
    "|".join([r"[\w/-]*[0-9_][\w-]*", "^#.*|.* · (?:输入|价格).*|设计 all", *SHIPPED]), re.DOTALL
)  # reports, models
PRINTED = ("方法", "需由您补充说明的内容")  # parts of the page of a paper that are there to be copied


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["choice", "agreement", "reliability", "bias", "ranking", "disagreements", "paper", "progress", "judges",
     "disputes", "blinding", "people", "crowd", "audit", "planner", "studies", "set_up"],
)  # fmt: skip
def test_a_page_in_chinese_holds_no_english_word_but_names_and_code(
    engine_here: Engine, priced_judges: int, name: str
) -> None:
    texts = list(read_on(page(engine_here, priced_judges, name, "zh_CN", "admin"), PRINTED))
    assert any(re.search("[一-鿿]{4}", text) for text in texts), "it speaks Chinese"
    left = {text for text in texts if set(re.findall("[A-Za-z]{2,}", APART.sub("", text))) - {*NAMES}}
    assert left == set()


@pytest.mark.slow
def test_a_figure_is_downloaded_in_english_whoever_looks_at_it(
    engine_here: Engine, priced_judges: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    offered: dict[str, Callable[[], bytes]] = {}
    monkeypatch.setattr("streamlit.download_button", lambda label, data, name, *_, **__: offered.update({name: data}))
    page(engine_here, priced_judges, "agreement", "zh_CN")
    with speaking("zh_CN"):  # as of whoever presses the button
        told = "".join(re.findall("<!-- (.*?) -->", offered["agreement.svg"]().decode()))
    assert "annotators among themselves" in told
    assert not re.search("[一-鿿]", told)
