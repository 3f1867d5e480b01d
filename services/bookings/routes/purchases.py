"""Purchases, for partners: read-only."""

from services.bookings.context import Bookings
from services.bookings.store import purchases
from services.bookings.wire.purchases import Purchase, PurchasesQuery
from shared.errors import InvalidCursor, NotFound
from shared.http.pages import Page, page_of
from shared.http.routes import Call, Route


async def list_purchases(service: Bookings, call: Call[PurchasesQuery, None]) -> Page[Purchase]:
    async with service.db.connection() as conn:
        return page_of(await purchases.list_page(conn, call.caller, call.query), call.query.limit)


async def get_purchase(service: Bookings, call: Call[None, None]) -> Purchase:
    async with service.db.connection() as conn:
        purchase = await purchases.get(conn, call.caller, call.path["purchase_id"])
    if purchase is None:
        raise NotFound
    return purchase


ROUTES: list[Route[Bookings]] = [
    Route(
        method="GET",
        path="/purchases",
        handler=list_purchases,
        summary="List purchases",
        description="Oldest first. A key limited to locations sees only purchases made there.",
        query=PurchasesQuery,
        answer=Page[Purchase],
        errors=(InvalidCursor,),
        tag="Purchases",
    ),
    Route(
        method="GET",
        path="/purchases/{purchase_id}",
        handler=get_purchase,
        summary="Get a purchase",
        answer=Purchase,
        errors=(NotFound,),
        tag="Purchases",
    ),
]
