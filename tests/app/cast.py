"""One study with everybody who may come near it, and another study whose people have no business here."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session
from starlette.testclient import TestClient

from annotation.errors import AnnotationError, ImportingError
from annotation.labelling import Saved
from annotation.offline.packets import reserve_packet
from annotation.people.consent import consent_version, give_consent
from annotation.people.links import open_link, revoke
from annotation.people.principals import Principal, local_admin
from annotation.people.sign_ins import ABSOLUTE, who
from annotation.studies import audit
from db.connect import reading, transaction
from db.people_tables import Enrollment, OpenLink, SignIn
from db.tables import Assignment, Event, Item, Label, Report, Study
from db.types import now
from tests.app.visiting import Site, first_page, post
from tests.small_study import PROTOCOL, answer, make_study, write_reports

CONSENT = "You agree that what you answer is published under a pseudonym."
ASKING = PROTOCOL.replace("[study]", f'[study]\nearlier_reasons = true\nconsent = "{CONSENT}"')
# everybody who holds a working sign-in; Ada is whose work it is about
ROLES = {
    "Ada": "annotator", "Bea": "annotator", "Nea": "annotator", "Adj": "adjudicator", "Eva": "evaluator",
    "Adm": "admin",
}  # fmt: skip


class Undone(Exception):
    """Ends a transaction that was only tried."""


@dataclass
class Cast:
    """Ada has handed one item in and has another in work, Bea has agreed and done nothing, Nea has not agreed yet.

    Oda and Odin are annotator and admin of the other study.
    """

    site: Site
    folder: Path
    other: Site
    clients: dict[str, TestClient] = field(default_factory=dict)
    page: dict[str, Any] = field(default_factory=dict)  # Ada's, in work
    done: dict[str, Any] = field(default_factory=dict)  # Ada's, handed in
    packet: str = ""

    @property
    def engine(self) -> Engine:
        return self.site.engine

    def principal(self, name: str) -> Principal:
        with reading(self.engine) as session:
            if name == "shell":
                return local_admin(session.get_one(Study, self.site.study_id))
            principal = who(session, self.clients[name].cookies["calipers"])
        assert principal is not None
        return principal

    def tried(
        self, call: Callable[[Session], Any], within: Callable[[Engine], AbstractContextManager[Session]] = transaction
    ) -> str:
        """`ok`, `none`, `no` (forbidden), `404` (not found), or what else refused it. Nothing stays of the call.

        `within`: `reading` for what writes by transactions of its own, which would wait for this one.
        """
        said = "ok"
        try:
            with within(self.engine) as session:
                try:
                    result = call(session)
                    said = "none" if result is None else "ok"
                    if isinstance(result, Saved) and result.refused:
                        raise AnnotationError(result.refused[0]["code"], "")
                except AnnotationError as error:
                    said = {"forbidden": "no", "not_found": "404"}.get(error.code, error.code)
                except ImportingError:
                    said = "bad file"
                except IntegrityError:
                    said = "refused"  # by the database itself: the rows of two studies do not mix
                raise Undone
        except Undone:
            return said

    def client(self, name: str) -> TestClient:
        """Another sign-in of this person."""
        site = self.other if name in ("Oda", "Odin") else self.site
        return site.signed_in(name, {**ROLES, "Oda": "annotator", "Odin": "admin"}[name])

    def of(self, session: Session, aid: str) -> Assignment:
        return session.scalars(select(Assignment).where(Assignment.aid == aid)).one()

    def report(self, session: Session) -> int:
        return session.scalars(select(Report.id).where(Report.study_id == self.site.study_id)).first() or 0

    def item(self, session: Session) -> int:
        return session.scalars(select(Item.id).where(Item.study_id == self.site.study_id)).first() or 0

    def link(self, session: Session) -> int:
        return session.scalars(select(OpenLink.id).where(OpenLink.study_id == self.site.study_id)).first() or 0

    def sign_in(self, session: Session) -> int:
        mine = select(SignIn.id).join(Enrollment, Enrollment.id == SignIn.enrollment_id)
        return session.scalars(mine.where(Enrollment.study_id == self.site.study_id)).first() or 0

    def kept_out(self, session: Session) -> int:
        audit(session, self.site.study_id, None, "kept_out", enrollment="annotator-01", visit=None)
        session.flush()
        return session.scalars(select(Event.id).where(Event.what == "kept_out")).one()

    def remark(self, session: Session) -> int:
        return session.scalars(select(Event.id).where(Event.kind == "flag")).first() or 0


def assemble(engine: Engine, folder: Path, site_of: Callable[[int], Site] = Site) -> Cast:
    """Make both studies and sign everybody in through the app's own routes, wherever `site_of` a study serves them."""
    site = site_of(make_study(engine, write_reports(folder / "reports"), overlap=3, protocol=ASKING))
    other = site_of(make_study(engine, write_reports(folder / "others"), protocol=ASKING, name="other"))
    cast = Cast(site, folder, other)
    for name, role in ROLES.items():
        cast.clients[name] = site.signed_in(name, role)
    cast.clients |= {"Oda": other.signed_in("Oda"), "Odin": other.signed_in("Odin", "admin")}
    for name in ("Ada", "Bea", "Oda"):
        with transaction(engine) as session:
            give_consent(session, cast.principal(name), consent_version(CONSENT))
    ada = cast.clients["Ada"]
    cast.done = _submitted(ada)
    cast.page = first_page(ada)
    about = {"aid": cast.page["aid"], "page": cast.page["page"], "client_uuid": "a-flag-of-ada"}
    post(ada, "/api/labels", {"entries": [{"kind": "flag", "flag": "other", "text": "odd", **about}]})
    with transaction(engine) as session:
        admin = local_admin(session.get_one(Study, site.study_id))
        cast.packet = reserve_packet(session, admin, "Bea", 1).packet_id
        open_link(session, admin, places=3)
    return cast


def ended(cast: Cast, how: str) -> TestClient:
    """Somebody whose sign-in was good and is not any more."""
    name = f"Once {how}"
    client = cast.site.signed_in(name)
    with transaction(cast.engine) as session:
        if how == "revoked":
            revoke(session, local_admin(session.get_one(Study, cast.site.study_id)), name)
        else:
            newest = session.scalars(select(SignIn).order_by(SignIn.id.desc())).first()
            assert newest is not None
            newest.created_at = now() - ABSOLUTE - ABSOLUTE / 30
    return client


def _submitted(client: TestClient) -> dict[str, Any]:
    page = first_page(client)
    entries = [answer(page, code, "left").model_dump() for code in ("clear", "deep")]
    post(client, "/api/labels", {"entries": entries})
    body = {"aid": page["aid"], "page": page["page"], "outcome": "submit", "client_uuid": "submit-by-ada"}
    assert post(client, "/api/submit", body | {"revs": {"clear": 1, "deep": 1}}).status_code == 200
    return page


def stored(cast: Cast) -> tuple[Any, ...]:
    """Ada's work in the database, to see that nobody else changed it."""
    columns = Assignment.aid, Assignment.status, Assignment.rev, Assignment.rater_id
    with reading(cast.engine) as session:
        mine = session.execute(select(*columns).where(Assignment.aid.in_((cast.page["aid"], cast.done["aid"])))).all()
        labels = session.execute(select(Label.id, Label.choice).order_by(Label.id)).all()
    return mine, labels
