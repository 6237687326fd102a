"""The dataset as Croissant 1.0 (mlcommons.org/croissant/1.0): its files with their hashes, its columns with types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from exports.datasets.dataset_columns import NUMBER, TEXT, TRUTH, WHOLE, DataColumn

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
