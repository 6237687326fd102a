"""The methods section of a study, written from its facts and its report: what they do not hold is not said."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from calibration.results import CalibrationReport
from exports import bibliography, forms
from exports.facts import StudyFacts
from exports.latex.tex_text import escape, fonts_needed, prose
from exports.words.checklists import to_state
from exports.words.methods_told import sources, told
from plain.wording import speaking

OPEN, CLOSE = "\ue000", "\ue001"  # around the keys of a citation until the format is known; never in a text
CITE = "\\providecommand{\\citep}{\\cite}\n"  # of natbib: in brackets, where \cite would stand in the sentence


class _Cited(str):
    """Keys between the two marks: the only text that may hold them."""


def _plain(value: object) -> object:
    return re.sub(f"[{OPEN}{CLOSE}]", "", value) if isinstance(value, str) else value


_PAGE = Environment(
    loader=FileSystemLoader(Path(__file__).parents[1] / "templates"),
    undefined=StrictUndefined,
    autoescape=False,  # plain words; both formats escape the whole text
    trim_blocks=True,
    lstrip_blocks=True,
    finalize=lambda value: value if isinstance(value, _Cited) else _plain(value),
)


@dataclass(frozen=True)
class Methods:
    """`cited`: keys of `references.bib` in the text, sorted. `to_state`: what a reviewer asks that data leave open."""

    markdown: str
    latex: str
    cited: tuple[str, ...]
    to_state: tuple[str, ...]


def methods_paragraph(report: CalibrationReport, facts: StudyFacts | None = None) -> Methods:
    """Several short paragraphs with run-in heads, in Markdown (citations as `[@key]`) and LaTeX (`\\citep{key}`).

    `facts` None: a bare table of labels, of which only what the table shows is told.
    """
    facts = facts or StudyFacts()
    with speaking():
        paragraphs = _paragraphs(report, facts, "methods.txt")
    cited = sorted({key for _, words in paragraphs for keys in _keys(words) for key in keys})
    return Methods(
        "\n\n".join(f"**{head}.** {_markdown(words)}" for head, words in paragraphs) + "\n",
        _preamble(paragraphs)
        + "\n\n".join(rf"\paragraph{{{escape(head)}.}} {_latex(words)}" for head, words in paragraphs)
        + "\n",
        tuple(cited),
        to_state(report, facts),
    )


def methods_in(language: str, report: CalibrationReport, facts: StudyFacts | None = None) -> str:
    """The same in Markdown in another of `wording.LANGUAGES`.

    Raises TemplateNotFound for a language that has no template.
    """
    with speaking(language):
        found = _paragraphs(report, facts or StudyFacts(), f"methods.{language}.txt", between="")
        return "\n\n".join(f"**{head}** {_markdown(words)}" for head, words in found) + "\n"


def _paragraphs(
    report: CalibrationReport, facts: StudyFacts, template: str, between: str = " "
) -> list[tuple[str, str]]:
    """Heads and texts; `between` stands where a line of the template ends."""
    text = _PAGE.get_template(template).render(
        told(report, facts) | {"cite": _cite, "sources": sources, "of_method": bibliography.METHODS}
    )
    parts = [part.partition("\n") for part in re.split(r"^== ", text, flags=re.M)[1:]]
    joined = ((head, _joined(body.replace("\n", between))) for head, _, body in parts)
    return [(head, words) for head, words in joined if words]


def _joined(body: str) -> str:
    """One paragraph: lines and runs of spaces become one space, none before a full stop."""
    return re.sub(r"[ \n\t\r]+", " ", body).strip()


def _keys(words: str) -> list[list[str]]:
    return [found.split(",") for found in re.findall(f"{OPEN}([^{CLOSE}]*){CLOSE}", words)]


def _markdown(words: str) -> str:
    text = re.sub(r"[$@]", r"\\\g<0>", forms.escaped(words))  # neither mathematics nor a citation of a name
    return re.sub(f"{OPEN}([^{CLOSE}]*){CLOSE}", lambda found: f" [{_at(found[1])}]", text)


def _at(keys: str) -> str:
    return "; ".join(f"@{key}" for key in keys.split(","))


def _preamble(paragraphs: Sequence[tuple[str, str]]) -> str:
    """As comments: how to cite, and the fonts for what pdfLaTeX cannot print."""
    said = (re.sub(f"{OPEN}[^{CLOSE}]*{CLOSE}", "", words) for _, words in paragraphs)
    return CITE + "".join(f"% {line}\n" for line in fonts_needed(said))


def _latex(words: str) -> str:
    parts = re.split(f"{OPEN}([^{CLOSE}]*){CLOSE}", words)
    return "".join(rf"~\citep{{{part}}}" if index % 2 else prose(part) for index, part in enumerate(parts))


def _cite(*keys: str) -> str:
    return _Cited(f"{OPEN}{','.join(keys)}{CLOSE}") if keys else ""
