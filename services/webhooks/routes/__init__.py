"""Decode, call once, return."""

from services.webhooks.context import Webhooks
from services.webhooks.routes import deliveries, endpoints, events, internal, staff
from shared.routes import Route

ROUTES: list[Route[Webhooks]] = [
    *endpoints.ROUTES,
    *deliveries.ROUTES,
    *events.ROUTES,
    *staff.ROUTES,
    *internal.ROUTES,
]
