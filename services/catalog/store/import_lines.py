"""Bulk upserts of import lines, and the resources as partners see them before and after."""

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import UNSET, Struct

from services.catalog.store import products
from services.catalog.wire.resources import ClassType, Instructor, Location, Room, Studio
from shared.db.database import Connection
from shared.events.changes import Snapshot, Snapshots
from shared.http.caller import Caller
from shared.transfer.importing import keys_of
from shared.transfer.lines import Rows
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


def _read(table: str, struct: type[Struct], *more: str, key: str = "studio_id") -> str:
    columns = [name for name in struct.__struct_fields__ if name != "object"]
    return f"""
SELECT {key} AS studio_id, version, {", ".join([*columns, *more])} FROM {table}
WHERE ({key}, id) IN (SELECT * FROM unnest($1::uuid[], $2::uuid[]))
"""  # noqa: S608


STATEMENTS: dict[type[Struct], str] = {
    Studio: _read("studios", Studio, key="id"),
    Location: _read("locations", Location),
    Room: _read("rooms", Room),
    ClassType: _read("class_types", ClassType),
    Instructor: _read("instructors", Instructor, "active"),
}


def read_as(struct: type[Struct]) -> Callable[[Connection, Rows], Awaitable[Snapshots]]:
    async def read(conn: Connection, rows: Rows) -> Snapshots:
        shown: Snapshots = {}
        for row in await conn.fetch(STATEMENTS[struct], *keys_of(rows)):
            data = struct(**{name: row[name] for name in struct.__struct_fields__ if name != "object"})
            location = {Location: row["id"], Room: row["location_id"] if struct is Room else None}.get(struct)
            active = row["active"] if struct is Instructor else UNSET
            shown[row["studio_id"], row["id"]] = Snapshot(
                data=data, version=row["version"], location_id=location, active=active
            )
        return shown

    return read


PRODUCT_VERSIONS = "SELECT id, version FROM products WHERE studio_id = $1 AND id = ANY ($2::uuid[])"


async def read_products(conn: Connection, rows: Rows) -> Snapshots:
    shown: Snapshots = {}
    for studio_id in {row["studio_id"] for row in rows}:
        caller = Caller(studio_id=studio_id, actor="operator")
        ids = [row["id"] for row in rows if row["studio_id"] == studio_id]
        versions = {row["id"]: row["version"] for row in await conn.fetch(PRODUCT_VERSIONS, studio_id, ids)}
        for product in await products.of_ids(conn, caller, ids):
            shown[studio_id, product.id] = Snapshot(data=product, version=versions[product.id])
    return shown
