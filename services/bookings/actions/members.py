"""Members are created and erased, and purchases recorded."""

from typing import Any

import msgspec

from services.bookings.actions.end_holds import HeldMeanwhile, lock_and_release
from services.bookings.actions.event_builders import membership_event
from services.bookings.context import Bookings
from services.bookings.errors import MemberExists, PurchaseExists
from services.bookings.store import bookings, locks, members, memberships, purchases
from services.bookings.wire.members import Erased, Member, MemberCreate, Purchase, PurchaseCreate
from shared.db.database import Connection
from shared.db.timezones import check_phone
from shared.emails import normalize_email, normalized_emails
from shared.errors import NotFound, Problem
from shared.events.anonymize import anonymize_outbox
from shared.events.event import Event
from shared.events.kinds import MemberCreated, MemberErased, MembershipUpdated, PurchaseCreated
from shared.events.outbox import add_event, add_events
from shared.http.caller import Caller
from shared.http.idempotency import stored_responses
from shared.http.routes import PartialBody
from shared.transfer.routes import PersonToErase
from shared.wire import encode, new_id


async def create_member(service: Bookings, caller: Caller, body: MemberCreate) -> Member:
    async with service.db.transaction() as conn:
        member = await insert_member(conn, caller, body)
    service.wakeup.notify()
    return member


async def insert_member(conn: Connection, caller: Caller, body: MemberCreate) -> Member:
    """With its event, in the caller's transaction."""
    email = normalize_email(body.email)
    member_id = new_id()
    name = f"{body.first_name} {body.last_name}".strip()
    created = await members.insert(conn, caller, member_id, body, name=name, email=email)
    if created is None:
        known = await members.id_by_email(conn, caller, email)
        raise MemberExists(param="email", details={"member_id": known})
    member = await members.get(conn, caller, member_id, Member)
    await add_event(conn, caller.event(MemberCreated, member_id, 1, member, at=created))
    return member


async def check_member(service: Bookings, caller: Caller, given: PartialBody) -> list[Problem]:
    """The phone, by the rules of the studio's country where it comes without a country code."""
    return await check_phone(service.db, caller.studio_id, given.fields.get("phone"))


async def record_purchase(service: Bookings, caller: Caller, body: PurchaseCreate) -> Purchase:
    purchase_id = body.id or new_id()
    async with service.db.transaction() as conn:
        if not await locks.lock_members(conn, caller, [body.member_id]):
            raise NotFound(param="member_id")
        if not await purchases.knows_product(conn, caller, body.product_id):
            raise NotFound(param="product_id")
        if not await purchases.insert(conn, caller, purchase_id, body):
            raise PurchaseExists(param="id")
        await purchases.grant_credits(conn, caller.studio_id, [body.member_id])
        purchase = await purchases.get(conn, caller, purchase_id)
        event = caller.event(PurchaseCreated, purchase_id, 1, purchase, location_id=body.location_id)
        await add_event(conn, event)
    service.wakeup.notify()
    return purchase


async def erase_person(service: Bookings, caller: Caller, body: PersonToErase) -> Erased:
    """The named members. One with one of the emails that is not named is only returned (`PersonToErase`)."""
    while True:
        try:
            return await _erase_person(service, caller, body)
        except HeldMeanwhile:
            continue


async def _erase_person(service: Bookings, caller: Caller, body: PersonToErase) -> Erased:
    erased = Erased(members=0, emails=[], member_ids=[])
    async with service.db.transaction() as conn:
        found = {await members.id_by_email(conn, caller, email) for email in normalized_emails(body.emails)}
        member_ids = sorted({one for one in found if one is not None} | set(body.member_ids))
        if len(member_ids) > len(set(body.member_ids)):
            return Erased(members=0, emails=[], member_ids=member_ids)
        await lock_and_release(conn, caller, member_ids)
        for member_id in member_ids:
            await _erase(conn, caller, member_id, erased)
        await anonymize_outbox(conn, caller.studio_id, member_ids)
    service.wakeup.notify()
    return erased


async def _erase(conn: Connection, caller: Caller, member_id: str, erased: Erased) -> None:
    try:
        member = await members.get(conn, caller, member_id, Member)
    except NotFound:
        return
    erased.members += 1
    erased.member_ids.append(member_id)
    if member.email:
        erased.emails.append(member.email)
    version, changed = await members.erase(conn, caller, member_id)
    await add_events(conn, await _events(conn, caller, member_id, version, changed))
    shown = encode(await members.get(conn, caller, member_id, Member))
    for row in await stored_responses.of_resources(conn, caller, [member_id]):
        await stored_responses.replace_body(conn, caller, row, shown)
    booking_ids = await bookings.ids_of(conn, caller, member_id)
    for row in await stored_responses.of_resources(conn, caller, booking_ids):
        response = _without_reason(row["body"])
        if response is not None:
            await stored_responses.replace_body(conn, caller, row, response)


async def _events(
    conn: Connection, caller: Caller, member_id: str, version: int, changed: list[str]
) -> list[Event]:
    """Without the old values, since those are being erased."""
    erased = caller.event(MemberErased, member_id, version, {"id": member_id, "object": "member"})
    found = [await memberships.get(conn, caller, membership_id) for membership_id in changed]
    updated = [membership_event(MembershipUpdated, caller, one) for one in found]
    return [erased, *updated]


def _without_reason(body: bytes) -> bytes | None:
    """Removes the free-text reason of a receipt, also inside an error. None when there is none."""
    response: dict[str, Any] = msgspec.json.decode(body)
    receipts = (response, response.get("error", {}).get("details", {}).get("receipt"))
    with_reason = [receipt for receipt in receipts if receipt and receipt.get("reason") is not None]
    for receipt in with_reason:
        receipt["reason"] = None
    return encode(response) if with_reason else None
