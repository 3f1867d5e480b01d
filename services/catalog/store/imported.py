"""Bulk upserts of imported lines. One JSON parameter a batch: the lines travel as they were decoded."""

from collections.abc import Sequence
from typing import Any

from services.catalog.wire import imported as wire
from shared.database import Connection
from shared.importing import Decoded, Write

STUDIOS = """
INSERT INTO studios (id, name, slug, timezone, logo_url, primary_color, created_at)
SELECT id, name, slug, timezone, logo_url, primary_color, coalesce(created_at, clock_timestamp())
FROM jsonb_to_recordset($1) AS line (
    id uuid, name text, slug text, timezone text, logo_url text, primary_color text, created_at timestamptz)
ON CONFLICT (id) DO UPDATE SET
    name = excluded.name, slug = excluded.slug, timezone = excluded.timezone, logo_url = excluded.logo_url,
    primary_color = excluded.primary_color
"""


async def write_studios(conn: Connection, lines: Sequence[Decoded[Any]]) -> None:
    await conn.execute(STUDIOS, [line.value for line in lines])


LOCATIONS = """
INSERT INTO locations (studio_id, id, name, city, state, timezone, active, is_primary, created_at)
SELECT studio_id, id, name, city, state, timezone, active, is_primary, coalesce(created_at, clock_timestamp())
FROM jsonb_to_recordset($1) AS line (
    studio_id uuid, id uuid, name text, city text, state text, timezone text, active boolean,
    is_primary boolean, created_at timestamptz)
ON CONFLICT (studio_id, id) DO UPDATE SET
    name = excluded.name, city = excluded.city, state = excluded.state, timezone = excluded.timezone,
    active = excluded.active, is_primary = excluded.is_primary
"""


async def write_locations(conn: Connection, lines: Sequence[Decoded[Any]]) -> None:
    await conn.execute(LOCATIONS, _with_studio(lines))


ROOMS = """
INSERT INTO rooms (studio_id, id, location_id, name, capacity, active, created_at)
SELECT studio_id, id, location_id, name, capacity, active, coalesce(created_at, clock_timestamp())
FROM jsonb_to_recordset($1) AS line (
    studio_id uuid, id uuid, location_id uuid, name text, capacity integer, active boolean,
    created_at timestamptz)
ON CONFLICT (studio_id, id) DO UPDATE SET
    location_id = excluded.location_id, name = excluded.name, capacity = excluded.capacity,
    active = excluded.active
"""


async def write_rooms(conn: Connection, lines: Sequence[Decoded[Any]]) -> None:
    await conn.execute(ROOMS, _with_studio(lines))


CLASS_TYPES = """
INSERT INTO class_types (studio_id, id, name, description, beginner_safe, recovery, created_at)
SELECT studio_id, id, name, description, beginner_safe, recovery, coalesce(created_at, clock_timestamp())
FROM jsonb_to_recordset($1) AS line (
    studio_id uuid, id uuid, name text, description text, beginner_safe boolean, recovery boolean,
    created_at timestamptz)
ON CONFLICT (studio_id, id) DO UPDATE SET
    name = excluded.name, description = excluded.description, beginner_safe = excluded.beginner_safe,
    recovery = excluded.recovery
"""


async def write_class_types(conn: Connection, lines: Sequence[Decoded[Any]]) -> None:
    await conn.execute(CLASS_TYPES, _with_studio(lines))


INSTRUCTORS = """
INSERT INTO instructors (studio_id, id, name, tagline, tags, active, created_at)
SELECT studio_id, id, name, tagline, tags, active, coalesce(created_at, clock_timestamp())
FROM jsonb_to_recordset($1) AS line (
    studio_id uuid, id uuid, name text, tagline text, tags text[], active boolean, created_at timestamptz)
ON CONFLICT (studio_id, id) DO UPDATE SET
    name = excluded.name, tagline = excluded.tagline, tags = excluded.tags, active = excluded.active
"""


async def write_instructors(conn: Connection, lines: Sequence[Decoded[Any]]) -> None:
    await conn.execute(INSTRUCTORS, _with_studio(lines))


PRODUCTS = """
INSERT INTO products
    (studio_id, id, key, name, product_type, active, client_visible, credits_granted, created_at)
SELECT studio_id, id, key, name, product_type, active, client_visible, credits_granted,
    coalesce(created_at, clock_timestamp())
FROM jsonb_to_recordset($1) AS line (
    studio_id uuid, id uuid, key text, name text, product_type text, active boolean, client_visible boolean,
    credits_granted integer, created_at timestamptz)
ON CONFLICT (studio_id, id) DO UPDATE SET
    key = excluded.key, name = excluded.name, product_type = excluded.product_type, active = excluded.active,
    client_visible = excluded.client_visible, credits_granted = excluded.credits_granted
"""
# A product's line says all its prices: one that is no longer named is gone.
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
    """The studio that the operator named, not what the line may say."""
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
