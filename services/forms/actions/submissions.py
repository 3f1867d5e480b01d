"""Submit answers to a form; staff review or reject them.

A form with limits is locked before its submissions are counted, so that concurrent submitters cannot exceed
them. A form without limits is not locked, so that many people can submit at once; if it is archived at the
same moment, submissions in flight may still be stored.
"""

from msgspec import Raw, structs

from services.forms.actions.event_builders import lead_updated, submission_event
from services.forms.actions.forms import evaluation_of
from services.forms.context import Forms
from services.forms.errors import AlreadySubmitted, SubmissionLimitReached
from services.forms.rules.form_access import (
    SUBMISSION_STATES,
    require_published,
    require_transition,
    require_visible,
)
from services.forms.rules.form_definition import limits_submissions, require_open
from services.forms.rules.lead_metadata import with_form_context
from services.forms.store import forms, leads, submissions
from services.forms.wire.forms import Form, FormSettings, settings_of
from services.forms.wire.json_text import write_json
from services.forms.wire.leads import StaffLead
from services.forms.wire.submissions import FormSubmission, FormSubmissionCreate, SubmissionStatus
from shared.db.database import Connection
from shared.emails import normalize_email
from shared.errors import Invalid
from shared.events.event import Event
from shared.events.kinds import FormSubmitted, SubmissionUpdated
from shared.events.outbox import add_event, add_events
from shared.http.caller import Caller
from shared.wire import new_id, now


async def create_submission(
    service: Forms, caller: Caller, form_id: str, body: FormSubmissionCreate
) -> FormSubmission:
    email = normalize_email(body.submitter_email)
    async with service.db.transaction() as conn:
        form = await _open_form(conn, caller, form_id, email)
        found = await evaluation_of(conn, caller, form, body.data)
        if found.problems:
            raise Invalid(found.problems)
        submission = FormSubmission(
            id=new_id(),
            form_id=form.id,
            submitter_email=email,
            data=Raw(write_json(body.data).encode()),
            status=SubmissionStatus.PENDING,
            created_at=now(),
            submitter_name=body.submitter_name,
            form_version=form.version,
            consents=found.consents,
        )
        lead = await leads.find_locked(conn, caller, email)
        lead_id = lead.id if lead else None
        submission.created_at = await submissions.insert(conn, caller, submission, lead_id)
        events: list[Event] = [submission_event(FormSubmitted, caller, submission.id, form.id, 1)]
        if lead is not None:
            events.append(await _add_form_context(conn, caller, lead, form, submission))
        await add_events(conn, events)
    service.wakeup.notify()
    return submission


async def _open_form(conn: Connection, caller: Caller, form_id: str, email: str) -> Form:
    form = await forms.get(conn, caller, form_id)
    require_visible(caller, form)
    if limits_submissions(settings_of(form)):
        form = await forms.get(conn, caller, form_id, lock=True)
    require_published(form)
    settings = settings_of(form)
    require_open(settings, now())
    await _require_below_limits(conn, caller, form, settings, email)
    return form


async def _require_below_limits(
    conn: Connection, caller: Caller, form: Form, settings: FormSettings, email: str
) -> None:
    if settings.one_submission_per_email:
        earlier = await submissions.first_of_email(conn, caller, form.id, email)
        if earlier is not None:
            raise AlreadySubmitted(earlier)
    limit = settings.max_submissions
    if limit is not None and await submissions.has_reached(conn, caller, form.id, limit):
        raise SubmissionLimitReached(limit)


async def _add_form_context(
    conn: Connection, caller: Caller, lead: StaffLead, form: Form, submission: FormSubmission
) -> Event:
    """Adds the submission to the metadata of the lead with the submitter's email."""
    text = with_form_context(
        bytes(lead.metadata),
        form_id=form.id,
        form_slug=form.slug,
        submission_id=submission.id,
        at=submission.created_at,
    )
    changed = structs.replace(lead, metadata=Raw(text.encode()))
    return lead_updated(caller, lead, await leads.update(conn, caller, changed))


async def decide_submission(
    service: Forms, caller: Caller, form_id: str, submission_id: str, status: SubmissionStatus
) -> FormSubmission:
    async with service.db.transaction() as conn:
        submission = await submissions.get(conn, caller, form_id, submission_id, lock=True)
        require_transition(SUBMISSION_STATES, submission.status, status)
        if submission.status is not status:
            version = await submissions.set_status(conn, caller, submission_id, status)
            submission.status = status
            event = submission_event(SubmissionUpdated, caller, submission_id, form_id, version)
            await add_event(conn, event)
    service.wakeup.notify()
    return submission
