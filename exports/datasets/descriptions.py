"""How a dataset describes itself: its data card, and Croissant 1.0.

The card is README.md with the front matter that Hugging Face reads. Croissant (mlcommons.org/croissant/1.0) lists the
files with their hashes and columns.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from exports.datasets.label_rows import NUMBER, TEXT, TRUTH, WHOLE, DataColumn
from exports.forms import escaped

SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
LARGEST = "1M<n<10M"
# SPDX ids that Hugging Face knows, by what it calls them
KNOWN = {
    "apache-2.0": "apache-2.0", "bsd-3-clause": "bsd-3-clause", "mit": "mit", "cc0-1.0": "cc0-1.0",
    "cc-by-4.0": "cc-by-4.0", "cc-by-sa-4.0": "cc-by-sa-4.0", "cc-by-nc-4.0": "cc-by-nc-4.0",
    "cc-by-nd-4.0": "cc-by-nd-4.0", "cc-by-nc-sa-4.0": "cc-by-nc-sa-4.0", "cc-by-nc-nd-4.0": "cc-by-nc-nd-4.0",
    "odbl-1.0": "odbl", "odc-by-1.0": "odc-by", "pddl-1.0": "pddl",
}  # fmt: skip
LANGUAGE = re.compile(r"[a-z]{2,3}")
LOADING = """```python
labels = datasets.load_dataset("DIR", split="train")  # every revision; the texts: load_dataset("DIR", "reports")
labels = pandas.read_parquet("DIR/labels.parquet")
```"""
REMOVED = {"e-mail": "e-mail addresses", "name": "names of raters", "key": "keys and tokens", "path": "folders"}


def data_card(
    facts: Mapping[str, Any],
    counts: Mapping[str, int],
    columns: Mapping[str, Sequence[DataColumn]],
    license: str,
    removed: Mapping[str, int],
    *,
    with_void: bool,
) -> str:
    """Front matter and Markdown. `counts`: rows by table; a fact that is None or absent is not said.

    `with_void`: whether there are rows of work that was taken out.
    """
    title = str(facts.get("title") or facts.get("name") or "Labels of reports")
    texts = any(column.name == "text" for column in columns["reports"])
    parts = [
        _front_matter(title, facts, counts, license),
        f"# {escaped(title)}",
        *(["**Its people and judges are simulated.**"] if facts.get("is_simulated") else []),
        WHAT,
        "## Loading",
        LOADING,
        "## Files",
        _files(counts, texts=texts),
        "## How the labels were made",
        "\n".join(f"- {line}" for line in _making(facts)) or "Not stated.",
        "## Using them",
        USING,
        "## Licence",
        _licence(license, texts=texts),
        "## Privacy",
        _privacy(removed, with_void=with_void),
        "## The chain",
        CHAIN,
        *(part for table, of in columns.items() for part in (f"## Columns of {table}", _columns(of))),
    ]
    return "\n\n".join(parts) + "\n"


def _front_matter(title: str, facts: Mapping[str, Any], counts: Mapping[str, int], license: str) -> str:
    size = next((words for below, words in SIZES if counts["labels"] < below), LARGEST)
    known = KNOWN.get(license.lower())
    languages = [one for one in facts.get("languages") or () if LANGUAGE.fullmatch(one)]
    lines = [
        f"pretty_name: {json.dumps(title, ensure_ascii=False)}",
        f"license: {known or ('other' if license else 'unknown')}",
        *([f"license_name: {license.lower()}"] if license and not known else []),
        *(["language:", *(f"- {language}" for language in languages)] if languages else []),
        "task_categories:",
        "- text-classification",
        "size_categories:",
        f"- {size}",
        "tags:",
        *(f"- {tag}" for tag in ("llm-as-a-judge", "human-feedback", "inter-annotator-agreement", "calipers")),
        "configs:",
        "- config_name: labels",
        "  data_files: labels.parquet",
        "  default: true",
        # an empty table has no rows to load
        *(["- config_name: reports", "  data_files: reports.parquet"] if counts["reports"] else []),
    ]
    return "\n".join(("---", *lines, "---"))


def _files(counts: Mapping[str, int], *, texts: bool) -> str:
    what = "with their texts" if texts else "without their texts, which can be recognised by their sha256"
    lines = [
        f"- `labels.csv`, `labels.jsonl`, `labels.parquet`: the same {counts['labels']:,} rows in three forms. In the "
        "CSV a quote stands before a cell that a spreadsheet would run; the two others hold every text as it is",
        f"- `reports.jsonl`, `reports.parquet`: the {counts['reports']:,} texts that were shown, {what}"
        + ("; `figures`, where a text names one" if texts else ""),
        f"- `criteria.jsonl`: the {counts['criteria']:,} questions, in the words they were asked in",
        "- `croissant.json`: the same in the Croissant format; `calipers-dataset.json`: versions and hashes",
    ]
    return "\n".join(lines)


def _making(facts: Mapping[str, Any]) -> Iterator[str]:
    """One sentence for each fact that is known."""
    sentences = {
        "task": "Asked: {}",
        "task_type": "Kind of task: {}",
        "protocol": "Protocol: {}",
        "protocol_sha256": "sha256 of the protocol: `{}`",
        "topics": "Topics: {:,}",
        "systems": "Systems: {:,}",
        "reports": "Reports: {:,}",
        "items": "Items: {:,}",
        "criteria": "Questions asked now: {:,}",
        "annotators": "Annotators who handed in labels: {:,}",
        "annotators_simulated": "Of them simulated: {:,}",
        "blind_until": "Raters never saw which system wrote a text; labels and systems were kept apart until: {}",
        "revealed_at": "Labels and systems were joined early, on {}",
        "labels_after_reveal": "Labels written after that: {:,}",
        "may_see_and_label": "People who could see systems were allowed to label: {}",
        "first_label": "First label: {}",
        "last_label": "Last label: {}",
        "seed": "Seed of the plan: {}",
        "plan_root": "plan_root, the sha256 of what was planned before the first label: `{}`",
    }
    for name, sentence in sentences.items():
        value = facts.get(name)
        if value is not None and value != "" and value is not False:
            shown = {True: "yes"}.get(value, value) if isinstance(value, bool) else value
            yield sentence.format(escaped(shown) if isinstance(shown, str) else shown)
    yield from (_judge(one) for one in facts.get("judges") or ())


def _judge(judge: Mapping[str, Any]) -> str:
    model = f", {escaped(str(judge['model']))}" if judge.get("model") else ""
    return f"Judge {escaped(str(judge.get('name', '')))}{model}"


def _licence(license: str, *, texts: bool) -> str:
    told = f"{license}, chosen by whoever published this." if license else UNLICENSED
    return f"{told} The reports' texts belong to those who wrote them." if texts else told


def _privacy(removed: Mapping[str, int], *, with_void: bool) -> str:
    found = [f"{removed[kind]:,} {what}" for kind, what in REMOVED.items() if removed.get(kind)]
    told = f"Removed from free text: {', '.join(found)}." if found else "Nothing had to be removed from free text."
    return (
        "People stand under pseudonyms. No name, e-mail address, key or folder of a machine is meant to be here; free "
        f"text was searched for them. {told} A search finds what it was told to look for: read the rationales before "
        "you publish them. Verified quotes are passages of the shown texts, and left as they are. "
        f"{VOID if with_void else NO_VOID}"
    )


def _columns(columns: Sequence[DataColumn]) -> str:
    rows = [f"| {column.name} | {column.kind} | {escaped(column.about)} |" for column in columns]
    return "\n".join(("| Column | Holds | What it is |", "| :--- | :--- | :--- |", *rows))


WHAT = """Labels of research reports by annotators and by LLM judges: every revision of every answer, with its \
rationale and its evidence, the order in which the reports stood, and the sha256 of the texts that were read. Written \
by calipers."""
UNLICENSED = """**Not stated.** Whoever owns this dataset must choose a license before it is published: give its \
SPDX id to `calipers export dataset --license`. Until then nobody has the right to use it."""
USING = """Rows that statistics use: `is_current`, `assignment_status` submitted or locked, `purpose` label or retest. \
The rest is there so that nothing is hidden: replaced answers, work that was given back, training and attention items, \
and what an adjudicator decided. A label whose `left_sha256` or `right_sha256` is no `sha256` of the reports was given \
on a text that was replaced since. `status` other than ok is no label, and never a tie. Rows of one topic are not \
independent: resample topics."""
NO_VOID = "Work that was taken out, such as that of somebody who asked for it, is not here."
VOID = """**Rows whose `assignment_status` is void were taken out of the study, maybe at the wish of who wrote them. \
This copy is for an archive: publish one that was written without `--with-void`.**"""
CHAIN = """`sha256` is that of the row's canonical JSON (keys sorted, UTF-8, no blanks) without itself, and \
`previous_sha256` that of the row before in its assignment. So a row that was changed, inserted or left out shows. The \
chain says nothing about rows missing at an assignment's end, nor about one that was hashed anew."""


CONFORMS_TO = "http://mlcommons.org/croissant/1.0"
TYPES = {TEXT: "sc:Text", WHOLE: "sc:Integer", NUMBER: "sc:Float", TRUTH: "sc:Boolean"}
FORMATS = {
    "csv": "text/csv", "jsonl": "application/jsonlines", "parquet": "application/x-parquet"
}  # fmt: skip
ABOUT = {"labels": "Every revision of every label.", "reports": "What was read.", "criteria": "What was asked."}
CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataBiases": "cr:dataBiases",
    "dataCollection": "cr:dataCollection",
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "personalSensitiveInformation": "cr:personalSensitiveInformation",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}


def croissant(
    facts: Mapping[str, Any],
    columns: Mapping[str, Sequence[DataColumn]],
    sums: Mapping[str, str],
    sizes: Mapping[str, int],
    license: str,
) -> dict[str, Any]:
    """JSON-LD. `columns`: by table; `sums`, `sizes`: sha256 and bytes by file; `license`: an SPDX id, or "".

    A record set reads the table's Parquet file, or its JSON Lines where there is no other.
    """
    name = str(facts.get("title") or facts.get("name") or "Labels of reports")
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS_TO,
        "name": name,
        "description": str(facts.get("task") or "Labels of research reports by annotators and LLM judges."),
        "license": f"https://spdx.org/licenses/{license}.html" if license else "not stated",
        "version": "1.0.0",
        **({"datePublished": str(facts["last_label"])[:10]} if facts.get("last_label") else {}),
        **({"inLanguage": list(facts["languages"])} if facts.get("languages") else {}),
        "distribution": [_file(file, sums[file], sizes[file]) for file in sums],
        "recordSet": [
            _record_set(table, columns[table], next(form for form in ("parquet", "jsonl") if f"{table}.{form}" in sums))
            for table in columns
        ],
    }


def _file(name: str, sha256: str, size: int) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "contentUrl": name,
        "contentSize": f"{size} B",
        "encodingFormat": FORMATS[name.rpartition(".")[2]],
        "sha256": sha256,
    }


def _record_set(table: str, columns: Sequence[DataColumn], form: str) -> dict[str, Any]:
    fields = [
        {
            "@type": "cr:Field",
            "@id": f"{table}/{column.name}",
            "name": f"{table}/{column.name}",
            "description": column.about,
            "dataType": TYPES[column.kind],
            "source": {"fileObject": {"@id": f"{table}.{form}"}, "extract": {"column": column.name}},
        }
        for column in columns
    ]
    return {
        "@type": "cr:RecordSet", "@id": table, "name": table, "description": ABOUT[table], "field": fields,
    }  # fmt: skip
