"""How each service function is called with what is Ada's or this study's: `name: (session, cast) -> arguments`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from sqlalchemy.orm import Session

from annotation.importing.bringing_in import Asked
from annotation.importing.claims.probe_records import ParsedProbes
from annotation.importing.labels.results import ResultOptions, Results
from annotation.importing.reports.folder import read_folder
from annotation.people.consent import consent_version
from annotation.people.principals import local_admin
from annotation.planning.slots import Plan, make_plan
from db.tables import Study
from tests.app.cast import CONSENT, Cast
from tests.small_study import PROTOCOL, answer

Arguments = tuple[tuple[Any, ...], Mapping[str, Any]]


def with_(*args: Any, **named: Any) -> Arguments:
    return args, named


def a_plan(session: Session, cast: Cast) -> Plan:
    study = session.get_one(Study, cast.site.study_id)
    return make_plan(session, local_admin(study), design="all", overlap=4)


CALLS: dict[str, Callable[[Session, Cast], Arguments]] = {
    "shown_texts.auditing.view_report": lambda s, c: with_(c.report(s)),
    "offline.ballots.import_ballot": lambda s, c: with_(b"{}"),
    "participation.own_studies.make_study": lambda s, c: with_("another", PROTOCOL, 7),
    "participation.own_studies.change_protocol": lambda s, c: with_(PROTOCOL.replace("goes deeper", "digs deeper")),
    "participation.own_studies.set_archived": lambda s, c: with_(True),
    "participation.own_studies.go_to": lambda s, c: with_(c.clients["Adm"].cookies["calipers"], c.site.study_id),
    "people.principals.choose_language": lambda s, c: with_("zh_CN"),
    "people.consent.give_consent": lambda s, c: with_(consent_version(CONSENT)),
    "training.training.refuse_reopen": lambda s, c: with_(c.of(s, c.done["aid"])),
    "work.own_work.earlier_reasons": lambda s, c: with_(c.page["aid"], "clear"),
    "work.history.answer_history": lambda s, c: with_(c.page["aid"]),
    "importing.gold.import_gold": lambda s, c: with_(c.folder / "no.csv", "training"),
    "importing.claims.probes_write.import_probes": lambda s, c: with_(ParsedProbes(()), layout="table", source="here"),
    "importing.labels.results_write.import_results": lambda s, c: with_(
        Results(()), kind="judge", layout="csv", source="x", options=ResultOptions()
    ),
    "importing.bringing_in.bring_in": lambda s, c: with_(
        read_folder(c.folder / "reports"), "folder", Asked(), source="here", dry_run=True
    ),
    "importing.reports.write.import_reports": lambda s, c: with_(
        read_folder(c.folder / "reports"), layout="folder", source="here"
    ),
    "importing.reports.write.refuse_reports": lambda s, c: with_(read_folder(c.folder / "reports")),
    "importing.reports.write.key_of_pictures": lambda s, c: with_(dry_run=True),
    "importing.reports.write.prepare_all": lambda s, c: with_(read_folder(c.folder / "reports")),
    "participation.personal_data.person_record": lambda s, c: with_("Ada"),
    "participation.personal_data.erase_person": lambda s, c: with_("Ada"),
    "participation.personal_data.keep_names": lambda s, c: with_(90),
    "participation.settling.settle": lambda s, c: with_("prolific", [], Decimal(0)),
    "work.way_back.go_back": lambda s, c: with_(""),
    "people.accounts.invite_group": lambda s, c: with_("phd", "annotator"),
    "people.links.invite": lambda s, c: with_("Zoe", "annotator"),
    "people.links.invite_all": lambda s, c: with_(["Zoe"], "annotator"),
    "people.links.revoke": lambda s, c: with_("Ada"),
    "open_work.item_slots.release": lambda s, c: with_([f"item-{c.item(s):05d}"]),
    "open_work.item_slots.reserve": lambda s, c: with_([f"item-{c.item(s):05d}"], "Bea"),
    "open_work.item_slots.set_priority": lambda s, c: with_([f"item-{c.item(s):05d}"], 3),
    "judges.reviewing.inspecting.calls_on": lambda s, c: with_("judge-x", c.item(s)),
    "judges.planning.requests.forecast": lambda s, c: with_("judge-x"),
    "judges.planning.requests.go_on": lambda s, c: with_([]),
    "judges.planning.requests.pause_judges": lambda s, c: with_([]),
    "judges.planning.requests.keep_judges": lambda s, c: with_(
        '[[judge]]\nname = "m"\nmodel = "openai/x"\nmax_cost = 1.0\n'
    ),
    "labelling.reopen": lambda s, c: with_(c.done["aid"]),
    "labelling.save": lambda s, c: with_([answer(c.page, "clear", "right", client_uuid="one-more-1")]),
    "labelling.skip": lambda s, c: with_(c.page["aid"], "no reason"),
    "labelling.submit": lambda s, c: with_(c.done["aid"], c.done["page"], "submit-by-ada", {}),
    "judges.reviewing.disagreements.look_at": lambda s, c: with_("judge-x", f"item-{c.item(s):05d}", "clear"),
    "judges.reviewing.disagreements.sent_call": lambda s, c: with_(1),
    "people.links.open_link": lambda s, c: with_(5),
    "people.links.revoke_open_link": lambda s, c: with_(c.link(s)),
    "people.visits.let_in": lambda s, c: with_(c.kept_out(s)),
    "shown_texts.overrides.edit_text": lambda s, c: with_(c.report(s), "Another text.", "a slip"),
    "shown_texts.overrides.exclude_report": lambda s, c: with_(c.report(s), "a slip"),
    "shown_texts.repeated.looks": lambda s, c: with_(()),
    "shown_texts.overrides.resolve_all": lambda s, c: with_("keep"),
    "shown_texts.overrides.resolve_flag": lambda s, c: with_(c.report(s), 0, "keep"),
    "shown_texts.overrides.restore_passage": lambda s, c: with_(c.report(s), 0, 1, "a slip"),
    "offline.packets.reserve_packet": lambda s, c: with_("Ada", 1),
    "offline.packets.withdraw_packet": lambda s, c: with_(c.packet),
    "work.page.picture_of_assignment": lambda s, c: with_(c.page["aid"], 32 * "0"),
    "work.page.assignment_page": lambda s, c: with_(c.page["aid"]),
    "work.page.own_assignment": lambda s, c: with_(c.page["aid"]),
    "planning.plan_summary.summary": lambda s, c: with_(a_plan(s, c)),
    "work.remarks.deal_with": lambda s, c: with_(c.remark(s)),
    "work.remarks.reply": lambda s, c: with_(c.remark(s), "thank you"),
    "people.sign_ins.end_sign_in": lambda s, c: with_(c.sign_in(s)),
    "people.sign_ins.note_seen": lambda s, c: with_("a cookie"),
    "people.sign_ins.sign_out_person": lambda s, c: with_("Ada"),
    "planning.slots.apply_plan": lambda s, c: with_(a_plan(s, c)),
    "planning.slots.compare_plan": lambda s, c: with_(a_plan(s, c)),
    "planning.slots.make_plan": lambda s, c: with_(design="all", overlap=4),
    "participation.standing.pause": lambda s, c: with_("Ada"),
    "participation.standing.resume": lambda s, c: with_("Ada"),
    "participation.standing.set_quota": lambda s, c: with_(5, "Ada"),
    "participation.standing.void_work": lambda s, c: with_("Ada", "a reason"),
    "participation.standing.withdraw": lambda s, c: with_("Ada"),
    "work.open_and_close.set_status": lambda s, c: with_("paused"),
    "training.training.end_training_item": lambda s, c: with_(c.of(s, c.done["aid"])),
    "training.training.feedback": lambda s, c: with_(c.done["aid"]),
    "training.training.pass_training": lambda s, c: with_("Nea", "knows it well"),
}
