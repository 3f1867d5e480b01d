"""Decode, call once, return."""

from services.webhooks.context import Webhooks
from services.webhooks.routes import endpoints, events, operators
from shared.http.routes import Route

ROUTES: list[Route[Webhooks]] = [
    *endpoints.ROUTES,
    *events.ROUTES,
    *endpoints.STAFF,
    *events.STAFF,
    *operators.ROUTES,
]
