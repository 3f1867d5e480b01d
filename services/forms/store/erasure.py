"""Making a person anonymous: rows stay, so that counts stay right; nothing in them tells who it was."""

from collections.abc import Sequence

from shared.caller import Caller
from shared.database import Connection

# `.invalid` belongs to nobody, for ever (RFC 2606).
NOBODY = "@erased.invalid"

EMAIL_OF_LEAD = "SELECT email FROM leads WHERE studio_id = $1 AND id = $2"


async def email_of_lead(conn: Connection, caller: Caller, lead_id: str) -> str | None:
    email: str | None = await conn.fetchval(EMAIL_OF_LEAD, caller.studio_id, lead_id)
    return email


LEADS = """
UPDATE leads SET email = 'erased-' || id || '@erased.invalid', first_name = '', last_name = NULL,
    phone = NULL, notes = NULL, metadata = '{}', version = version + 1, updated_at = clock_timestamp()
WHERE studio_id = $1 AND email = ANY ($2)
RETURNING id
"""


async def erase_leads(conn: Connection, caller: Caller, emails: Sequence[str]) -> list[str]:
    rows = await conn.fetch(LEADS, caller.studio_id, list(emails))
    return [row["id"] for row in rows]


# Consents keep the policy that was shown and whether it was agreed to, which names nobody.
SUBMISSIONS = """
UPDATE form_submissions SET submitter_email = 'erased-' || id || '@erased.invalid', submitter_name = NULL,
    data = '{}', version = version + 1
WHERE studio_id = $1 AND submitter_email = ANY ($2)
RETURNING id
"""


async def erase_submissions(conn: Connection, caller: Caller, emails: Sequence[str]) -> list[str]:
    rows = await conn.fetch(SUBMISSIONS, caller.studio_id, list(emails))
    return [row["id"] for row in rows]


# News that has not left yet would carry the person to the event log after it was erased there.
NEWS = "DELETE FROM outbox WHERE aggregate = ANY ($1)"


async def forget_news(conn: Connection, lead_ids: Sequence[str]) -> None:
    await conn.execute(NEWS, [f"lead:{lead_id}" for lead_id in lead_ids])
