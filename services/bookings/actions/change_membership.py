"""Staff pause, resume and cancel memberships under the member's lock: bookings check eligibility under it."""

from datetime import datetime
from typing import Any

from msgspec.structs import replace

from services.bookings.actions.event_builders import membership_event
from services.bookings.context import Bookings
from services.bookings.errors import InvalidStateTransition
from services.bookings.rules.booking_facts import MembershipFacts
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
        membership, _, now = await _locked(conn, caller, membership_id, MembershipStatus.PAUSED)
        pause = Pause(paused_at=now, resumes_at=body.resumes_at, reason=body.reason)
        changed = await _change(conn, caller, membership, status=MembershipStatus.PAUSED, pause=pause)
    service.wakeup.notify()
    return changed


async def resume_membership(service: Bookings, caller: Caller, membership_id: str) -> Membership:
    async with service.db.transaction() as conn:
        membership, _, _ = await _locked(conn, caller, membership_id, MembershipStatus.ACTIVE)
        if membership.status is not MembershipStatus.PAUSED:
            others = MEMBERSHIP[membership.status] - {MembershipStatus.ACTIVE}
            raise InvalidStateTransition(membership.status, MembershipStatus.ACTIVE, list(others))
        changed = await _change(conn, caller, membership, status=MembershipStatus.ACTIVE, pause=None)
    service.wakeup.notify()
    return changed


async def cancel_membership(
    service: Bookings, caller: Caller, membership_id: str, body: MembershipCancel
) -> Membership:
    """With `at_period_end` the status stays until then; classes after that date are no longer covered."""
    async with service.db.transaction() as conn:
        membership, facts, now = await _locked(conn, caller, membership_id, MembershipStatus.CANCELLED)
        if body.at_period_end and facts.ends_at is None:
            raise Invalid(
                [Problem(("body", "at_period_end"), "The membership's period has no end.", "value_error")]
            )
        later = facts.ends_at if body.at_period_end and facts.ends_at and facts.ends_at > now else None
        cancellation = Cancellation(
            requested_at=now,
            effective_at=later or now,
            at_period_end=body.at_period_end,
            reason=body.reason,
        )
        at_once = {} if later else {"status": MembershipStatus.CANCELLED, "pause": None}
        changed = await _change(
            conn, caller, membership, auto_renew=False, cancellation=cancellation, **at_once
        )
    service.wakeup.notify()
    return changed


async def update_due_membership(service: Bookings, caller: Caller, membership_id: str) -> None:
    """Stores the status that the membership's dates now give it, if it is not stored yet."""
    async with service.db.transaction() as conn:
        membership, facts, now = await _locked(conn, caller, membership_id)
        status = status_at(facts, now)
        if status is not membership.status:
            await _change(conn, caller, membership, status=status, pause=None)
    service.wakeup.notify()


async def _locked(
    conn: Connection, caller: Caller, membership_id: str, after: MembershipStatus | None = None
) -> tuple[Membership, MembershipFacts, datetime]:
    """Refused where it cannot become `after`."""
    found = await memberships.get(conn, caller, membership_id)
    await locks.lock_members(conn, caller, [found.member_id])
    membership = await memberships.get(conn, caller, membership_id)
    allowed = MEMBERSHIP[membership.status]
    if after is not None and after not in allowed:
        raise InvalidStateTransition(membership.status, after, list(allowed))
    return membership, *await memberships.term(conn, caller, membership_id)


async def _change(conn: Connection, caller: Caller, membership: Membership, **changes: Any) -> Membership:
    changed = replace(membership, state_version=membership.state_version + 1, **changes)
    await memberships.change(conn, caller, changed)
    previous = previous_values(membership, changed)
    await add_event(conn, membership_event(MembershipUpdated, caller, changed, previous=previous))
    return changed
