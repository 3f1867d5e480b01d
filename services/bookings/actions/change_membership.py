"""Staff pause, resume and cancel memberships under the member's lock: bookings check eligibility under it."""

from datetime import datetime

from services.bookings.actions.event_builders import membership_event
from services.bookings.context import Bookings
from services.bookings.errors import InvalidStateTransition
from services.bookings.rules.eligibility import status_at
from services.bookings.rules.transitions import MEMBERSHIP
from services.bookings.store import locks, memberships
from services.bookings.wire.members import (
    Cancellation,
    Membership,
    MembershipCancel,
    MembershipPause,
    MembershipStatus,
    Pause,
)
from shared.db.database import Connection
from shared.errors import Invalid, Problem
from shared.events.changes import previous_values
from shared.events.kinds import MembershipUpdated
from shared.events.outbox import add_event
from shared.http.caller import Caller


async def pause_membership(
    service: Bookings, caller: Caller, membership_id: str, body: MembershipPause
) -> Membership:
    async with service.db.transaction() as conn:
        membership, now = await _locked(conn, caller, membership_id, MembershipStatus.PAUSED)
        pause = Pause(paused_at=now, resumes_at=body.resumes_at, reason=body.reason)
        changed = await _change(conn, caller, membership, MembershipStatus.PAUSED, pause=pause)
    service.wakeup.notify()
    return changed


async def resume_membership(service: Bookings, caller: Caller, membership_id: str) -> Membership:
    async with service.db.transaction() as conn:
        membership, _ = await _locked(conn, caller, membership_id, MembershipStatus.ACTIVE)
        if membership.status is not MembershipStatus.PAUSED:
            others = MEMBERSHIP[membership.status] - {MembershipStatus.ACTIVE}
            raise InvalidStateTransition(membership.status, MembershipStatus.ACTIVE, list(others))
        changed = await _change(conn, caller, membership, MembershipStatus.ACTIVE, pause=None)
    service.wakeup.notify()
    return changed


async def cancel_membership(
    service: Bookings, caller: Caller, membership_id: str, body: MembershipCancel
) -> Membership:
    """With `at_period_end` the status stays until then; classes after that date are no longer covered."""
    async with service.db.transaction() as conn:
        membership, now = await _locked(conn, caller, membership_id, MembershipStatus.CANCELLED)
        term = await memberships.term(conn, caller, membership_id)
        ends_at = term.facts.ends_at
        if body.at_period_end and ends_at is None:
            raise Invalid(
                [Problem(("body", "at_period_end"), "The membership's period has no end.", "value_error")]
            )
        later = body.at_period_end and ends_at is not None and ends_at > now
        membership.cancellation = Cancellation(
            requested_at=now,
            effective_at=ends_at if later and ends_at else now,
            at_period_end=body.at_period_end,
            reason=body.reason,
        )
        membership.auto_renew = False
        status = membership.status if later else MembershipStatus.CANCELLED
        pause = membership.pause if later else None
        changed = await _change(conn, caller, membership, status, pause=pause)
    service.wakeup.notify()
    return changed


async def update_due_membership(service: Bookings, caller: Caller, membership_id: str) -> None:
    """Stores the status that the membership's dates now give it, if it is not stored yet."""
    async with service.db.transaction() as conn:
        membership = await _lock(conn, caller, membership_id)
        term = await memberships.term(conn, caller, membership_id)
        status = status_at(term.facts, term.now)
        if status is not membership.status:
            await _change(conn, caller, membership, status, pause=None)
    service.wakeup.notify()


async def _locked(
    conn: Connection, caller: Caller, membership_id: str, after: MembershipStatus
) -> tuple[Membership, datetime]:
    membership = await _lock(conn, caller, membership_id)
    allowed = MEMBERSHIP[membership.status]
    if after not in allowed:
        raise InvalidStateTransition(membership.status, after, list(allowed))
    term = await memberships.term(conn, caller, membership_id)
    return membership, term.now


async def _lock(conn: Connection, caller: Caller, membership_id: str) -> Membership:
    found = await memberships.get(conn, caller, membership_id)
    await locks.lock_members(conn, caller, [found.member_id])
    return await memberships.get(conn, caller, membership_id)


async def _change(
    conn: Connection, caller: Caller, membership: Membership, status: MembershipStatus, *, pause: Pause | None
) -> Membership:
    before = await memberships.get(conn, caller, membership.id)
    await memberships.change(
        conn,
        caller,
        membership.id,
        status=status,
        auto_renew=membership.auto_renew,
        pause=pause,
        cancellation=membership.cancellation,
    )
    changed = await memberships.get(conn, caller, membership.id)
    previous = previous_values(before, changed)
    await add_event(conn, membership_event(MembershipUpdated, caller, changed, previous=previous))
    return changed
