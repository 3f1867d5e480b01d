"""Decode, call once, return."""

from services.webhooks.context import Webhooks
from services.webhooks.routes import deliveries, endpoints, event_types, events, internal, recoveries, staff
from shared.http.routes import Route

ROUTES: list[Route[Webhooks]] = [
    *endpoints.ROUTES,
    *recoveries.ROUTES,
    *deliveries.ROUTES,
    *events.ROUTES,
    *event_types.ROUTES,
    *staff.ROUTES,
    *internal.ROUTES,
]
