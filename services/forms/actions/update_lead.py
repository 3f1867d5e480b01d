"""Change a lead. PATCH and POST …/update are this one operation; absent is not null."""

from typing import Any

import asyncpg
from msgspec import UNSET, Raw, UnsetType, structs

from services.forms.actions.event_builders import lead_updated
from services.forms.context import Forms
from services.forms.errors import LeadExists
from services.forms.rules.lead_metadata import metadata_text, sent_metadata
from services.forms.rules.merge_patch import merge_patch
from services.forms.rules.transitions import LEAD_STATES, require_transition
from services.forms.store import leads, submissions
from services.forms.wire.json_text import read_json, write_json
from services.forms.wire.leads import LeadUpdate, MutationResult, StaffLead
from shared.emails import normalize_email
from shared.events.outbox import add_event
from shared.http.caller import Caller

PLAIN = ("first_name", "last_name", "phone", "status", "notes")


async def update_lead(
    service: Forms, caller: Caller, lead_id: str, body: LeadUpdate, sent: Raw | UnsetType
) -> MutationResult:
    email = normalize_email(body.email) if body.email is not UNSET else ""
    patch = sent_metadata(sent)
    try:
        async with service.db.transaction() as conn:
            lead = await leads.get_locked(conn, caller, lead_id)
            if body.status is not UNSET:
                require_transition(LEAD_STATES, lead.status, body.status)
            changed = _changed(lead, body, email, patch)
            if changed is not None:
                if changed.email != lead.email:
                    await submissions.keep_for_lead(conn, caller, lead.id, lead.email)
                updated = await leads.update(conn, caller, changed)
                await add_event(conn, lead_updated(caller, lead, updated))
    except asyncpg.UniqueViolationError as problem:
        if problem.constraint_name != "leads_one_per_email":
            raise
        async with service.db.connection() as conn:
            raise LeadExists(await leads.id_of(conn, caller, email)) from None
    service.wakeup.notify()
    return MutationResult(id=lead_id, created=False)


def _changed(lead: StaffLead, body: LeadUpdate, email: str, patch: dict[str, Any]) -> StaffLead | None:
    """The changed lead, or None if nothing changes."""
    changes: dict[str, Any] = {name: value for name in PLAIN if (value := getattr(body, name)) is not UNSET}
    if email:
        changes["email"] = email
    changes = {name: value for name, value in changes.items() if getattr(lead, name) != value}
    if patch:
        before = read_json(bytes(lead.metadata))
        # Compared as text: to Python 1, 1.0 and true are the same.
        text = metadata_text(merge_patch(before, patch))
        if text != write_json(before):
            changes["metadata"] = Raw(text.encode())
    return structs.replace(lead, **changes) if changes else None
