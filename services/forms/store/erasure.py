"""Making a person anonymous: rows stay, so that counts stay right; nothing in them tells who it was."""

from collections.abc import Collection, Sequence

from msgspec import Struct

from shared.caller import Caller
from shared.database import Connection

# In the order of their ids, so that two erasures at once wait for each other instead of blocking each other.
LEADS_OF_PERSON = """
SELECT id, email FROM leads
WHERE studio_id = $1 AND (id = $2 OR email = ANY ($3)) AND email NOT LIKE 'erased-%@erased.invalid'
ORDER BY id FOR UPDATE
"""


class KnownLead(Struct, frozen=True):
    id: str
    email: str


async def leads_of_person(
    conn: Connection, caller: Caller, lead_id: str | None, emails: Collection[str]
) -> list[KnownLead]:
    """Those that are not erased yet."""
    rows = await conn.fetch(LEADS_OF_PERSON, caller.studio_id, lead_id, list(emails))
    return [KnownLead(row["id"], row["email"]) for row in rows]


LEADS = """
UPDATE leads SET email = 'erased-' || id || '@erased.invalid', first_name = '', last_name = NULL,
    phone = NULL, notes = NULL, metadata = '{}', version = version + 1, updated_at = clock_timestamp()
WHERE studio_id = $1 AND id = ANY ($2)
"""


async def erase_leads(conn: Connection, caller: Caller, lead_ids: Sequence[str]) -> None:
    await conn.execute(LEADS, caller.studio_id, lead_ids)


# Consents keep the policy that was shown and whether it was agreed to, which names nobody.
SUBMISSIONS = """
UPDATE form_submissions SET submitter_email = 'erased-' || id || '@erased.invalid', submitter_name = NULL,
    data = '{}', version = version + 1
WHERE studio_id = $1 AND (submitter_email = ANY ($2) OR lead_id = ANY ($3))
    AND submitter_email NOT LIKE 'erased-%@erased.invalid'
RETURNING id
"""


async def erase_submissions(
    conn: Connection, caller: Caller, emails: Collection[str], lead_ids: Collection[str]
) -> int:
    """By email, or by the lead, which may have changed its email since."""
    return len(await conn.fetch(SUBMISSIONS, caller.studio_id, list(emails), list(lead_ids)))


# News that has not left yet would carry the person to the event log after it was erased there.
NEWS = "DELETE FROM outbox WHERE aggregate = ANY ($1)"


async def forget_news(conn: Connection, lead_ids: Sequence[str]) -> None:
    await conn.execute(NEWS, [f"lead:{lead_id}" for lead_id in lead_ids])
