"""Decode, call once, return."""

from services.bookings.context import Bookings
from services.bookings.routes import bookings, classes, members, operators, purchases, staff, waitlist
from shared.outbox_status import OUTBOX_STATUS
from shared.routes import Route


def routes() -> list[Route[Bookings]]:
    return [
        *classes.ROUTES,
        *members.ROUTES,
        *bookings.ROUTES,
        *waitlist.ROUTES,
        *purchases.ROUTES,
        *staff.ROUTES,
        *operators.ROUTES,
        OUTBOX_STATUS,
    ]
