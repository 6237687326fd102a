"""How a table is made into labels: one record, which is shown, kept beside the file, and followed again."""

from collections.abc import Mapping
from dataclasses import dataclass, field

JOINED = "|"  # between the parts of an id that several columns make
FORMAT = "calipers-mapping/1"
MEASURED = ("len_a", "len_b", "seconds", "cost_usd", "confidence")  # parts that are read as numbers
ANSWER = "answer"  # what --map-label calls a word that is an answer as it stands
IGNORED = "ignore"  # an answer that was not asked for, or as COLUMN:WORD a row that is left out
READ_AS = ("verdicts", "sides", "systems", "scores", "words")


@dataclass(frozen=True)
class Spread:
    """One column of a wide table: whose answers it holds, to which criterion, in which order and run; "" where the row
    says it.

    `measures`: confidence, cost_usd or seconds of these answers -> the column that holds it.
    """

    column: str
    rater_id: str = ""
    criterion: str = ""
    presentation: str = ""
    run: str = ""
    measures: Mapping[str, str] = field(default_factory=dict)

    @property
    def columns(self) -> tuple[str, ...]:
        """The column of answers, and those that stand beside it."""
        return (self.column, *self.measures.values())


@dataclass(frozen=True)
class Answers:
    """How the answers to a criterion are read. `words`: each word of the file that is not ours already -> ours.

    `read_as`: verdicts (A is system_a), sides (A is what the presentation shows first), systems (names), scores, words.
    A value of `words` may be a status: invalid, missing or refused; `=invalid` is the answer of that name. A word
    without a value is a status where it is called like one, else an answer as it stands.
    """

    read_as: str = "words"
    words: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class LabelMap:
    """All that is needed to make labels of a table of text.

    `columns`: part -> the columns that hold it, joined where they are several; `constants`: part -> one value for all
    rows; `spread`: the columns of a wide table; `kinds`: rater -> human or judge, where no column says it;
    `kind_words`: a column's words for them; `answers`: criterion -> how its answers are read, "" for those not listed;
    `orders`: a column's words for a presentation, AB or BA; `statuses`: a column's words for what became of a call.
    """

    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    constants: Mapping[str, str] = field(default_factory=dict)
    spread: tuple[Spread, ...] = ()
    kinds: Mapping[str, str] = field(default_factory=dict)
    kind_words: Mapping[str, str] = field(default_factory=dict)
    answers: Mapping[str, Answers] = field(default_factory=dict)
    orders: Mapping[str, str] = field(default_factory=dict)
    statuses: Mapping[str, str] = field(default_factory=dict)

    @property
    def scores(self) -> set[str]:
        """The columns of answers that are read as scores."""
        kinds = {criterion: one.read_as for criterion, one in self.answers.items()}
        found = {*self.columns.get("label", ())} if {*kinds.values()} <= {"scores"} else set[str]()
        named = {one.column: kinds.get(one.criterion, kinds.get("")) for one in self.spread}
        return found | {name for name, kind in named.items() if kind == "scores"}

    @property
    def numbers(self) -> set[str]:
        """The columns that are read as numbers, a score's and what was measured; never what names anything."""
        found = {name for part in MEASURED for name in self.columns.get(part, ())}
        return self.scores | found | {name for one in self.spread for name in one.measures.values()}


@dataclass(frozen=True)
class Asked:
    """What the user says about a table, over whatever is proposed.

    `columns` as of a `LabelMap`; several columns of rater_id or criterion are a wide table. `labels_are`: as `read_as`
    of `Answers`, "" to find out. `people`: names of raters; where any is given, the others are judges.
    `ignored`: columns, and in JSON objects and lists too, that are not read. Of `words` those that are AB or BA are of
    the presentation, and of no answer; `COLUMN:WORD` is a word of a column of statuses, and of nothing else, or, where
    it is IGNORED, of any column, whose rows are left out.
    """

    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    constants: Mapping[str, str] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)
    labels_are: str = ""
    people: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()

    def meant(self, word: str) -> str:
        """What the user says that a word means; the word itself where it is left or kept as it stands."""
        said = self.words.get(word, word)
        return word if said == ANSWER else said

    def of_column(self, name: str) -> dict[str, str]:
        """What the user says that words of one column of statuses mean."""
        return {word.removeprefix(f"{name}:"): said for word, said in self.words.items() if word.startswith(f"{name}:")}

    @property
    def orders(self) -> dict[str, str]:
        """The words that were said to be a presentation."""
        return {word: order for word, order in self.words.items() if order in ("AB", "BA")}


@dataclass(frozen=True)
class Proposal:
    """A mapping, what it takes for granted (`told`), and what has to be said first (`problems`), all of it at once."""

    mapping: LabelMap
    told: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
