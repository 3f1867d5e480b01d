"""Memberships begin, pauses end, cancellations take effect and terms run out by themselves."""

from services.bookings.actions.change_membership import turn_membership
from services.bookings.actions.one_by_one import one_by_one
from services.bookings.context import Bookings
from services.bookings.store import memberships


async def turn_memberships(service: Bookings) -> bool:
    """One step of the loop."""
    await one_by_one(service, memberships.due, turn_membership, failed="membership_not_turned")
    return False
