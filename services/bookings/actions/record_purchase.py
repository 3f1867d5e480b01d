"""Staff record a purchase; a completed one grants its credits in the same transaction."""

from services.bookings.context import Bookings
from services.bookings.errors import PurchaseExists
from services.bookings.store import locks, purchases
from services.bookings.wire.purchases import Purchase, PurchaseCreate
from shared.errors import NotFound
from shared.events.kinds import PurchaseCreated
from shared.events.outbox import add_event
from shared.http.caller import Caller
from shared.wire import new_id


async def record_purchase(service: Bookings, caller: Caller, body: PurchaseCreate) -> Purchase:
    purchase_id = body.id or new_id()
    async with service.db.transaction() as conn:
        if not await locks.lock_members(conn, caller, [body.member_id]):
            raise NotFound(param="member_id")
        if not await purchases.knows_product(conn, caller, body.product_id):
            raise NotFound(param="product_id")
        if not await purchases.insert(conn, caller, purchase_id, body):
            raise PurchaseExists(param="id")
        await purchases.grant_credits(conn, caller.studio_id, [body.member_id])
        purchase = await purchases.get(conn, caller, purchase_id)
        assert purchase is not None
        event = caller.event(PurchaseCreated, purchase_id, 1, purchase, location_id=body.location_id)
        await add_event(conn, event)
    service.wakeup.notify()
    return purchase
