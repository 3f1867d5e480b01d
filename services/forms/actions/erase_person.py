"""Anonymize a person in leads and submissions. Idempotent."""

from services.forms.actions.event_builders import SubmissionReference, lead_erased, submission_updated
from services.forms.context import Forms
from services.forms.store import erasure
from services.forms.wire.erasure import Erased
from shared.emails import normalized_emails
from shared.events.outbox import add_events
from shared.events.outbox_erasure import anonymize_outbox
from shared.http.caller import Caller
from shared.transfer.routes import PersonToErase


async def erase_person(service: Forms, caller: Caller, person: PersonToErase) -> Erased:
    """The named leads and their submissions. If the emails find more leads, these are only returned."""
    emails = normalized_emails(person.emails)
    async with service.db.transaction() as conn:
        known = await erasure.leads_of_person(conn, caller, person.lead_ids, emails)
        emails |= {lead.email for lead in known if not lead.is_erased}
        lead_ids = [lead.id for lead in known]
        if not set(lead_ids) <= set(person.lead_ids):
            return Erased(leads=0, submissions=0, emails=sorted(emails), lead_ids=lead_ids)
        leads = await erasure.erase_leads(conn, caller, lead_ids)
        submissions = await erasure.erase_submissions(conn, caller, emails, lead_ids)
        await anonymize_outbox(conn, caller.studio_id, lead_ids)
        await add_events(conn, [lead_erased(caller, lead_id, version) for lead_id, version in leads.items()])
        changed = [SubmissionReference(*submission) for submission in submissions]
        await add_events(conn, [submission_updated(caller, submission) for submission in changed])
    service.wakeup.notify()
    return Erased(leads=len(leads), submissions=len(submissions), emails=sorted(emails), lead_ids=lead_ids)
