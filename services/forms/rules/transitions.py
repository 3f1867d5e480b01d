"""The allowed state transitions."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TypeVar

from services.forms.errors import InvalidStateTransition
from services.forms.wire.forms import FormStatus
from services.forms.wire.leads import LeadStatus
from services.forms.wire.submissions import SubmissionStatus

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
