"""Builds the events of forms, submissions and leads."""

from msgspec import UNSET, structs

from services.forms.wire.forms import Form, FormStatus
from services.forms.wire.leads import StaffLead, partner_view
from shared.events.changes import previous_values
from shared.events.event import Audience, Event, Kind
from shared.events.kinds import FormCreated, FormUpdated, LeadUpdated
from shared.http.caller import Caller
from shared.wire import new_id


def lead_updated(caller: Caller, before: StaffLead, lead: StaffLead) -> Event:
    shown = partner_view(lead)
    previous = previous_values(partner_view(before), shown)
    return caller.event(LeadUpdated, lead.id, lead.version, shown, previous=previous)


def submission_event(kind: Kind, caller: Caller, submission_id: str, form_id: str, version: int) -> Event:
    """Thin: the answers are fetched by id, with the scope that reading them needs."""
    thin = {"id": submission_id, "object": "form_submission", "form_id": form_id}
    return caller.event(kind, submission_id, version, thin)


def form_events(caller: Caller, before: Form | None, form: Form) -> list[Event]:
    """One for keys that may write forms and one for readers, or a single one if both see the same."""
    kind = FormCreated if before is None else FormUpdated
    previous = previous_values(before, form) if before is not None else UNSET
    event = caller.event(kind, form.id, form.version, form, previous=previous)
    is_shown = form.status is FormStatus.PUBLISHED
    was_shown = is_shown if before is None else before.status is FormStatus.PUBLISHED
    if is_shown and was_shown:
        return [event]
    for_writers = structs.replace(event, audience=Audience.FORM_WRITERS)
    if not is_shown and not was_shown:
        return [for_writers]
    # Readers could not see the form before it was published, so they get no old values.
    shown = form if is_shown else {"id": form.id, "object": "form", "status": form.status}
    for_readers = structs.replace(
        event, id=new_id(), data=shown, previous=UNSET, audience=Audience.FORM_READERS
    )
    return [for_writers, for_readers]
