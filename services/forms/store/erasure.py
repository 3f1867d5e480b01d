"""Anonymizes a person: rows stay, so that counts stay correct; personal data goes."""

from collections.abc import Collection, Sequence

import asyncpg

from shared.db.database import Connection
from shared.http.caller import Caller

# Locked in id order, so that two concurrent erasures cannot deadlock.
LEADS_OF_PERSON = """
SELECT id, email, email = 'erased-' || id || '@erased.invalid' AS is_erased FROM leads
WHERE studio_id = $1 AND (id = ANY ($2) OR email = ANY ($3))
ORDER BY id FOR UPDATE
"""


async def leads_of_person(
    conn: Connection, caller: Caller, lead_ids: Sequence[str], emails: Collection[str]
) -> list[asyncpg.Record]:
    """Includes a named lead even if it was erased before: partners may have written to it since."""
    return await conn.fetch(LEADS_OF_PERSON, caller.studio_id, lead_ids, list(emails))


# `source` is free text and may name a person. The values of the specification stay.
LEADS = """
UPDATE leads SET email = 'erased-' || id || '@erased.invalid', first_name = '', last_name = NULL,
    phone = NULL, notes = NULL, metadata = '{}',
    source = CASE WHEN source IN ('partner_api', 'waitlist') THEN source END,
    version = version + 1, updated_at = clock_timestamp()
WHERE studio_id = $1 AND id = ANY ($2) AND NOT (
    email = 'erased-' || id || '@erased.invalid' AND first_name = '' AND metadata::text = '{}'
    AND num_nonnulls(last_name, phone, notes) = 0
    AND coalesce(source, 'partner_api') IN ('partner_api', 'waitlist'))
RETURNING id, version
"""


async def erase_leads(conn: Connection, caller: Caller, lead_ids: Sequence[str]) -> dict[str, int]:
    """The leads that had anything left to erase, with their new versions."""
    return {row["id"]: row["version"] for row in await conn.fetch(LEADS, caller.studio_id, lead_ids)}


# Consents stay: they hold the policy and the decision, but no personal data.
SUBMISSIONS = """
UPDATE form_submissions SET submitter_email = 'erased-' || id || '@erased.invalid', submitter_name = NULL,
    data = '{}', version = version + 1
WHERE studio_id = $1 AND (submitter_email = ANY ($2) OR lead_id = ANY ($3))
    AND submitter_email <> 'erased-' || id || '@erased.invalid'
RETURNING id, form_id, version
"""


async def erase_submissions(
    conn: Connection, caller: Caller, emails: Collection[str], lead_ids: Collection[str]
) -> list[tuple[str, str, int]]:
    """By email, or by the lead, which may have changed its email since. Their ids, forms and new versions."""
    rows = await conn.fetch(SUBMISSIONS, caller.studio_id, list(emails), list(lead_ids))
    return [(row["id"], row["form_id"], row["version"]) for row in rows]
