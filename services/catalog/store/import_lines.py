"""Bulk upserts of import lines."""

from typing import Any

from shared.db.database import Connection
from shared.transfer.importing import Rows
from shared.transfer.tables import Table

STUDIOS = Table(
    name="studios", columns=("name", "slug", "timezone", "logo_url", "primary_color"), key=("id",)
)
LOCATIONS = Table(name="locations", columns=("name", "city", "state", "timezone", "active", "is_primary"))
ROOMS = Table(name="rooms", columns=("location_id", "name", "capacity", "active"))
CLASS_TYPES = Table(name="class_types", columns=("name", "description", "beginner_safe", "recovery"))
INSTRUCTORS = Table(name="instructors", columns=("name", "tagline", "tags", "active"))
PRODUCTS = Table(
    name="products", columns=("key", "name", "product_type", "active", "client_visible", "credits_granted")
)

# Amounts as text: 5 and 5.00 are shown differently.
CHANGED_PRODUCTS = f"""
SELECT n.ordinality - 1 AS place FROM jsonb_populate_recordset(NULL::products, $1) WITH ORDINALITY AS n
WHERE NOT EXISTS (
    SELECT FROM products old WHERE old.studio_id = n.studio_id AND old.id = n.id
      AND ({", ".join(f"old.{column}" for column in PRODUCTS.columns)})
          IS NOT DISTINCT FROM ({", ".join(f"n.{column}" for column in PRODUCTS.columns)}))
OR EXISTS (
    SELECT FROM (
        SELECT id, product_id, amount::text, currency, price_type, interval, "default", active, place
        FROM jsonb_to_recordset($2) AS line (
            studio_id uuid, id uuid, product_id uuid, amount numeric, currency text, price_type text,
            interval text, "default" boolean, active boolean, place integer)
        WHERE line.studio_id = n.studio_id AND line.product_id = n.id) line
    FULL JOIN (
        SELECT id, product_id, amount::text, currency, price_type, interval, is_default, active, place
        FROM prices WHERE prices.studio_id = n.studio_id AND prices.product_id = n.id) stored
    ON stored.id = line.id
    WHERE line IS DISTINCT FROM stored)
"""  # noqa: S608


async def changed_products(conn: Connection, rows: Rows) -> list[int]:
    return [row["place"] for row in await conn.fetch(CHANGED_PRODUCTS, rows, _prices(rows))]


# A product's line contains all its prices: a price that is missing is deleted.
DROPPED_PRICES = """
DELETE FROM prices USING jsonb_to_recordset($1) AS line (studio_id uuid, product_id uuid)
WHERE prices.studio_id = line.studio_id AND prices.product_id = line.product_id
    AND NOT prices.id = ANY ($2)
"""
PRICES = """
INSERT INTO prices
    (studio_id, id, product_id, amount, currency, price_type, interval, is_default, active, place)
SELECT studio_id, id, product_id, amount, currency, price_type, interval, "default", active, place
FROM jsonb_to_recordset($1) AS line (
    studio_id uuid, id uuid, product_id uuid, amount numeric, currency text, price_type text, interval text,
    "default" boolean, active boolean, place integer)
ON CONFLICT (studio_id, id) DO UPDATE SET
    product_id = excluded.product_id, amount = excluded.amount, currency = excluded.currency,
    price_type = excluded.price_type, interval = excluded.interval, is_default = excluded.is_default,
    active = excluded.active, place = excluded.place
"""


async def write_products(conn: Connection, rows: Rows) -> None:
    await PRODUCTS.write(conn, rows)
    owners = [{"studio_id": row["studio_id"], "product_id": row["id"]} for row in rows]
    prices = _prices(rows)
    await conn.execute(DROPPED_PRICES, owners, [price["id"] for price in prices])
    await conn.execute(PRICES, prices)


def _prices(rows: Rows) -> list[dict[str, Any]]:
    return [
        {**price, "studio_id": row["studio_id"], "product_id": row["id"], "place": place}
        for row in rows
        for place, price in enumerate(row["prices"])
    ]
