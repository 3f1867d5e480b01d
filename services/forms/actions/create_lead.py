"""Create a lead, or find the existing one with the same normalized email."""

from typing import Any

from msgspec import UNSET, Raw, UnsetType, structs

from services.forms.actions.event_builders import lead_created, lead_updated
from services.forms.context import Forms
from services.forms.rules.lead_metadata import (
    is_blank,
    metadata_text,
    sent_metadata,
    with_blanks_filled,
)
from services.forms.store import leads
from services.forms.wire.leads import DEFAULT_SOURCE, LeadCreate, MutationResult, StaffLead
from shared.db.database import Connection
from shared.emails import normalize_email
from shared.events.outbox import add_event
from shared.http.caller import Caller
from shared.wire import new_id


async def create_lead(
    service: Forms, caller: Caller, body: LeadCreate, sent: Raw | UnsetType
) -> MutationResult:
    """Concurrent requests for one email create one lead: the others wait for it and find it."""
    email = normalize_email(body.email)
    metadata = sent_metadata(sent, body.utm_source, body.utm_campaign)
    text = metadata_text(metadata)
    source = body.source if body.source is not UNSET else DEFAULT_SOURCE
    async with service.db.transaction() as conn:
        while True:
            made = await leads.insert_if_new(conn, caller, new_id(), email, body.first_name, source, text)
            if made is not None:
                await add_event(conn, lead_created(caller, made))
                break
            known = await leads.find_locked(conn, caller, email)
            if known is not None:
                await _fill_blanks(conn, caller, known, body, metadata)
                break
            # Between the two statements the lead changed its email, so this one is free again.
    service.wakeup.notify()
    lead = made or known
    assert lead is not None
    return MutationResult(id=lead.id, created=made is not None)


async def _fill_blanks(
    conn: Connection, caller: Caller, known: StaffLead, body: LeadCreate, metadata: dict[str, Any]
) -> None:
    """Fills only what the lead lacks; its status stays."""
    filled = structs.replace(
        known,
        first_name=known.first_name or body.first_name,
        source=body.source if is_blank(known.source) and body.source else known.source,
        metadata=Raw(with_blanks_filled(bytes(known.metadata), metadata)),
    )
    if _content(filled) != _content(known):
        await add_event(conn, lead_updated(caller, known, await leads.update(conn, caller, filled)))


def _content(lead: StaffLead) -> tuple[str, str | None, bytes]:
    return lead.first_name, lead.source, bytes(lead.metadata)
