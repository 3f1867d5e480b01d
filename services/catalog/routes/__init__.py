"""Routes decode a request, call one action and return its result."""

from services.catalog.actions.import_lines import import_lines
from services.catalog.context import Catalog
from services.catalog.routes import products, schedule, studio
from shared.http.internal_routes import import_route
from shared.http.outbox_status import OUTBOX_STATUS
from shared.http.routes import Route


def routes() -> list[Route[Catalog]]:
    return [
        *studio.ROUTES,
        *schedule.ROUTES,
        *products.ROUTES,
        import_route(import_lines),
        OUTBOX_STATUS,
    ]
