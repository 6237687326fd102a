"""Try variants of a judge's wording on the topics that may be seen, within the budget, and choose one of them.

A request to the model that writes instructions is a call of the judge's own queue, reserved, paid and kept as any: its
text as its configuration's template, its reply as that of its attempt; the same request is sent once.
"""

import asyncio
import math
import random
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from sqlalchemy import Engine, select, update
from sqlalchemy.orm import Session

from annotation.errors import AnnotationError
from annotation.judges.aligning import align_plan, spending, wording
from annotation.judges.aligning.align_plan import ALIGN
from annotation.judges.aligning.search import Scored, Search, gepa_search
from annotation.judges.asking import client, examples, own_prompts
from annotation.judges.asking.material import CHUNK
from annotation.judges.asking.prompt import Prompt, plain_prompt
from annotation.judges.asking.steps import Ask, Finish, as_row, back_off_s, spent_by
from annotation.judges.defining.judge_file import JudgeDefinition
from annotation.judges.money import accounts, prices
from annotation.judges.money.accounts import Account, Describe
from annotation.judges.planning.plan import CALLS, insert_new
from annotation.judges.queue import settling
from annotation.judges.replies.outcomes import Reply
from annotation.judges.reviewing.replies_again import Said
from annotation.judges.running.run import run_judges
from annotation.judges.stress_tests import stress_plan, stressed_verdicts
from annotation.studies import protocol_of
from db.connect import reading, transaction
from db.judge_tables import Judge, JudgeAttempt, JudgeCall
from db.tables import Item, Study, System, Topic
from plain.hashes import canonical_sha256

TRIES = 4
WORTH_ANOTHER = ("rate_limited", "server_error", "dropped", "timeout")


class Interrupted(Exception):
    """Somebody ended the run; what was asked is kept, and the same command goes on."""


@dataclass(frozen=True)
class Outcome:
    """What trying came to: the judge as it was, the variant that is best on the topics to choose on, and how many.

    `best` is the judge as it was where nothing did better. `ended`: why trying ended before all variants, or "".
    """

    start: wording.Variant
    best: wording.Variant
    tried: int
    ended: str
    spent: float


@dataclass
class Trial:
    """One alignment at work. `measuring`: USD that measuring the result is expected to cost, kept aside."""

    engine: Engine
    study_id: int
    definition: JudgeDefinition
    plan: align_plan.Alignment
    rewriter: JudgeDefinition
    search: Search = gepa_search
    transport: client.Transport = client.ask
    describe: Describe = client.describe
    measuring: float = 0.0
    variants: dict[str, wording.Variant] = field(default_factory=dict)
    ended: str = ""

    def run(self) -> Outcome:
        """Try variants until all are tried or the budget has no room. Raises AnnotationError and `Interrupted`."""
        with reading(self.engine) as session:
            study = session.get_one(Study, self.study_id)
            self._own = stress_plan.own_account(session, study, self.definition)
            self._protocol, seed = protocol_of(study), study.seed
            self._base = examples.prompt_for(session, study, self.definition)
            self._people = align_plan.people_said(session, study)
            self._topics = align_plan.items_of(session, study, self._own, self.plan.seen)
            titles = select(Item.id, Topic.title).join(Topic, Topic.id == Item.topic_id)
            self._titles = dict(session.execute(titles.where(Item.id.in_(self._topics))).all())
            named = select(System.key, System.public_name).where(System.study_id == study.id)
            self._systems = sorted({name for row in session.execute(named) for name in row if name})
            self.measuring = spending.kept_for_measuring(session, study, self._own, self.plan.seen)
        if self._own.resolved.priced.price is None:
            text = f"judge {self.definition.name!r} has no price, so no budget can be kept; give it one in judges.toml"
            raise AnnotationError("no_price", text)
        if not math.isfinite(self.measuring):
            raise AnnotationError("budget", f"nobody knows what a call of judge {self.definition.name!r} costs")
        if self.measuring >= self.plan.budget:
            raise AnnotationError(
                "budget", f"measuring the result alone may take {self.measuring:.2f} USD; give a larger --budget"
            )
        with transaction(self.engine) as session:
            session.execute(update(Judge).where(Judge.id == self._own.judge_id).values(max_cost=self._cap(session)))
        try:
            return self._try_all(seed)
        finally:
            with transaction(self.engine) as session:
                own = update(Judge).where(Judge.id == self._own.judge_id)
                session.execute(own.values(max_cost=self.definition.max_cost))

    def _try_all(self, seed: int) -> Outcome:
        with reading(self.engine) as session:
            definition = self.definition.model_copy(update={"max_cost": self._cap(session)})
        # the model that writes, under the name of the judge whose budget pays for it
        writer = self.rewriter.model_copy(update={"name": definition.name, "max_cost": definition.max_cost})
        rewrite = Rewriter(self.engine, self.study_id, self._own, writer, self.transport, self.describe)
        start = self._variant("")
        self._score(start, self._items(self.plan.chosen_on))
        self.search(
            self._items(self.plan.written_from), self._items(self.plan.chosen_on), self.score, rewrite,
            wording.request_to_rewrite(self._protocol), self.over, variants=self.plan.variants, seed=seed,
        )  # fmt: skip
        self._with_examples()
        return Outcome(start, self._best(), len(self.variants) - 1, self.ended, self.spent())

    def score(self, text: str, items: Sequence[int]) -> list[Scored]:
        """How these instructions do on items, and what is told of each; 0 for what could not be asked."""
        if text and (why := self._why_unfit(text)):
            return [Scored(item, 0.0, {"Refused": f"these instructions are not tried: {why}"}) for item in items]
        variant = self._variant(text)
        found = self._score(variant, items)
        told = wording.records(self._protocol, self._titles, found, self._people)
        records = dict(zip(sorted({one.item for one in found}), told, strict=True))
        return [Scored(item, self._item_score(found, item), records.get(item, {})) for item in items]

    def over(self) -> bool:
        """Whether nothing more may be tried."""
        with reading(self.engine) as session:
            if not self.ended and self._room(session) <= 0:
                self.ended = "the budget"
        return bool(self.ended) or len(self.variants) > self.plan.variants

    def spent(self) -> float:
        """USD since the plan was kept."""
        with reading(self.engine) as session:
            return spending.spent_on_trying(session, session.get_one(Judge, self._own.judge_id), self.plan)

    def _room(self, session: Session) -> float:
        """USD that trying may still cost, beside what measuring needs and within the judge's own max_cost."""
        judge, own = session.get_one(Judge, self._own.judge_id), self.definition.max_cost
        room = self.plan.budget - self.measuring - spending.spent_on_trying(session, judge, self.plan)
        return room if own is None else min(room, own - judge.spent - judge.reserved)

    def _cap(self, session: Session) -> float:
        """What the judge may have cost in all once trying has ended, whatever else it was asked until now."""
        judge = session.get_one(Judge, self._own.judge_id)
        return judge.spent + judge.reserved + self._room(session)

    def _items(self, topics: Sequence[str]) -> list[int]:
        return [item for item, topic in self._topics.items() if topic in topics]

    def _variant(self, text: str) -> wording.Variant:
        return self.variants.setdefault(text, wording.Variant(text, wording.with_instructions(self._base, text)))

    def _why_unfit(self, text: str) -> str:
        if why := wording.why_unfit(text):
            return why
        try:
            own = self.definition.model_copy(update={"prompt_text": text})
            own_prompts.refuse_named_systems(self._protocol, own, self._systems)
        except AnnotationError as error:
            return error.text
        return ""

    def _score(self, variant: wording.Variant, items: Sequence[int]) -> list[Said]:
        """Ask what was not asked yet, and note the scores of items that variants are chosen on."""
        changed = variant.template != self._base
        account = self._ask(variant, items) if changed else self._own
        with reading(self.engine) as session:
            study = session.get_one(Study, self.study_id)
            found = [
                one
                for start in range(0, len(items), CHUNK)
                for one in stressed_verdicts.answers_of(session, study, account, items[start:][:CHUNK])
                if one.repeat == 1 and self._people.get((one.item, one.criterion))
            ]
        chosen_on = {*self._items(self.plan.chosen_on)}
        for item in {one.item for one in found} & chosen_on:
            variant.scores[item] = self._item_score(found, item)
            variant.answers[item] = tuple(one.verdict for one in found if one.item == item)
        return found

    def _item_score(self, found: Sequence[Said], item: int) -> float:
        scores = [
            wording.agreement(one.verdict, self._people[one.item, one.criterion], one.scale)
            for one in found
            if one.item == item
        ]
        return wording.mean_score(scores) if scores else 0.0

    def _ask(self, variant: wording.Variant, items: Sequence[int]) -> Account:
        with transaction(self.engine) as session:
            study = session.get_one(Study, self.study_id)
            copies = stress_plan.copies_of(session, study, self._own, align_plan.ALIGN, items, variant.template)
            made = [copy for copy in copies if copy is not None]
            known = stress_plan.known_keys(session, made)
            new = [copy for copy in made if copy.key not in known]
            stress_plan.write_copies(session, study, self._own, align_plan.ALIGN, new, variant.template)
            own = self.definition.model_copy(update={"template": variant.template, "max_cost": self._cap(session)})
        if not self.ended:
            ran = run_judges(self.engine, self.study_id, [own], stress=align_plan.ALIGN, transport=self.transport)
            if ran.interrupted:
                raise Interrupted
            self._note(ran.judges[0].stopped)
        with reading(self.engine) as session:
            study = session.get_one(Study, self.study_id)
            account = stress_plan.account_under(session, study, own, align_plan.ALIGN, variant.template)
            assert account is not None  # written above
            return account

    def _note(self, stopped: str | None) -> None:
        if stopped and stopped.startswith("budget"):
            self.ended = "the budget"
        elif stopped:
            raise AnnotationError("stopped", f"judge {self.definition.name!r} stopped: {stopped}")

    def _with_examples(self) -> None:
        """One more variant: the best so far, shown examples from the topics that instructions were written from."""
        count, best = self.plan.examples, self._best()
        if not count or self.ended:
            return
        topics = self.plan.written_from[:count]
        with reading(self.engine) as session:
            study = session.get_one(Study, self.study_id)
            characters = self.definition.example_chars
            template = examples.with_topics_shown(session, study, best.template, topics, characters)
        shown = wording.Variant(best.text, template, len(topics))
        self.variants[f"{best.text}\n+ {len(topics)} examples"] = shown
        self._score(shown, self._items(self.plan.chosen_on))

    def _best(self) -> wording.Variant:
        """The highest mean of those that were scored on every item to choose on; of equals the first tried."""
        items = {*self._items(self.plan.chosen_on)}
        people = [said for (item, _), all_said in self._people.items() if item in items for said, _ in all_said]
        start = self.variants[""]
        whole = [one for one in self.variants.values() if one.scores.keys() == start.scores.keys()]
        return max((one for one in whole if one is start or not one.is_constant(people)), key=lambda one: one.mean)


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
