"""The rows of a large study, item by item: what people and judges did, seeded, with realistic shares of everything."""

from __future__ import annotations

import hashlib
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

BEGAN = datetime(2026, 9, 1, 8, tzinfo=UTC)
A_DAY, AN_ITEM, A_SEND = 40, timedelta(minutes=7), timedelta(seconds=15)  # items a day, minutes an item
JUDGES = {"large": (2, 2), "mini": (2, 1), "nano": (1, 1)}  # name -> orders, repeats
RIGHT_HUMAN, RIGHT_JUDGE, TIE = 0.72, {"large": 0.75, "mini": 0.68, "nano": 0.6}, 0.08
SAID = "The left one covers more of what was asked, and says where its figures come from."
Rows = dict[str, list[dict[str, Any]]]  # table -> rows


@dataclass(frozen=True)
class Shape:
    """How large. `labels`: rows in all; what the answers leave of it are changed answers."""

    topics: int = 1_000
    systems: int = 20
    annotators: int = 200
    overlap: int = 3
    criteria: int = 10
    labels: int = 2_000_000
    sends: int = 10  # reports of active time an item
    open_topics: int = 30  # nobody has begun them, but for the work in hand
    in_work: int = 150

    @property
    def items(self) -> int:
        """Pairs of a system with the reference."""
        return self.topics * (self.systems - 1)

    @property
    def answers(self) -> int:
        """Questions that people answer in slots handed in, before retests and attention items."""
        return self.criteria * self.overlap * (self.systems - 1) * (self.topics - self.open_topics)

    @property
    def judged(self) -> int:
        """Questions that judges answer."""
        return self.criteria * self.items * sum(orders * repeats for orders, repeats in JUDGES.values())


class Work:
    """Rows of everything that was done, an item at a time: `topic`, `report a and b`, `sha256 of both` come in."""

    def __init__(
        self, shape: Shape, seed: int, people: Sequence[tuple[int, int]], judges: dict[str, tuple[int, int, int]],
        adjudicator: int, criteria: Sequence[int], changed: int,
    ) -> None:  # fmt: skip
        """`people`: (rater, enrollment); `judges`: name -> rater, judge, config; `changed`: how many answers are."""
        self.shape, self.random = shape, random.Random(seed)
        self.people, self.judges, self.adjudicator, self.criteria = people, judges, adjudicator, criteria
        self.assignment = self.label = self.call = 0
        self.done: Counter[int] = Counter()  # annotator -> items so far
        self.changed, self.may_change = changed, max(1, shape.answers)
        self.in_work = 0

    def item(self, item: int, topic: int, place: int, sha256: tuple[str, str]) -> Rows:
        """All that happened to one pair, which is number `place` of its topic."""
        rows: Rows = defaultdict(list)
        truth = [self.random.choices("AB", (0.35, 0.65))[0] for _ in self.criteria]
        said: list[dict[int, str]] = []
        begun = topic < self.shape.topics - self.shape.open_topics
        slots_a_topic = self.shape.overlap * (self.shape.systems - 1)
        for slot in range(1, self.shape.overlap + 1):
            number = (topic * slots_a_topic + place * self.shape.overlap + slot) % len(self.people)
            holds = begun or self.in_work < min(self.shape.in_work, len(self.people))
            self.in_work += holds and not begun
            given = self._person(rows, item, slot, number if holds else None, truth, sha256, handed_in=begun)
            if begun:
                said.append(given)
                if self.random.random() < 0.05:
                    self._person(rows, item, slot, number, truth, sha256, handed_in=True, retest=True)
        if begun and item % 60 == 0:
            self._adjudicated(rows, item, said, truth, sha256)
        for name, (orders, repeats) in JUDGES.items():
            for number in range(orders * repeats):
                self._judged(rows, item, name, number + 1, number // orders + 1, "AB"[number % 2], truth, sha256)
        return rows

    def attention(self, item: int, sha256: tuple[str, str]) -> Rows:
        """One item of attention, for everybody; A is agreed on."""
        rows: Rows = defaultdict(list)
        for number in range(len(self.people)):
            slot = self.people[number][1]
            self._person(rows, item, slot, number, ["A"] * len(self.criteria), sha256, handed_in=True, attention=True)
        return rows

    def _person(
        self, rows: Rows, item: int, slot: int, number: int | None, truth: Sequence[str], sha256: tuple[str, str],
        *, handed_in: bool, retest: bool = False, attention: bool = False,
    ) -> dict[int, str]:  # fmt: skip
        rater, left = None if number is None else self.people[number][0], self.random.choice("AB")
        taken = submitted = None
        if number is not None:
            self.done[number] += 1
            day, place = divmod(self.done[number], A_DAY)
            taken = BEGAN + timedelta(days=day) + AN_ITEM * place
            submitted = taken + timedelta(seconds=150 + self.random.randrange(200)) if handed_in else None
        status = "submitted" if handed_in else "open" if rater is None else "taken"
        purpose = "retest" if retest else "attention" if attention else "label"
        key = self._assignment(
            rows, item, rater, purpose, "app", slot, (2, 2) if retest else (1, 1), left, status, taken, submitted
        )
        if taken is None:
            return {}
        self._reported(rows, key, rater, taken, submitted)
        first: dict[int, str] = {}
        answered = self.criteria if handed_in else self.criteria[: len(self.criteria) // 2]
        for order, criterion in enumerate(answered):
            verdict = self._verdict(truth[order], 0.95 if attention else RIGHT_HUMAN)
            at = taken + timedelta(seconds=10 + 12 * order)
            revisions = 1 + (purpose == "label" and handed_in and self._is_changed())
            for revision in range(1, revisions + 1):
                last = verdict if revision == revisions else self._verdict(truth[order], 0.3)
                self._label(rows, key, criterion, revision, last, left, sha256, at + timedelta(seconds=revision), True)
            first[criterion] = verdict
        return first

    def _is_changed(self) -> bool:
        """Selection sampling: exactly `changed` of all answers."""
        is_changed = self.random.random() * self.may_change < self.changed
        self.may_change, self.changed = max(1, self.may_change - 1), self.changed - is_changed
        return is_changed

    def _reported(self, rows: Rows, key: int, rater: int | None, taken: datetime, submitted: datetime | None) -> None:
        """What the page told about it: active time, here and there a remark; and the audit trail."""
        end = submitted or taken + timedelta(seconds=60)
        rows["events"].append(self._event(rater, None, "audit", "take", {"assignment": key}, taken, None))
        sent = taken + A_SEND
        for _ in range(self.shape.sends):
            if sent > end:
                break
            start = (sent - timedelta(seconds=14)).isoformat()
            data = {"intervals": [{"criterion": f"c{1 + sent.second % 7}", "start": start, "end": sent.isoformat()}]}
            rows["events"].append(self._event(rater, key, "activity", "intervals", data, sent, sent))
            sent += A_SEND
        if self.random.random() < 0.03:
            kind = self.random.choice(("flag", "comment"))
            what = "broken_text" if kind == "flag" else "comment"
            rows["events"].append(self._event(rater, key, kind, what, {"text": "A table is missing here."}, end, end))
        if submitted:
            audit = {"assignment": key, "labels": len(self.criteria)}
            rows["events"].append(self._event(rater, None, "audit", "submit", audit, submitted, None))

    def _adjudicated(
        self, rows: Rows, item: int, said: Sequence[dict[int, str]], truth: Sequence[str], sha256: tuple[str, str]
    ) -> None:
        """Every dispute about it settled by the adjudicator."""
        raters = [row["rater_id"] for row in rows["assignments"] if row["purpose"] == "label"][: len(said)]
        split = [order for order, criterion in enumerate(self.criteria) if len({one[criterion] for one in said}) > 1]
        if not split:
            return
        at, left = BEGAN + timedelta(days=30), self.random.choice("AB")
        codes = [f"c{order + 1}" for order in split]
        key = self._assignment(
            rows, item, self.adjudicator, "adjudicate", "app", 1, (1, 1), left, "submitted", at, at, codes
        )
        for order in split:
            self._label(rows, key, self.criteria[order], 1, truth[order], left, sha256, at, True)
        saw = {
            f"c{order + 1}": {
                str(rater): one[self.criteria[order]] for rater, one in zip(raters, said, strict=True)
            } for order in split
        }  # fmt: skip
        audit = {"assignment": key, "verdicts": saw}
        rows["events"].append(self._event(self.adjudicator, None, "audit", "adjudicate", audit, at, None))

    def _judged(
        self, rows: Rows, item: int, name: str, pass_no: int, repeat: int, left: str, truth: Sequence[str],
        sha256: tuple[str, str],
    ) -> None:  # fmt: skip
        rater, judge, config = self.judges[name]
        at = BEGAN + timedelta(days=20, seconds=item % 86_400)
        key = self._assignment(
            rows, item, rater, "label", "judge", pass_no, (pass_no, repeat), left, "submitted", at, at
        )
        self.call += 1
        shown = sha256 if left == "A" else sha256[::-1]
        rows["judge_calls"].append({
            "id": self.call, "key": hashlib.sha256(f"call {self.call}".encode()).hexdigest(), "judge_id": judge,
            "config_id": config, "state": "done", "criteria": list(self.criteria), "shown_sha256": list(shown),
            "tries": 1, "reserved": 0.0, "outcome": "ok", "created_at": at, "done_at": at,
        })  # fmt: skip
        rows["judge_call_assignments"].append({"call_id": self.call, "assignment_id": key})
        limited = self.random.random() < 0.02
        for attempt in range(1, 2 + limited):
            failed = limited and attempt == 1
            rows["judge_attempts"].append({
                "call_id": self.call, "attempt_no": attempt, "kind": "first" if attempt == 1 else "retry",
                "outcome": "rate_limited" if failed else "ok", "http_status": 429 if failed else 200,
                "raw_reply": None if failed else '{"judgments": [{"criterion": "c1", "rationale": "' + SAID + '"}]}',
                "model_reported": None if failed else "model-1", "tokens_in": None if failed else 9_000 + item % 500,
                "tokens_cached": None if failed else 0, "tokens_out": None if failed else 700 + item % 90,
                "tokens_reasoning": None if failed else 0, "price": None if failed else {"input": 0.15, "output": 0.6},
                "cost": None if failed else 0.0017 + 1e-7 * (item % 500), "seconds": 2.0 + item % 13 / 4,
                "created_at": at,
            })  # fmt: skip
        for order, criterion in enumerate(self.criteria):
            verdict = "" if self.random.random() < 0.01 else self._verdict(truth[order], RIGHT_JUDGE[name])
            self._label(rows, key, criterion, 1, verdict, left, sha256, at, False)

    def _verdict(self, truth: str, right: float) -> str:
        drawn = self.random.random()
        if drawn < TIE:
            return "tie"
        return truth if drawn < TIE + (1 - TIE) * right else "AB"[truth == "A"]

    def _assignment(
        self, rows: Rows, item: int, rater: int | None, purpose: str, source: str, slot: int,
        passes: tuple[int, int], left: str, status: str, taken: datetime | None, submitted: datetime | None,
        criteria: list[str] | None = None,
    ) -> int:  # fmt: skip
        self.assignment += 1
        rows["assignments"].append({
            "id": self.assignment, "aid": f"{self.random.getrandbits(128):032x}", "study_id": 1, "item_id": item,
            "rater_id": rater, "purpose": purpose, "source": source, "slot_no": slot, "pass_no": passes[0],
            "repeat_no": passes[1], "left": left, "criteria_order": criteria, "plan_seed": 7, "status": status,
            "priority": 0, "rev": 0, "place": {}, "created_at": BEGAN, "taken_at": taken,
            "active_at": submitted or taken, "submitted_at": submitted,
        })  # fmt: skip
        return self.assignment

    def _label(
        self, rows: Rows, assignment: int, criterion: int, revision: int, verdict: str, left: str,
        sha256: tuple[str, str], at: datetime, is_person: bool,
    ) -> None:  # fmt: skip
        """`verdict`: A, B, tie, or empty where a judge gave none."""
        self.label += 1
        side = {"A": "left", "B": "right"} if left == "A" else {"A": "right", "B": "left"}
        on_left, on_right = sha256 if left == "A" else sha256[::-1]
        rows["labels"].append({
            "id": self.label, "assignment_id": assignment, "criterion_id": criterion, "revision": revision,
            "status": "ok" if verdict else "invalid", "choice": side.get(verdict, verdict) or None,
            "rationale": "" if self.label % 2 else SAID, "evidence": [],
            "confidence": None, "flags": [] if verdict else ["unknown_value"],
            "client_uuid": f"{self.random.getrandbits(128):032x}" if is_person else None,
            "writer": "browser00" if is_person else "", "seq": revision if is_person else 0, "left_sha256": on_left,
            "right_sha256": on_right, "stripper_version": "1", "renderer_version": "1" if is_person else None,
            "parser_version": None if is_person else "1", "after_reveal": False, "seconds": None, "cost_usd": None,
            "client_ts": None, "created_at": at,
        })  # fmt: skip

    def _event(
        self, rater: int | None, assignment: int | None, kind: str, what: str, data: dict[str, Any], at: datetime,
        client: datetime | None,
    ) -> dict[str, Any]:  # fmt: skip
        return {
            "study_id": 1, "rater_id": rater, "assignment_id": assignment, "kind": kind, "what": what, "data": data,
            "client_uuid": f"{self.random.getrandbits(128):032x}" if client else None,
            "client_ts": client.isoformat() if client else None, "created_at": at,
        }  # fmt: skip


def texts(topics: int, systems: int) -> Iterator[tuple[int, int, str]]:
    """(topic, system, text) of every report, all different."""
    sentence = "The river was measured at eleven stations, and the reports of the office differ from the later survey. "
    for topic in range(topics):
        for system in range(systems):
            yield topic, system, f"# Report {topic:04d}\n\nThis is version {system:02d}. {sentence * 8}\n"
