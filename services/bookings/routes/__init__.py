"""Routes decode a request, call one action and return its result."""

from services.bookings.actions.erase_person import erase_person
from services.bookings.actions.import_lines import check_lines, import_lines
from services.bookings.context import Bookings
from services.bookings.routes import (
    bookings,
    classes,
    idempotency_keys,
    members,
    purchases,
    staff,
    staff_reads,
    waitlist,
)
from services.bookings.store import export_lines
from services.bookings.wire.erasure import Erased
from shared.http.health import OUTBOX_STATUS
from shared.http.internal_routes import erase_route, export_route, import_routes
from shared.http.routes import Route


def routes() -> list[Route[Bookings]]:
    return [
        *classes.ROUTES,
        *members.ROUTES,
        *bookings.ROUTES,
        *waitlist.ROUTES,
        *idempotency_keys.ROUTES,
        *purchases.ROUTES,
        *staff.ROUTES,
        *staff_reads.ROUTES,
        *import_routes(import_lines, check_lines),
        export_route(export_lines.SECTIONS),
        erase_route(erase_person, Erased),
        OUTBOX_STATUS,
    ]
