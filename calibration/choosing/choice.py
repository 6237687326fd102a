"""What choosing a judge returns: every candidate with its reasons, the one chosen, and what a gate makes of it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from calibration.choosing import above, card
from calibration.choosing.looking import Looking
from calibration.choosing.noninferiority import Claim, ComparisonPlan
from calibration.errors import CalibrationError
from calibration.estimates import Estimate
from calibration.inference.gap_test import Outcome
from calibration.study import bounding, distance

HOLDING = ("too_few_clusters", "one_large_cluster")
Status = Literal["chosen", "cannot_tell", "none_adequate"]
Standing = Literal["adequate", "open", "ruled_out"]
Ground = Literal[
    "", "inferior", "below_floor", "baseline_not_beaten", "cannot_tell", "no_reference", "dearer", "lower_agreement",
    "cost_unknown", "answers", "order", "length", "self-preference", "repeats",
]  # fmt: skip


@dataclass(frozen=True)
class Candidate:
    """One judge, panel, cascade or setting that was tried. An item without a usable answer counts as disagreement.

    `standing` follows from `rows` and `required` alone.
    """

    judge: str
    agreement: Estimate  # with every annotator's label; its interval holds for all candidates at once
    constant: above.Above  # against the best constant answer on the same labels
    claim: Claim | None  # against the left-out annotator: gap, p, p for all tried, clusters needed; None: without
    floor: above.Above | None  # against the floor of the plan; None without one
    valid_share: float  # of all rows asked
    cost_per_item: float  # in `currency`, every row billed; nan: unknown, which is not 0
    seconds_per_item: float  # nan: unknown
    on_frontier: bool  # no other candidate costs no more and agrees no less
    rows: tuple[card.CardRow, ...]  # its card, the habits of the judge itself among them
    required: tuple[card.Question, ...]  # by the plan
    second_labels: int | None = None  # clusters to label twice, where nobody did
    reason: Ground = ""  # why it was not chosen, "" for the one that was
    currency: str = "USD"

    @property
    def baseline(self) -> float:
        """What the best constant answer reaches on the same labels."""
        return self.constant.bound

    @property
    def is_by_distance(self) -> bool:
        """Whether its agreement counts how near scores lie, not whether they are equal."""
        return distance.is_by_distance(self.agreement.statistic)

    @property
    def outcome(self) -> Outcome:
        """Of the gap alone, whatever the constant answer reaches."""
        return self.claim.outcome if self.claim else "cannot_tell"

    @property
    def standing(self) -> Standing:
        """`adequate`: every required row is within its limit. `ruled_out`: one is beyond it."""
        outcomes = [self._outcome_of(question) for question in self.required]
        if "beyond" in outcomes:
            return "ruled_out"
        return "adequate" if all(one == "within" for one in outcomes) else "open"

    @property
    def unmet(self) -> tuple[card.Question, ...]:
        """The required questions that keep it from being adequate: those beyond their limit, else those not told."""
        for wanted in ("beyond", "cannot tell"):
            found = tuple(question for question in self.required if self._outcome_of(question) == wanted)
            if found:
                return found
        return ()

    @property
    def reservations(self) -> tuple[card.CardRow, ...]:
        """Rows beyond their limit that the plan does not require."""
        return tuple(row for row in self.rows if row.outcome == "beyond" and row.question not in self.required)

    @property
    def clusters_needed(self) -> int | None:
        """In all, to decide an open claim; None where it is not open, or no number is known to."""
        needed = self.floor.needed if self.floor else self.claim.needed if self.claim else None
        return needed.clusters if needed else None

    @property
    def held_back(self) -> str:
        """`too_few_clusters` or `one_large_cluster`, for which nothing is decided; "" else."""
        note = self.floor.note if self.floor else self.claim.test.reason if self.claim else ""
        return note if note in HOLDING else ""

    def _outcome_of(self, question: card.Question) -> str:
        return next((row.outcome for row in self.rows if row.question == question), "cannot tell")


@dataclass(frozen=True)
class Choice:
    """The answer, with a sentence to print. `pairs_needed`: clusters in all that would decide the first open judge.

    That judge is one cheaper than the chosen one, or any where none is chosen; None: no number is known to decide.
    `sentence` begins with `headline`.
    """

    status: Status
    judge: str | None
    headline: str
    sentence: str
    candidates: tuple[Candidate, ...]  # the cheapest first, unknown costs last
    pairs_needed: int | None
    plan: ComparisonPlan
    cheapest_known: bool = False  # no adequate judge, and not the chosen one, is of unknown cost
    people: above.AmongPeople | None = None  # None where nobody's label has another's beside it
    look: str = ""  # which look this is, and what that does to the bounds: a sentence
    hangs_on: tuple[str, ...] = ()  # annotators without whom, one at a time, the choice is another
    looking: Looking | None = None  # of which `look` tells

    @property
    def tried(self) -> int:
        """The size of the family: every candidate, and every setting of one that a later one replaced."""
        return len(self.candidates) + self.plan.gone

    @property
    def details(self) -> str:
        """What the headline rests on; "" where there is no more to say."""
        return self.sentence.removeprefix(self.headline).lstrip()

    @property
    def foremost(self) -> Candidate | None:
        """The chosen judge, or the one that comes closest; None where nothing was compared."""
        chosen = next((candidate for candidate in self.candidates if candidate.judge == self.judge), None)
        return chosen or closest(self.candidates)


def shortfall(candidate: Candidate) -> float:
    """How far a judge is from what it is measured by: gap to the left-out annotator, else minus its agreement."""
    if candidate.floor is not None:
        return candidate.floor.bound - candidate.floor.value
    if candidate.claim is not None:
        return candidate.claim.test.difference.value
    return -candidate.agreement.value


def closest(candidates: Sequence[Candidate]) -> Candidate | None:
    """The best standing, and of these the smallest shortfall; None where none is known.

    Of several that are level the first, which is the cheapest: see `as_close`.
    """
    known = [candidate for candidate in candidates if not math.isnan(shortfall(candidate))]
    standings: tuple[Standing, ...] = ("adequate", "open", "ruled_out")
    return min(known, key=lambda one: (standings.index(one.standing), shortfall(one)), default=None)


def as_close(candidate: Candidate, candidates: Sequence[Candidate]) -> list[str]:
    """The judges of its standing with its very agreement and shortfall, itself among them, by name."""

    def reached(other: Candidate) -> tuple[Standing, float, float]:
        return other.standing, other.agreement.value, shortfall(other)

    return sorted(other.judge for other in candidates if other is candidate or reached(other) == reached(candidate))


def decided(candidates: Sequence[Candidate]) -> tuple[Status, Candidate | None]:
    """Status of the choice, and the judge chosen: the cheapest adequate one, or where no cost is known the one that
    agrees most. `candidates`: the cheapest first."""
    adequate = [candidate for candidate in candidates if candidate.standing == "adequate"]
    priced = [one for one in adequate if not math.isnan(one.cost_per_item)]
    if adequate:
        return "chosen", (priced or adequate)[0]
    ruled_out = bool(candidates) and all(candidate.standing == "ruled_out" for candidate in candidates)
    return ("none_adequate" if ruled_out else "cannot_tell"), None


def is_cheapest(chosen: Candidate | None, candidates: Sequence[Candidate]) -> bool:
    """Whether the chosen judge is known to be the cheapest adequate one: no adequate judge is of unknown cost."""
    adequate = [candidate for candidate in candidates if candidate.standing == "adequate"]
    return chosen is not None and not any(math.isnan(one.cost_per_item) for one in adequate)


def gate(choice: Choice, judge: str = "", require_cheapest: bool = False) -> Status:
    """What a pipeline acts on: the status of the choice, or of one named judge, whatever it costs.

    `chosen`: the named judge is adequate. `require_cheapest`: a choice that may not be the cheapest is `cannot_tell`.
    Raises `unknown_form` for a judge that is no candidate.
    """
    if not judge:
        unknown = require_cheapest and choice.status == "chosen" and not choice.cheapest_known
        return "cannot_tell" if unknown else choice.status
    candidate = candidate_called(choice, judge)
    by_standing: dict[Standing, Status] = {
        "adequate": "chosen", "open": "cannot_tell", "ruled_out": "none_adequate"
    }  # fmt: skip
    found = by_standing[candidate.standing]
    if require_cheapest and found == "chosen" and (candidate.judge != choice.judge or not choice.cheapest_known):
        return "cannot_tell" if candidate.judge == choice.judge else "none_adequate"
    return found


def candidate_called(choice: Choice, judge: str) -> Candidate:
    """The candidate of this name, or the only one that a judge's score stands for: `fine` may be `fine by clarity`.

    Raises `unknown_form` for a judge that is no candidate.
    """
    named = {candidate.judge: candidate for candidate in choice.candidates}
    derived = [name for name in named if name.startswith(f"{judge} by ")]
    if judge in named or len(derived) == 1:
        return named.get(judge) or named[derived[0]]
    raise CalibrationError(
        "unknown_form", f"no judge is called {judge!r}; there are {', '.join(derived or sorted(named))}"
    )


def open_candidates(candidates: Sequence[Candidate], chosen: Candidate | None) -> list[Candidate]:
    """Those that more labels may show to be adequate, where one of them would then be chosen: the cheaper ones."""
    waiting = [candidate for candidate in candidates if candidate.standing == "open"]
    return [one for one in waiting if chosen is None or one.cost_per_item < chosen.cost_per_item * (1 - bounding.SAME)]
