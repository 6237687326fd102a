"""Crowd platforms as their documentation has them: how people come by their addresses, and where they are sent back to.

Read in November 2026: Prolific's API reference v1 (study and submission objects, study JWKS), Amazon's MTurk API
2017-01-17 (ExternalQuestion, Assignment), CloudResearch's MTurk Toolkit and Connect help centres, Sona's "External
Study Credit Granting".
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from annotation.errors import AnnotationError
from plain.wording import worded

PERSON = ("participant", "PROLIFIC_PID", "workerId", "participantId", "survey_code", "id")  # as platforms call the id
VISIT = ("SESSION_ID", "assignmentId")  # what one person's visit is called, which nobody else is told
PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"  # MTurk, while somebody looks at a task that they have not accepted
ID = "{id}"  # in an address: the participant's id, which only their own browser holds
ENDS = ("completed", "screened_out", "no_consent", "full")
WAITING = ("awaiting review", "submitted", "pending")  # what platforms call a submission that is not paid yet
UNPAID = ("returned", "timed out", "rejected", "reserved")  # and one that nobody is paid for


@dataclass(frozen=True)
class Platform:
    """One crowd platform. Its own files name people and visits as `person` and `visit` do, letter case apart."""

    called: str  # as it spells itself
    query: str  # what its study's address must end with, as one pastes it there
    person: str
    visit: str  # "" where it has no secret of a single visit
    hosts: tuple[str, ...]  # where people may be sent back to; a leading dot: any host below
    address: str = ""  # made of a code; "": the owner gives whole addresses
    keys: str = ""  # where it publishes what it signs addresses with, which it then does on request
    tells_states: bool = True  # its list says of each submission what became of it
    fields: tuple[tuple[str, str], ...] = ()  # of its own form: what goes into each; {link} is the study's address


# MTurk tells a layout who came in the address of the frame that it shows it in; the study has a tab of its own
MTURK_LAYOUT = """<script src="https://assets.crowd.aws/crowd-html-elements.js"></script>
<crowd-form>
  <p><a id="study" href="{link}" target="_blank" rel="noopener noreferrer">Open the study in a tab of its own</a></p>
  <crowd-input name="code" label="The code that it shows at the end" required></crowd-input>
</crowd-form>
<script>document.getElementById("study").search = location.search</script>"""

PLATFORMS = {
    "prolific": Platform(
        called="Prolific",
        query="PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}",
        person="participantid",
        visit="submissionid",
        hosts=("app.prolific.com",),
        address="https://app.prolific.com/submissions/complete?cc={code}",
        keys="https://api.prolific.com/.well-known/study/jwks.json",
        fields=(
            ("What is the URL of your study?", "{link}"),
            ("How do you want to record Prolific IDs?", "I'll use URL parameters"),
            ("Completion paths", "one for each end whose code you gave here; review submissions by hand"),
        ),
    ),
    # they add their parameters themselves, and take codes
    "mturk": Platform(
        "MTurk", "", "workerid", "assignmentid", (),
        fields=(("Design layout of a Survey Link project, whole", MTURK_LAYOUT),),
    ),
    "cloudresearch": Platform(
        "CloudResearch", "", "workerid", "assignmentid", (),
        fields=(("The URL of your survey", "{link}"), ("Query string parameters", "added, as they are by default")),
    ),
    "connect": Platform(
        "Connect", "", "participantid", "assignmentid", ("connect.cloudresearch.com",),
        fields=(("Study link", "{link}"), ("Redirect URL", "the one that it shows, given here for who is done")),
    ),
    "sona": Platform(
        "Sona", "survey_code=%SURVEY_CODE%", "surveycode", "", (".sona-systems.com",), tells_states=False,
        fields=(("Study URL", "{link}"), ("Client-side completion URL", "given here for who is done")),
    ),
}  # fmt: skip
SIGNED = (("Secured External URL", "on: only addresses that it signs are let in"),)
OPEN = (("The address of your survey, with each person's id in place of ID", "{link}"),)  # of no platform


def platform_named(name: str) -> Platform:
    """The platform of this name. Raises AnnotationError `bad_platform`."""
    if name not in PLATFORMS:
        raise AnnotationError(
            "bad_platform", "no platform {name!r}; choose one of {platforms}", name=name, platforms=", ".join(PLATFORMS)
        )
    return PLATFORMS[name]


def called(name: str) -> str:
    """How the platform spells itself; "" for none, and a name that is no longer known as it was kept."""
    return PLATFORMS[name].called if name in PLATFORMS else name


def link_for(name: str, invitation: str) -> str:
    """The study's address as it is given to the platform; `name`: "" for any that puts an id in place of ID."""
    query = platform_named(name).query if name else "participant=ID"
    return f"{invitation}?{query}" if query else invitation


def to_paste(name: str, link: str, is_signed: bool = False) -> list[tuple[str, str]]:
    """(field of the platform's own form, what goes into it) for an address that `link_for` made."""
    fields = (platform_named(name).fields if name else OPEN) + (SIGNED if is_signed else ())
    return [(field, said.replace("{link}", link)) for field, said in fields]


def refuse_unsigned(name: str, workspace: str) -> None:
    """Raises AnnotationError `bad_workspace` unless the platform signs addresses, and calls a workspace so."""
    if not platform_named(name).keys or not re.fullmatch("[0-9a-f]{24}", workspace):
        raise AnnotationError(
            "bad_workspace",
            "{workspace!r:.100} is no workspace of {called} that signs addresses: give the 24 digits and letters that "
            "follow /workspaces/ in the address of your workspace at {signing}", workspace=workspace,
            called=called(name), signing=worded(" or ").join(one.called for one in PLATFORMS.values() if one.keys),
        )  # fmt: skip
    if find_spec("joserfc") is None:
        raise AnnotationError("bad_workspace", "reading what a platform signs needs: pip install 'calipers[oidc]'")


def said_by(signed: Mapping[str, Any] | None, participant: str, visit: str, workspace: str) -> bool:
    """Whether the platform signed that this participant comes by this visit, for a study of this workspace.

    Whoever has a workspace there can have any parameters signed with its address; the workspace's id it adds itself.
    """
    said = {"PROLIFIC_PID": participant, "SESSION_ID": visit, "workspace_id": workspace}
    return signed is not None and all(signed.get(name) == value for name, value in said.items())


def arrived(query: Mapping[str, str]) -> tuple[str, str]:
    """(participant, visit) of an address that somebody came by; "" for what it does not say."""
    person, visit = (next(filter(None, map(query.get, names)), "") for names in (PERSON, VISIT))
    return person.strip(), visit.strip()


def address_back(name: str, end: str, given: str) -> str:
    """Where the platform `name` wants whoever ends this way, of the code or the address that its owner copied there.

    Raises AnnotationError `bad_address` for an address that leads anywhere but to that platform, by https: a link of
    ours that takes people to any address would be anybody's to abuse.
    """
    platform = platform_named(name)
    if not platform.hosts:
        raise AnnotationError(
            "bad_address", "{called} takes no address for {end}: people bring it their code instead",
            called=platform.called, end=end,
        )  # fmt: skip
    if platform.address and given.isalnum() and given.isascii():
        return platform.address.format(code=given)
    try:
        parts = urlsplit(given)
        host, is_plain = parts.hostname or "", parts.netloc == parts.hostname and not parts.fragment
    except ValueError:
        host, is_plain = "", False
    ours = any(host == known or (known.startswith(".") and host.endswith(known)) for known in platform.hosts)
    if parts_unfit(given) or not (ours and is_plain and given.startswith("https://")):
        where = worded(" or ").join(known.removeprefix(".") for known in platform.hosts)
        what = "a code of letters and digits, or an address" if platform.address else "an address"
        raise AnnotationError(
            "bad_address", "{given!r:.200}: for {end}, {called} needs {what} of https://{where}", given=given, end=end,
            called=platform.called, what=worded(what), where=where,
        )  # fmt: skip
    return _with_id(given) if name == "sona" else given


def parts_unfit(given: str) -> bool:
    """Whether an address holds what browsers read otherwise than we do: a backslash, a blank, what is no ASCII."""
    return not given.isascii() or not given.isprintable() or bool(set(given) & set(' \\{}<>"'))


def _with_id(address: str) -> str:
    """Sona's client-side completion address with the place of the survey code, which it prints as XXXX."""
    parts = urlsplit(address)
    kept = [(name, value) for name, value in parse_qsl(parts.query) if name != "survey_code"]
    return f"https://{parts.netloc}{parts.path}?{urlencode(kept)}&survey_code={ID}"
