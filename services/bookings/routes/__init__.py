"""Routes decode a request, call one action and return its result."""

import msgspec

from services.bookings.actions.end_holds import release_holds_of_client
from services.bookings.actions.import_lines import IMPORT
from services.bookings.actions.members import erase_person
from services.bookings.context import Bookings
from services.bookings.routes import bookings, classes, desk, members, staff
from services.bookings.store import bookings as bookings_store
from services.bookings.store import desk as desk_store
from services.bookings.store import export_lines
from services.bookings.wire.bookings import ClientRevoked, Released
from services.bookings.wire.members import Erased
from shared.http.health import OUTBOX_STATUS
from shared.http.idempotency.look_up import look_up_route
from shared.http.names import names_route
from shared.http.routes import Call, Route, Routes
from shared.transfer.routes import erase_route, export_route, import_routes

ROUTES: Routes[Bookings] = Routes()


@ROUTES.add(
    "POST", "/internal/clients/revoked", "Release the holds of a client without a live key", internal=True
)
async def client_revoked(service: Bookings, call: Call[None, ClientRevoked]) -> Released:
    caller = msgspec.structs.replace(call.caller, studio_id=call.body.studio_id)
    return Released(classes=await release_holds_of_client(service, caller, call.body.client_id))


def routes() -> list[Route[Bookings]]:
    return [
        *ROUTES,
        *classes.ROUTES,
        *members.ROUTES,
        *bookings.ROUTES,
        *staff.ROUTES,
        *desk.ROUTES,
        names_route(desk_store.NAMES),
        *import_routes(IMPORT),
        export_route(export_lines.SECTIONS),
        erase_route(erase_person, Erased),
        look_up_route(bookings_store.is_visible),
        OUTBOX_STATUS,
    ]
