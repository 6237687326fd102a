"""What this folder refuses with: a code for programs, a sentence for people."""

from collections.abc import Mapping, Sequence
from typing import Any

from plain.wording import Refusal, worded

SHOWN_PROBLEMS = 20


class AnnotationError(Refusal):
    """Refused. `code` is stable (`not_found`, `forbidden`, `locked`, …); `text` says what, which one, what to do."""


class Stale(AnnotationError):
    """The answer was changed somewhere else meanwhile; `current` is what is there, for the person to choose."""

    def __init__(self, current: Mapping[str, Any]) -> None:
        super().__init__("stale", "this answer was changed somewhere else meanwhile; choose which to keep")
        self.current = current


class Incomplete(AnnotationError):
    """A submit that was refused; `details` lists the criteria, for the page to go to."""

    def __init__(self, code: str, text: str, details: list[Any]) -> None:
        super().__init__(code, text)
        self.details = details


class OtherPerson(AnnotationError):
    """A link was opened where somebody else is signed in; both are named, and whoever sits there is asked."""

    def __init__(self, signed_in: str, invited: str) -> None:
        super().__init__("other_person", f"this browser is signed in as {signed_in}, and this link is for {invited}")
        self.signed_in = signed_in
        self.invited = invited


class SentBack(AnnotationError):
    """There is nothing to do here; `back` is where the platform wants whoever came, None where it has no such place."""

    def __init__(self, code: str, text: str, back: str | None) -> None:
        super().__init__(code, text)
        self.back = back


class OtherVisit(AnnotationError):
    """Somebody's id without the visit that they have answered in.

    `key` is of this visit, None where there are none; `link_id` of the link that it came by.
    """

    def __init__(self, enrollment_id: int, link_id: int, key: str | None) -> None:
        super().__init__(
            "other_visit",
            "Somebody with your participant id has begun already, in another browser or another submission. Go on "
            "there; if you cannot, write to the researcher on the platform that sent you here, who lets you in.",
        )
        self.enrollment_id = enrollment_id
        self.link_id = link_id
        self.key = key


class OtherSignIn(AnnotationError):
    """A page that was opened under another sign-in than this browser has now; `person` and `name` are who has it."""

    def __init__(self, person: str, name: str) -> None:
        text = f"this browser is signed in as {name} by now; load the page again to go on as {name}"
        super().__init__("other_sign_in", text)
        self.person = person
        self.name = name


class ImportingError(Exception):
    """Nothing was imported. `problems` holds every reason as `path:line: what is wrong; what to do`.

    `fields` are filled into one reason, in the language that is set.
    """

    def __init__(self, problems: str | Sequence[str], /, **fields: object) -> None:
        self.problems = (worded(problems, **fields),) if isinstance(problems, str) else tuple(problems)
        rest = len(self.problems) - SHOWN_PROBLEMS
        more = [worded("and {rest} more", rest=rest)] if rest > 0 else []
        self.text = "\n".join([*self.problems[:SHOWN_PROBLEMS], *more])
        super().__init__(f"{self.text} (all of them with --json)" if more else self.text)


class NoReports(ImportingError):
    """A tree of its layout that holds everything but reports: several studies never published theirs.

    `topics`: what its files say of what was asked.
    """

    def __init__(self, problems: str, /, topics: Sequence[Any] = (), **fields: object) -> None:
        super().__init__(problems, **fields)
        self.topics = tuple(topics)


class FigureError(Exception):
    """A picture of a report that cannot be kept; its words follow `a figure`, such as `on the web`."""
