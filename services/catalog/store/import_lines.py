"""Bulk upserts of import lines, one JSON parameter per batch."""

from collections.abc import Sequence
from typing import Any

from services.catalog.wire import import_lines as wire
from shared.db.database import Connection
from shared.http.importing import Decoded, Write


def upsert(table: str, *columns: str, key: str = "studio_id, id") -> str:
    """Fields are named like the columns. `created_at` is set once, so that a row keeps its place in lists."""
    return f"""
INSERT INTO {table} ({key}, {", ".join(columns)}, created_at)
SELECT {key}, {", ".join(columns)}, coalesce(created_at, clock_timestamp())
FROM jsonb_populate_recordset(NULL::{table}, $1)
ON CONFLICT ({key}) DO UPDATE SET {", ".join(f"{column} = excluded.{column}" for column in columns)}
"""  # noqa: S608


STUDIOS = upsert("studios", "name", "slug", "timezone", "logo_url", "primary_color", key="id")


async def write_studios(conn: Connection, lines: Sequence[Decoded[Any]]) -> None:
    await conn.execute(STUDIOS, [line.value for line in lines])


def writing(statement: str) -> Write[Any]:
    async def write(conn: Connection, lines: Sequence[Decoded[Any]]) -> None:
        await conn.execute(statement, _with_studio(lines))

    return write


write_locations = writing(upsert("locations", "name", "city", "state", "timezone", "active", "is_primary"))
write_rooms = writing(upsert("rooms", "location_id", "name", "capacity", "active"))
write_class_types = writing(upsert("class_types", "name", "description", "beginner_safe", "recovery"))
write_instructors = writing(upsert("instructors", "name", "tagline", "tags", "active"))

PRODUCTS = upsert("products", "key", "name", "product_type", "active", "client_visible", "credits_granted")
# A product's line holds all its prices: one that is missing is deleted.
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


async def write_products(conn: Connection, lines: Sequence[Decoded[Any]]) -> None:
    await conn.execute(PRODUCTS, _with_studio(lines))
    owners = [{"studio_id": line.studio_id, "product_id": line.value.id} for line in lines]
    prices = [
        {**_fields(price), **owner, "place": place}
        for line, owner in zip(lines, owners, strict=True)
        for place, price in enumerate(line.value.prices)
    ]
    await conn.execute(DROPPED_PRICES, owners, [price["id"] for price in prices])
    await conn.execute(PRICES, prices)


def _with_studio(lines: Sequence[Decoded[Any]]) -> list[dict[str, Any]]:
    """With the studio that the operator named, whatever the line says."""
    return [{**_fields(line.value), "studio_id": line.studio_id} for line in lines]


def _fields(value: Any) -> dict[str, Any]:
    return {name: getattr(value, name) for name in value.__struct_fields__}


WRITERS: tuple[tuple[type, Write[Any]], ...] = (
    (wire.ImportedStudio, write_studios),
    (wire.ImportedLocation, write_locations),
    (wire.ImportedRoom, write_rooms),
    (wire.ImportedClassType, write_class_types),
    (wire.ImportedInstructor, write_instructors),
    (wire.ImportedProduct, write_products),
)
