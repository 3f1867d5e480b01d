"""Marks a lead as converted when a member with its email is created. Triggered by an event, not a call."""

from collections.abc import Sequence
from typing import Literal

import msgspec
from msgspec import Struct, structs

from services.forms.actions.event_builders import lead_updated
from services.forms.context import Forms
from services.forms.store import consumed_events, leads
from services.forms.wire.leads import LeadStatus, LifecycleStage
from shared.db.database import Connection
from shared.emails import normalize_email
from shared.events.anonymize import ERASED_DOMAIN
from shared.events.bus import Message, Poison
from shared.events.envelope import Envelope, read_envelope
from shared.events.outbox import add_event
from shared.http.caller import Caller


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
    if not await consumed_events.is_new(conn, envelope.id):
        return
    lead = await leads.find_locked(conn, caller, email)
    if lead is None:
        return
    converted = structs.replace(lead, status=LeadStatus.CONVERTED, lifecycle_stage=LifecycleStage.MEMBER)
    if converted != lead:
        await add_event(conn, lead_updated(caller, lead, await leads.update(conn, caller, converted)))
