"""Leads are created, changed, converted when a member with their email is created, and erased."""

from collections.abc import Sequence
from typing import Any, Literal

import asyncpg
import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType, structs

from services.forms.actions.event_builders import lead_updated, submission_event
from services.forms.context import Forms
from services.forms.errors import LeadExists
from services.forms.rules.form_access import LEAD_STATES, require_transition
from services.forms.rules.lead_metadata import (
    is_blank,
    merge_patch,
    metadata_text,
    sent_metadata,
    with_blanks_filled,
)
from services.forms.store import erasure, leads, submissions
from services.forms.wire.json_text import read_json, write_json
from services.forms.wire.leads import (
    DEFAULT_SOURCE,
    Erased,
    LeadCreate,
    LeadStatus,
    LeadUpdate,
    LifecycleStage,
    MutationResult,
    StaffLead,
    partner_view,
)
from shared.db.database import Connection
from shared.emails import normalize_email, normalized_emails
from shared.events.anonymize import ERASED_DOMAIN, anonymize_outbox
from shared.events.bus import Message, Poison
from shared.events.envelope import Envelope, read_envelope
from shared.events.kinds import LeadCreated, LeadErased, SubmissionUpdated
from shared.events.outbox import add_event, add_events, row_of
from shared.http.caller import Caller
from shared.http.idempotency import stored_responses
from shared.transfer.routes import PersonToErase
from shared.wire import encode, new_id, now


async def create_lead(
    service: Forms, caller: Caller, body: LeadCreate, sent: Raw | UnsetType
) -> MutationResult:
    """Concurrent requests for one email create one lead: the others wait for it and find it."""
    email = normalize_email(body.email)
    metadata = sent_metadata(sent, body.utm_source, body.utm_campaign)
    source = body.source if body.source is not UNSET else DEFAULT_SOURCE
    result = None
    while result is None:
        result = await _insert_or_find(service, caller, body, email, source, metadata)
    service.wakeup.notify()
    return result


async def _insert_or_find(
    service: Forms, caller: Caller, body: LeadCreate, email: str, source: str | None, metadata: dict[str, Any]
) -> MutationResult | None:
    """None if the lead that was in the way has another email by now: this one is free again."""
    at = now()
    lead = StaffLead(
        id=new_id(),
        email=email,
        first_name=body.first_name,
        source=source,
        status=LeadStatus.NEW,
        lifecycle_stage=LifecycleStage.LEAD,
        metadata=Raw(metadata_text(metadata).encode()),
        created_at=at,
        last_name=None,
        phone=None,
        notes=None,
        version=1,
        updated_at=at,
    )
    event = caller.event(LeadCreated, lead.id, lead.version, partner_view(lead))
    async with service.db.single_write() as conn:
        if await leads.insert_if_new(conn, caller, lead, row_of(event)):
            return MutationResult(id=lead.id, created=True)
    async with service.db.transaction() as conn:
        known = await leads.find_locked(conn, caller, email)
        if known is None:
            return None
        await _fill_blanks(conn, caller, known, body, metadata)
    return MutationResult(id=known.id, created=False)


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
    if filled != known:
        await add_event(conn, lead_updated(caller, known, await leads.update(conn, caller, filled)))


PLAIN = ("first_name", "last_name", "phone", "status", "notes")


async def update_lead(
    service: Forms, caller: Caller, lead_id: str, body: LeadUpdate, sent: Raw | UnsetType
) -> MutationResult:
    email = normalize_email(body.email) if body.email is not UNSET else ""
    patch = sent_metadata(sent)
    try:
        async with service.db.transaction() as conn:
            lead = await leads.get(conn, caller, lead_id, lock=True)
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


class NewMember(Struct):
    """Without an email if the member was erased in the meantime: then there is nothing to convert."""

    object: Literal["member"]
    email: str | None = None


class MemberCreatedData(Struct):
    object: NewMember


async def convert_leads(service: Forms, messages: Sequence[Message]) -> None:
    for message in messages:
        envelope, email = _read(message)
        if email is not None:
            async with service.db.transaction() as conn:
                await _convert(conn, envelope, email, message.traceparent)
    service.wakeup.notify()


def _read(message: Message) -> tuple[Envelope, str | None]:
    """Raises `Poison` for what can never be understood, so that it does not hold up what comes after it."""
    try:
        envelope = read_envelope(message.body)
        member = msgspec.json.decode(envelope.data, type=MemberCreatedData).object
        if not member.email or member.email.endswith(ERASED_DOMAIN):
            return envelope, None
        return envelope, normalize_email(member.email)
    except (msgspec.DecodeError, ValueError) as problem:
        raise Poison(f"not a member.created that can be read: {problem}") from None


async def _convert(conn: Connection, envelope: Envelope, email: str, traceparent: str | None) -> None:
    caller = Caller(
        studio_id=envelope.studio_id,
        actor="operator",
        request_id=envelope.request_id or "",
        traceparent=traceparent,
    )
    if not await leads.is_new_event(conn, envelope.id):
        return
    lead = await leads.find_locked(conn, caller, email)
    if lead is None:
        return
    converted = structs.replace(lead, status=LeadStatus.CONVERTED, lifecycle_stage=LifecycleStage.MEMBER)
    if converted != lead:
        await add_event(conn, lead_updated(caller, lead, await leads.update(conn, caller, converted)))


async def erase_person(service: Forms, caller: Caller, person: PersonToErase) -> Erased:
    """The named leads and their submissions. If the emails find more leads, these are only returned."""
    emails = normalized_emails(person.emails)
    async with service.db.transaction() as conn:
        known = await erasure.leads_of_person(conn, caller, person.lead_ids, emails)
        emails |= {lead["email"] for lead in known if not lead["is_erased"]}
        lead_ids = [lead["id"] for lead in known]
        if not set(lead_ids) <= set(person.lead_ids):
            return Erased(leads=0, submissions=0, emails=sorted(emails), lead_ids=lead_ids)
        leads = await erasure.erase_leads(conn, caller, lead_ids)
        erased = await erasure.erase_submissions(conn, caller, emails, lead_ids)
        forms = {submission_id: form_id for submission_id, form_id, _ in erased}
        for row in await stored_responses.of_resources(conn, caller, list(forms)):
            submission = await submissions.get(conn, caller, forms[row["resource_id"]], row["resource_id"])
            await stored_responses.replace_body(conn, caller, row, encode(submission))
        await anonymize_outbox(conn, caller.studio_id, lead_ids)
        events = [
            caller.event(LeadErased, lead_id, version, {"id": lead_id, "object": "lead"})
            for lead_id, version in leads.items()
        ]
        events += [submission_event(SubmissionUpdated, caller, *one) for one in erased]
        await add_events(conn, events)
    service.wakeup.notify()
    return Erased(leads=len(leads), submissions=len(erased), emails=sorted(emails), lead_ids=lead_ids)
