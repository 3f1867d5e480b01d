"""Who may see a form, and the allowed state transitions of forms, submissions and leads."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from enum import StrEnum
from typing import TypeVar

from services.forms.errors import FormNotPublished, InvalidStateTransition
from services.forms.wire.forms import DraftsQuery, Form, FormStatus
from services.forms.wire.leads import LeadStatus
from services.forms.wire.submissions import SubmissionStatus
from shared.errors import InsufficientScope, Invalid, NotFound
from shared.http.caller import Caller
from shared.http.decoding import decode_query

MANAGER_SCOPE = "forms:write"


def manages_forms(caller: Caller) -> bool:
    return caller.actor == "operator" or MANAGER_SCOPE in caller.scopes


def require_drafts_scope(caller: Caller, query: bytes) -> None:
    """Runs before the query is validated: a missing scope is reported before an invalid limit."""
    if manages_forms(caller) or not query:
        return
    with suppress(Invalid):
        if decode_query(DraftsQuery, query).include_drafts:
            raise InsufficientScope(MANAGER_SCOPE, caller.scopes)


def require_visible(caller: Caller, form: Form) -> None:
    if form.status is not FormStatus.PUBLISHED and not manages_forms(caller):
        raise NotFound


def require_published(form: Form) -> None:
    if form.status is not FormStatus.PUBLISHED:
        raise FormNotPublished(form.status)


S = TypeVar("S", bound=StrEnum)

FORM_STATES: Mapping[FormStatus, Sequence[FormStatus]] = {
    FormStatus.DRAFT: (FormStatus.PUBLISHED, FormStatus.ARCHIVED),
    FormStatus.PUBLISHED: (FormStatus.ARCHIVED,),
    FormStatus.ARCHIVED: (FormStatus.PUBLISHED,),
}
SUBMISSION_STATES: Mapping[SubmissionStatus, Sequence[SubmissionStatus]] = {
    SubmissionStatus.PENDING: (SubmissionStatus.REVIEWED, SubmissionStatus.REJECTED),
    SubmissionStatus.REVIEWED: (),
    SubmissionStatus.REJECTED: (),
}
LEAD_STATES: Mapping[LeadStatus, Sequence[LeadStatus]] = {
    LeadStatus.NEW: (
        LeadStatus.CONTACTED,
        LeadStatus.QUALIFIED,
        LeadStatus.CONVERTED,
        LeadStatus.UNQUALIFIED,
    ),
    LeadStatus.CONTACTED: (LeadStatus.QUALIFIED, LeadStatus.CONVERTED, LeadStatus.UNQUALIFIED),
    LeadStatus.QUALIFIED: (LeadStatus.CONVERTED, LeadStatus.UNQUALIFIED),
    LeadStatus.CONVERTED: (LeadStatus.UNQUALIFIED,),
    LeadStatus.UNQUALIFIED: (LeadStatus.CONTACTED,),
}


def require_transition(states: Mapping[S, Sequence[S]], now: S, wanted: S) -> None:
    """Setting the current state again is allowed and changes nothing."""
    if wanted != now and wanted not in states[now]:
        raise InvalidStateTransition(now, wanted, states[now])
