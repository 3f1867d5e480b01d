"""Make a person anonymous in leads and submissions. Doing it twice changes nothing more."""

from contextlib import suppress

from msgspec import structs

from services.forms.context import Forms
from services.forms.store import erasure
from services.forms.wire.imported import Erased, Erasure
from shared.caller import Caller
from shared.wire import normalize_email


async def erase_person(service: Forms, caller: Caller, person: Erasure) -> Erased:
    caller = structs.replace(caller, studio_id=person.studio_id)
    emails: set[str] = set()
    for text in person.emails:
        with suppress(ValueError):
            emails.add(normalize_email(text))
    async with service.db.transaction() as conn:
        if person.lead_id is not None:
            known = await erasure.email_of_lead(conn, caller, person.lead_id)
            if known is not None and not known.endswith(erasure.NOBODY):
                emails.add(known)
        leads = await erasure.erase_leads(conn, caller, sorted(emails))
        submissions = await erasure.erase_submissions(conn, caller, sorted(emails))
        await erasure.forget_news(conn, leads)
    return Erased(leads=len(leads), submissions=len(submissions), emails=sorted(emails))
