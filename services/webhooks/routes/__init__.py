"""Decode, call once, return."""

from services.webhooks.context import Webhooks
from services.webhooks.routes import deliveries, endpoints, events, internal, recoveries, staff
from shared.http.routes import Route

ROUTES: list[Route[Webhooks]] = [
    *endpoints.ROUTES,
    *recoveries.ROUTES,
    *deliveries.ROUTES,
    *events.ROUTES,
    *staff.ROUTES,
    *internal.ROUTES,
]
