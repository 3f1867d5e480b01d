"""Reads products with their prices."""

from collections import defaultdict
from collections.abc import Sequence

import asyncpg

from services.catalog.wire.resources import Price, Product, ProductsQuery
from shared.db.database import Connection
from shared.errors import NotFound
from shared.http.caller import Caller
from shared.http.pages import Page, page_of, start_after

GET = """
SELECT id, key, name, product_type, active, client_visible, credits_granted
FROM products WHERE studio_id = $1 AND id = $2
"""


async def get(conn: Connection, caller: Caller, product_id: str) -> Product:
    row = await conn.fetchrow(GET, caller.studio_id, product_id)
    if row is None:
        raise NotFound
    return (await _with_prices(conn, caller, [row]))[0]


OF_IDS = """
SELECT id, key, name, product_type, active, client_visible, credits_granted
FROM products WHERE studio_id = $1 AND id = ANY ($2::uuid[])
"""


async def of_ids(conn: Connection, caller: Caller, ids: Sequence[str]) -> list[Product]:
    return await _with_prices(conn, caller, await conn.fetch(OF_IDS, caller.studio_id, ids))


CURSOR = "SELECT created_at, id FROM products WHERE studio_id = $1 AND id = $2"
PAGE = """
SELECT id, key, name, product_type, active, client_visible, credits_granted FROM products
WHERE studio_id = $1 AND active = $2 AND (created_at, id) > ($3, $4)
ORDER BY created_at, id LIMIT $5
"""


async def page(conn: Connection, caller: Caller, query: ProductsQuery) -> Page[Product]:
    after = await start_after(conn, CURSOR, query.cursor, caller.studio_id)
    rows = await conn.fetch(PAGE, caller.studio_id, query.active, *after, query.limit + 1)
    return page_of(await _with_prices(conn, caller, rows), query.limit)


# All prices, active or not: the default first, then in the studio's order.
PRICES = """
SELECT product_id, id, amount, currency, price_type, interval, is_default, active
FROM prices WHERE studio_id = $1 AND product_id = ANY ($2)
ORDER BY is_default DESC, place, id
"""


async def _with_prices(conn: Connection, caller: Caller, rows: Sequence[asyncpg.Record]) -> list[Product]:
    prices: dict[str, list[Price]] = defaultdict(list)
    for row in await conn.fetch(PRICES, caller.studio_id, [row["id"] for row in rows]):
        prices[row["product_id"]].append(
            Price(
                id=row["id"],
                amount=row["amount"],
                currency=row["currency"],
                price_type=row["price_type"],
                interval=row["interval"],
                default=row["is_default"],
                active=row["active"],
            )
        )
    return [Product(**row, prices=prices[row["id"]]) for row in rows]
