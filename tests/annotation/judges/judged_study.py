"""A small study to judge, and stub transports that answer without a network."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlalchemy import Engine, func, select

from annotation.judges.defining.judge_file import JudgeDefinition, ModelFacts, Rung, parse_judges
from annotation.judges.planning.plan import plan_judges
from annotation.judges.replies.outcomes import Reply, Usage
from annotation.judges.running.progress import RunSummary
from annotation.judges.running.run import run_judges
from annotation.protocol import parse_protocol
from annotation.studies import init_study
from annotation.verdicts import unblind
from db.connect import reading, transaction
from db.judge_tables import Judge, JudgeAttempt, JudgeCall
from db.tables import Assignment, Criterion, Import, Item, Label, Report, Study, System, Topic
from tests.prepared import prepared

CODES = ("c_one", "c_two", "d_one")
PRICE = "price = {input = 0.15, output = 0.60, cached = 0.075}"
SYSTEMS = ("zeta-agent-9", "encyclo-reference")  # names that must never reach a provider


def protocol_text(
    codes: Sequence[str] = CODES, answers: str = "", judge: str = 'batching = "all", order = "both"'
) -> str:
    criteria = "\n".join(
        f'[[criterion]]\nid = "{code}"\nlabel = "Label of {code}"\ntext = "Which is better on {code}?"\n'
        f'category = "{code[0]}"\n'
        for code in codes
    )
    return (
        'format = "calipers-protocol/1"\nname = "small"\ntitle = "Small"\ntask_type = "pairwise_choice"\n'
        f'task = "Which report is better?"\nguidance = "Read both in full."\njudge = {{{judge}}}\n'
        f"[answers]\n{answers}\n{criteria}"
    )


@prepared
def make_study(
    engine: Engine,
    pairs: int = 4,
    *,
    codes: Sequence[str] = CODES,
    answers: str = "",
    text: Callable[[int, str], str] | None = None,
) -> int:
    """A study of `pairs` topics with one pair each. A is the agent's (q .8 on even topics), B the reference's."""

    def shown(number: int, side: str) -> str:
        q = 0.8 if (side == "A") == (number % 2 == 0) else 0.2
        return f"# Report\n\nText of topic {number}, side {side}, written at length.\n\n[[q={q}]]\n"

    with transaction(engine) as session:
        study = init_study(session, "small", protocol_text(codes, answers), 7)
        session.add(Import(id=1, study_id=study.id, kind="reports", layout="folder", source="x"))
        for number, name in enumerate(SYSTEMS, 1):
            session.add(
                System(
                    id=number, study_id=study.id, key=name, public_name=name, family="google", is_reference=number == 2
                )
            )
        session.flush()
        for number in range(pairs):
            topic = Topic(study_id=study.id, key=f"t{number}", title=f"Rivers {number}", prompt="Why do rivers rise?")
            session.add(topic)
            session.flush()
            reports = []
            for system, side in ((1, "A"), (2, "B")):
                body = (text or shown)(number, side)
                sha = hashlib.sha256(body.encode()).hexdigest()
                reports.append(
                    Report(
                        study_id=study.id, topic_id=topic.id, system_id=system, import_id=1, original=body.encode(),
                        original_sha256=sha, original_text=body, shown_text=body, shown_sha256=sha,
                        stripper_version="1", words=len(body.split()),
                    )
                )  # fmt: skip
            session.add_all(reports)
            session.flush()
            session.add(
                Item(
                    study_id=study.id,
                    topic_id=topic.id,
                    kind="pair",
                    report_a_id=reports[0].id,
                    report_b_id=reports[1].id,
                )
            )
        return study.id


def judges(*tables: str, defaults: str = "") -> tuple[JudgeDefinition, ...]:
    """Definitions from the bodies of [[judge]] tables."""
    text = f"[defaults]\n{defaults}\n" + "\n".join(f"[[judge]]\n{table}" for table in tables)
    return parse_judges(text, parse_protocol(protocol_text()))


def describe(judge: JudgeDefinition) -> ModelFacts:
    """Facts of a model nobody knows: every parameter goes through, no price, no window."""
    return ModelFacts(dict(judge.params), (), True, None, "none", None)


class Stub:
    """A transport that answers from a function of the user message and the number of this request. Records all."""

    def __init__(self, say: Callable[[str, int], str | Reply] | None = None, *, seconds: float = 0.0) -> None:
        self.requests: list[dict[str, Any]] = []
        self.in_flight = self.most_in_flight = 0
        self._say, self._seconds = say or (lambda text, number: judgments(text)), seconds

    async def __call__(
        self, judge: JudgeDefinition, messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any], rung: Rung
    ) -> Reply:
        self.requests.append({"judge": judge, "messages": [dict(m) for m in messages], "rung": rung})
        number = len(self.requests)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await asyncio.sleep(self._seconds)
        finally:
            self.in_flight -= 1
        text = "\n".join(message["content"] for message in messages)
        said = self._say(text, number)
        return said if isinstance(said, Reply) else replied(said, text)


def replied(said: str, asked: str = "", **changes: Any) -> Reply:
    usage = Usage(max(1, len(asked) // 4), 0, max(1, len(said) // 4), 0)
    fields = dict(
        outcome="ok", seconds=0.01, text=said, finish_reason="stop", model="stub", usage=usage, http_status=200
    )
    return Reply(**{**fields, **changes})


def asked_codes(text: str) -> list[str]:
    return list(dict.fromkeys(re.findall(r"^criterion: (\S+)$", text, re.M)))


def judgments(text: str, winner: str | None = None) -> str:
    """A perfect reply: the report with the higher marker wins, or `winner` always."""
    qualities = [float(q) for q in re.findall(r"\[\[q=([\d.]+)\]\]", text)]
    better = winner or ("first" if qualities[0] > qualities[1] else "second")
    return json.dumps(
        {"judgments": [{"criterion": code, "rationale": "because", "winner": better} for code in asked_codes(text)]}
    )


def labels(engine: Engine) -> list[dict[str, Any]]:
    """Current labels with their order, one row per assignment and criterion, in order."""
    with reading(engine) as session:
        rows = session.execute(
            select(
                Item.id.label("item"), Assignment.pass_no, Assignment.left, Assignment.rater_id, Criterion.code,
                Label.status, Label.choice, Label.flags, Label.rationale, Label.revision,
            )
            .join(Assignment, Assignment.id == Label.assignment_id)
            .join(Item, Item.id == Assignment.item_id)
            .join(Criterion, Criterion.id == Label.criterion_id)
            .order_by(Assignment.rater_id, Item.id, Assignment.pass_no, Criterion.position, Label.revision)
        )  # fmt: skip
        found = {(row.rater_id, row.item, row.pass_no, row.code): row._asdict() for row in rows}
    return list(found.values())


def attempts(engine: Engine) -> list[JudgeAttempt]:
    with reading(engine) as session:
        return list(session.scalars(select(JudgeAttempt).order_by(JudgeAttempt.call_id, JudgeAttempt.attempt_no)))


def verdict(row: Mapping[str, Any]) -> str | None:
    """The report a label names."""
    return unblind(row["choice"], row["left"])


def study_row(engine: Engine, study_id: int) -> Study:
    with reading(engine) as session:
        return session.get_one(Study, study_id)


STUB_JUDGE = f'name = "mini"\nmodel = "openai/x"\nconcurrency = 8\nmax_output_tokens = 200\n{PRICE}\n'


def run_stub(engine: Engine, study: int, stub: Stub, toml: str = STUB_JUDGE, **more: Any) -> RunSummary:
    definitions = judges(toml)
    plan_judges(engine, study, definitions, describe=describe)
    return run_judges(engine, study, definitions, transport=stub, **more)


def account(engine: Engine) -> Judge:
    with reading(engine) as session:
        return session.scalars(select(Judge)).one()


def call_states(engine: Engine) -> dict[str, int]:
    with reading(engine) as session:
        return dict(session.execute(select(JudgeCall.state, func.count()).group_by(JudgeCall.state)).all())
