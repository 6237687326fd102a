"""Each work that a report cites is counted once, however it is written, and is the work of a list or none of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.errors import ImportingError
from annotation.source_lists.cited_works import (
    Work,
    cited_works,
    is_known_by_address,
    joined,
    key_of,
    matched,
    read_wanted,
)

LISTED = (
    Work(frozenset({"doi:10.1109/itsc.2022.99"}), (), "TidalSet: A 4D tide dataset for harbour pilots"),
    Work(frozenset({"arxiv:2004.10934"}), (), "Gauge4: Optimal speed and accuracy of tide prediction"),
    Work(frozenset(), (), "Harbour cross section"),
    Work(frozenset(), (), 'Losses due to\\" greatest of\\" selection in a cell-averaging sieve'),
)
AUTHOR = "Müller, A. and Third, B."
STYLES: dict[str, Callable[[int, str], str]] = {
    "author and year": lambda n, title: f"{AUTHOR} (2020). {title}. *Tides*, 3(2), 1-12.",
    "number and quotes": lambda n, title: f'[{n}] {AUTHOR}, "{title}," in Proc. TIDE, 2020, pp. 1-9.',
    "a link": lambda n, title: f"{n}. [{title}](https://publisher.org/document/{n})",
    "title case": lambda n, title: f"- {AUTHOR}. 2020. {title.title()}. In *Tides*.",
    "as a chat product does": lambda n, title: f"{n}. {title} - arXiv, accessed on May 1, 2025, https://x.org/{n}",
}


@pytest.mark.parametrize("style", STYLES)
def test_a_title_is_met_in_every_style_of_a_list_and_another_title_is_not(style: str) -> None:
    titles = [work.title.replace("\\", "") for work in LISTED] + ["Harbour cross section methods in haste"]
    lines = [STYLES[style](number, title) for number, title in enumerate(titles, 1)]
    cited = cited_works("# Tides\n\nTides rise [1][2][3][4][5].\n\n## References\n\n" + "\n".join(lines) + "\n")
    assert [sorted(places) for places in matched(cited, LISTED)] == [[0], [1], [2], [3], []]


@pytest.mark.parametrize(
    ("address", "key"),
    [
        ("https://arxiv.org/abs/2004.10934v2", "arxiv:2004.10934"),
        ("http://www.arxiv.org/pdf/2004.10934.pdf", "arxiv:2004.10934"),
        ("https://doi.org/10.48550/arXiv.2004.10934", "arxiv:2004.10934"),
        ("https://huggingface.co/papers/2004.10934", "arxiv:2004.10934"),
        ("https://arxiv.org/abs/hep-th/9901001", "arxiv:hep-th/9901001"),
        ("https://doi.org/10.1109/ITSC.2022.99", "doi:10.1109/itsc.2022.99"),
        ("https://dl.acm.org/doi/full/10.1109/ITSC.2022.99", "doi:10.1109/itsc.2022.99"),
        ("https://www.tides.org/a/?utm_source=x#:~:text=high", "url:tides.org/a"),
        ("https://tides.org/a?id=2", "url:tides.org/a?id=2"),
        ("https://2004.10934.org/x", "url:2004.10934.org/x"),
        ("https://[", None),
        ("https://www.nature.com/", None),  # the front page of a site is no work
        ("https://www.biorxiv.org/content/10.1101/2020.01.05.123456v1.full.pdf", "doi:10.1101/2020.01.05.123456"),
        ("https://doi.org/10.1101/2020.01.05.123456", "doi:10.1101/2020.01.05.123456"),
    ],
)
def test_one_work_has_many_addresses(address: str, key: str | None) -> None:
    assert key_of(address) == ([key] if key else [])


def test_a_work_named_twice_is_one_and_what_is_known_by_an_address_alone_is_told() -> None:
    text = (
        "Tides rise ([gauge](https://arxiv.org/abs/2004.10934)), says https://arxiv.org/pdf/2004.10934v3 and "
        "[a pilot](https://pilots.org/7).\n\n## References\n\n[1] Gauge4, arXiv:2004.10934, 2020.\n"
        "[2] https://pilots.org/9\n"
    )
    cited = cited_works(text)
    assert [work.keys for work in cited] == [{"arxiv:2004.10934"}, {"url:pilots.org/9"}, {"url:pilots.org/7"}]
    assert [is_known_by_address(work) for work in cited] == [False, True, True]
    assert [sorted(places) for places in matched(cited, LISTED)] == [[1], [], []]


@pytest.mark.parametrize(
    ("title", "entry", "is_it"),
    [
        ("大语言模型综述", "张三. 大语言模型综述. 计算机学报, 2023.", True),
        ("大语言模型综述", "张三. 大语言模型综述研究进展. 计算机学报, 2023.", False),
        ("Machine Learning", "A. Smith. Kernel tricks for all. Machine Learning, 12(3), 2001.", False),
        ("Machine Learning", "A. Smith. Kernel tricks for all. In Machine Learning, 2001.", False),
        ("Machine Learning", "T. Mitchell. Machine Learning. McGraw-Hill, 1997.", True),
    ],
)
def test_a_short_title_is_no_journal_and_a_chinese_one_is_read_sign_by_sign(
    title: str, entry: str, is_it: bool
) -> None:
    cited = Work(frozenset(), (entry,))
    assert matched([cited], [Work(frozenset(), (), title)]) == [frozenset({0} if is_it else ())]


def test_what_several_works_share_makes_none_of_them_another() -> None:
    licence = "url:creativecommons.org/licenses/by/4.0"
    listed = [Work(frozenset({f"doi:10.1000/{n}", licence}), (), f"Title {n} of three") for n in range(3)]
    assert [work.keys for work in joined(listed)] == [{f"doi:10.1000/{n}"} for n in range(3)]
    text = "# References\n\n" + "".join(
        f"[{n}] Author {n}. Work {n} on tides and moons. Available: https://www.nature.com\n" for n in range(1, 4)
    )
    cited = cited_works(f"Tides rise [1], fall [2] and stop [3].\n\n{text}")
    wanted = joined([Work(frozenset(key_of("https://www.nature.com")), (), "Work 1 on tides and moons")])
    assert [len(places) for places in matched(cited, wanted)] == [1, 0, 0]


@given(st.lists(st.sets(st.sampled_from("abcdefgh"), max_size=3), max_size=8))
def test_works_that_share_a_key_are_one_whatever_their_order(groups: list[set[str]]) -> None:
    works = [Work(frozenset(f"url:{key}" for key in keys), (str(place),)) for place, keys in enumerate(groups)]
    found = joined(works)
    keys = [key for work in found for key in work.keys]
    assert len(keys) == len(set(keys)), "no key is in two works"
    assert sorted(text for work in found for text in work.texts) == sorted(map(str, range(len(works))))
    assert {work.keys for work in found} == {work.keys for work in joined(works[::-1])}


def test_lists_come_as_a_folder_or_as_one_file_and_a_work_listed_twice_is_one(tmp_path: Path) -> None:
    row = {"bib_id": "a", "title": "Gauge4: Optimal speed", "author": "M", "meta_info": {"journal": "arXiv preprint arXiv:2004.10934"}}  # fmt: skip
    folder = tmp_path / "GT"
    folder.mkdir()
    (folder / "2312.04861.jsonl").write_text("\n".join(json.dumps(row | {"bib_id": one}) for one in "ab"))
    assert read_wanted(folder) == {"2312.04861": [Work(frozenset({"arxiv:2004.10934"}), (), row["title"])]}
    table = tmp_path / "works.csv"
    table.write_text("topic,title,doi,arxiv\nt1,A tide,10.1/none,\nt1,,,2004.10934\nt2,A tide,10.1234/ABC,\n")
    assert read_wanted(table) == {
        "t1": [Work(frozenset(), (), "A tide"), Work(frozenset({"arxiv:2004.10934"}))],
        "t2": [Work(frozenset({"doi:10.1234/abc"}), (), "A tide")],
    }
    table.write_text("topic,title\n,A tide\nt1,\n")
    with pytest.raises(ImportingError) as refused:
        read_wanted(table)
    assert len(refused.value.problems) == 2


def test_a_licence_in_a_row_of_a_list_is_no_address_of_the_work(tmp_path: Path) -> None:
    licence = {"URL": "https://creativecommons.org/licenses/by/4.0/"}
    rows = [{"topic": "t", "title": f"Title {n} of them", "doi": f"10.1000/{n}", "license": licence} for n in (1, 2)]
    path = tmp_path / "wanted.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    assert [work.keys for work in read_wanted(path)["t"]] == [{"doi:10.1000/1"}, {"doi:10.1000/2"}]
