"""Crowd platforms as their documentation has them: how people come by their addresses, and where they are sent back to.

Read in November 2026: Prolific's API reference v1 (study and submission objects), Amazon's MTurk API 2017-01-17
(ExternalQuestion), CloudResearch's MTurk Toolkit and Connect help centres, Sona's "External Study Credit Granting".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from annotation.errors import AnnotationError

PERSON = ("participant", "PROLIFIC_PID", "workerId", "participantId", "survey_code", "id")  # as platforms call the id
VISIT = ("SESSION_ID", "assignmentId")  # what one person's visit is called, which nobody else is told
PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"  # MTurk, while somebody looks at a task that they have not accepted
ID = "{id}"  # in an address: the participant's id, which only their own browser holds
ENDS = ("completed", "screened_out", "no_consent", "full")
WAITING = ("awaiting review", "submitted", "pending")  # what platforms call a submission that is not paid yet


@dataclass(frozen=True)
class Platform:
    """One crowd platform. Its own files name people and visits as `person` and `visit` do, letter case apart."""

    query: str  # what its study's address must end with, as one pastes it there
    person: str
    visit: str  # "" where it has no secret of a single visit
    hosts: tuple[str, ...]  # where people may be sent back to; a leading dot: any host below
    address: str = ""  # made of a code; "": the owner gives whole addresses
    tells_states: bool = True  # its list says of each submission what became of it


PLATFORMS = {
    "prolific": Platform(
        query="PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}",
        person="participantid",
        visit="submissionid",
        hosts=("app.prolific.com",),
        address="https://app.prolific.com/submissions/complete?cc={code}",
    ),
    "mturk": Platform("", "workerid", "assignmentid", ()),  # it adds its parameters itself, and takes codes
    "cloudresearch": Platform("", "workerid", "assignmentid", ()),  # the MTurk Toolkit, likewise
    "connect": Platform("", "participantid", "assignmentid", ("connect.cloudresearch.com",)),
    "sona": Platform("survey_code=%SURVEY_CODE%", "surveycode", "", (".sona-systems.com",), tells_states=False),
}


def platform_named(name: str) -> Platform:
    """The platform of this name. Raises AnnotationError `bad_platform`."""
    if name not in PLATFORMS:
        raise AnnotationError("bad_platform", f"no platform {name!r}; choose one of {', '.join(PLATFORMS)}")
    return PLATFORMS[name]


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
        raise AnnotationError("bad_address", f"{name} takes no address for {end}: people bring it their code instead")
    if platform.address and given.isalnum() and given.isascii():
        return platform.address.format(code=given)
    try:
        parts = urlsplit(given)
        host, is_plain = parts.hostname or "", parts.netloc == parts.hostname and not parts.fragment
    except ValueError:
        host, is_plain = "", False
    ours = any(host == known or (known.startswith(".") and host.endswith(known)) for known in platform.hosts)
    if parts_unfit(given) or not (ours and is_plain and given.startswith("https://")):
        where = " or ".join(known.removeprefix(".") for known in platform.hosts)
        what = "a code of letters and digits, or an address" if platform.address else "an address"
        raise AnnotationError("bad_address", f"{given!r:.200}: for {end}, {name} needs {what} of https://{where}")
    return _with_id(given) if name == "sona" else given


def parts_unfit(given: str) -> bool:
    """Whether an address holds what browsers read otherwise than we do: a backslash, a blank, what is no ASCII."""
    return not given.isascii() or not given.isprintable() or bool(set(given) & set(' \\{}<>"'))


def _with_id(address: str) -> str:
    """Sona's client-side completion address with the place of the survey code, which it prints as XXXX."""
    parts = urlsplit(address)
    kept = [(name, value) for name, value in parse_qsl(parts.query) if name != "survey_code"]
    return f"https://{parts.netloc}{parts.path}?{urlencode(kept)}&survey_code={ID}"


def filled_in(address: str, participant: str) -> str:
    """The address with this participant's id where it asks for one."""
    return address.replace(ID, quote(participant, safe=""))
