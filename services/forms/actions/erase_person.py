"""Make a person anonymous in leads and submissions. Doing it twice changes nothing more."""

from contextlib import suppress

from msgspec import structs

from services.forms.context import Forms
from services.forms.store import erasure
from services.forms.wire.erasure import Erased, Erasure
from shared.caller import Caller
from shared.wire import normalize_email


async def erase_person(service: Forms, caller: Caller, person: Erasure) -> Erased:
    caller = structs.replace(caller, studio_id=person.studio_id)
    emails: set[str] = set()
    for text in person.emails:
        with suppress(ValueError):
            emails.add(normalize_email(text))
    async with service.db.transaction() as conn:
        known = await erasure.leads_of_person(conn, caller, person.lead_id, emails)
        emails |= {lead.email for lead in known}
        lead_ids = [lead.id for lead in known]
        await erasure.erase_leads(conn, caller, lead_ids)
        submissions = await erasure.erase_submissions(conn, caller, emails, lead_ids)
        await erasure.forget_news(conn, lead_ids)
    return Erased(leads=len(known), submissions=submissions, emails=sorted(emails))
