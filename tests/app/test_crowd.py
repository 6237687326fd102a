"""People of a crowd platform: in by its documented addresses, out to where it wants them, and what it is to pay."""

from __future__ import annotations

import json
import math
import random
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from functools import partial
from pathlib import Path
from statistics import median_low
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from sqlalchemy import Engine, func, select, update
from starlette.testclient import TestClient
from typer.testing import CliRunner

from annotation.errors import AnnotationError, ImportingError
from annotation.open_work.item_slots import return_stale_now
from annotation.participation import settling
from annotation.participation.settling import LONG, CrowdPerson, Submission, _earlier_bonuses, most_hours
from annotation.people.consent import consent_needed, consent_version, give_consent
from annotation.people.links import open_link, revoke
from annotation.people.platforms import PLATFORMS, PREVIEW, address_back
from annotation.people.principals import local_admin
from annotation.people.sign_ins import who
from annotation.people.visits import kept_out
from annotation.work.open_and_close import set_status
from app.command_line import app
from app.files.crowd_files import read_submissions, write_settlement
from app.results import quality
from app.server import signed_addresses
from app.settings import settings
from db.connect import reading, transaction
from db.people_tables import Enrollment
from db.tables import Assignment, Event, Study
from db.types import now
from plain.wording import speaking
from tests.app.visiting import Site, first_page, post
from tests.docs.shell import commands
from tests.mock_prolific import Prolific, new_id
from tests.small_study import PROTOCOL, answer, make_study
from tests.trained_study import CONSENT, make_trained_study

reconcile = partial(settling.reconcile, most=defaultdict(lambda: math.inf))
BACK = {"completed": "DONE1", "screened_out": "OUT2", "no_consent": "NO3", "full": "FULL4"}
AT_PROLIFIC = "https://app.prolific.com/submissions/complete?cc="
SONA = "https://lab.sona-systems.com/webstudy_credit.aspx?experiment_id=12&credit_token=ab34&survey_code=XXXX"


def link(site: Site, platform: str, places: int = 9, quota: int | None = 1, **back: str) -> str:
    with transaction(site.engine) as session:
        admin = local_admin(session.get_one(Study, site.study_id))
        return open_link(session, admin, places, quota, platform, back)


def come(site: Site, address: str, client: TestClient | None = None) -> TestClient:
    client = client or site.visitor()
    reply = client.get(address)
    assert (reply.status_code, reply.headers.get("location")) == (303, "/"), reply.text
    return client


def hand_in(client: TestClient) -> dict[str, Any]:
    """The item in hand, or a new one, answered and submitted as the page does it."""
    page = first_page(client)
    said = {} if page["rationale"]["required"] else {"rationale": ""}
    sent = [answer(page, asked["id"], "left", **said) for asked in page["criteria"]]
    acks = post(client, "/api/labels", {"entries": [one.model_dump() for one in sent]}).json()["acks"]
    revs = {one.criterion: ack["rev"] for one, ack in zip(sent, acks, strict=True)}
    body = {
        "aid": page["aid"],
        "page": page["page"],
        "outcome": "submit",
        "client_uuid": f"sub-{page['aid']}",
        "revs": revs,
    }
    reply = post(client, "/api/submit", body)
    assert reply.status_code == 200, reply.text
    return page


def way_back(client: TestClient) -> str:
    reply = client.get("/back")
    assert (reply.status_code, "no-store" in reply.headers["cache-control"]) == (303, True)
    return reply.headers["location"]


def test_one_id_and_visit_is_one_person_and_the_id_alone_opens_nobodys_work(site: Site) -> None:
    token, other = link(site, "prolific"), link(site, "prolific")
    came = f"/invite/{token}?PROLIFIC_PID=p1&STUDY_ID=s&SESSION_ID=v1"
    first = come(site, came)
    page = first_page(first)
    phone = come(site, came)  # the same submission, another device
    come(site, came.replace("=v1", "=v2"), first)  # this browser is known
    assert [first_page(one)["aid"] for one in (first, phone)] == [page["aid"]] * 2
    anew = come(site, came.replace("=v1", "=v3"))  # returned on the platform, and taken anew elsewhere
    assert first_page(anew)["aid"] == page["aid"]
    assert post(first, "/api/take", {}).status_code == 401, "one person works by one visit"
    come(site, came, first)  # and back again, as long as nothing was answered
    post(first, "/api/labels", {"entries": [answer(page, page["criteria"][0]["id"], "left").model_dump()]})
    assert post(anew, "/api/take", {}).status_code == 401
    for forged in (came.replace("=v1", "=v9"), came.replace(token, other).replace("=v1", "=v9")):
        refused = site.visitor().get(forged)
        assert (refused.status_code, "set-cookie" in refused.headers, page["aid"] in refused.text) == (
            403,
            False,
            False,
        )
        assert "Somebody has begun with this id" in refused.text
        assert site.visitor().get(forged).status_code == 403, "a second time too"
    for said in (
        "PROLIFIC_PID=p1",
        "PROLIFIC_PID={{%PROLIFIC_PID%}}&SESSION_ID=v1",
        "PROLIFIC_PID=p1&SESSION_ID={{%SESSION_ID%}}",
        "PROLIFIC_PID=undefined&SESSION_ID=v1",
        "PROLIFIC_PID=p1&SESSION_ID=NULL",
        "PROLIFIC_PID=PROLIFIC_PID&SESSION_ID=v1",
        "",
    ):
        assert site.visitor().get(f"/invite/{token}?{said}").status_code == 400, said
    with transaction(site.engine) as session:
        revoke(session, local_admin(session.get_one(Study, site.study_id)), "p1")
    assert site.visitor().get(came).status_code == 404
    assert first_page(come(site, came.replace("=v1", "=v2")))["aid"] == page["aid"], "let in anew by the owner"


@pytest.mark.parametrize("asks_consent", [False, True])
def test_a_visit_made_up_before_somebody_begins_ends_when_they_do(
    site: Site, tmp_path: Path, asks_consent: bool
) -> None:
    if asks_consent:
        site.study_id = make_trained_study(site.engine, tmp_path / "trained", name="trained")
    came = f"/invite/{link(site, 'prolific')}?PROLIFIC_PID=p1&SESSION_ID="
    forger = come(site, f"{came}made-up")
    real = come(site, f"{came}v1")
    come(site, f"{came}v2", real)  # by the door of its own that this browser has, not by the first there is
    if asks_consent:
        with transaction(site.engine) as session:
            agreeing = who(session, real.cookies["calipers"])
            assert agreeing is not None
            give_consent(session, agreeing, consent_version(CONSENT))
        come(site, f"{came}made-up")
        real = come(site, f"{came}v1", real)
        with transaction(site.engine) as session:
            give_consent(session, agreeing, consent_version(CONSENT))
    page = first_page(real)
    aid = page["aid"]
    assert post(forger, "/api/take", {}).status_code == 401
    assert forger.get(f"/api/assignment/{aid}").status_code == 401
    if asks_consent:
        come(site, f"{came}made-up")
        real = come(site, f"{came}v1", real)
        with transaction(site.engine) as session:
            assert consent_needed(session, agreeing), "each is asked for their own"
            give_consent(session, agreeing, consent_version(CONSENT))
    post(real, "/api/labels", {"entries": [answer(page, page["criteria"][0]["id"], "left").model_dump()]})
    for browser in (forger, site.visitor()):
        assert browser.get(f"{came}made-up").status_code == 403
    assert first_page(come(site, f"{came}v1"))["aid"] == first_page(real)["aid"] == aid


def test_a_task_of_mturk_that_is_looked_at_takes_no_place(site: Site) -> None:
    token = link(site, "mturk", places=1)
    looked = site.visitor().get(f"/invite/{token}?assignmentId={PREVIEW}&hitId=h1")
    assert (looked.status_code, "Accept the task first" in looked.text) == (200, True)
    come(site, f"/invite/{token}?assignmentId=A1&hitId=h1&workerId=W1&turkSubmitTo=https://evil.example")


@pytest.mark.databases("sqlite")
def test_whoever_ends_goes_back_by_the_platforms_own_address_and_nobody_sooner(site: Site, tmp_path: Path) -> None:
    token = link(site, "prolific", places=2, **BACK)
    assert way_back(site.visitor()) == "/"
    done = come(site, f"/invite/{token}?PROLIFIC_PID=p1&SESSION_ID=v1&next=https://evil.example")
    assert way_back(done) == "/"
    hand_in(done)
    assert way_back(done) == f"{AT_PROLIFIC}DONE1"
    assert done.get("/back?url=https://evil.example").headers["location"] == f"{AT_PROLIFIC}DONE1"
    late = come(site, f"/invite/{token}?PROLIFIC_PID=p2&SESSION_ID=v2")
    full = site.visitor().get(f"/invite/{token}?PROLIFIC_PID=p3&SESSION_ID=v3")
    assert (full.status_code, f'href="{AT_PROLIFIC}FULL4"' in full.text) == (403, True)
    with transaction(site.engine) as session:
        set_status(session, local_admin(session.get_one(Study, site.study_id)), "closed")
    assert way_back(late) == f"{AT_PROLIFIC}FULL4", "nothing was left for them"
    with reading(site.engine) as session:
        sent = session.scalars(select(Event.data).where(Event.what == "sent_back").order_by(Event.id)).all()
    assert [line["end"] for line in sent] == ["completed", "completed", "full"]
    site.study_id = make_trained_study(site.engine, tmp_path / "trained", name="trained")
    token = link(site, "prolific", **BACK)
    declines = come(site, f"/invite/{token}?PROLIFIC_PID=p4&SESSION_ID=v4")
    assert way_back(declines) == f"{AT_PROLIFIC}NO3"
    with reading(site.engine) as session:
        admin = local_admin(session.get_one(Study, site.study_id))
        assert [one.end for one in settling.crowd_people(session, admin)] == ["no_consent"]
    with transaction(site.engine) as session:
        person = who(session, declines.cookies["calipers"])
        assert person is not None
        give_consent(session, person, consent_version(CONSENT))
    for _ in range(6):  # always left: every second agreed answer, in both attempts
        hand_in(declines)
    assert way_back(declines) == f"{AT_PROLIFIC}OUT2"


def test_sonas_survey_code_is_known_to_the_browser_alone_and_leads_back_with_it(site: Site) -> None:
    token = link(site, "sona", completed=SONA)
    came = f"/invite/{token}?survey_code=51733"
    mine = come(site, came)
    hand_in(mine)
    back = urlsplit(way_back(mine))
    assert (back.hostname, parse_qs(back.query)["survey_code"]) == ("lab.sona-systems.com", ["51733"])
    assert site.visitor().get(came).status_code == 403, "a number that can be guessed opens nobody's work elsewhere"
    come(site, came, mine)
    mine.cookies.set("calipers_id", "99999", path="/back")
    mine.cookies.delete("calipers_id", domain="testserver.local", path="/back")
    assert way_back(mine) == "/", "nobody is sent back as somebody else"


@pytest.mark.parametrize(
    "address",
    [
        "http://app.prolific.com/x", "https://app.prolific.com.evil.example/x", "https://evil.example/app.prolific.com",
        "https://app.prolific.com@evil.example/", "https://app.prolific.com:8443/x", "//app.prolific.com/x",
        "https://app.prolific.com\\@evil.example", "https://app.prolific.com/x y", "https://app.prolific.com/x#y",
        "javascript:alert(1)", "https://[", "CODE-1", "ÜBER", "https://app.prolific.com/{id}",
    ],
)  # fmt: skip
def test_nobody_is_sent_anywhere_but_to_the_platform(address: str) -> None:
    with pytest.raises(AnnotationError, match="needs a code of letters and digits, or an address of https"):
        address_back("prolific", "completed", address)
    with pytest.raises(AnnotationError, match="needs an address"):
        address_back("sona", "completed", address)
    with pytest.raises(AnnotationError, match="takes no address"):
        address_back("mturk", "completed", address)


PEOPLE = [
    CrowdPerson(f"annotator-{n}", f"hash{n}", end, 5, hours, Decimal(due), Decimal(paid))
    for n, end, hours, due, paid in (
        (1, "completed", 0.5, "6.00", "0"), (2, "completed", 0.1, "1.20", "0"), (3, None, 0.2, "2.40", "0"),
        (4, "completed", 0.5, "6.00", "1.00"), (5, "completed", 0.5, "6.00", "0"), (6, "screened_out", 0.1, "1.00", "0"),
    )
]  # fmt: skip


def test_who_is_approved_who_gets_how_much_more_and_who_is_looked_at() -> None:
    listed = [
        Submission(f"p{n}", f"v{n}", status, {"AssignmentId": f"v{n}", "WorkerId": f"p{n}", "Approve": "", "Reject": ""})
        for n, status in (
            (1, "AWAITING REVIEW"), (2, "Submitted"), (3, "AWAITING REVIEW"), (4, "APPROVED"), (5, "TIMED-OUT"),
            (6, "AWAITING REVIEW"), (7, "AWAITING REVIEW"), (1, "AWAITING-REVIEW"),
        )
    ]  # fmt: skip
    whose = {f"p{n}": next((one for one in PEOPLE if one.pseudonym == f"annotator-{n}"), None) for n in range(1, 8)}
    found = reconcile(listed, whose, PEOPLE, Decimal("4.50"), "USD")
    assert [line.participant for line in found.approve] == ["p1", "p2"]
    assert [(line.participant, str(amount)) for line, _, amount in found.bonus] == [("p4", "0.50"), ("p1", "1.50")]
    assert [(one.whom, one.why, str(one.due)) for one in found.look] == [
        ("p3", "not at an end here: 5 handed in, 12 min active", "2.40"),
        ("p6", "screened out here: 5 handed in, 6 min active", "1.00"),
        ("p7", "on the platform's list, and never came here", "0"),
        ("p1", "a second submission of somebody who is counted already", "6.00"),
        ("p5", "done here, and TIMED-OUT there", "6.00"),
    ]
    missing = reconcile([], {}, PEOPLE[:1], Decimal(0))
    assert missing.look[0].why == "done here, and not on the platform's list"


def test_invented_hours_are_looked_at_and_earn_a_bonus_once_they_are_accepted() -> None:
    listed = [Submission(f"p{n}", f"v{n}", "AWAITING REVIEW", {}) for n in range(4)]
    people = [
        CrowdPerson(f"annotator-{n}", f"hash{n}", "completed", 3, hours, Decimal(round(15 * hours)), Decimal(0))
        for n, hours in enumerate((20.0, 0.4, 0.4, 1.0))
    ]
    most = most_hours(people, {"annotator-1": 230 * 60}, 3.0)
    # three items: the others' median is .4, of who was longest .4, and reading an hour is more
    assert most == pytest.approx({"annotator-0": 1.2, "annotator-1": 3.0, "annotator-2": 3.0, "annotator-3": 1.2})
    whose = {f"p{n}": one for n, one in enumerate(people)}
    found = settling.reconcile(listed, whose, people, Decimal("4.50"), most=most)
    bonuses = [(line.participant, str(amount)) for line, _, amount in found.bonus]
    assert (len(found.approve), bonuses) == (4, [("p1", "1.50"), ("p2", "1.50"), ("p3", "10.50")])
    assert [(one.whom, one.why, one.is_held) for one in found.look] == [("p0", LONG, True)]
    accepted = settling.reconcile(listed, whose, people, Decimal("4.50"), most=most, accepted=["p0"])
    assert ([str(amount) for _, _, amount in accepted.bonus], accepted.look) == (
        ["295.50", "1.50", "1.50", "10.50"],
        (),
    )
    # of one alone nothing is usual but reading
    assert most_hours(people[:1], {"annotator-0": 230}, 3.0) == {"annotator-0": pytest.approx(3 / 60)}


def test_what_is_usual_is_the_others_median_and_soon_told_of_a_crowd_of_ten_thousand() -> None:
    of = random.Random(32)
    people = [replace(PEOPLE[0], pseudonym=f"{n}", handed_in=of.choice((0, 1, 3)), active_h=of.choice((0.0, 0.1, 0.2, of.random()))) for n in range(10_000)]  # fmt: skip
    each = {one.pseudonym: one.active_h / one.handed_in for one in people[:60] if one.handed_in and one.active_h}
    for one in people[:60]:
        others = [hours for name, hours in each.items() if name != one.pseudonym]
        assert most_hours(people[:60], {}, 3.0)[one.pseudonym] == 3 * (one.handed_in * median_low(others))
    began = time.process_time()
    assert len(most_hours(people, {}, 3.0)) == 10_000
    assert time.process_time() - began < 1


STATES = {  # as documented, of one platform each: of who never came to be looked at, of who is done approved
    "prolific": {
        "RESERVED": (False, False), "ACTIVE": (True, False), "TIMED-OUT": (False, False), "AWAITING REVIEW": (True, True),
        "APPROVED": (True, False), "RETURNED": (False, False), "REJECTED": (False, False), "SCREENED OUT": (True, False),
    },
    "mturk": {"Submitted": (True, True), "Approved": (True, False), "Rejected": (False, False)},
    "cloudresearch": {"Submitted": (True, True), "Approved": (True, False), "Rejected": (False, False)},
    "connect": {
        "Pending": (True, True), "Approved": (True, False), "Rejected": (False, False), "Returned": (False, False),
        "Timed Out": (False, False),
    },
    "sona": {"": (True, True)},  # its list tells none
}  # fmt: skip


@pytest.mark.parametrize("platform", PLATFORMS)
def test_in_every_state_of_every_platform_who_did_nothing_and_is_not_paid_is_nobody_to_look_at(
    platform: str, tmp_path: Path
) -> None:
    listed, asked = tmp_path / "list.csv", PLATFORMS[platform]
    nobody = replace(PEOPLE[0], end="no_consent", handed_in=0, due=Decimal(0))
    for status, (looked_at, approved) in STATES[platform].items():
        listed.write_text(f"{asked.person},{asked.visit or 'visit'},{'status' if status else 'x'}\np1,v1,{status}\n")
        (line,) = read_submissions(listed, platform)
        never, came, part, done = (
            reconcile([line], {"p1": one}, PEOPLE[:0], Decimal("9.00")) for one in (None, nobody, PEOPLE[2], PEOPLE[0])
        )
        assert [bool(one.look) for one in (never, came, part)] == [looked_at, looked_at, True], status
        assert (bool(done.approve), bool(done.look)) == (approved, not approved and status.casefold() != "approved")


def test_who_came_from_another_platform_is_no_matter_of_this_ones_list(
    engine_here: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study_id = make_study(engine_here, tmp_path / "reports", protocol=PAID)
    came = [
        replace(one, platform=platform)
        for one, platform in zip(PEOPLE, ("prolific", "mturk", "mturk", "", "", ""), strict=True)
    ]
    monkeypatch.setattr(settling, "crowd_people", lambda *_: came)
    monkeypatch.setattr(settling.principals, "participant_hash", lambda session, study, participant: participant)
    listed = [Submission(f"hash{n}", f"v{n}", "AWAITING REVIEW", {}) for n in (1, 2, 4)]
    monkeypatch.setattr(quality, "study_quality", lambda *_: 1 / 0)  # who is owed is paid all the same
    found = quality.settled(
        engine_here, lambda session: local_admin(session.get_one(Study, study_id)), "prolific", listed, Decimal(0),
        dry_run=True,
    )  # fmt: skip
    assert [line.participant for line in found.approve] == ["hash1", "hash4"]
    assert [(one.whom, one.why) for one in found.look] == [
        ("hash2", "on the platform's list, and never came here"),
        ("annotator-5", "done here, and not on the platform's list"),
        ("everybody", "how they work cannot be computed now; see calipers quality"),
    ]


def test_whom_the_quality_of_work_names_is_to_be_looked_at_with_the_reasons() -> None:
    named = SimpleNamespace(rater="annotator-02", flags=(SimpleNamespace(name="speed"), SimpleNamespace(name="side")))
    others = SimpleNamespace(rater="annotator-01", flags=())
    with speaking("zh_CN"):  # of whoever settles: the file is kept in one language
        (one,) = quality.flagged(SimpleNamespace(study="mystudy", annotators=(others, named)))  # type: ignore[arg-type]
    assert (one.whom, one.due) == ("annotator-02", 0)
    assert one.why == "much faster than the others, prefers a side; see calipers quality mystudy"


def test_mturk_reads_its_own_file_with_an_x_and_pays_no_bonus_twice(tmp_path: Path) -> None:
    results = tmp_path / "batch.csv"
    results.write_text('"HITId","AssignmentId","WorkerId","AssignmentStatus","Answer.code","Approve","Reject"\nh,A1,W1,Submitted,=x,,\n')  # fmt: skip
    (line,) = read_submissions(results, "mturk")
    found = reconcile([line], {"W1": PEOPLE[0]}, PEOPLE[:1], Decimal("5.00"), "USD")
    write_settlement(found, "mturk", tmp_path / "pay")
    approved = (tmp_path / "pay" / "approve.csv").read_text()
    assert approved.splitlines() == ["HITId,AssignmentId,WorkerId,AssignmentStatus,Answer.code,Approve,Reject", "h,A1,W1,Submitted,=x,X,"]  # fmt: skip
    (sent,) = map(json.loads, (tmp_path / "pay" / "bonus.jsonl").read_text().splitlines())
    assert {**sent, "UniqueRequestToken": len(sent["UniqueRequestToken"])} == {
        "WorkerId": "W1", "AssignmentId": "A1", "BonusAmount": "1.00", "UniqueRequestToken": 64,
        "Reason": "Your time on this study was worth more than its reward.",
    }  # fmt: skip
    with pytest.raises(
        ImportingError, match="no column workerid and assignmentid and status of MTurk's list; it has a, b"
    ):
        results.write_text("a,b\n1,2\n")
        read_submissions(results, "mturk")


def test_a_list_that_does_not_say_what_became_of_each_or_is_ragged_is_refused_for_nobody_to_be_paid_by_it(
    tmp_path: Path,
) -> None:
    listed = tmp_path / "list.csv"
    listed.write_text("Submission id,Participant id,State\nv1,p1,REJECTED\n")
    with pytest.raises(ImportingError, match="no column status of Prolific's list; it has Submission id, Participant"):
        read_submissions(listed, "prolific")
    listed.write_text("AssignmentId,WorkerId,AssignmentStatus\nA1,W1,Submitted,x\nA2,W2\nA3,W3,Submitted\n")
    with pytest.raises(ImportingError) as refused:
        read_submissions(listed, "mturk")
    assert [problem.split(": not as")[0] for problem in refused.value.problems] == [f"{listed}:2", f"{listed}:3"]
    listed.write_text("\ufeffSubmission id,Participant id,Status\nv1,p1,\n", "utf-8")
    (line,) = read_submissions(listed, "prolific")
    found = reconcile([line], {"p1": PEOPLE[0]}, PEOPLE[:1], Decimal("5.00"))
    assert (found.approve, [one.why for one in found.look]) == ((), ["done here, and in no state there"])
    listed.write_text("AssignmentId,AmazonIdentifier,ApprovalStatus\nA1,W1,Pending\n")  # CloudResearch's download
    (line,) = read_submissions(listed, "cloudresearch")
    assert (line.participant, line.visit, line.status) == ("W1", "A1", "Pending")
    listed.write_text("survey_code\n51733\n")
    (line,) = read_submissions(listed, "sona")
    assert reconcile([line], {"51733": PEOPLE[0]}, PEOPLE[:1], Decimal("5.00")).approve == (line,)


def test_the_owners_commands_run_as_they_stand_in_the_guide(
    engine_here: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """docs/owners.md, "A crowd"."""
    monkeypatch.chdir(tmp_path)
    make_study(engine_here, tmp_path / "reports", protocol=PAID, name="mystudy")
    Path("submissions.csv").write_text(f"Submission id,Participant id,Status\n{new_id()},{new_id()},AWAITING REVIEW\n")
    said = [CliRunner().invoke(app, [*one.words[1:]]).stdout for one in commands("docs/owners.md") if one.section == "A crowd"]  # fmt: skip
    assert said[0].strip().endswith("?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}")  # fmt: skip
    assert said[2].endswith("1 to look at; nothing is noted or written\n")
    assert said[3].startswith(
        "0 of 1 submission to approve, 0 bonuses of GBP 0.00 in all, 1 to look at; settlement 1, written to pay"
    )
    assert {path.name: path.stat().st_mode & 0o077 for path in Path("pay").iterdir()} == dict.fromkeys(("approve.txt", "bonus.csv", "look.csv"), 0)  # fmt: skip


def test_a_settlement_that_was_not_paid_is_replaced_and_none_is_noted_without_a_folder_for_its_files(
    engine_here: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study_id = make_study(engine_here, tmp_path / "reports", protocol=PAID, name="mystudy")
    (tmp_path / "list.csv").write_text("Submission id,Participant id,Status\nv1,p1,APPROVED\n")
    monkeypatch.setattr(settling, "crowd_people", lambda session, admin, without: [PEOPLE[2], replace(
        PEOPLE[0], bonus=_earlier_bonuses(session, session.get_one(Study, study_id), without)["annotator-1"]
    )])  # fmt: skip
    monkeypatch.setattr(settling.principals, "participant_hash", lambda session, study, participant: "hash1")

    words = ["crowd", "settle", "mystudy", "--platform", "prolific", "--list", str(tmp_path / "list.csv"), "--reward"]

    def bonuses(reward: str, out: str, *more: str) -> str:
        said = CliRunner().invoke(app, [*words, reward, "--out", str(tmp_path / out), *more])
        return (tmp_path / out / "bonus.csv").read_text() if said.exit_code == 0 else f"{said.output}{said.exception}"

    assert bonuses("0.45", "wrong") == "v1,5.55\n"
    assert "holds files already" in bonuses("4.50", "wrong", "--instead", "1")
    for reward, instead, owed in (("4.50", (), "0.00"), ("4.50", ("--instead", "1"), "1.50")):
        looked = CliRunner().invoke(app, [*words, reward, "--dry-run", *instead])
        assert f"of GBP {owed} in all, 0 to look at; nothing is noted or written" in looked.stdout, (
            "any number of times"
        )
    assert bonuses("4.50", "right", "--instead", "1") == "v1,1.50\n"
    assert bonuses("4.50", "again") == ""
    with monkeypatch.context() as stopped:
        stopped.setattr("app.files.crowd_files.write_settlement", lambda *given: 1 / 0)
        bonuses("4.00", "none")
    assert bonuses("4.00", "later") == "", "what may have been paid is not paid again"
    assert bonuses("4.00", "anew", "--instead", "4") == "v1,0.50\n"
    assert "no settlement 9 of this study; it has had 6" in bonuses("4.00", "ninth", "--instead", "9")


PAID = PROTOCOL.replace("[study]\n", '[study]\nretest_share = 0.0\npay = {rate = 12.0, currency = "GBP"}\n')
UNASKED = PAID.replace("required = true, min_length = 5", "required = false")
WORKSPACE = "0123456789abcdef01234567"
OVERLAP, EACH, REWARD = 69, 3, Decimal("3.00")  # 9 items: 621 slots for 180 who are done, 20 who leave, 20 after them


class Crowd:
    """200 people at once, each of whom does what the last digit of their number says."""

    def __init__(self, site: Site, platform: Prolific) -> None:
        self.site, self.platform = site, platform

    def path(self, participant: str) -> str:
        """Where the platform sends this participant."""
        address = self.platform.join(participant)
        assert address is not None
        return address.removeprefix("http://127.0.0.1:8501").removeprefix(self.site.origin)

    def browser(self, number: int) -> TestClient:
        client = self.site.visitor()
        client.headers["X-Forwarded-For"] = f"10.0.{number // 200}.{number % 200}"  # a crowd comes from everywhere
        return client

    def comes(self, number: int) -> str:
        participant, kind = f"{number:024x}", number % 10
        path = self.path(participant)
        client = come(self.site, path, self.browser(number))
        come(self.site, path, client)  # loads the page again
        self.two_tabs(client)
        if kind == 5:
            client = self.anew(participant, client)
        hand_in(client)
        if kind == 2:
            first_page(client)  # and goes, with an item in hand
            self.platform.leave(participant)
            return participant
        if kind == 1:
            client = come(self.site, path, self.browser(number))  # goes on elsewhere
        if kind == 4:
            self.copied(path, client)
        if kind == 8:
            client = self.anew(participant, client)
        while way_back(client) == "/":
            hand_in(client)
        if kind == 3:
            self.platform.of(participant).status = "TIMED-OUT"  # too late there
        else:
            self.platform.land(participant, way_back(client))
        self.worked(client, {6: 30, 7: 20 * 60}.get(kind, 12))
        return participant

    def anew(self, participant: str, client: TestClient) -> TestClient:
        """They return it there, and take it again on another device: to their own work, with what they answered."""
        held = first_page(client)["aid"]
        self.platform.leave(participant)
        other = come(self.site, self.path(participant), self.browser(int(participant, 16)))
        assert (first_page(other)["aid"], post(client, "/api/take", {}).status_code) == (held, 401)
        return other

    def two_tabs(self, client: TestClient) -> None:
        cookie = client.cookies["calipers"]

        def tab(_: int) -> str:
            again = self.site.visitor()
            again.cookies.set("calipers", cookie)
            return first_page(again)["aid"]

        with ThreadPoolExecutor(2) as pool:
            assert len(set(pool.map(tab, range(2)))) == 1

    def copied(self, path: str, client: TestClient) -> None:
        """Somebody else opens the address: whole, it is this very person; without its visit, it is nobody."""
        held = first_page(client)["aid"]
        assert first_page(come(self.site, path))["aid"] == held
        assert self.site.visitor().get(path.partition("?")[0]).status_code == 400
        visit = path.partition("&SESSION_ID=")[2].partition("&")[0]
        assert self.site.visitor().get(path.replace(f"SESSION_ID={visit}", f"SESSION_ID={new_id()}")).status_code == 400
        assert self.site.visitor().get(path.partition("&SESSION_ID")[0] + f"&SESSION_ID={new_id()}").status_code == 400

    def worked(self, client: TestClient, minutes: int) -> None:
        with transaction(self.site.engine) as session:
            person = who(session, client.cookies["calipers"])
            assert person is not None
            mine = session.scalars(select(Assignment).where(Assignment.rater_id == person.rater_id)).first()
            assert mine is not None
            mine.taken_at = begin = now() - timedelta(minutes=minutes)
            steps = [(begin + timedelta(minutes=n), begin + timedelta(minutes=n + 6)) for n in range(0, minutes, 6)]
            told = [{"criterion": None, "start": a.isoformat(), "end": b.isoformat()} for a, b in steps]
            session.add(
                Event(
                    study_id=mine.study_id, rater_id=mine.rater_id, assignment_id=mine.id, kind="activity",
                    what="intervals", data={"intervals": told}, client_ts=now().isoformat(),
                )
            )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("why", ["because of that", ""])
def test_of_200_at_once_nobody_is_paid_wrongly_no_slot_is_lost_and_the_platform_takes_both_files(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    monkeypatch.setenv("CALIPERS_TRUSTED_PROXIES", "testclient")
    settings.cache_clear()
    site.study_id = make_study(
        site.engine, tmp_path / "crowd", overlap=OVERLAP, protocol=PAID if why else UNASKED, name="crowd"
    )
    said = CliRunner().invoke(app, [
        "crowd", "link", "crowd", "--platform", "prolific", "--places", "250", "--quota", str(EACH), "--json",
        "--workspace", WORKSPACE,
        *(word for end, code in BACK.items() for word in (f"--{end.replace('_', '-')}", code)),
    ])  # fmt: skip
    codes = {"DONE1": "AWAITING REVIEW", "OUT2": "SCREENED OUT", "NO3": "RETURNED", "FULL4": "RETURNED"}
    platform = Prolific(json.loads(said.stdout)["link"], places=200, reward=REWARD, codes=codes, workspace=WORKSPACE)
    monkeypatch.setattr(signed_addresses.PROLIFIC, "_fetched", platform.keys)
    monkeypatch.setattr(signed_addresses.PROLIFIC, "asked_at", -signed_addresses.KEPT_S)
    crowd = Crowd(site, platform)
    with ThreadPoolExecutor(16) as pool:
        came = list(pool.map(crowd.comes, range(200)))
    with transaction(site.engine) as session:  # a day later
        taken = update(Assignment).where(Assignment.study_id == site.study_id, Assignment.status == "taken")
        session.execute(taken.values(active_at=now() - timedelta(days=2), taken_at=now() - timedelta(days=2)))
        return_stale_now(session, local_admin(session.get_one(Study, site.study_id)))
    with ThreadPoolExecutor(16) as pool:
        came += list(pool.map(crowd.comes, (n for n in range(200, 222) if n % 10 != 2)))
    looked_at = {one["whom"] for one in settled(platform, tmp_path / "pay")["look"]}
    assert {one for one in came if int(one, 16) % 10 == 7} <= looked_at, "20 hours are no bonus before somebody looked"
    assert not {one for one in came if int(one, 16) % 10 in (5, 8)} & looked_at, "nobody has to look at a return"
    is_done = {one: int(one, 16) % 10 not in (2, 3) for one in came}
    due = {one: 600 if int(one, 16) % 10 == 6 else 300 for one in came}
    assert {one: platform.paid[one] for one in came} == {one: due[one] * is_done[one] for one in came}
    assert settled(platform, tmp_path / "again")["approve"] == settled(platform, tmp_path / "third")["bonus"] == 0
    assert {one: platform.paid[one] for one in came} == {one: due[one] * is_done[one] for one in came}
    with reading(site.engine) as session:
        assert kept_out(session, local_admin(session.get_one(Study, site.study_id))) == []
        assert session.scalar(select(func.count()).where(Enrollment.study_id == site.study_id)) == len(set(came))
        live = Assignment.status.in_(("open", "taken", "submitted"))
        slots = select(Assignment.item_id, func.count()).where(Assignment.study_id == site.study_id, live)
        assert {n for _, n in session.execute(slots.group_by(Assignment.item_id))} == {OVERLAP}
        twice = select(Assignment.item_id).where(Assignment.study_id == site.study_id, Assignment.status == "submitted")
        per_person = twice.group_by(Assignment.item_id, Assignment.rater_id).having(func.count() > 1)
        assert session.scalars(per_person).all() == []


def settled(platform: Prolific, out: Path) -> dict[str, Any]:
    """One command, and both files to the platform."""
    listed = out.with_suffix(".csv")
    listed.write_text(platform.export())
    words = ["crowd", "settle", "crowd", "--platform", "prolific", "--list", str(listed), "--reward", str(REWARD)]
    done = CliRunner().invoke(app, [*words, "--out", str(out), "--json"])
    assert done.exit_code == 0, done.output
    platform.approve((out / "approve.txt").read_text())
    platform.bonus((out / "bonus.csv").read_text())
    said: dict[str, Any] = json.loads(done.stdout)
    return said
