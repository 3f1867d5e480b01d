"""Promotes from the waitlist. Every change that can free a seat calls this."""

from services.bookings.actions.class_changes import ClassChanges
from services.bookings.rules.cancellation import Policy, terms_by_studio
from services.bookings.rules.promotion import Waiting, decide_promotion
from services.bookings.store import locks
from services.bookings.wire.classes import SpotMode
from services.bookings.wire.waitlist import WaitlistStatus
from shared.db.database import Connection


async def promote_waitlist(
    conn: Connection, changes: ClassChanges, policy: Policy, *, credited: str | None = None
) -> None:
    """`credited` is a member who gets credits back in this transaction, locked together with the others."""
    class_ = changes.class_
    candidates = changes.waiting if class_.seats_left > 0 else []
    wanted = {entry.member_id for entry in candidates} | ({credited} if credited else set())
    if not wanted:
        return
    members = await changes.lock_members(conn, wanted)
    chooses = class_.spot_selection_mode not in (None, SpotMode.NONE)
    spots = await locks.read_spots(conn, changes.caller, class_.id) if chooses and candidates else []
    spots = changes.with_freed_spots(spots)
    decision = decide_promotion(
        class_,
        [Waiting(entry_id=entry.id, member=members[entry.member_id]) for entry in candidates],
        spots,
        changes.now,
    )
    by_id = {entry.id: entry for entry in candidates}
    for entry_id in decision.skipped:
        booking = changes.bookings[by_id[entry_id].booking_id]
        terms = terms_by_studio(booking.held(class_.start_time), policy, changes.now)
        changes.cancel(booking, terms, None, WaitlistStatus.SKIPPED)
    for promoted in decision.promoted:
        entry = by_id[promoted.entry_id]
        changes.confirm(entry, credits_charged=promoted.credits_charged, spot_id=promoted.spot_id)
