"""Decode, call once, return."""

from services.catalog.context import Catalog
from services.catalog.routes import importing, products, schedule, studio
from shared.routes import Route


def routes() -> list[Route[Catalog]]:
    return [*studio.ROUTES, *schedule.ROUTES, *products.ROUTES, *importing.ROUTES]
