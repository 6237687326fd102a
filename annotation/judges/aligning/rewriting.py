"""One request to the model that writes instructions: a call of the judge's own queue, reserved, paid and kept as any.

Its text is kept as its configuration's template, its reply as that of its attempt; the same request is sent once.
"""

import asyncio
import random
import secrets
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from annotation.errors import AnnotationError
from annotation.judges.aligning.align_plan import ALIGN
from annotation.judges.asking import client
from annotation.judges.asking.prompt import Prompt, plain_prompt
from annotation.judges.asking.steps import Ask, Finish, as_row, back_off_s, spent_by
from annotation.judges.defining.judge_file import JudgeDefinition
from annotation.judges.money import accounts, prices
from annotation.judges.planning.plan import CALLS, insert_new
from annotation.judges.queue import settling
from annotation.judges.replies.outcomes import Reply
from db.connect import reading, transaction
from db.judge_tables import JudgeAttempt, JudgeCall
from db.tables import Study
from plain.hashes import canonical_sha256

TRIES = 4
WORTH_ANOTHER = ("rate_limited", "server_error", "dropped", "timeout")


@dataclass(frozen=True)
class Rewriter:
    """Whoever writes instructions for the judge `account`: `definition` has that judge's name and another's model."""

    engine: Engine
    study_id: int
    account: accounts.Account
    definition: JudgeDefinition
    transport: client.Transport = client.ask
    describe: accounts.Describe = client.describe

    def __call__(self, text: str) -> str | None:
        """The reply; None where the budget has no room for the request. Raises AnnotationError `no_reply`."""
        call, resolved, known = self._planned(text)
        if known is not None:
            return known
        worker, prompt = settling.Worker(f"align-{secrets.token_hex(8)}", 600.0), plain_prompt(text)
        worst = prices.worst_cost(prompt.utf8_bytes, self.definition.max_output_tokens, resolved.priced.price)
        for number in range(1, TRIES + 1):
            with transaction(self.engine) as session:
                settling.take_over_expired(session, worker, self.account)
                if not _lease(session, call, worker):
                    raise AnnotationError("no_reply", "another process writes instructions for this judge now; wait")
                if settling.write_back(session, worker, [settling.AskedAgain(call, worst)]) != [True]:
                    settling.write_back(session, worker, [settling.GivenBack(call)])
                    return None
            ask = Ask(prompt, "plain", "first" if number == 1 else "retry")
            reply = asyncio.run(self._send(resolved, prompt))
            again = reply.outcome in WORTH_ANOTHER and number < TRIES
            ended = settling.Ended(call, (), Finish((), "done", "ok") if reply.outcome == "ok" else FAILED)
            paid = settling.Settled(
                call, as_row(reply, ask, resolved.priced.price), spent_by(reply, resolved.priced.price), requeue=again
            )
            with transaction(self.engine) as session:
                settling.write_back(session, worker, [paid])
                if not again:
                    settling.write_back(session, worker, [ended])
            if reply.outcome == "ok":
                return reply.text
            if again:
                asyncio.run(asyncio.sleep(reply.retry_after_s or back_off_s(number, random.random())))
        raise AnnotationError(
            "no_reply", f"{self.definition.model} wrote no instructions: {reply.error or reply.outcome}"
        )

    def _planned(self, text: str) -> tuple[int, accounts.Resolved, str | None]:
        """The call of this request, written where it is new, and its reply where there is one."""
        facts = self.describe(self.definition)
        with transaction(self.engine) as session:
            study = session.get_one(Study, self.study_id)
            resolved = accounts.resolve(session, study, self.definition, text, facts)
            assert resolved is not None  # facts are given
            config = accounts.open_account(session, study, resolved, text).config_id
            key = canonical_sha256({"study": self.study_id, "rewriting": resolved.sha256})
            row = {
                "key": key, "judge_id": self.account.judge_id, "config_id": config, "criteria": [], "shown_sha256": [],
                JudgeCall.stress.name: ALIGN, "state": "planned",
            }  # fmt: skip
            session.execute(insert_new(session, CALLS), [row])
            call = session.scalars(select(JudgeCall.id).where(JudgeCall.key == key)).one()
        with reading(self.engine) as session:
            replies = select(JudgeAttempt.raw_reply).where(JudgeAttempt.call_id == call, JudgeAttempt.outcome == "ok")
            return call, resolved, session.scalar(replies.order_by(JudgeAttempt.attempt_no).limit(1))

    async def _send(self, resolved: accounts.Resolved, prompt: Prompt) -> Reply:
        judge = accounts.as_sent(resolved.definition, 1)
        try:
            return await self.transport(judge, prompt.messages, {}, "plain")
        except AnnotationError as error:
            return Reply("fatal", 0.0, error=error.text)
        finally:
            if self.transport is client.ask:
                await client.close()


FAILED = Finish((), "failed", "call_failed")


def _lease(session: Session, call: int, worker: settling.Worker) -> bool:
    """Take the call, unless a living process has it; one that failed is tried anew."""
    free, until = CALLS.c.state != "leased", settling.clock(session) + timedelta(seconds=worker.lease_s)
    taken = {"state": "leased", "worker": worker.id, "lease_until": until, "outcome": None, "done_at": None}
    changed = session.execute(CALLS.update().where(CALLS.c.id == call, free).values(**taken).returning(CALLS.c.id))
    return changed.scalar() is not None


def as_rewriter(judge: JudgeDefinition, by: JudgeDefinition) -> JudgeDefinition:
    """The model of `by` under the name of `judge`, whose budget pays for it."""
    return by.model_copy(update={"name": judge.name, "max_cost": judge.max_cost})
