"""Form submissions in the database."""

from datetime import datetime
from typing import Any

import msgspec

from services.forms.wire.json_text import read_row, write_json
from services.forms.wire.submissions import FormSubmission, SubmissionStatus
from shared.db.database import Connection
from shared.errors import NotFound
from shared.http.caller import Caller
from shared.http.pages import Page, page_by_size, start_after
from shared.wire import PageQuery

COLUMNS = """
id, form_id, submitter_email, data::text AS data, status, created_at, submitter_name, form_version,
consents::text AS consents
"""
# OFFSET 0 keeps the planner from merging the two conditions. Merged, and before the first ANALYZE, it read
# every submission of the form along the list's index: 45 ms at 300,000 rows, 0.03 ms by the primary key.
GET = f"""
SELECT {COLUMNS}
FROM (SELECT * FROM form_submissions WHERE studio_id = $1 AND id = $3 OFFSET 0) AS one WHERE form_id = $2
"""  # noqa: S608
GET_LOCKED = GET.replace("OFFSET 0", "FOR NO KEY UPDATE")


async def get(
    conn: Connection, caller: Caller, form_id: str, submission_id: str, *, lock: bool = False
) -> FormSubmission:
    sql = GET_LOCKED if lock else GET
    return _submission(await conn.fetchrow(sql, caller.studio_id, form_id, submission_id))


CURSOR = """
SELECT created_at, id
FROM (SELECT * FROM form_submissions WHERE studio_id = $1 AND id = $3 OFFSET 0) AS one WHERE form_id = $2
"""
PAGE = f"""
SELECT {COLUMNS}
FROM form_submissions WHERE studio_id = $1 AND form_id = $2 AND (created_at, id) > ($3, $4)
ORDER BY created_at, id LIMIT $5
"""  # noqa: S608


async def page(conn: Connection, caller: Caller, form_id: str, query: PageQuery) -> Page[FormSubmission]:
    after = await start_after(conn, CURSOR, query.cursor, caller.studio_id, form_id)
    return await page_by_size(conn, PAGE, (caller.studio_id, form_id), after, query.limit, _submission)


INSERT = """
INSERT INTO form_submissions
    (studio_id, id, form_id, form_version, submitter_name, submitter_email, data, consents, status,
    lead_id)
VALUES ($1, $2, $3, $4, $5, $6, $7::text::json, $8::text::json, $9, $10)
RETURNING created_at
"""


async def insert(
    conn: Connection, caller: Caller, submission: FormSubmission, lead_id: str | None
) -> datetime:
    """Returns the creation time by the database's clock: list order must not depend on a replica's clock."""
    created_at: datetime = await conn.fetchval(
        INSERT,
        caller.studio_id,
        submission.id,
        submission.form_id,
        submission.form_version,
        submission.submitter_name,
        submission.submitter_email,
        bytes(submission.data).decode(),
        write_json(submission.consents),
        submission.status,
        lead_id,
    )
    return created_at


# Stops counting at the limit: a form with a million submissions and a limit of ten reads ten index entries.
HAS_REACHED = """
SELECT count(*) >= $3 FROM (
    SELECT 1 FROM form_submissions WHERE studio_id = $1 AND form_id = $2 ORDER BY created_at, id LIMIT $3
) AS taken
"""


async def has_reached(conn: Connection, caller: Caller, form_id: str, limit: int) -> bool:
    return bool(await conn.fetchval(HAS_REACHED, caller.studio_id, form_id, limit))


OF_EMAIL = """
SELECT id FROM form_submissions WHERE studio_id = $1 AND form_id = $2 AND submitter_email = $3
ORDER BY created_at, id LIMIT 1
"""


async def first_of_email(conn: Connection, caller: Caller, form_id: str, email: str) -> str | None:
    found: str | None = await conn.fetchval(OF_EMAIL, caller.studio_id, form_id, email)
    return found


KEEP_FOR_LEAD = """
UPDATE form_submissions SET lead_id = $3 WHERE studio_id = $1 AND submitter_email = $2 AND lead_id IS NULL
"""


async def keep_for_lead(conn: Connection, caller: Caller, lead_id: str, email: str) -> None:
    """Before a lead changes its email: links the submissions under the old one to the lead."""
    await conn.execute(KEEP_FOR_LEAD, caller.studio_id, email, lead_id)


SET_STATUS = """
UPDATE form_submissions SET status = $3, version = version + 1 WHERE studio_id = $1 AND id = $2
RETURNING version
"""


async def set_status(conn: Connection, caller: Caller, submission_id: str, status: SubmissionStatus) -> int:
    """The submission's new version."""
    return int(await conn.fetchval(SET_STATUS, caller.studio_id, submission_id, status))


def _submission(row: Any) -> FormSubmission:
    if row is None:
        raise NotFound
    consents = msgspec.json.decode(row["consents"])
    return read_row(dict(row) | {"consents": consents}, FormSubmission, "data")
