"""Purchases, and the credits that a completed purchase grants once."""

from typing import Any

from services.bookings.store.keyset_pages import Filters, ListedTable, fetch_one, fetch_page
from services.bookings.wire.field_types import format_money, parse_money
from services.bookings.wire.members import Purchase, PurchaseCreate, PurchasesQuery
from shared.db.database import Connection
from shared.http.caller import Caller
from shared.http.pages import Page, page_of

WIRE_COLUMNS = """
t.id, t.member_id, t.product_id, t.product_key, t.product_type, t.quantity, t.amount_total, t.currency,
t.refunded_amount, t.status, t.created_at
"""
TABLE = ListedTable(table="purchases", columns=WIRE_COLUMNS)


def purchase_of(values: dict[str, Any]) -> Purchase:
    values["amount_total"] = format_money(values["amount_total"])
    values["refunded_amount"] = format_money(values["refunded_amount"])
    return Purchase(**values)


async def list_page(conn: Connection, caller: Caller, query: PurchasesQuery) -> Page[Purchase]:
    filters = Filters(narrow={"member_id": query.member_id})
    rows = await fetch_page(conn, caller, TABLE, filters, query)
    return page_of([purchase_of(row) for row in rows], query.limit)


async def get(conn: Connection, caller: Caller, purchase_id: str) -> Purchase:
    return purchase_of(await fetch_one(conn, caller, TABLE, purchase_id))


INSERT = """
INSERT INTO purchases (studio_id, id, member_id, product_id, product_key, product_type, quantity,
                       amount_total, currency, status, location_id, created_at)
SELECT $1, $2, $3, p.id, p.key, p.product_type, $5, $6, $7, $8, $9, clock_timestamp()
FROM products p WHERE p.studio_id = $1 AND p.id = $4
ON CONFLICT DO NOTHING
"""
KNOWS_PRODUCT = "SELECT EXISTS (SELECT FROM products WHERE studio_id = $1 AND id = $2)"


async def knows_product(conn: Connection, caller: Caller, product_id: str) -> bool:
    return bool(await conn.fetchval(KNOWS_PRODUCT, caller.studio_id, product_id))


async def insert(conn: Connection, caller: Caller, purchase_id: str, body: PurchaseCreate) -> bool:
    """False when the id is taken."""
    done = await conn.execute(
        INSERT,
        caller.studio_id,
        purchase_id,
        body.member_id,
        body.product_id,
        body.quantity,
        parse_money(body.amount_total),
        body.currency,
        body.status,
        body.location_id,
    )
    return bool(done.endswith(" 1"))


# Under the members' locks. A purchase without a product id is matched by product key.
GRANT = """
WITH granted AS (
    UPDATE purchases p SET credits_granted = p.quantity::bigint * coalesce(product.credits_granted, 0)
    FROM products product
    WHERE p.studio_id = $1 AND p.member_id = ANY ($2::uuid[]) AND p.status = 'completed'
      AND p.credits_granted IS NULL AND product.studio_id = $1
      AND (product.id = p.product_id OR p.product_id IS NULL AND product.key = p.product_key)
    RETURNING p.member_id, p.credits_granted
)
UPDATE members m SET credits = m.credits + total.credits
FROM (SELECT member_id, sum(credits_granted) AS credits FROM granted GROUP BY member_id) total
WHERE m.studio_id = $1 AND m.id = total.member_id
"""


async def grant_credits(conn: Connection, studio_id: str, member_ids: list[str]) -> None:
    """Grants each purchase's credits once, however often the purchase is imported."""
    await conn.execute(GRANT, studio_id, member_ids)
