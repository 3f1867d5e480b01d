"""Applies what is due: memberships begin, pauses end, cancellations take effect, terms run out."""

from services.bookings.actions.change_membership import update_due_membership
from services.bookings.actions.process_due import process_due
from services.bookings.context import Bookings
from services.bookings.store import memberships


async def update_due_memberships(service: Bookings) -> bool:
    """One step of the loop."""
    await process_due(service, memberships.due, update_due_membership, failed="membership_not_updated")
    return False
