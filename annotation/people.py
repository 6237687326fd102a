"""Who takes part, in which role and by which link: one place to import it from, as most of `annotation/` does."""

from __future__ import annotations

from annotation.enrollments import enroll as enroll
from annotation.enrollments import enrollment_of as enrollment_of
from annotation.invites import invite as invite
from annotation.invites import invite_all as invite_all
from annotation.invites import revoke as revoke
from annotation.principals import Principal as Principal
from annotation.principals import local_admin as local_admin
from annotation.principals import may_label as may_label
from annotation.principals import require_role as require_role
from annotation.principals import study_for as study_for
from annotation.sign_ins import csrf_token as csrf_token
from annotation.sign_ins import note_seen as note_seen
from annotation.sign_ins import sign_in as sign_in
from annotation.sign_ins import sign_out as sign_out
from annotation.sign_ins import who as who
