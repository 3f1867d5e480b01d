"""Anonymize a member: rows stay for the counts, personal data goes, from stored answers too."""

from typing import Any

import msgspec

from services.bookings.actions.event_builders import membership_event
from services.bookings.context import Bookings
from services.bookings.store import locks, members, memberships
from services.bookings.wire.erasure import Erased
from shared.db.database import Connection
from shared.emails import normalized_emails
from shared.events.event import Event
from shared.events.kinds import MemberErased, MembershipUpdated
from shared.events.outbox import add_events
from shared.events.outbox_erasure import anonymize_outbox
from shared.http.caller import Caller
from shared.transfer.routes import PersonToErase
from shared.wire import encode


async def erase_person(service: Bookings, caller: Caller, body: PersonToErase) -> Erased:
    """The named members. One with one of the emails that is not named is only returned (`PersonToErase`)."""
    erased = Erased(members=0, emails=[], member_ids=[])
    async with service.db.transaction() as conn:
        found = {await members.id_by_email(conn, caller, email) for email in normalized_emails(body.emails)}
        member_ids = sorted({one for one in found if one is not None} | set(body.member_ids))
        if len(member_ids) > len(set(body.member_ids)):
            return Erased(members=0, emails=[], member_ids=member_ids)
        await locks.lock_members(conn, caller, member_ids)
        for member_id in member_ids:
            await _erase(conn, caller, member_id, erased)
        await anonymize_outbox(conn, caller.studio_id, member_ids)
    service.wakeup.notify()
    return erased


async def _erase(conn: Connection, caller: Caller, member_id: str, erased: Erased) -> None:
    member = await members.get(conn, caller, member_id)
    if member is None:
        return
    erased.members += 1
    erased.member_ids.append(member_id)
    if member.email:
        erased.emails.append(member.email)
    version, changed = await members.erase(conn, caller, member_id)
    await add_events(conn, await _events(conn, caller, member_id, version, changed))
    for row in await members.stored_answers(conn, caller, member_id):
        answer = _without_reason(row["body"])
        if answer is not None:
            await members.replace_answer(conn, caller, row["client_id"], row["key"], answer)


async def _events(
    conn: Connection, caller: Caller, member_id: str, version: int, changed: list[str]
) -> list[Event]:
    """Without the old values, since those are being erased."""
    erased = caller.event(MemberErased, member_id, version, {"id": member_id, "object": "member"})
    found = [await memberships.get(conn, caller, membership_id) for membership_id in changed]
    updated = [membership_event(MembershipUpdated, caller, one) for one in found if one is not None]
    return [erased, *updated]


def _without_reason(body: bytes) -> bytes | None:
    """Removes the free-text reason of a receipt, also inside an error. None when there is none."""
    answer: dict[str, Any] = msgspec.json.decode(body)
    receipts = (answer, answer.get("error", {}).get("details", {}).get("receipt"))
    with_reason = [receipt for receipt in receipts if receipt and receipt.get("reason") is not None]
    for receipt in with_reason:
        receipt["reason"] = None
    return encode(answer) if with_reason else None
