"""Make a member anonymous: rows stay for the counts, what tells who it was goes, stored answers included."""

from typing import Any

import msgspec

from services.bookings.context import Bookings
from services.bookings.store import locks, members
from services.bookings.wire.erasure import Erased, PersonToErase
from shared.caller import Caller
from shared.wire import encode


async def erase_person(service: Bookings, caller: Caller, body: PersonToErase) -> Erased:
    if body.member_id is None:
        return Erased(members=0, emails=[])
    async with service.db.transaction() as conn:
        await locks.lock_members(conn, caller, [body.member_id])
        member = await members.get(conn, caller, body.member_id)
        await members.erase(conn, caller, body.member_id)
        for row in await members.stored_answers(conn, caller, body.member_id):
            answer = _without_reason(row["body"])
            if answer is not None:
                await members.replace_answer(conn, caller, row["client_id"], row["key"], answer)
    return Erased(members=int(member is not None), emails=[member.email] if member and member.email else [])


def _without_reason(body: bytes) -> bytes | None:
    """A receipt carries the free text of its cancellation, also inside a refusal; None when there is none."""
    answer: dict[str, Any] = msgspec.json.decode(body)
    receipts = (answer, answer.get("error", {}).get("details", {}).get("receipt"))
    told = [receipt for receipt in receipts if receipt and receipt.get("reason") is not None]
    for receipt in told:
        receipt["reason"] = None
    return encode(answer) if told else None
