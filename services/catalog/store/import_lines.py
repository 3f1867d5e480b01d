"""Bulk upserts of import lines, one JSON parameter per batch."""

from collections.abc import Sequence
from typing import Any

from msgspec import UNSET, Struct

from shared.db.database import Connection
from shared.http.importing import Decoded


def upsert(table: str, *columns: str, key: str = "studio_id, id") -> str:
    """Fields are named like the columns. `created_at` is set once, so that a row keeps its place in lists."""
    return f"""
INSERT INTO {table} ({key}, {", ".join(columns)}, created_at, version)
SELECT {key}, {", ".join(columns)}, coalesce(created_at, clock_timestamp()), coalesce(version, 1)
FROM jsonb_populate_recordset(NULL::{table}, $1)
ON CONFLICT ({key}) DO UPDATE SET
    {", ".join(f"{column} = excluded.{column}" for column in columns)},
    version = greatest(excluded.version, {table}.version + 1)
"""  # noqa: S608


def changed(table: str, *columns: str, key: str = "studio_id, id") -> str:
    """The indexes of the lines that are new or differ. Takes no locks and writes nothing."""
    stored = ", ".join(f"old.{column}" for column in columns)
    line = ", ".join(f"n.{column}" for column in columns)
    same = " AND ".join(f"old.{part} = n.{part}" for part in key.split(", "))
    return f"""
SELECT n.ordinality FROM jsonb_populate_recordset(NULL::{table}, $1) WITH ORDINALITY AS n
WHERE NOT EXISTS (SELECT FROM {table} old WHERE {same} AND ({stored}) IS NOT DISTINCT FROM ({line}))
"""  # noqa: S608


class Table(Struct, frozen=True):
    """A table whose columns are named like the fields of its lines."""

    name: str
    columns: tuple[str, ...]
    key: str = "studio_id, id"

    async def changed(self, conn: Connection, lines: Sequence[Decoded[Any]]) -> list[int]:
        return await _places(conn, changed(self.name, *self.columns, key=self.key), _with_studio(lines))

    async def write(self, conn: Connection, lines: Sequence[Decoded[Any]]) -> None:
        await conn.execute(upsert(self.name, *self.columns, key=self.key), _with_studio(lines))


async def _places(conn: Connection, statement: str, *parameters: Any) -> list[int]:
    return [row["ordinality"] - 1 for row in await conn.fetch(statement, *parameters)]


STUDIOS = Table("studios", ("name", "slug", "timezone", "logo_url", "primary_color"), key="id")
LOCATIONS = Table("locations", ("name", "city", "state", "timezone", "active", "is_primary"))
ROOMS = Table("rooms", ("location_id", "name", "capacity", "active"))
CLASS_TYPES = Table("class_types", ("name", "description", "beginner_safe", "recovery"))
INSTRUCTORS = Table("instructors", ("name", "tagline", "tags", "active"))
PRODUCTS = Table("products", ("key", "name", "product_type", "active", "client_visible", "credits_granted"))

# Amounts as text: 5 and 5.00 are shown differently.
CHANGED_PRODUCTS = f"""
SELECT n.ordinality FROM jsonb_populate_recordset(NULL::products, $1) WITH ORDINALITY AS n
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


async def changed_products(conn: Connection, lines: Sequence[Decoded[Any]]) -> list[int]:
    return await _places(conn, CHANGED_PRODUCTS, _with_studio(lines), _prices(lines))


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


async def write_products(conn: Connection, lines: Sequence[Decoded[Any]]) -> None:
    await PRODUCTS.write(conn, lines)
    owners = [{"studio_id": line.studio_id, "product_id": line.value.id} for line in lines]
    prices = _prices(lines)
    await conn.execute(DROPPED_PRICES, owners, [price["id"] for price in prices])
    await conn.execute(PRICES, prices)


def _prices(lines: Sequence[Decoded[Any]]) -> list[dict[str, Any]]:
    return [
        {**_fields(price), "studio_id": line.studio_id, "product_id": line.value.id, "place": place}
        for line in lines
        for place, price in enumerate(line.value.prices)
    ]


def _with_studio(lines: Sequence[Decoded[Any]]) -> list[dict[str, Any]]:
    """With the studio that the operator named, whatever the line says."""
    return [{**_fields(line.value), "studio_id": line.studio_id} for line in lines]


def _fields(value: Any) -> dict[str, Any]:
    fields = {name: getattr(value, name) for name in value.__struct_fields__}
    return {name: value for name, value in fields.items() if value is not UNSET}


# One import per studio at a time, so that nothing changes between reading the old values and writing.
LOCK_IMPORT = """
SELECT pg_advisory_xact_lock(hashtextextended('import:' || studio, 0)) FROM unnest($1::text[]) AS studio
"""


async def lock_import(conn: Connection, lines: Sequence[Decoded[Any]]) -> None:
    await conn.execute(LOCK_IMPORT, sorted({line.studio_id for line in lines}))
