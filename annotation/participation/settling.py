"""What a crowd platform is to pay, out of its own list of submissions and what each person did here.

Nobody's id is stored here, so the platform's list brings them; each is known again by its hash. Nobody is left out or
refused by this: whoever does not add up is for the owner to look at.
"""

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import ROUND_UP, Decimal

from sqlalchemy import orm, select

from annotation.errors import AnnotationError
from annotation.participation.people_list import pay_lines
from annotation.people import links, platforms, principals
from annotation.planning.plan_summary import READING_WPM
from annotation.studies import audit, audited, hold_study, protocol_of
from annotation.work.history import work_log
from annotation.work.way_back import end_of
from db.people_tables import Enrollment
from db.tables import Event, Study

CENT = Decimal("0.01")
SETTLED = "settle"  # the audit line of one settlement, with every bonus by pseudonym
VOIDED = "settle_void"  # that the settlement of a number was never paid
LONG = "active for much longer than such work takes: no bonus before you accept the time"
PAID = "approved"  # what every platform calls a submission that was paid


@dataclass(frozen=True)
class Submission:
    """A line of the platform's list: whose it is, its own id, its state there, and the line as it stands."""

    participant: str
    visit: str
    status: str
    row: Mapping[str, str]


@dataclass(frozen=True)
class CrowdPerson:
    """Somebody who came by an open link. `due`: what their active time is worth, a cent begun counts as one."""

    pseudonym: str
    participant_sha256: str
    end: str | None  # completed | screened_out | no_consent | full; None: not at an end
    handed_in: int
    active_h: float
    due: Decimal
    bonus: Decimal  # written into files of earlier settlements
    platform: str = ""  # "": their link is for no platform


@dataclass(frozen=True)
class ToLookAt:
    """Somebody who does not add up; `whom` is the platform's id, or the pseudonym of who is not on its list."""

    whom: str
    why: str
    due: Decimal = Decimal(0)
    is_held: bool = False  # a bonus, until somebody accepts so much time


@dataclass(frozen=True)
class Settlement:
    """`approve`: done here and waiting there. `bonus`: what the reward falls short of active time, those before off."""

    approve: tuple[Submission, ...]
    bonus: tuple[tuple[Submission, CrowdPerson, Decimal], ...]
    look: tuple[ToLookAt, ...]
    currency: str
    number: int = 0  # in the study, from 1

    @property
    def owed(self) -> Decimal:
        """All bonuses."""
        return sum((amount for _, _, amount in self.bonus), Decimal(0))


@dataclass(frozen=True)
class Settled:
    """A settlement that was noted."""

    number: int
    at: datetime
    reward: str
    approved: int
    bonus: Decimal  # of all
    is_void: bool  # another took its place


def crowd_people(
    session: orm.Session, principal: principals.Principal, without: int | None = None
) -> list[CrowdPerson]:
    """Everybody who came by an open link, in the order in which they came; for admins.

    `without`: the number of a settlement whose bonuses do not count.
    """
    study = principals.study_for(session, principal, "admin")
    paid = {line.pseudonym: line for line in pay_lines(session, principal)}
    platform = {link.id: link.platform or "" for link in links.open_links(session, principal)}
    by_link = Enrollment.open_link_id.is_not(None), Enrollment.participant_sha256.is_not(None)
    came = select(Enrollment).where(Enrollment.study_id == study.id, *by_link)
    earlier = _earlier_bonuses(session, study, without)
    back = _noted(session, study, "sent_back")
    declined = {line.data["enrollment"] for line in back if line.data["end"] == "no_consent"}
    found = []
    for person in session.scalars(came.order_by(Enrollment.id)).all():
        line = paid[person.pseudonym]
        visitor = principals.Principal(study.id, person.role, person.rater_id, person.id)
        end = end_of(session, visitor, declined=person.pseudonym in declined)
        due = math.ceil(round(line.amount * 100, 6)) * CENT
        seen = person.participant_sha256 or "", end, line.items, line.active_h, due, earlier[person.pseudonym]
        found.append(CrowdPerson(person.pseudonym, *seen, platform[person.open_link_id or 0]))
    return found


def settlements(session: orm.Session, principal: principals.Principal) -> list[Settled]:
    """Every settlement of the study, the oldest first; for admins."""
    study = principals.study_for(session, principal, "admin")
    void = {line.data["number"] for line in _noted(session, study, VOIDED)}
    return [
        Settled(
            number, line.created_at, line.data["reward"], line.data["approve"],
            sum(map(Decimal, line.data["bonus"].values()), Decimal(0)), number in void,
        )
        for number, line in enumerate(_noted(session, study, SETTLED), start=1)
    ]  # fmt: skip


def settle(
    session: orm.Session, principal: principals.Principal, platform: str, listed: Sequence[Submission],
    reward: Decimal, *, instead: int | None = None, dry_run: bool = False, accepted: Collection[str] = (),
) -> Settlement:  # fmt: skip
    """Who is to be approved, what bonus brings each to the worth of their active time, and whom to look at.

    Only people who came from `platform`, or by a link for none, are asked about: another's list names the others.
    `reward`: what the platform pays for a submission that is approved, in the study's currency. Every bonus is noted,
    so that the next settlement pays what is missing by then, and nothing twice. `instead`: the number of one that was
    never paid, as with a wrong reward, and whose place this one takes. `dry_run`: the same, and nothing is noted.
    `accepted`: the platform's ids of those whose time is paid although it is above `most_hours`. Raises
    AnnotationError `no_settlement`.
    """
    study = principals.study_for(session, principal, "admin")
    if not dry_run:
        hold_study(session, study)
    earlier = len(_noted(session, study, SETTLED))
    if instead is not None and not 1 <= instead <= earlier:
        raise AnnotationError(
            "no_settlement", "no settlement {instead} of this study; it has had {earlier}", instead=instead,
            earlier=earlier,
        )  # fmt: skip
    people = [one for one in crowd_people(session, principal, instead) if one.platform in ("", platform)]
    known = {person.participant_sha256: person for person in people}
    whose = {
        line.participant: known.get(principals.participant_hash(session, study.id, line.participant)) for line in listed
    }
    pay, log = protocol_of(study).study.pay, work_log(session, study)
    words = {str(name): int(count) for name, count in log.groupby("rater_id")["words"].sum().items()}
    most = most_hours(people, words, pay.look_above)
    found = reconcile(listed, whose, people, reward, pay.currency, most=most, accepted=accepted)
    if dry_run:
        return found
    if instead is not None:
        audit(session, study.id, principal.rater_id, VOIDED, number=instead)
    bonuses = {person.pseudonym: str(amount) for _, person, amount in found.bonus}
    told = {"bonus": bonuses, "approve": len(found.approve), "look": len(found.look), "reward": str(reward)}
    by_hand = [person.pseudonym for line, person, _ in found.bonus if line.participant in accepted]
    audit(session, study.id, principal.rater_id, SETTLED, **told, accepted=by_hand)
    return replace(found, number=earlier + 1)


def most_hours(people: Sequence[CrowdPerson], words: Mapping[str, int], look_above: float) -> dict[str, float]:
    """pseudonym -> the active hours that earn a bonus unasked: `look_above` times what so many items usually take.

    That is the others' median time an item, or reading all of their `words` where this takes longer, or where nobody
    else's time is known.
    """
    each = {one.pseudonym: one.active_h / one.handed_in for one in people if one.handed_in and one.active_h}
    all_of_them = sorted(each.values())
    found = {}
    for one in people:
        mine = bisect_left(all_of_them, each[one.pseudonym]) if one.pseudonym in each else len(all_of_them)
        others = len(all_of_them) - (one.pseudonym in each)
        middle = (others - 1) // 2  # the median; of two in the middle the shorter
        usual = all_of_them[middle + (middle >= mine)] if others else 0.0
        reading = words.get(one.pseudonym, 0) / READING_WPM / 60
        found[one.pseudonym] = look_above * max(reading, one.handed_in * usual)
    return found


def reconcile(
    listed: Sequence[Submission], whose: Mapping[str, CrowdPerson | None], people: Iterable[CrowdPerson],
    reward: Decimal, currency: str = "", *, most: Mapping[str, float], accepted: Collection[str] = (),
) -> Settlement:  # fmt: skip
    """The same out of values alone. `whose`: the platform's id -> who that is here; None for who never came.

    Whoever was active for longer than `most` (see `most_hours`) is approved, and gets a bonus once they are `accepted`.
    Who is not paid there, as they returned it, and did nothing here or is counted by another line, is nobody to look
    at.
    """
    approve, bonus, look = [], [], []
    counted: set[str] = set()
    for line in sorted(listed, key=lambda line: _rank(line.status)):
        person = whose[line.participant]
        is_nothing = person is None or person.pseudonym in counted or not (person.handed_in or person.due)
        if is_nothing and _told(line.status) in platforms.UNPAID:
            continue
        why = _why_not(line, person, counted)
        if why or person is None:
            look.append(ToLookAt(line.participant, why, person.due if person else Decimal(0)))
            continue
        counted.add(person.pseudonym)
        if _rank(line.status) == 1:
            approve.append(line)
        short = person.due - reward - person.bonus
        if short > 0 and person.active_h > most[person.pseudonym] and line.participant not in accepted:
            look.append(ToLookAt(line.participant, LONG, person.due, is_held=True))
        elif short > 0:
            bonus.append((line, person, short.quantize(CENT, ROUND_UP)))
    there = {person.pseudonym for person in whose.values() if person}
    look += [
        ToLookAt(person.pseudonym, "done here, and not on the platform's list", person.due)
        for person in people
        if person.end == "completed" and person.pseudonym not in there
    ]
    return Settlement(tuple(approve), tuple(bonus), tuple(look), currency)


def _rank(status: str) -> int:
    """0: paid already, 1: waiting to be, 2: returned, timed out, rejected or screened out."""
    told = _told(status)
    return 0 if told == PAID else 1 if told in platforms.WAITING else 2


def _told(status: str) -> str:
    """TIMED-OUT, Timed Out and timed_out are one state."""
    return " ".join(status.replace("_", " ").replace("-", " ").split()).casefold()


def _why_not(line: Submission, person: CrowdPerson | None, counted: set[str]) -> str:
    if person is None:
        return "on the platform's list, and never came here"
    if person.pseudonym in counted:
        return "a second submission of somebody who is counted already"
    if person.end != "completed":
        ended = (person.end or "not at an end").replace("_", " ")
        return f"{ended} here: {person.handed_in} handed in, {60 * person.active_h:.0f} min active"
    return f"done here, and {line.status or 'in no state'} there" if _rank(line.status) == 2 else ""


def _earlier_bonuses(session: orm.Session, study: Study, without: int | None = None) -> defaultdict[str, Decimal]:
    void = {without, *(line.data["number"] for line in _noted(session, study, VOIDED))}
    found: defaultdict[str, Decimal] = defaultdict(Decimal)
    for number, line in enumerate(_noted(session, study, SETTLED), start=1):
        for pseudonym, amount in line.data["bonus"].items() if number not in void else ():
            found[pseudonym] += Decimal(amount)
    return found


def _noted(session: orm.Session, study: Study, what: str) -> Sequence[Event]:
    return session.scalars(select(Event).where(audited(study.id, what)).order_by(Event.id)).all()
